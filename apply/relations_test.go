package apply_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
)

// reading is a cluster that answers reads with these errors first, and leaves as many unanswered before that.
type reading struct {
	*clusterfake.Cluster
	stalls int
	errs   []error
	asked  int
}

func (r *reading) Get(ctx context.Context, ref apply.Ref) (*unstructured.Unstructured, error) {
	r.asked++
	if r.asked <= r.stalls {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if n := r.asked - r.stalls; n <= len(r.errs) {
		return nil, r.errs[n-1]
	}
	return r.Cluster.Get(ctx, ref)
}

// A claim's StorageClass is read once for all claims, again after a transient error, and for no more than a minute
// when nobody answers. A failure holds for all claims, too, for as long as the caller says.
func TestAStorageClassIsReadOnce(t *testing.T) {
	claim := objecttest.Parse(t, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {storageClassName: late}, status: {phase: Pending}}`)
	const class = `{apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, volumeBindingMode: WaitForFirstConsumer}`
	busy, refused := apierrors.NewTooManyRequests("busy", 0), forbidden()
	for name, c := range map[string]struct {
		reading
		again time.Duration
		found [3]int // the third one a minute later
		asked int
		took  time.Duration
	}{
		"answered":            {found: [3]int{1, 1, 1}, asked: 1},
		"busy":                {reading: reading{errs: []error{busy, busy}}, found: [3]int{1, 1, 1}, asked: 3},
		"refused":             {reading: reading{errs: []error{refused}}, asked: 1},
		"refused in a wait":   {reading: reading{errs: []error{refused}}, again: time.Minute, found: [3]int{0, 0, 1}, asked: 2},
		"refused twice":       {reading: reading{errs: []error{refused, refused}}, again: time.Minute, asked: 2},
		"no answer":           {reading: reading{stalls: 3}, asked: 1, took: time.Minute},
		"no answer in a wait": {reading: reading{stalls: 1}, again: time.Minute, found: [3]int{0, 0, 1}, asked: 2, took: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := &c.reading
				r.Cluster = clusterfake.New()
				r.Put(objecttest.Parse(t, class))
				began, related := time.Now(), apply.NewRelations(r, time.Now, c.again)
				for i, want := range c.found {
					if i == 2 {
						time.Sleep(time.Minute)
					}
					if got := related.Of(t.Context(), claim); len(got) != want {
						t.Errorf("look %d finds %d, want %d", i+1, len(got), want)
					}
				}
				if took := time.Since(began).Truncate(10*time.Second) - time.Minute; r.asked != c.asked || took != c.took {
					t.Errorf("asked %d times in %v, want %d in %v", r.asked, took, c.asked, c.took)
				}
			})
		})
	}
}

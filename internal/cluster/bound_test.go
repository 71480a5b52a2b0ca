package cluster_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/retry"
	"github.com/kubectl-release/kubectl-release/plan"
)

// crowd answers no request before as many are under way as are allowed, and records the maximum.
type crowd struct {
	now, most atomic.Int32
	full      chan struct{}
}

func newCrowd() *crowd { return &crowd{full: make(chan struct{})} }

func (c *crowd) together(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n := c.now.Add(1)
		defer c.now.Add(-1)
		for seen := c.most.Load(); n > seen; seen = c.most.Load() {
			if c.most.CompareAndSwap(seen, n) && n == retry.Concurrency {
				close(c.full)
			}
		}
		select {
		case <-c.full:
		case <-time.After(5 * time.Minute): // fewer requests at a time: check reports that
		}
		time.Sleep(20 * time.Millisecond) // so one too many would be noticed
		answer(w, r)
	}
}

func (c *crowd) check(t *testing.T) {
	t.Helper()
	if n := c.most.Load(); n != retry.Concurrency {
		t.Errorf("%d requests were under way at once, want %d", n, retry.Concurrency)
	}
}

// However many objects there are, exactly Concurrency requests are under way at
// a time, over all kinds and namespaces together.
func TestObserveBoundsWhatIsUnderWay(t *testing.T) {
	s := newServer(t)
	var refs []apply.Ref
	c := newCrowd()
	for i := range 60 {
		for _, name := range []string{"a", "b"} {
			r := ref("ConfigMap", name)
			r.Namespace = fmt.Sprintf("shop-%d", i)
			path := "GET /api/v1/namespaces/" + r.Namespace + "/configmaps/" + name
			s.reply(path, configMap(name))
			s.answers[path] = c.together(s.answers[path])
			refs = append(refs, r)
		}
	}
	if _, err := s.connect(t).Observe(t.Context(), refs); err != nil {
		t.Fatal(err)
	}
	c.check(t)
}

// The same holds for dry runs.
func TestPredictBoundsWhatIsUnderWay(t *testing.T) {
	s := newServer(t)
	c := newCrowd()
	const path = "POST /api/v1/namespaces/shop/configmaps"
	s.reply(path, configMap("a"))
	s.answers[path] = c.together(s.answers[path])
	var steps []*plan.Step
	for i := range 120 {
		steps = append(steps, &plan.Step{
			ID: fmt.Sprint(i), Op: plan.OpCreate, Object: ref("ConfigMap", "a").ID, APIVersion: "v1",
			Body: &unstructured.Unstructured{Object: configMap("a")},
		})
	}
	got, err := s.connect(t).Predict(t.Context(), steps, apply.WriteOptions{})
	if err != nil || len(got) != len(steps) {
		t.Fatalf("%d answers, error %v", len(got), err)
	}
	c.check(t)
}

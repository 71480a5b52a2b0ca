package apply_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/plan"
)

// doubted is a cluster that refuses the first server-side apply of the Role named born with a
// conflict, and then answers the first read of it with an error.
type doubted struct {
	*clusterfake.Cluster
	look    error
	refused bool
}

var roles = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "roles"}

func (d *doubted) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if ref.Name == "born" && !d.refused {
		d.refused = true
		return nil, apierrors.NewConflict(roles, "born", errors.New("something on the way says so"))
	}
	return d.Cluster.Patch(ctx, ref, p, o)
}

func (d *doubted) Get(ctx context.Context, ref apply.Ref) (*unstructured.Unstructured, error) {
	if look := d.look; ref.Name == "born" && look != nil {
		d.look = nil
		return nil, look
	}
	return d.Cluster.Get(ctx, ref)
}

// A conflict in answer to a creation means that the object exists only if it can be read:
// otherwise the conflict may be transient, and the creation is tried again.
func TestACreationInDoubtIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		look error
		want string // the error
	}{
		"nothing is there":          {look: nil},
		"a conflict hides it":       {look: apierrors.NewConflict(roles, "born", errors.New("and again"))},
		"an outage hides it":        {look: apierrors.NewServiceUnavailable("down")},
		"nobody may see what it is": {look: apierrors.NewForbidden(roles, "born", errors.New("no")), want: "is forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			env := w.Env()
			env.Cluster = &doubted{Cluster: w, look: c.look}
			p := plannedWith(t, w, plan.Upgrade, revision(2, after), plan.Options{ServerSide: true})
			_, err := apply.Run(t.Context(), p, env)
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Count(strings.Join(w.Log, "; "), "Role/born"); got != 1 {
				t.Errorf("it was written %d times: %q", got, w.Log)
			}
		})
	}
}

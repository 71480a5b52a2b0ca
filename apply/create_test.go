package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
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

// altering is a cluster with an admission webhook that changes the object of that name, and an API server whose
// answer to the first creation of it is lost. by and owner are the field manager and the release of what is there
// afterwards; a hook has no owner.
type altering struct {
	*clusterfake.Cluster
	name, by, owner string
	lost            bool
}

func (a *altering) stored(u *unstructured.Unstructured) *unstructured.Unstructured {
	u = u.DeepCopy()
	u.SetResourceVersion("")
	u.SetLabels(map[string]string{"app": "altered"})
	if a.owner != "" {
		manifest.AddLabels(u, map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
		manifest.AddAnnotations(u, map[string]string{manifest.ReleaseNameAnnotation: a.owner, manifest.ReleaseNamespaceAnnotation: "shop"})
	}
	u.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: a.by}})
	return u
}

func (a *altering) Create(ctx context.Context, u *unstructured.Unstructured, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if u.GetName() != a.name {
		return a.Cluster.Create(ctx, u, o)
	}
	created, err := a.Cluster.Create(ctx, a.stored(u), o)
	if err == nil && !a.lost {
		a.lost = true
		return nil, apierrors.NewServiceUnavailable("the answer is lost")
	}
	return created, err
}

func (a *altering) Patch(ctx context.Context, ref apply.Ref, p apply.Patch, o apply.WriteOptions) (*unstructured.Unstructured, error) {
	if ref.Name != a.name || a.lost {
		return a.Cluster.Patch(ctx, ref, p, o)
	}
	var sent unstructured.Unstructured
	if err := sent.UnmarshalJSON(p.Data); err != nil {
		return nil, err
	}
	return a.Create(ctx, &sent, o)
}

// A creation whose answer was lost is recognised even if a webhook has changed what was sent. An object of
// another field manager or another release, and one that was there before the first attempt, are not.
func TestACreationThatWasAlteredIsRecognised(t *testing.T) {
	for _, serverSide := range []bool{false, true} {
		for name, c := range map[string]struct {
			by, owner string
			before    bool
			fails     bool
		}{
			"by this run":        {by: plan.FieldManager, owner: "web"},
			"by another manager": {by: "kubectl-create", owner: "web", fails: true},
			"by another release": {by: plan.FieldManager, owner: "other", fails: true},
			"before this run":    {by: plan.FieldManager, owner: "web", before: true, fails: true},
		} {
			t.Run(fmt.Sprintf("%s, server-side %t", name, serverSide), func(t *testing.T) {
				w := installed(t)
				p := plannedWith(t, w, plan.Upgrade, revision(2, born), plan.Options{ServerSide: serverSide, FieldManager: plan.FieldManager})
				a := &altering{Cluster: w, name: "born", by: c.by, owner: c.owner, lost: c.before}
				p.Steps(func(_ plan.StageName, s *plan.Step) {
					if s.Object.Name == "born" {
						manifest.AddLabels(s.Body, map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
						manifest.AddAnnotations(s.Body, map[string]string{manifest.ReleaseNameAnnotation: "web", manifest.ReleaseNamespaceAnnotation: "shop"})
						if c.before {
							w.Put(a.stored(s.Body))
						}
					}
				})
				env := w.Env()
				env.Cluster = a
				_, err := apply.Run(t.Context(), p, env)
				if c.fails != apierrors.IsAlreadyExists(err) || !c.fails && err != nil {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

// So is that of a hook, which has no owner: its name was free just before.
func TestAHookThatWasAlteredIsRecognised(t *testing.T) {
	for name, c := range map[string]struct {
		by, owner string
		fails     bool
	}{
		"by this run":        {by: plan.FieldManager},
		"by another manager": {by: "kubectl-create", fails: true},
		"by another release": {by: plan.FieldManager, owner: "other", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			w := installed(t)
			p := plannedWith(t, w, plan.Upgrade, revision(2, before), plan.Options{FieldManager: plan.FieldManager})
			p.Steps(func(_ plan.StageName, s *plan.Step) {
				if s.Object.Name == "migrate" && s.Op == plan.OpRun {
					manifest.AddLabels(s.Body, map[string]string{"app": "sent"})
				}
			})
			env := w.Env()
			env.Cluster = &altering{Cluster: w, name: "migrate", by: c.by, owner: c.owner}
			_, err := apply.Run(t.Context(), p, env)
			if c.fails != apierrors.IsAlreadyExists(err) || !c.fails && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
}

const born = `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: born, namespace: shop, labels: {app: sent}}
`

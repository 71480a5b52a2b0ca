package clusterfake

import (
	"context"
	"encoding/json"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/templating"
)

// Facts returns the facts of a cluster with the Kubernetes version that charts are tested with.
func (c *Cluster) Facts(context.Context) (cluster.Facts, error) {
	return cluster.Facts{KubeVersion: templating.KubeVersion{Version: "v1.36.3", Major: "1", Minor: "36"}, APIVersions: []string{"v1", "apps/v1", "batch/v1"}}, nil
}

// Kinds returns the kinds that are built into Kubernetes; others are unknown.
func (c *Cluster) Kinds(_ context.Context, asked []schema.GroupVersionKind) (map[schema.GroupKind]plan.Kind, error) {
	found := map[schema.GroupKind]plan.Kind{}
	for _, gvk := range asked {
		kind := found[gvk.GroupKind()]
		clusterScoped, known := kinds.Scope(gvk.GroupKind())
		if !known {
			continue
		}
		kind.Scope = manifest.ScopeNamespaced
		if clusterScoped {
			kind.Scope = manifest.ScopeCluster
		}
		kind.Versions = append(kind.Versions, gvk.Version)
		plural, _ := meta.UnsafeGuessKindToResource(gvk)
		kind.Resource = plural.Resource
		found[gvk.GroupKind()] = kind
	}
	return found, nil
}

// Observe returns the objects as they are now.
func (c *Cluster) Observe(_ context.Context, refs []apply.Ref) (map[manifest.ID]plan.Observation, error) {
	c.Mu.Lock()
	defer c.Mu.Unlock()
	seen := map[manifest.ID]plan.Observation{}
	for _, ref := range refs {
		seen[ref.ID] = plan.Observation{}
		if o := c.Objects[ref.ID]; o != nil {
			seen[ref.ID] = plan.Observed(o.DeepCopy())
		}
	}
	return seen, nil
}

// Predict performs each step on a copy of the object. It refuses what Refuse lists.
func (c *Cluster) Predict(_ context.Context, steps []*plan.Step, _ apply.WriteOptions) (map[string]plan.Prediction, error) {
	answers := map[string]plan.Prediction{}
	for _, s := range steps {
		if why := c.Refuse[s.Object]; why != nil {
			answers[s.ID] = plan.Prediction{Refused: why}
			continue
		}
		after, err := c.after(s)
		if err != nil {
			answers[s.ID] = plan.Prediction{Refused: &plan.Refusal{Reason: string(apierrors.ReasonForError(err)), Message: err.Error()}}
			continue
		}
		answers[s.ID] = plan.Prediction{After: after}
	}
	return answers, nil
}

// after returns the object of a step as it would be afterwards.
func (c *Cluster) after(s *plan.Step) (*unstructured.Unstructured, error) {
	if s.PatchType == "" || s.Op == plan.OpReplace || s.Op == plan.OpRecreate {
		return s.Body.DeepCopy(), nil
	}
	data := s.Patch
	if s.PatchType == types.ApplyPatchType {
		var err error
		if data, err = json.Marshal(s.Body); err != nil {
			return nil, err
		}
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	return c.patched(apply.Ref{ID: s.Object}, apply.Patch{Type: s.PatchType, Data: data})
}

// Access denies the permissions in Denied.
func (c *Cluster) Access(_ context.Context, needed []plan.Permission) plan.Access {
	denied := map[plan.Permission]bool{}
	for _, p := range needed {
		denied[p] = c.Denied[p]
	}
	return plan.Access{Denied: denied}
}

// AccessOf is like Access: everybody is denied the same.
func (c *Cluster) AccessOf(ctx context.Context, _ plan.Subject, needed []plan.Permission) plan.Access {
	return c.Access(ctx, needed)
}

// Lookup returns one object, or the list of a kind if name is empty, unless Denied has it.
func (c *Cluster) Lookup(_ context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error) {
	gvk := schema.FromAPIVersionAndKind(apiVersion, kind)
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	if c.Denied[plan.Permission{Verb: "get", Group: gvk.Group, Resource: plural.Resource, Namespace: namespace, Name: name}] {
		return nil, apierrors.NewForbidden(plural.GroupResource(), name, errors.New("no role allows it"))
	}
	c.Mu.Lock()
	defer c.Mu.Unlock()
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": apiVersion, "kind": kind + "List"}}
	for id, o := range c.Objects {
		if o.GetAPIVersion() == apiVersion && id.Kind == kind && (namespace == "" || id.Namespace == namespace) && (name == "" || id.Name == name) {
			list.Items = append(list.Items, *o.DeepCopy())
		}
	}
	switch {
	case name == "":
		return &unstructured.Unstructured{Object: list.UnstructuredContent()}, nil
	case len(list.Items) == 0:
		return nil, apierrors.NewNotFound(schema.GroupResource{Resource: kind}, name)
	}
	return &list.Items[0], nil
}

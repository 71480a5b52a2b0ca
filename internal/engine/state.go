package engine

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	podlabels "k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/readiness"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// ObjectState is an object of a revision with its state in the cluster.
type ObjectState struct {
	manifest.Object
	// Live is nil if the object does not exist or can't be read.
	Live *unstructured.Unstructured
	// Unreadable says why the object can't be read; "" if it can.
	Unreadable string
	readiness.Result
	// Reasons say why the object is not ready.
	Reasons []apply.Reason
}

// State returns the live state of a revision's objects, in the order of its manifest, with reasons
// for those that are not ready. It does not include hooks.
func (e *Engine) State(ctx context.Context, r *release.Revision) ([]ObjectState, error) {
	objects, err := r.Objects()
	if err != nil {
		return nil, err
	}
	kinds, err := e.Cluster.Kinds(ctx, gvks(plan.Input{}, []plan.Sent{{Objects: objects}}))
	if err != nil {
		return nil, err
	}
	objects = manifest.Qualify(objects, r.Namespace, func(gvk schema.GroupVersionKind) manifest.Scope { return kinds[gvk.GroupKind()].Scope })
	wanted := make([]apply.Ref, len(objects))
	for i, o := range objects {
		wanted[i] = apply.Ref{ID: o.ID, Version: o.Version}
	}
	live, err := e.Cluster.Observe(ctx, wanted)
	if err != nil {
		return nil, err
	}
	states, relations := make([]ObjectState, len(objects)), apply.NewRelations(e.Cluster, e.Now, 0)
	var asked []apply.Asked
	var at []int // the indexes in states of the objects in asked
	for i, o := range objects {
		s := ObjectState{Object: o, Live: live[o.ID].Object, Unreadable: live[o.ID].Unreadable}
		switch {
		case s.Unreadable != "":
			s.Result = readiness.Result{State: readiness.Unknown, Why: s.Unreadable}
		case s.Live == nil:
			s.Result = readiness.Result{State: readiness.Failed, Why: "it does not exist"}
		default:
			s.Result = readiness.Check(s.Live, readiness.Context{WaitForJobs: true, Related: relations.Of(ctx, s.Live)})
		}
		if s.Live != nil && (s.State == readiness.Progressing || s.State == readiness.Failed) {
			asked = append(asked, apply.Asked{Ref: apply.Ref{ID: o.ID, Version: o.Version}, Object: s.Live})
			at = append(at, i)
		}
		states[i] = s
	}
	for i, reasons := range e.Cluster.Reasons(ctx, asked) {
		states[at[i]].Reasons = reasons
	}
	return states, nil
}

// Pods returns the pods of objects, one list for each distinct selector, in the order of the
// objects. There are no empty lists, and none for namespaces where pods can't be read.
func (e *Engine) Pods(ctx context.Context, states []ObjectState) []*unstructured.UnstructuredList {
	type key struct{ namespace, selector string }
	all := map[string][]unstructured.Unstructured{}
	seen := map[key]bool{}
	var out []*unstructured.UnstructuredList
	for _, s := range states {
		if s.Live == nil {
			continue
		}
		selector := cluster.PodSelector(s.Live)
		k := key{s.Namespace, selector.String()}
		if selector.Empty() || seen[k] {
			continue
		}
		seen[k] = true
		if _, read := all[s.Namespace]; !read {
			all[s.Namespace] = e.podsIn(ctx, s.Namespace)
		}
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion("v1")
		list.SetKind("PodList")
		list.Items = slices.DeleteFunc(slices.Clone(all[s.Namespace]), func(pod unstructured.Unstructured) bool {
			return !selector.Matches(podlabels.Set(pod.GetLabels()))
		})
		if len(list.Items) > 0 {
			out = append(out, list)
		}
	}
	return out
}

func (e *Engine) podsIn(ctx context.Context, namespace string) []unstructured.Unstructured {
	gvk := kinds.Pod.WithVersion("v1")
	found, err := e.Cluster.Lookup(ctx, gvk.GroupVersion().String(), gvk.Kind, namespace, "")
	if err != nil || found == nil {
		return nil
	}
	list, err := found.ToList()
	if err != nil {
		return nil
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(gvk)
	}
	return list.Items
}

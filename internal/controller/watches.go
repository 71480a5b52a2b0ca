package controller

import (
	"context"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
)

// Indexes of HelmReleases, by what they depend on.
const (
	bySource     = "source"
	byValues     = "values"
	byDependency = "dependency"
)

// indexes maps each index to a function that returns the keys of a HelmRelease in it.
var indexes = map[string]func(*flux.HelmRelease) []string{
	bySource: func(hr *flux.HelmRelease) []string { return []string{hr.ChartSource().String()} },
	byValues: func(hr *flux.HelmRelease) []string {
		var out []string
		for _, ref := range hr.Spec.ValuesFrom {
			out = append(out, flux.Reference{Kind: ref.Kind, Namespace: hr.Metadata.Namespace, Name: ref.Name}.String())
		}
		if holder := hr.Spec.KubeConfig.Holder(); holder != nil {
			out = append(out, holder.In(hr.Metadata.Namespace).String())
		}
		return out
	},
	byDependency: func(hr *flux.HelmRelease) []string {
		var out []string
		for _, dep := range hr.Spec.DependsOn {
			ref := flux.Reference{Kind: flux.KindHelmRelease, Namespace: dep.Namespace, Name: dep.Name}
			out = append(out, ref.In(hr.Metadata.Namespace).String())
		}
		return out
	},
}

// index creates the indexes in the cache.
func index(ctx context.Context, indexer client.FieldIndexer) error {
	for name, keys := range indexes {
		err := indexer.IndexField(ctx, &helmRelease{}, name, func(o client.Object) []string {
			hr, err := decoded(o.(*helmRelease))
			if err != nil {
				return nil
			}
			return keys(hr)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dependents returns requests for the HelmReleases that the index has under a
// reference.
func (r *reconciler) dependents(ctx context.Context, index string, ref flux.Reference) []ctrl.Request {
	found := &listOf[helmReleaseKind]{}
	if err := r.client.List(ctx, found, client.MatchingFields{index: ref.String()}, client.UnsafeDisableDeepCopy); err != nil {
		return nil
	}
	var out []ctrl.Request
	for i := range found.Items {
		out = append(out, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&found.Items[i])})
	}
	return out
}

// whoever returns a handler that enqueues the dependents of objects of a kind.
func (r *reconciler) whoever(index, kind string) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, o client.Object) []ctrl.Request {
		return r.dependents(ctx, index, flux.Reference{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()})
	})
}

// asking are the annotations that request a pass; forceAt and resetAt alone do not.
var asking = []string{flux.AnnotationRequestedAt, flux.AnnotationPlan, flux.AnnotationApprove}

// asked lets through a HelmRelease that is new, is being deleted, or asks for
// something different: a change of its own status is no reason for a pass.
var asked = predicate.Or(predicate.GenerationChangedPredicate{}, predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld, e.ObjectNew
		other := func(name string) bool { return was.GetAnnotations()[name] != is.GetAnnotations()[name] }
		return slices.ContainsFunc(asking, other) ||
			len(was.GetFinalizers()) != len(is.GetFinalizers()) ||
			(was.GetDeletionTimestamp() == nil) != (is.GetDeletionTimestamp() == nil)
	},
})

// released lets a HelmRelease through to those that depend on it if its readiness,
// conditions or generation have changed.
var released = predicate.Funcs{
	UpdateFunc: func(e event.UpdateEvent) bool {
		was, err := decoded(e.ObjectOld.(*helmRelease))
		is, err2 := decoded(e.ObjectNew.(*helmRelease))
		return err != nil || err2 != nil || decision.Ready(was) != decision.Ready(is) ||
			is.Metadata.Generation != was.Metadata.Generation || !reflect.DeepEqual(was.Status.Conditions, is.Status.Conditions)
	},
}

// artifact lets through a source whose generation or status has changed.
func artifact[K any]() predicate.Funcs {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		was, is := e.ObjectOld.(*object[K]), e.ObjectNew.(*object[K])
		return was.Generation != is.Generation || string(was.Status) != string(is.Status)
	}}
}

// labelled lets through objects with the label by which their changes count
// immediately, and new resource versions only.
func labelled(selector labels.Selector) predicate.Predicate {
	return predicate.And(predicate.ResourceVersionChangedPredicate{}, predicate.NewPredicateFuncs(func(o client.Object) bool {
		return selector.Matches(labels.Set(o.GetLabels()))
	}))
}

// recordEvents updates the digests of records and enqueues nothing: as with
// helm-controller, a record that somebody edits is seen by the next pass.
func (m *recordDigests) recordEvents() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, _ queue) { m.toggle(e.Object) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, _ queue) {
			m.toggle(e.ObjectOld)
			m.toggle(e.ObjectNew)
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, _ queue) { m.toggle(e.Object) },
	}
}

// metadataOf returns an object that stands for the metadata of a core kind.
func metadataOf(kind string) *metav1.PartialObjectMetadata {
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind))
	return o
}

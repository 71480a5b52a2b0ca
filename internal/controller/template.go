package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// madeSource returns the source that helm-controller makes from spec.chart, or nil
// if chartRef names one. The spec is the template's own, so fields of later API
// versions are kept; its namespace is that of the template's source.
func madeSource(hr *flux.HelmRelease) *unstructured.Unstructured {
	t := hr.Spec.Chart
	if t == nil || t.Spec == nil {
		return nil
	}
	spec, ok, err := unstructured.NestedMap(hr.Object, "spec", "chart", "spec")
	if !ok || err != nil {
		return nil
	}
	if ref, ok := spec["sourceRef"].(map[string]any); ok {
		spec["sourceRef"] = map[string]any{"kind": ref["kind"], "name": ref["name"]}
	}
	if spec["interval"] == nil {
		spec["interval"] = hr.Spec.Interval.Duration.String()
	}
	labels := map[string]string{}
	ref := hr.ChartSource()
	out := &unstructured.Unstructured{}
	out.SetAPIVersion(sourceVersion.String())
	out.SetKind(ref.Kind)
	out.SetNamespace(ref.Namespace)
	out.SetName(ref.Name)
	if m := t.Metadata; m != nil {
		maps.Copy(labels, m.Labels)
		out.SetAnnotations(m.Annotations)
	}
	labels[flux.OriginName], labels[flux.OriginNamespace] = hr.Metadata.Name, hr.Metadata.Namespace
	out.SetLabels(labels)
	out.Object["spec"] = spec
	return out
}

// template brings the source that is made from spec.chart up to date, and deletes
// one that is no longer wanted. It writes only if something differs or the
// generation is new. It returns the value of status.helmChart and, for an event,
// what was done.
func (r *reconciler) template(ctx context.Context, v *view) (helmChart, done string, err error) {
	hr := v.hr
	made := madeSource(hr)
	named := ""
	if made != nil {
		named = made.GetNamespace() + "/" + made.GetName()
		if made.GetKind() != flux.KindHelmChart {
			named = made.GetKind() + "/" + named
		}
	}
	if was := hr.Status.HelmChart; was != "" && was != named {
		if err := r.verify(ctx, v); err != nil {
			return was, "", err
		}
		if err := r.deleteSource(ctx, hr); err != nil {
			return was, "", err
		}
	}
	if made == nil {
		return "", "", nil
	}
	live, err := r.source(ctx, hr.ChartSource())
	switch {
	case apierrors.IsNotFound(err):
		done = "Created"
	case err != nil:
		return named, "", err
	case holds(live, made) && hr.Metadata.Generation == hr.Status.ObservedGeneration:
		return named, "", nil
	case !holds(live, made):
		done = "Configured"
	}
	if err := r.verify(ctx, v); err != nil {
		return named, "", err
	}
	if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(made), client.FieldOwner(flux.FieldManager), client.ForceOwnership); err != nil {
		return named, "", fmt.Errorf("%s of %s: %w", hr.ChartSource(), hr, err)
	}
	if v.source, err = flux.DecodeSource(made.Object); err != nil {
		return named, "", err
	}
	if done != "" {
		done += " " + hr.ChartSource().String()
		if ref := hr.Spec.Chart.Spec.SourceRef; ref != nil {
			done += fmt.Sprintf(" with SourceRef '%s'", ref.In(hr.Metadata.Namespace))
		}
	}
	return named, done, nil
}

// deleteSource deletes the source that status.helmChart names, unless it belongs to
// another HelmRelease.
func (r *reconciler) deleteSource(ctx context.Context, hr *flux.HelmRelease) error {
	kind, named := flux.KindHelmChart, hr.Status.HelmChart
	if strings.Count(named, "/") == 2 {
		kind, named, _ = strings.Cut(named, "/")
	}
	namespace, name, _ := strings.Cut(named, "/")
	o := &metav1.PartialObjectMetadata{}
	o.SetGroupVersionKind(sourceVersion.WithKind(kind))
	err := r.live.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, o)
	if err == nil && (o.Labels[flux.OriginName] != hr.Metadata.Name || o.Labels[flux.OriginNamespace] != hr.Metadata.Namespace) {
		return nil
	}
	if err == nil {
		err = r.client.Delete(ctx, o, client.Preconditions{UID: &o.UID})
	}
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("delete %s %s: %w", kind, named, err)
	}
	return nil
}

// holds reports whether a live source has all wanted labels, annotations and fields
// of its spec.
func holds(live *flux.Source, wanted *unstructured.Unstructured) bool {
	contains := func(have, want map[string]string) bool {
		for k, v := range want {
			if got, ok := have[k]; !ok || got != v {
				return false
			}
		}
		return true
	}
	if !contains(live.Metadata.Labels, wanted.GetLabels()) || !contains(live.Metadata.Annotations, wanted.GetAnnotations()) {
		return false
	}
	have, _ := live.Object["spec"].(map[string]any)
	want, _ := wanted.Object["spec"].(map[string]any)
	for k, v := range want {
		if !reflect.DeepEqual(plain(have[k]), plain(v)) {
			return false
		}
	}
	return true
}

// plain returns a value with the types that decoded JSON has.
func plain(v any) any {
	data, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var out any
	_ = json.Unmarshal(data, &out)
	return out
}

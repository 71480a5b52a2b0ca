package controller

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// A change of an object, including its metadata, changes the digest of its HelmRelease and
// requests a pass; a change of its status does not, nor does the first list, nor a repeated
// list.
func TestDriftWatchTellsChanges(t *testing.T) {
	key, kind := client.ObjectKey{Namespace: "apps", Name: "web"}, schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
	d := &driftWatch{
		sums: sums{digests: map[client.ObjectKey]fingerprint{}}, changed: make(chan event.GenericEvent, 10), last: map[client.ObjectKey]time.Time{}, asked: map[client.ObjectKey]bool{},
		wanted: func(of client.ObjectKey, last time.Time) bool { return of == key && last.IsZero() },
	}
	object := func(version string, generation int64, annotation string, written ...metav1.ManagedFieldsEntry) any {
		o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
			Namespace: "elsewhere", Name: "web", UID: types.UID("u"), ResourceVersion: version, Generation: generation,
			Labels:      map[string]string{flux.OriginName: "web", flux.OriginNamespace: "apps"},
			Annotations: map[string]string{"a": annotation, "autoscaling.alpha.kubernetes.io/conditions": version}, ManagedFields: written,
		}}
		kept, err := state(o)
		if err != nil {
			t.Fatal(err)
		}
		return kept
	}
	told := func(what string, want bool) {
		t.Helper()
		if got := len(d.changed) == 1; got != want {
			t.Errorf("%s: told %v, want %v", what, got, want)
		}
		for len(d.changed) > 0 {
			<-d.changed
		}
	}
	first := object("1", 1, "x")
	d.recordChange(kind, false, first)
	told("the first list", false)
	digest := d.of(key)
	if digest == (fingerprint{}) {
		t.Fatal("the object is not seen")
	}
	d.recordChange(kind, true, first, object("2", 1, "x"))
	told("its status", false)
	if d.of(key) != digest {
		t.Error("its status counts")
	}
	d.recordChange(kind, true, object("2", 1, "x"), object("3", 2, "x"))
	told("its spec", true)
	d.recordChange(kind, true, object("3", 2, "x"), object("4", 2, "y"))
	told("an annotation", true)
	d.recordChange(kind, true, object("4", 0, ""), object("5", 0, ""))
	told("an object without generations", true)
	write := func(manager, subresource string, second int64, fields string) metav1.ManagedFieldsEntry {
		at := metav1.Unix(second, 0)
		return metav1.ManagedFieldsEntry{Manager: manager, Subresource: subresource, Time: &at, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	made, scaled := write("helm-controller", "", 1, `{"f:spec":{}}`), write("kube-controller-manager", "status", 2, `{"f:status":{}}`)
	scaler := object("5", 0, "", made, scaled)
	d.recordChange(kind, true, scaler, object("6", 0, "", made, write("kube-controller-manager", "status", 3, `{"f:status":{}}`)))
	told("the status of an object without generations", false)
	d.recordChange(kind, true, scaler, object("6", 0, "", made, write("kubectl", "", 3, `{"f:spec":{}}`), scaled))
	told("the spec of an object without generations", true)
	d.recordChange(kind, true, scaler, object("6", 0, "", write("helm-controller", "", 1, `{}`), scaled))
	told("a field that is removed from an object without generations", true)
	d.recordChange(kind, true, object("5", 0, "", made), object("6", 0, "", made))
	told("an object without generations whose status was never written", true)
	d.recordChange(kind, true, object("5", 0, "", scaled), object("6", 0, "", scaled))
	told("an object without generations of which only the writer of the status is known", true)
	d.recordChange(kind, true, object("4", 2, "y"))
	told("that it is gone", true)
	clear(d.digests)
	versions := []schema.GroupVersionKind{kind, kind.GroupKind().WithVersion("v1")}
	for _, k := range versions {
		d.recordChange(k, false, first)
	}
	digest = d.of(key)
	for _, k := range versions {
		d.recordChange(k, false, first, object("3", 2, "x"))
	}
	if digest == (fingerprint{}) || d.of(key) == digest {
		t.Error("an object is not seen, or its change, if its kind is watched in two versions")
	}
	d.driftHandled(key, time.Unix(1, 0))
	d.recordChange(kind, true, object("5", 3, ""))
	told("soon behind another one", false)
}

// No annotations are the same as none that are left without those of autoscaling/v1.
func TestNoAnnotationsAreOneState(t *testing.T) {
	states := map[string]bool{}
	for _, annotations := range []map[string]string{nil, {}, {conditionsOfV1: "[]"}} {
		o := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "web", Generation: 1, Annotations: annotations}}
		if _, err := state(o); err != nil {
			t.Fatal(err)
		}
		states[o.Annotations[stateAnnotation]] = true
	}
	if len(states) != 1 {
		t.Errorf("%d states", len(states))
	}
}

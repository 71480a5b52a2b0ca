package controller

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/reconcile"
)

// shelf is an API server with at most one source, and the HelmRelease apps/web.
type shelf struct {
	client.Client
	source map[string]any
	writes int
}

func (s *shelf) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if m, ok := into.(*metav1.PartialObjectMetadata); ok && m.Kind == flux.KindHelmRelease {
		m.ResourceVersion = "1"
		return nil
	}
	_, cached := into.(*object[ociRepositoryKind])
	if k := into.GetObjectKind().GroupVersionKind().Kind; !cached && k != flux.KindOCIRepository {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	if s.source == nil || key != (client.ObjectKey{Namespace: "apps", Name: "apps-web"}) {
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	data, err := json.Marshal(s.source)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func (s *shelf) Apply(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	data, err := json.Marshal(o)
	if err != nil {
		return err
	}
	s.writes++
	s.source = nil
	return json.Unmarshal(data, &s.source)
}

func (s *shelf) Delete(_ context.Context, o client.Object, options ...client.DeleteOption) error {
	var with client.DeleteOptions
	with.ApplyOptions(options)
	if o.GetObjectKind().GroupVersionKind().Kind != s.source["kind"] || with.Preconditions == nil || *with.Preconditions.UID != o.GetUID() {
		return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), nil)
	}
	s.writes++
	s.source = nil
	return nil
}

// A template of the kind OCIRepository (helm-controller 1.7) becomes an OCIRepository in the HelmRelease's
// namespace; it is written only if something differs, and deleted when it is no longer referenced, unless it
// belongs to another HelmRelease.
func TestTemplateOfAnOCIRepository(t *testing.T) {
	s := &shelf{}
	r := &reconciler{client: s, live: s}
	templated := func(spec map[string]any, status map[string]any) (*flux.HelmRelease, string, string) {
		t.Helper()
		spec["interval"] = "10m"
		hr, err := flux.DecodeHelmRelease(map[string]any{
			"apiVersion": helmVersion.String(), "kind": flux.KindHelmRelease,
			"metadata": map[string]any{"namespace": "apps", "name": "web", "generation": 1}, "spec": spec, "status": status,
		})
		if err != nil {
			t.Fatal(err)
		}
		o := &helmRelease{}
		o.ResourceVersion = "1"
		named, done, err := r.template(t.Context(), &view{object: o, hr: hr})
		if err != nil {
			t.Fatal(err)
		}
		return hr, named, done
	}
	of := func(tag string) map[string]any {
		return map[string]any{"chart": map[string]any{
			"kind": "OCIRepository", "metadata": map[string]any{"labels": map[string]any{"team": "shop"}},
			"spec": map[string]any{"url": "oci://example.com/app", "ref": map[string]any{"tag": tag}},
		}}
	}
	const name = "OCIRepository/apps/apps-web"
	settled := map[string]any{"helmChart": name, "observedGeneration": 1}
	for i, c := range []struct {
		tag, done string
		status    map[string]any
		writes    int
	}{
		{"1.0.0", "Created " + name, map[string]any{}, 1},
		{"1.0.0", "", settled, 1},
		{"1.1.0", "Configured " + name, settled, 2},
	} {
		hr, named, done := templated(of(c.tag), c.status)
		if named != name || done != c.done || s.writes != c.writes {
			t.Errorf("%d: it is %q, %q, %d writes", i, named, done, s.writes)
		}
		want := map[string]any{
			"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": "OCIRepository",
			"metadata": map[string]any{"namespace": "apps", "name": "apps-web", "labels": map[string]any{
				"team": "shop", flux.OriginName: "web", flux.OriginNamespace: "apps",
			}},
			"spec": map[string]any{"url": "oci://example.com/app", "ref": map[string]any{"tag": c.tag}, "interval": "10m0s"},
		}
		if !reflect.DeepEqual(s.source, want) {
			t.Errorf("%d: there is %v, want %v", i, s.source, want)
		}
		if got := hr.ChartSource().String(); got != name {
			t.Error(got)
		}
	}
	elsewhere := func() map[string]any {
		return map[string]any{"chartRef": map[string]any{"kind": "HelmChart", "name": "other"}}
	}
	labels := s.source["metadata"].(map[string]any)["labels"].(map[string]any)
	labels[flux.OriginName] = "another"
	if templated(elsewhere(), settled); s.source == nil {
		t.Error("another HelmRelease's source is deleted")
	}
	labels[flux.OriginName] = "web"
	if _, named, _ := templated(elsewhere(), settled); s.source != nil || named != "" {
		t.Errorf("it is still %q: %v", named, s.source)
	}
}

// lagging is an API server whose cache does not have what was just applied yet.
type lagging struct {
	*shelf
	answer map[string]any
}

func (l *lagging) Apply(_ context.Context, o runtime.ApplyConfiguration, _ ...client.ApplyOption) error {
	data, err := json.Marshal(l.answer)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, o)
}

// A pass that changes the source of its chart waits until that has been fetched: the artifact in the
// cache is still that of the source before.
func TestAChangedSourceIsNotReadyYet(t *testing.T) {
	of := func(tag string, generation int) map[string]any {
		return map[string]any{
			"apiVersion": sourceVersion.String(), "kind": flux.KindOCIRepository,
			"metadata": map[string]any{"namespace": "apps", "name": "apps-web", "generation": generation},
			"spec":     map[string]any{"url": "oci://example.com/app", "ref": map[string]any{"tag": tag}, "interval": "10m0s"},
			"status":   map[string]any{"observedGeneration": 1, "artifact": map[string]any{"revision": "1.0.0@sha256:1", "url": "http://source/1.tgz"}},
		}
	}
	s := &lagging{&shelf{source: of("1.0.0", 1)}, of("1.1.0", 2)}
	r := &reconciler{client: s, live: s, events: &events{records: &eventWriter{queue: make(chan *corev1.Event, 100)}, log: logr.Discard(), now: time.Now}}
	hr, err := flux.DecodeHelmRelease(map[string]any{
		"apiVersion": helmVersion.String(), "kind": flux.KindHelmRelease, "metadata": map[string]any{"namespace": "apps", "name": "web", "generation": 2},
		"spec":   map[string]any{"interval": "10m", "chart": map[string]any{"kind": "OCIRepository", "spec": map[string]any{"url": "oci://example.com/app", "ref": map[string]any{"tag": "1.1.0"}}}},
		"status": map[string]any{"helmChart": "OCIRepository/apps/apps-web", "observedGeneration": 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := &helmRelease{}
	o.ResourceVersion = "1"
	var in reconcile.Sources
	r.sources(t.Context(), &view{object: o, hr: hr}, &in)
	if in.Err != nil || in.Source == nil || in.Source.NotReady() == "" {
		t.Errorf("it is ready: %+v, %v", in.Source, in.Err)
	}
}

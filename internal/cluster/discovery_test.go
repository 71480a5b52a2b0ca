package cluster_test

import (
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// aggregate makes discovery answer in the aggregated form of Kubernetes 1.30
// and later; stale lists the group versions whose server is down.
func (s *server) aggregate(stale ...string) {
	resource := func(plural, kind, scope string) map[string]any {
		return map[string]any{"resource": plural, "scope": scope, "verbs": []string{"get", "list"}, "responseKind": map[string]any{"kind": kind}}
	}
	group := func(gv string, resources ...any) map[string]any {
		name, version, ok := strings.Cut(gv, "/")
		if !ok {
			name, version = "", gv
		}
		freshness := "Current"
		if slices.Contains(stale, gv) {
			freshness, resources = "Stale", nil
		}
		return map[string]any{
			"metadata": map[string]any{"name": name},
			"versions": []any{map[string]any{"version": version, "freshness": freshness, "resources": resources}},
		}
	}
	reply := func(key string, groups ...any) {
		s.answers[key] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
			encode(w, map[string]any{"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": groups})
		}
	}
	scale := map[string]any{"subresource": "scale", "verbs": []string{"get"}, "responseKind": map[string]any{"kind": "Scale"}}
	deployments := resource("deployments", "Deployment", "Namespaced")
	deployments["subresources"] = []any{scale}
	reply("GET /api", group("v1", resource("configmaps", "ConfigMap", "Namespaced"), resource("namespaces", "Namespace", "Cluster")))
	reply("GET /apis", group("apps/v1", deployments), group("broken.io/v1", resource("things", "Thing", "Namespaced")))
}

var deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// Discovery costs the first run two requests; later runs find everything on
// disk.
func TestAggregatedDiscoveryIsTwoRequestsOnce(t *testing.T) {
	s := newServer(t)
	s.aggregate()
	for run, want := range []int{2, 0, 0} {
		c := s.connect(t)
		for range 3 {
			if _, err := c.Kinds(t.Context(), []schema.GroupVersionKind{deployment}); err != nil {
				t.Fatal(err)
			}
		}
		if got := s.discovery(); got != want {
			t.Errorf("run %d sent %d requests, want %d", run, got, want)
		}
		s.requests()
	}
}

// S28: if an aggregated server is down, its group is stale. Its kinds are unavailable,
// not unknown, and a template that checks for its version still finds it.
func TestStaleGroupIsUnavailable(t *testing.T) {
	s := newServer(t)
	s.aggregate("broken.io/v1")
	s.reply("GET /version", map[string]any{"gitVersion": "v1.36.3"})
	c := s.connect(t)
	facts, err := c.Facts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"v1", "apps/v1/Deployment", "apps/v1/Scale", "broken.io/v1"} {
		if !slices.Contains(facts.APIVersions, want) {
			t.Errorf("API versions %v lack %s", facts.APIVersions, want)
		}
	}
	if got := facts.Undiscovered; len(got) != 1 || got["broken.io/v1"] == "" {
		t.Errorf("undiscovered are %v, want broken.io/v1", got)
	}
	thing := schema.GroupVersionKind{Group: "broken.io", Version: "v1", Kind: "Thing"}
	kinds, err := c.Kinds(t.Context(), []schema.GroupVersionKind{thing, deployment})
	if err != nil {
		t.Fatal(err)
	}
	if k := kinds[thing.GroupKind()]; k.Unavailable == "" || len(k.Versions) != 0 {
		t.Errorf("Thing is %+v, want it unavailable", k)
	}
	if k := kinds[deployment.GroupKind()]; k.Unavailable != "" || k.Scope != manifest.ScopeNamespaced {
		t.Errorf("Deployment is %+v", k)
	}
	lost := apply.Ref{ID: manifest.ID{Group: "broken.io", Kind: "Thing", Namespace: "shop", Name: "a"}, Version: "v1"}
	seen, err := c.Observe(t.Context(), []apply.Ref{lost})
	if err != nil {
		t.Fatal(err)
	}
	if o := seen[lost.ID]; o.Unreadable == "" {
		t.Errorf("the Thing is %+v, want it unreadable: it would be taken for gone", o)
	}
}

// A proxy's 404 is no answer: client-go takes one for a core API without kinds.
func TestAProxysAnswerIsNotDiscovery(t *testing.T) {
	for path, strays := range map[string]int{"GET /api": 2, "GET /apis": 2, "GET /api/v1": 1} {
		s := newServer(t)
		if path != "GET /api/v1" {
			s.aggregate()
		}
		s.answers[path] = busy(strays, http.StatusNotFound, nil, s.answers[path])
		kinds, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{configMaps})
		if err != nil || len(kinds[configMaps.GroupKind()].Versions) != 1 {
			t.Errorf("%s: ConfigMap is %+v, error %v", path, kinds, err)
		}
	}
}

// However many unknown kinds are requested, discovery runs only once.
func TestUnknownKindsAreNoRequestStorm(t *testing.T) {
	s := newServer(t)
	s.aggregate()
	c := s.connect(t)
	var refs []apply.Ref
	for _, name := range strings.Split(strings.Repeat("x ", 200), " ") {
		refs = append(refs, apply.Ref{ID: manifest.ID{Group: "none.io", Kind: "None" + name, Namespace: "shop", Name: name}, Version: "v1"})
	}
	if _, err := c.Observe(t.Context(), refs); err != nil {
		t.Fatal(err)
	}
	if got := s.discovery(); got > 2 {
		t.Errorf("%d requests, want discovery's two", got)
	}
}

// S15: if the cache on disk has a version that is no longer served, the object is read
// through the one that is served now, not taken for gone.
func TestObserveRefreshesAnOldCache(t *testing.T) {
	s := newServer(t)
	s.reply("GET /apis", groups("apps/v1", "old.io/v1beta1"))
	s.reply("GET /apis/old.io/v1beta1", resources("old.io/v1beta1", "things Thing"))
	thing := apply.Ref{ID: manifest.ID{Group: "old.io", Kind: "Thing", Namespace: "shop", Name: "a"}, Version: "v1beta1"}
	if _, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{thing.GVK()}); err != nil {
		t.Fatal(err)
	}
	s.reply("GET /apis", groups("apps/v1", "old.io/v1"))
	s.reply("GET /apis/old.io/v1", resources("old.io/v1", "things Thing"))
	s.answers["GET /apis/old.io/v1beta1/namespaces/shop/things/a"] = http.NotFound
	s.reply("GET /apis/old.io/v1/namespaces/shop/things/a", map[string]any{
		"apiVersion": "old.io/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "shop"},
	})
	seen, err := s.connect(t).Observe(t.Context(), []apply.Ref{thing})
	if err != nil {
		t.Fatal(err)
	}
	if o := seen[thing.ID]; o.Object == nil || o.Object.GetAPIVersion() != "old.io/v1" {
		t.Errorf("the Thing is %+v, want it read in v1", o)
	}
}

// Discovery follows the deletion of a CRD a moment later: until then its custom resources are looked for again,
// however new the results of discovery are, and then they do not exist.
func TestObserveWaitsForDiscovery(t *testing.T) {
	s := newServer(t)
	s.reply("GET /version", map[string]any{"gitVersion": "v1.36.3"})
	s.reply("GET /apis/new.io/v1", resources("new.io/v1", "things Thing"))
	thing := apply.Ref{ID: manifest.ID{Group: "new.io", Kind: "Thing", Namespace: "shop", Name: "a"}, Version: "v1"}
	var looks atomic.Int32
	s.answers["GET /apis/new.io/v1/namespaces/shop/things/a"] = func(w http.ResponseWriter, r *http.Request) {
		looks.Add(1)
		http.NotFound(w, r)
	}
	s.answers["GET /apis"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if looks.Load() < 3 {
			encode(w, groups("apps/v1", "new.io/v1"))
		} else {
			encode(w, groups("apps/v1"))
		}
	}
	c := s.connect(t)
	if _, err := c.Facts(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen, err := c.Observe(t.Context(), []apply.Ref{thing})
	if err != nil {
		t.Fatal(err)
	}
	if o, looked := seen[thing.ID]; !looked || o.Object != nil || o.Unreadable != "" {
		t.Errorf("the Thing is %+v after %d looks, want it missing", o, looks.Load())
	}
}

// A request for a kind whose API is down fails with a transient error, not as an unknown kind.
func TestWriteToAStaleGroupIsUnavailable(t *testing.T) {
	s := newServer(t)
	s.aggregate("broken.io/v1")
	_, err := s.connect(t).Get(t.Context(), apply.Ref{ID: manifest.ID{Group: "broken.io", Kind: "Thing", Namespace: "shop", Name: "a"}, Version: "v1"})
	if reason := reasonOf(err); reason != metav1.StatusReasonServiceUnavailable {
		t.Errorf("the error is %v (%s), want ServiceUnavailable", err, reason)
	}
}

// A custom resource whose kind happens to be CustomResourceDefinition does not define a kind
// that nobody serves: only Kubernetes' own CustomResourceDefinition does, and what it does not allow is
// told.
func TestValidateKnowsWhatDefinesKinds(t *testing.T) {
	for group, defines := range map[string]bool{"apiextensions.k8s.io": true, "platform.x.io": false} {
		s := newServer(t)
		definition := group + "/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.x.io}\nspec: {group: x.io, names: {kind: Widget}, versions: [{name: v1, schema: {openAPIV3Schema: {required: [spec]}}}]}\n"
		objects, err := manifest.ParseDocument("apiVersion: x.io/v1\nkind: Widget\nmetadata: {name: w}\n", "widget.yaml")
		if err != nil {
			t.Fatal(err)
		}
		crds, err := manifest.ParseDocument("apiVersion: "+definition, "crd.yaml")
		if err != nil {
			t.Fatal(err)
		}
		verdicts, err := s.connect(t).Validate(t.Context(), objects, crds, "shop")
		if err != nil {
			t.Fatal(err)
		}
		if v := verdicts[0]; (v.Refused == "") != defines || (v.SchemaErrors == "spec is required") != defines {
			t.Errorf("%s: %+v", group, v)
		}
	}
}

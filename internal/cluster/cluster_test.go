package cluster_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// server is an API server that gives canned answers and records its requests.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	seen    []string
	answers map[string]http.HandlerFunc // by method and path
	cache   string
}

func newServer(t *testing.T) *server {
	s := &server{answers: map[string]http.HandlerFunc{}, cache: t.TempDir()}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	s.reply("GET /api", metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}})
	s.reply("GET /apis", groups("apps/v1", "broken.io/v1"))
	s.reply("GET /api/v1", resources("v1", "configmaps ConfigMap", "secrets Secret", "namespaces Namespace -"))
	s.reply("GET /apis/apps/v1", resources("apps/v1", "deployments Deployment"))
	s.refuse("GET /apis/broken.io/v1", http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable, "the backend is away")
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	key := r.Method + " " + r.URL.Path
	s.mu.Lock()
	s.seen = append(s.seen, key)
	answer := s.answers[key]
	s.mu.Unlock()
	if answer == nil {
		answer = status(http.StatusNotFound, metav1.Status{Reason: metav1.StatusReasonNotFound, Message: "not found"})
	}
	answer(w, r)
}

func (s *server) reply(key string, body any) {
	s.answers[key] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (s *server) refuse(key string, code int, reason metav1.StatusReason, message string) {
	s.answers[key] = status(code, metav1.Status{Reason: reason, Message: message})
}

func status(code int, st metav1.Status) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		st.Kind, st.APIVersion, st.Status, st.Code = "Status", "v1", metav1.StatusFailure, int32(code)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(st)
	}
}

// requests returns the requests since the last call, without discovery.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.seen {
		if strings.Contains(r, "/namespaces/") {
			out = append(out, r)
		}
	}
	s.seen = nil
	slices.Sort(out)
	return out
}

func (s *server) discovery() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.seen {
		if !strings.Contains(r, "/namespaces/") {
			n++
		}
	}
	return n
}

func (s *server) connect(t *testing.T) *cluster.Client {
	t.Helper()
	c, err := cluster.Connect(&rest.Config{Host: s.URL}, cluster.Options{CacheDir: s.cache})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func groups(versions ...string) metav1.APIGroupList {
	list := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList"}}
	for _, gv := range versions {
		group, version, _ := strings.Cut(gv, "/")
		v := metav1.GroupVersionForDiscovery{GroupVersion: gv, Version: version}
		list.Groups = append(list.Groups, metav1.APIGroup{Name: group, Versions: []metav1.GroupVersionForDiscovery{v}, PreferredVersion: v})
	}
	return list
}

// resources returns the resources for kinds given as "plural Kind", with a third word if they are
// cluster-scoped.
func resources(gv string, kinds ...string) metav1.APIResourceList {
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList"}, GroupVersion: gv}
	for _, k := range kinds {
		words := strings.Fields(k)
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: words[0], Kind: words[1], Namespaced: len(words) == 2, Verbs: metav1.Verbs{"get", "list", "watch", "create"},
		})
	}
	return list
}

func configMap(name string) map[string]any {
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": name, "namespace": "shop"}}
}

func ref(kind, name string) apply.Ref {
	return apply.Ref{ID: manifest.ID{Kind: kind, Namespace: "shop", Name: name}, Version: "v1"}
}

// Three objects of a kind are read by one LIST, fewer by GETs; objects of a kind that nobody
// serves cost no requests and do not exist.
func TestObserveChoosesListOrGet(t *testing.T) {
	s := newServer(t)
	s.reply("GET /api/v1/namespaces/shop/configmaps", map[string]any{
		"kind": "ConfigMapList", "apiVersion": "v1", "items": []any{configMap("a"), configMap("b"), configMap("other")},
	})
	s.refuse("GET /api/v1/namespaces/shop/secrets/s", http.StatusForbidden, metav1.StatusReasonForbidden, "no secrets for you")
	c := s.connect(t)
	got, err := c.Observe(t.Context(), []apply.Ref{
		ref("ConfigMap", "a"), ref("ConfigMap", "b"), ref("ConfigMap", "gone"), ref("Secret", "s"), ref("Widget", "w"),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"GET /api/v1/namespaces/shop/configmaps", "GET /api/v1/namespaces/shop/secrets/s"}
	if diff := cmp.Diff(want, s.requests()); diff != "" {
		t.Errorf("requests: %s", diff)
	}
	if got[ref("ConfigMap", "a").ID].Object == nil || got[ref("ConfigMap", "gone").ID].Object != nil {
		t.Errorf("observed %v", got)
	}
	if o := got[ref("Secret", "s").ID]; !strings.Contains(o.Unreadable, "no secrets for you") {
		t.Errorf("the Secret is %+v", o)
	}
	if o, looked := got[ref("Widget", "w").ID]; !looked || o.Object != nil || o.Unreadable != "" {
		t.Errorf("the Widget is %+v", o)
	}
}

// Objects are read by GETs if LIST is forbidden.
func TestObserveGetsWhereListIsForbidden(t *testing.T) {
	s := newServer(t)
	s.refuse("GET /api/v1/namespaces/shop/configmaps", http.StatusForbidden, metav1.StatusReasonForbidden, "no list")
	for _, name := range []string{"a", "b", "c"} {
		s.reply("GET /api/v1/namespaces/shop/configmaps/"+name, configMap(name))
	}
	got, err := s.connect(t).Observe(t.Context(), []apply.Ref{ref("ConfigMap", "a"), ref("ConfigMap", "b"), ref("ConfigMap", "c")})
	if err != nil {
		t.Fatal(err)
	}
	for id, o := range got {
		if o.Object == nil {
			t.Errorf("%s was not read: %+v", id, o)
		}
	}
	if n := len(s.requests()); n != 4 {
		t.Errorf("%d requests, want a LIST and three GETs", n)
	}
}

// S28: one aggregated API that is down does not affect the others, and is reported.
func TestKindsOfABrokenGroup(t *testing.T) {
	s := newServer(t)
	kinds, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "Deployment"}, {Group: "broken.io", Version: "v1", Kind: "Thing"}, {Version: "v1", Kind: "Namespace"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if k := kinds[schema.GroupKind{Group: "apps", Kind: "Deployment"}]; k.Scope != manifest.ScopeNamespaced || !slices.Equal(k.Versions, []string{"v1"}) {
		t.Errorf("Deployment is %+v", k)
	}
	if k := kinds[schema.GroupKind{Kind: "Namespace"}]; k.Scope != manifest.ScopeCluster {
		t.Errorf("Namespace is %+v", k)
	}
	if k := kinds[schema.GroupKind{Group: "broken.io", Kind: "Thing"}]; k.Unavailable == "" || len(k.Versions) != 0 {
		t.Errorf("Thing is %+v", k)
	}
}

// The same holds for aggregated discovery, which leaves such a group without versions.
func TestKindsOfAGroupWithoutVersions(t *testing.T) {
	s := newServer(t)
	list := groups("apps/v1", "broken.io/v1")
	list.Groups[1].Versions = nil
	s.reply("GET /apis", list)
	kinds, err := s.connect(t).Kinds(t.Context(), []schema.GroupVersionKind{{Group: "broken.io", Version: "v1", Kind: "Thing"}})
	if err != nil {
		t.Fatal(err)
	}
	if k := kinds[schema.GroupKind{Group: "broken.io", Kind: "Thing"}]; k.Unavailable == "" {
		t.Errorf("Thing is %+v", k)
	}
}

// A path that no longer exists says nothing about the object.
func TestObserveTellsAMissingPathFromAMissingObject(t *testing.T) {
	s := newServer(t)
	s.answers["GET /api/v1/namespaces/shop/configmaps/a"] = func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "404 page not found", http.StatusNotFound)
	}
	got, err := s.connect(t).Observe(t.Context(), []apply.Ref{ref("ConfigMap", "a"), ref("ConfigMap", "b")})
	if err != nil {
		t.Fatal(err)
	}
	if o := got[ref("ConfigMap", "a").ID]; o.Unreadable == "" {
		t.Errorf("a missing path passes for a missing object: %+v", o)
	}
	if o, looked := got[ref("ConfigMap", "b").ID]; !looked || o.Unreadable != "" || o.Object != nil {
		t.Errorf("a missing object is %+v", o)
	}
}

// Discovery is cached on disk: the next run sends no requests for it.
func TestDiscoveryIsCachedOnDisk(t *testing.T) {
	s := newServer(t)
	s.reply("GET /apis", groups("apps/v1"))
	deployment := []schema.GroupVersionKind{{Group: "apps", Version: "v1", Kind: "Deployment"}}
	if _, err := s.connect(t).Kinds(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	first := s.discovery()
	if _, err := s.connect(t).Kinds(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	if again := s.discovery() - first; first == 0 || again != 0 {
		t.Errorf("the first run asked %d times, the second %d", first, again)
	}
}

// The server's refusals are translated into what a plan can report.
func TestPredictTranslatesRefusals(t *testing.T) {
	cause := func(kind metav1.CauseType, field, message string) *metav1.StatusDetails {
		return &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: kind, Field: field, Message: message}}}
	}
	for name, test := range map[string]struct {
		code  int
		reply metav1.Status
		check func(plan.Prediction) bool
	}{
		"an invalid field": {
			422,
			metav1.Status{Reason: metav1.StatusReasonInvalid, Details: cause(metav1.CauseTypeFieldValueInvalid, "data.key", "must not be empty")},
			func(p plan.Prediction) bool {
				return p.Refused != nil && p.Refused.Message == "data.key: must not be empty" && !p.Refused.Immutable
			},
		},
		"an immutable field": {
			422,
			metav1.Status{Reason: metav1.StatusReasonInvalid, Details: cause(metav1.CauseTypeFieldValueInvalid, "spec.selector", "Invalid value: {}: field is immutable")},
			func(p plan.Prediction) bool {
				return p.Refused != nil && p.Refused.Immutable && slices.Contains(p.Refused.Fields, "spec.selector")
			},
		},
		"a conflict with another manager": {
			409,
			metav1.Status{Reason: metav1.StatusReasonConflict, Details: cause(metav1.CauseTypeFieldManagerConflict, ".spec.replicas", `conflict with "hpa" using autoscaling/v2`)},
			func(p plan.Prediction) bool {
				return p.Refused != nil && slices.Equal(p.Refused.Managers, []string{"hpa"}) && slices.Equal(p.Refused.Fields, []string{"spec.replicas"})
			},
		},
		"a webhook that can't be dry run": {
			400,
			metav1.Status{Reason: metav1.StatusReasonBadRequest, Message: `admission webhook "w" does not support dry run`},
			func(p plan.Prediction) bool {
				return p.Refused == nil && p.Estimated == `admission webhook "w" does not support dry run`
			},
		},
		"a webhook that is away": {
			500,
			metav1.Status{Reason: metav1.StatusReasonInternalError, Message: `Internal error occurred: failed calling webhook "w": no route`},
			func(p plan.Prediction) bool {
				return p.Refused == nil && p.Estimated == `failed calling webhook "w": no route`
			},
		},
		"a server that is not well": {
			500,
			metav1.Status{Reason: metav1.StatusReasonInternalError, Message: "etcd is away"},
			func(p plan.Prediction) bool { return p.Refused == nil && strings.Contains(p.Estimated, "etcd is away") },
		},
		"a quota": {
			403,
			metav1.Status{Reason: metav1.StatusReasonForbidden, Message: "exceeded quota: small"},
			func(p plan.Prediction) bool { return p.Refused != nil && p.Refused.Reason == "Forbidden" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.answers["POST /api/v1/namespaces/shop/configmaps"] = status(test.code, test.reply)
			steps := []*plan.Step{{
				ID: "x", Op: plan.OpCreate, Object: ref("ConfigMap", "a").ID, APIVersion: "v1",
				Body: &unstructured.Unstructured{Object: configMap("a")},
			}}
			got, err := s.connect(t).Predict(t.Context(), steps, apply.WriteOptions{FieldManager: "helm"})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(s.requests()); n != 1 && !strings.Contains(name, "not well") {
				t.Errorf("%d requests, want one: nothing says that the next answer is another", n)
			}
			if !test.check(got["x"]) {
				t.Errorf("got %+v, refused %+v", got["x"], got["x"].Refused)
			}
		})
	}
}

// A watch survives a dropped connection and a resourceVersion that is too
// old; it ends when the caller wants no more.
func TestWatchResumes(t *testing.T) {
	s := newServer(t)
	lists, watches := 0, 0
	s.answers["GET /api/v1/namespaces/shop/configmaps"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		object := func(version string) map[string]any {
			o := configMap("a")
			o["metadata"].(map[string]any)["resourceVersion"] = version
			return o
		}
		event := func(kind string, o any) { _ = json.NewEncoder(w).Encode(map[string]any{"type": kind, "object": o}) }
		if r.URL.Query().Get("watch") == "" {
			lists++
			_ = json.NewEncoder(w).Encode(map[string]any{
				"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": fmt.Sprint(lists * 10)}, "items": []any{object("1")},
			})
			return
		}
		watches++
		switch from := r.URL.Query().Get("resourceVersion"); watches {
		case 1:
			event("MODIFIED", object("11")) // and the connection ends
		case 2:
			if from != "11" {
				t.Errorf("the watch resumes from %s, want 11", from)
			}
			event("ERROR", metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Code: 410, Reason: metav1.StatusReasonExpired, Message: "too old"})
		default:
			if from != "20" {
				t.Errorf("the watch begins anew from %s, want 20", from)
			}
			event("DELETED", object("21"))
		}
	}
	var seen []string
	err := s.connect(t).Watch(t.Context(), schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "shop", []string{"a"},
		func(_ string, o *unstructured.Unstructured) bool {
			if o == nil {
				seen = append(seen, "gone")
				return false
			}
			seen = append(seen, o.GetResourceVersion())
			return true
		})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1", "11", "1", "gone"}, seen); diff != "" {
		t.Error(diff)
	}
}

// A cluster that can't be reached gives an error, not an observation.
func TestAnUnreachableClusterIsAnError(t *testing.T) {
	s := newServer(t)
	c := s.connect(t)
	if _, err := c.Kinds(t.Context(), []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if _, err := c.Observe(t.Context(), []apply.Ref{ref("ConfigMap", "a")}); err == nil {
		t.Fatal("no error")
	}
}

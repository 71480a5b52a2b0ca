package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/plan"
)

func encode(w http.ResponseWriter, body any) { _ = json.NewEncoder(w).Encode(body) }

func reasonOf(err error) metav1.StatusReason { return apierrors.ReasonForError(err) }

// busy answers the first n requests with an error, then passes them to next.
func busy(n, code int, header map[string]string, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if n > 0 {
			n--
			for k, v := range header {
				w.Header().Set(k, v)
			}
			w.WriteHeader(code)
			return
		}
		next(w, r)
	}
}

// S29: a read that fails with a transient error is sent again.
func TestObserveRepeatsReads(t *testing.T) {
	for name, code := range map[string]int{"500": 500, "504": 504, "429": 429} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			const path = "GET /api/v1/namespaces/shop/configmaps/a"
			s.reply(path, configMap("a"))
			s.answers[path] = busy(2, code, nil, s.answers[path])
			seen, err := s.connect(t).Observe(t.Context(), []apply.Ref{ref("ConfigMap", "a")})
			if err != nil {
				t.Fatal(err)
			}
			if o := seen[ref("ConfigMap", "a").ID]; o.Object == nil {
				t.Errorf("observed %+v", o)
			}
		})
	}
}

// S29: writes are sent only once: apply counts the attempts.
// client-go on its own would retry ten times after Retry-After.
func TestWritesAreSentOnce(t *testing.T) {
	s := newServer(t)
	const path = "POST /api/v1/namespaces/shop/configmaps"
	s.answers[path] = busy(5, 429, map[string]string{"Retry-After": "1"}, http.NotFound)
	_, err := s.connect(t).Create(t.Context(), &unstructured.Unstructured{Object: configMap("a")}, apply.WriteOptions{})
	if !apierrors.IsTooManyRequests(err) {
		t.Errorf("error %v", err)
	}
	if seconds, ok := apierrors.SuggestsClientDelay(err); !ok || seconds != 1 {
		t.Errorf("the error asks to wait %d s, want what Retry-After said", seconds)
	}
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want one", n)
	}
}

// The same holds for release records, whose requests releasestore and apply repeat, see
// docs/retries.md.
func TestRequestsForRecordsAreSentOnce(t *testing.T) {
	const path = "/api/v1/namespaces/shop/secrets"
	for _, test := range []struct {
		name, request string
		call          func(context.Context, corev1client.SecretInterface) error
	}{
		{"create", "POST " + path, func(ctx context.Context, c corev1client.SecretInterface) error {
			_, err := c.Create(ctx, &corev1.Secret{}, metav1.CreateOptions{})
			return err
		}},
		{"update", "PUT " + path + "/a", func(ctx context.Context, c corev1client.SecretInterface) error {
			_, err := c.Update(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.UpdateOptions{})
			return err
		}},
		{"delete", "DELETE " + path + "/a", func(ctx context.Context, c corev1client.SecretInterface) error {
			return c.Delete(ctx, "a", metav1.DeleteOptions{})
		}},
		{"list", "GET " + path, func(ctx context.Context, c corev1client.SecretInterface) error {
			_, err := c.List(ctx, metav1.ListOptions{})
			return err
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			s.answers[test.request] = busy(1, 429, map[string]string{"Retry-After": "1"}, http.NotFound)
			if err := test.call(t.Context(), s.connect(t).CoreV1().Secrets("shop")); err == nil {
				t.Error("no error")
			}
			if n := len(s.requests()); n != 1 {
				t.Errorf("%d requests, want one", n)
			}
		})
	}
}

// Wrong credentials give one sentence, however many objects there are.
func TestUnauthorizedIsOneError(t *testing.T) {
	s := newServer(t)
	c := s.connect(t)
	for _, name := range []string{"a", "b"} {
		s.refuse("GET /api/v1/namespaces/shop/configmaps/"+name, http.StatusUnauthorized, metav1.StatusReasonUnauthorized, "Unauthorized")
	}
	_, err := c.Observe(t.Context(), []apply.Ref{ref("ConfigMap", "a"), ref("ConfigMap", "b")})
	if err == nil || !apierrors.IsUnauthorized(err) || strings.Count(err.Error(), "credentials") != 1 {
		t.Errorf("error %v", err)
	}
}

// The error for a refused connection names the server, not the URL of a request.
func TestUnreachableIsOneSentence(t *testing.T) {
	c, err := cluster.Connect(&rest.Config{Host: "http://127.0.0.1:1"}, cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Facts(t.Context())
	if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("error %v does not unwrap to a refused connection", err)
	}
	if text := err.Error(); !strings.Contains(text, "can't reach the API server at http://127.0.0.1:1") || strings.Contains(text, "Get ") {
		t.Errorf("error %q", text)
	}
}

// A cancelled run does not wait for a silent server, neither for discovery nor for
// objects: nothing is sent again.
func TestCancelledReadsEnd(t *testing.T) {
	for path, want := range map[string]int{"GET /apis": 0, "GET /api/v1/namespaces/shop/configmaps/a": 1} {
		t.Run(path, func(t *testing.T) {
			s := newServer(t)
			s.cache = filepath.Join(os.DevNull, "none") // discovery that ends after the test has nowhere to write
			s.aggregate()
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.answers[path] = func(http.ResponseWriter, *http.Request) {
				cancel()
				<-release
			}
			if _, err := s.connect(t).Observe(ctx, []apply.Ref{ref("ConfigMap", "a")}); err == nil {
				t.Error("no error")
			}
			if n := len(s.requests()); n != want {
				t.Errorf("%d requests for objects, want %d", n, want)
			}
		})
	}
}

// Each of the API server's warnings is passed on once.
func TestWarningsAreToldOnce(t *testing.T) {
	s := newServer(t)
	s.answers["GET /api/v1/namespaces/shop/configmaps/a"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Warning", `299 - "this is old"`)
		encode(w, configMap("a"))
	}
	var told []string
	c := s.warning(t, &told)
	for range 3 {
		if _, err := c.Get(t.Context(), ref("ConfigMap", "a")); err != nil {
			t.Fatal(err)
		}
	}
	if fmt.Sprint(told) != "[this is old]" {
		t.Errorf("told %q", told)
	}
}

// Fields that the API server drops are told with the object, once for a dry run and a write together.
func TestUnknownFieldsAreToldOnce(t *testing.T) {
	s := newServer(t)
	drop := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("fieldValidation") == metav1.FieldValidationWarn {
			w.Header().Add("Warning", `299 - "unknown field \"dota\""`)
		}
		encode(w, configMap("a"))
	}
	const at = "/api/v1/namespaces/shop/configmaps"
	s.answers["POST "+at], s.answers["PUT "+at+"/a"], s.answers["PATCH "+at+"/a"] = drop, drop, drop
	var told []string
	c := s.warning(t, &told)
	a, b := &unstructured.Unstructured{Object: configMap("a")}, &unstructured.Unstructured{Object: configMap("b")}
	for _, o := range []apply.WriteOptions{{DryRun: true}, {}} {
		_, created := c.Create(t.Context(), a, o)
		_, other := c.Create(t.Context(), b, o)
		_, replaced := c.Replace(t.Context(), a, o)
		_, patched := c.Patch(t.Context(), ref("ConfigMap", "a"), apply.Patch{Type: types.MergePatchType, Data: []byte("{}")}, o)
		if err := errors.Join(created, other, replaced, patched); err != nil {
			t.Fatal(err)
		}
	}
	recreation := &plan.Step{ID: "a", Op: plan.OpRecreate, Object: ref("ConfigMap", "a").ID, APIVersion: "v1", Body: a}
	if _, err := c.Predict(t.Context(), []*plan.Step{recreation}, apply.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if want := []string{`ConfigMap/a: unknown field "dota"`, `ConfigMap/b: unknown field "dota"`}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

// warning returns a client that adds the warnings of the server to told.
func (s *server) warning(t *testing.T, told *[]string) *cluster.Client {
	t.Helper()
	c, err := cluster.Connect(&rest.Config{Host: s.URL}, cluster.Options{CacheDir: s.cache, Warn: func(text string) { *told = append(*told, text) }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Warnings in the dry run of a step are part of its prediction, and not passed on when it is applied.
func TestWarningsAreInPredictions(t *testing.T) {
	s := newServer(t)
	s.answers["POST /api/v1/namespaces/shop/configmaps"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Add("Warning", `299 - "unknown field \"dota\""`)
		w.Header().Add("Warning", `299 - "this is old"`)
		encode(w, configMap("a"))
	}
	var told []string
	c := s.warning(t, &told)
	body := &unstructured.Unstructured{Object: configMap("a")}
	step := &plan.Step{ID: "a", Op: plan.OpCreate, Object: ref("ConfigMap", "a").ID, APIVersion: "v1", Body: body}
	for range 2 { // the plan is made again before it is applied
		got, err := c.Predict(t.Context(), []*plan.Step{step}, apply.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{`unknown field "dota"`, "this is old"}; !slices.Equal(got["a"].Warnings, want) {
			t.Errorf("predicted %q, want %q", got["a"].Warnings, want)
		}
	}
	if _, err := c.Create(t.Context(), body, apply.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(told) > 0 {
		t.Errorf("told %q, though the plan says it", told)
	}
}

// expired returns a context that has been cancelled.
func expired(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// A renewal of the lock does not queue behind the requests that QPS holds back: the lock would be lost.
func TestTheLockIsExemptFromQPS(t *testing.T) {
	s := newServer(t)
	s.reply("GET /api/v1/namespaces/shop/secrets/a", map[string]any{"apiVersion": "v1", "kind": "Secret"})
	s.reply("GET /apis/coordination.k8s.io/v1/namespaces/shop/leases/a", map[string]any{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"})
	c, err := cluster.Connect(&rest.Config{Host: s.URL}, cluster.Options{CacheDir: s.cache, QPS: 0.001, Burst: 1})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // in which no second request is allowed
	defer cancel()
	if _, err := c.CoreV1().Secrets("shop").Get(ctx, "a", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Secrets("shop").Get(ctx, "a", metav1.GetOptions{}); err == nil {
		t.Error("QPS holds nothing back")
	}
	if _, err := c.CoordinationV1().Leases("shop").Get(ctx, "a", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// Helm's help tells people to lift the limit with HELM_BURST_LIMIT=-1.
func TestANegativeBurstLiftsTheLimit(t *testing.T) {
	s := newServer(t)
	s.reply("GET /api/v1/namespaces/shop/secrets/a", map[string]any{"apiVersion": "v1", "kind": "Secret"})
	c, err := cluster.Connect(&rest.Config{Host: s.URL}, cluster.Options{CacheDir: s.cache, QPS: 0.001, Burst: -1})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.CoreV1().Secrets("shop").Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

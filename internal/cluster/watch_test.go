package cluster_test

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/retry"
)

var configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}

const watched = "GET /api/v1/namespaces/shop/configmaps"

// With permission for get alone, a watch polls with GETs.
func TestWatchPollsWhereItIsForbidden(t *testing.T) {
	s := newServer(t)
	s.refuse(watched, http.StatusForbidden, metav1.StatusReasonForbidden, "no list")
	s.reply(watched+"/a", configMap("a"))
	var seen int
	err := s.connect(t).Watch(t.Context(), configMaps, "shop", []string{"a"}, func(name string, o *unstructured.Unstructured) bool {
		if name != "a" || o == nil {
			t.Errorf("saw %s as %v", name, o)
		}
		seen++
		return seen < 2
	})
	if err != nil || seen != 2 {
		t.Errorf("error %v after %d looks", err, seen)
	}
}

// Without permission for get, a watch ends immediately with an error.
func TestWatchEndsWhereNothingIsAllowed(t *testing.T) {
	s := newServer(t)
	s.refuse(watched, http.StatusForbidden, metav1.StatusReasonForbidden, "no list")
	s.refuse(watched+"/a", http.StatusForbidden, metav1.StatusReasonForbidden, "no get")
	err := s.connect(t).Watch(t.Context(), configMaps, "shop", []string{"a"}, func(string, *unstructured.Unstructured) bool { return true })
	if !apierrors.IsForbidden(err) {
		t.Errorf("error %v", err)
	}
}

// forget makes the server one that no longer serves ConfigMaps. The client has not noticed yet.
func (s *server) forget(t *testing.T) *cluster.Client {
	c := s.connect(t)
	if _, err := c.Kinds(t.Context(), []schema.GroupVersionKind{configMaps}); err != nil {
		t.Fatal(err)
	}
	s.reply("GET /api/v1", resources("v1", "secrets Secret"))
	s.answers[watched], s.answers["DELETE /api/v1/namespaces/shop/configmaps/a"] = http.NotFound, http.NotFound
	return c
}

// A 404 without a Status says that the kind is gone, and with it the object, if discovery agrees. Otherwise a proxy
// sent it, and a watch goes on.
func TestAProxysAnswerIsNotTheServers(t *testing.T) {
	s := newServer(t)
	c := s.connect(t)
	const path = watched + "/a"
	s.refuse(watched, http.StatusForbidden, metav1.StatusReasonForbidden, "no list")
	s.reply(path, configMap("a"))
	for name, at := range map[string]string{"list": watched, "get": path} {
		t.Run(name, func(t *testing.T) {
			stray, next := true, s.answers[at]
			s.answers[at] = func(w http.ResponseWriter, r *http.Request) {
				if stray {
					stray = false
					http.NotFound(w, r)
					return
				}
				next(w, r)
			}
			seen := false
			err := c.Watch(t.Context(), configMaps, "shop", []string{"a"}, func(_ string, o *unstructured.Unstructured) bool {
				seen = o != nil
				return false
			})
			if err != nil || !seen {
				t.Errorf("error %v, the object was seen: %v", err, seen)
			}
		})
	}
}

func TestDeleteOfAKindThatIsGone(t *testing.T) {
	s := newServer(t)
	const path = "DELETE /api/v1/namespaces/shop/configmaps/a"
	s.answers[path] = http.NotFound
	if err := s.connect(t).Delete(t.Context(), ref("ConfigMap", "a"), apply.DeleteOptions{}); retry.Missing(err) || !apply.Passes(err) {
		t.Errorf("a kind that is served: %v", err)
	}
	c := s.forget(t)
	if err := c.Delete(t.Context(), ref("ConfigMap", "a"), apply.DeleteOptions{}); !retry.Missing(err) {
		t.Errorf("a kind that is gone: %v", err)
	}
	if err := c.Delete(t.Context(), ref("ConfigMap", "a"), apply.DeleteOptions{}); !meta.IsNoMatchError(err) || !apply.Passes(err) {
		t.Errorf("a kind of which discovery no longer knows: %v", err)
	}
}

// If the kind itself is gone, so is the object: a wait for its deletion is over.
func TestWatchOfAKindThatIsGone(t *testing.T) {
	s := newServer(t)
	for name, kind := range map[string]schema.GroupVersionKind{"the path": configMaps, "the kind": {Group: "none.io", Version: "v1", Kind: "None"}} {
		t.Run(name, func(t *testing.T) {
			gone := false
			s.reply("GET /api/v1", resources("v1", "configmaps ConfigMap"))
			c := s.forget(t)
			err := c.Watch(t.Context(), kind, "shop", []string{"a"}, func(_ string, o *unstructured.Unstructured) bool {
				gone = o == nil
				return false
			})
			if err != nil || !gone {
				t.Errorf("error %v, gone %v", err, gone)
			}
			err = c.Watch(t.Context(), kind, "shop", []string{"a"}, func(string, *unstructured.Unstructured) bool { return true })
			if err == nil {
				t.Error("a wait for the object to become ready goes on for ever")
			}
		})
	}
}

// A server that closes every watch immediately is not asked in a busy loop, and a
// cancelled watch says why.
func TestWatchDoesNotSpin(t *testing.T) {
	s := newServer(t)
	const watches, pauses = 8, 50*time.Millisecond + 100*time.Millisecond + 5*200*time.Millisecond
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	var lists, opened atomic.Int32
	s.answers[watched] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("watch") == "" {
			encode(w, map[string]any{"kind": "ConfigMapList", "apiVersion": "v1", "metadata": map[string]any{"resourceVersion": "1"}, "items": []any{}})
			lists.Add(1)
		} else if opened.Add(1) == watches {
			cancel(enough)
		}
	}
	began := time.Now()
	err := s.connect(t).Watch(ctx, configMaps, "shop", []string{"a"}, func(string, *unstructured.Unstructured) bool { return true })
	if !errors.Is(err, enough) {
		t.Errorf("error %v, want the cause of the end", err)
	}
	if took := time.Since(began); took < pauses {
		t.Errorf("%d watches were opened in %v, want pauses of %v between them", watches, took, pauses)
	}
	if n := lists.Load(); n != 1 {
		t.Errorf("%d lists, want one: what is closed is resumed", n)
	}
}

// A watch that ends while nothing can be read says why, with permission to list or without.
func TestWatchSaysWhyNothingIsRead(t *testing.T) {
	for name, path := range map[string]string{"list": watched, "get": watched + "/a"} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.refuse(watched, http.StatusForbidden, metav1.StatusReasonForbidden, "no list")
			s.refuse(path, http.StatusInternalServerError, metav1.StatusReasonInternalError, "conversion webhook: no route to host")
			refuse, enough := s.answers[path], errors.New("enough")
			ctx, cancel := context.WithCancelCause(t.Context())
			var asked atomic.Int32
			s.answers[path] = func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) > 1 {
					cancel(enough)
				}
				refuse(w, r)
			}
			err := s.connect(t).Watch(ctx, configMaps, "shop", []string{"a"}, func(string, *unstructured.Unstructured) bool {
				t.Error("it saw something")
				return true
			})
			var unread *apply.UnreadError
			if !errors.As(err, &unread) || !apierrors.IsInternalError(unread.Err) || !errors.Is(err, enough) {
				t.Errorf("error %v", err)
			}
		})
	}
}

//go:build cluster

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
)

// A Deployment is watched until it is ready; deleting a namesake is refused,
// and its own deletion is seen.
func TestLiveWatchAndDelete(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	created := create(t, c, object(t, namespace, web))
	ref := refOf(created)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	err := c.Watch(ctx, ref.GVK(), namespace, []string{"web"}, func(_ string, o *unstructured.Unstructured) bool {
		if o == nil {
			return true
		}
		ready, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
		return ready < 2
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), ref, apply.DeleteOptions{UID: "not-its-uid"}); !apierrors.IsConflict(err) {
		t.Errorf("a delete with another UID: %v, want a conflict", err)
	}
	if _, err := c.Get(t.Context(), ref); err != nil {
		t.Errorf("after a refused delete: %v", err)
	}
	if err := c.Delete(t.Context(), ref, apply.DeleteOptions{UID: created.GetUID(), Cascade: "foreground"}); err != nil {
		t.Fatal(err)
	}
	err = c.Watch(ctx, ref.GVK(), namespace, []string{"web"}, func(_ string, o *unstructured.Unstructured) bool { return o != nil })
	if err != nil {
		t.Errorf("watch until it is gone: %v", err)
	}
}

// cutter lets a test cut every watch, as a proxy that is restarted does, and
// counts requests.
type cutter struct {
	next           http.RoundTripper
	lists, watches atomic.Int32
	open           chan *stream // the open watch
}

func (c *cutter) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := c.next.RoundTrip(r)
	switch {
	case err != nil || response.StatusCode != http.StatusOK || !strings.HasSuffix(r.URL.Path, "/configmaps"):
	case r.URL.Query().Has("watch"):
		c.watches.Add(1)
		s := &stream{ReadCloser: response.Body}
		response.Body = s
		c.open <- s
	default:
		c.lists.Add(1)
	}
	return response, err
}

// stream is a body that ends with the test's error when it is cut.
type stream struct {
	io.ReadCloser
	end atomic.Pointer[error]
}

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	if end := s.end.Load(); err != nil && end != nil {
		err = *end
	}
	return n, err
}

func (s *stream) cut(end error) {
	s.end.Store(&end)
	s.Close()
}

// overDrops writes states, each after cutting the watch, and waits until each is reported.
func overDrops(t testing.TB, states int, cutBy func(i int) error) (c *cutter, took time.Duration) {
	t.Helper()
	config := control.Config(t)
	c = &cutter{open: make(chan *stream, 1)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { c.next = next; return c })
	watching, err := cluster.Connect(config, cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	writing, err := cluster.Connect(control.Config(t), cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ref := refOf(create(t, writing, object(t, control.Namespace(t), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: start}")))
	ctx, cancel := context.WithCancelCause(t.Context())
	told, ended := make(chan string, 10), make(chan error)
	go func() {
		ended <- watching.Watch(ctx, ref.GVK(), ref.Namespace, []string{ref.Name}, func(_ string, o *unstructured.Unstructured) bool {
			n, _, _ := unstructured.NestedString(o.Object, "data", "n")
			told <- n
			return true
		})
	}()
	for i := range states {
		(<-c.open).cut(cutBy(i))
		n := fmt.Sprint(i)
		if _, err := writing.Patch(t.Context(), ref, apply.Patch{Type: types.MergePatchType, Data: fmt.Appendf(nil, `{"data":{"n":%q}}`, n)}, apply.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		written := time.Now()
		for got := ""; got != n; {
			got = <-told // if a state is never reported, the suite times out
		}
		took += time.Since(written)
	}
	<-c.open // the last state may have come from a list
	done := errors.New("done")
	cancel(done)
	if err := <-ended; !errors.Is(err, done) {
		t.Errorf("the watch ends with %v", err)
	}
	return c, took
}

// Every state is reported although the connection is cut before each of them, at the cost of one watch per
// cut: the watch resumes where it was, and only an error from the server causes another list.
func TestLiveWatchOverDrops(t *testing.T) {
	const states = 21
	ends := []error{io.EOF, io.ErrUnexpectedEOF, errors.New("no event")}
	c, _ := overDrops(t, states, func(i int) error { return ends[i%3] })
	if lists, watches := c.lists.Load(), c.watches.Load(); lists != 1+states/3 || watches != 1+states {
		t.Errorf("%d lists and %d watches, want %d and %d", lists, watches, 1+states/3, 1+states)
	}
}

// BenchmarkSpeedOfWatch measures how long after its write a state is reported if the connection
// is cut just before (make bench).
func BenchmarkSpeedOfWatch(b *testing.B) {
	const states = 20
	for b.Loop() {
		_, took := overDrops(b, states, func(int) error { return io.ErrUnexpectedEOF })
		b.ReportMetric(float64(took.Milliseconds())/states, "ms/state")
	}
}

// With permission for get alone, a watch also sees that a Deployment is ready, with one request per look.
func TestLiveWatchWithGetAlone(t *testing.T) {
	admin, _ := live(t)
	namespace := control.Namespace(t)
	control.Kubectl(t, "create", "serviceaccount", "looker", "-n", namespace)
	control.Kubectl(t, "create", "role", "looker", "-n", namespace, "--verb=get", "--resource=deployments.apps")
	control.Kubectl(t, "create", "rolebinding", "looker", "-n", namespace, "--role=looker", "--serviceaccount="+namespace+":looker")
	control.Allowed(t, namespace, "system:serviceaccount:"+namespace+":looker", "get", "deployments.apps")
	config := control.Config(t)
	config.Impersonate.UserName = "system:serviceaccount:" + namespace + ":looker"
	asked := map[string]int{} // Watch sends its requests for one object one at a time
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			response, err := next.RoundTrip(r)
			if _, of, found := strings.Cut(r.URL.Path, "/deployments"); found && err == nil {
				asked[fmt.Sprint(strings.TrimPrefix(of, "/"), " ", response.StatusCode)]++
			}
			return response, err
		})
	})
	looker, err := cluster.Connect(config, cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ref := refOf(create(t, admin, object(t, namespace, web)))
	looks := 0
	err = looker.Watch(t.Context(), ref.GVK(), namespace, []string{ref.Name}, func(_ string, o *unstructured.Unstructured) bool {
		looks++
		if o == nil {
			return true
		}
		n, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
		return n < 2
	})
	if err != nil {
		t.Error(err)
	}
	if want := map[string]int{" 403": 1, "web 200": looks}; !maps.Equal(asked, want) {
		t.Errorf("asked %v, want %v", asked, want)
	}
}

// If its kind is removed during a watch, the object is gone, and a wait for it to become ready
// ends.
func TestLiveWatchOfAKindThatGoesAway(t *testing.T) {
	c, _ := live(t)
	namespace := control.Namespace(t)
	control.Apply(t, namespace, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: leavers.going.example}
spec:
  group: going.example
  scope: Namespaced
  names: {kind: Leaver, plural: leavers}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]
`)
	control.Kubectl(t, "wait", "crd/leavers.going.example", "--for=condition=Established", "--timeout=5m")
	leaver := object(t, namespace, "apiVersion: going.example/v1\nkind: Leaver\nmetadata: {name: a}")
	for ; ; time.Sleep(100 * time.Millisecond) {
		_, err := c.Create(t.Context(), leaver, apply.WriteOptions{FieldManager: "helm"})
		if err == nil {
			break
		}
		if !apierrors.IsNotFound(err) && !meta.IsNoMatchError(err) {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	there, gone := make(chan struct{}), false
	ended := make(chan error)
	go func() {
		ended <- c.Watch(ctx, leaver.GroupVersionKind(), namespace, []string{"a"}, func(_ string, o *unstructured.Unstructured) bool {
			switch {
			case o == nil:
				gone = true
			case !gone:
				select {
				case <-there:
				default:
					close(there)
				}
			}
			return true // like a wait for it to be ready
		})
	}()
	<-there
	control.Kubectl(t, "delete", "crd", "leavers.going.example", "--wait=false")
	err := <-ended
	if !gone || err == nil || ctx.Err() != nil {
		t.Errorf("gone %v, error %v", gone, err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

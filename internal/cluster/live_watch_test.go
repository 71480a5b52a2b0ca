//go:build cluster

package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
)

// A Deployment is watched until it is ready; a delete of a namesake is refused,
// one of itself is seen.
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

// dropping cuts every watch after a while, as a proxy does that is restarted.
type dropping struct {
	next  http.RoundTripper
	after time.Duration
}

func (d dropping) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(r)
	if err == nil && strings.Contains(r.URL.RawQuery, "watch=") {
		time.AfterFunc(d.after, func() { response.Body.Close() })
	}
	return response, err
}

// promptly is how long after the control plane a watcher may know. The best of attempts
// counts: the machine does other things, too, and what is really late is so each time.
const promptly, attempts = 300 * time.Millisecond, 3

// Every state is told within 300 ms, though the connection is cut all the time.
func TestLiveWatchIsPromptOverDrops(t *testing.T) {
	config := control.Config(t)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return dropping{next, 130 * time.Millisecond} })
	cut, err := cluster.Connect(config, cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	c, _ := live(t)
	ref := refOf(create(t, c, object(t, control.Namespace(t), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {n: start}")))
	ctx, cancel := context.WithCancelCause(t.Context())
	told := make(chan string, 100)
	ended := make(chan error)
	go func() {
		ended <- cut.Watch(ctx, ref.GVK(), ref.Namespace, []string{ref.Name}, func(_ string, o *unstructured.Unstructured) bool {
			n, _, _ := unstructured.NestedString(o.Object, "data", "n")
			told <- n
			return true
		})
	}()
	best := time.Hour
	for attempt := range attempts {
		var worst time.Duration
		for i := range 20 {
			n := fmt.Sprint(attempt, i)
			data := fmt.Appendf(nil, `{"data":{"n":%q}}`, n)
			if _, err := c.Patch(t.Context(), ref, apply.Patch{Type: types.MergePatchType, Data: data}, apply.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
			written := time.Now()
			for got := ""; got != n; {
				got = <-told // a state that is never told is the suite's timeout
			}
			worst = max(worst, time.Since(written))
			time.Sleep(70 * time.Millisecond)
		}
		t.Logf("told after %v at the latest", worst.Round(time.Millisecond))
		if best = min(best, worst); best <= promptly {
			break
		}
	}
	done := errors.New("done")
	cancel(done)
	if err := <-ended; !errors.Is(err, done) {
		t.Errorf("the watch ends with %v", err)
	}
	if best > promptly {
		t.Errorf("a state was told after %v, want %v", best, promptly)
	}
}

// A role that may only get learns that a Deployment is ready within 300 ms, too.
func TestLiveWatchWithGetAlone(t *testing.T) {
	admin, _ := live(t)
	namespace := control.Namespace(t)
	control.Kubectl(t, "create", "serviceaccount", "looker", "-n", namespace)
	control.Kubectl(t, "create", "role", "looker", "-n", namespace, "--verb=get", "--resource=deployments.apps")
	control.Kubectl(t, "create", "rolebinding", "looker", "-n", namespace, "--role=looker", "--serviceaccount="+namespace+":looker")
	config := control.Config(t)
	config.Impersonate.UserName = "system:serviceaccount:" + namespace + ":looker"
	looker, err := cluster.Connect(config, cluster.Options{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ready := func(c *cluster.Client, ref apply.Ref) time.Time {
		err := c.Watch(t.Context(), ref.GVK(), namespace, []string{ref.Name}, func(_ string, o *unstructured.Unstructured) bool {
			if o == nil {
				return true
			}
			n, _, _ := unstructured.NestedInt64(o.Object, "status", "readyReplicas")
			return n < 2
		})
		if err != nil {
			t.Error(err)
		}
		return time.Now()
	}
	best := time.Hour
	for attempt := range attempts {
		deployment := object(t, namespace, web)
		deployment.SetName(fmt.Sprint("web-", attempt))
		ref := refOf(create(t, admin, deployment))
		first := make(chan time.Time)
		go func() { first <- ready(admin, ref) }()
		seen := ready(looker, ref)
		if best = min(best, seen.Sub(<-first)); best <= promptly {
			return
		}
	}
	t.Errorf("it knows %v after a role that may watch, want %v", best, promptly)
}

// Whose kind goes away during a watch is gone, and a wait for it to become ready
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
	control.Kubectl(t, "wait", "crd/leavers.going.example", "--for=condition=Established")
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
			return true // as one who waits for it to be ready
		})
	}()
	<-there
	control.Kubectl(t, "delete", "crd", "leavers.going.example", "--wait=false")
	err := <-ended
	if !gone || err == nil || ctx.Err() != nil {
		t.Errorf("gone %v, error %v", gone, err)
	}
}

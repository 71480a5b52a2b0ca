//go:build cluster

package trust

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// thirty is a release of the chart of that name in a namespace of its own: the
// upgrade from edition one to two changes, adds and removes objects, waits for
// pods, and has hooks before and after it.
type thirty struct{ namespace string }

// newThirty installs edition one.
func newThirty(t *testing.T) thirty {
	t.Helper()
	s := thirty{cluster.Namespace(t)}
	ours(t, "install", "shop", thirtyChart, "--namespace", s.namespace, "--wait")
	return s
}

var thirtyChart = filepath.Join("testdata", "charts", "thirty")

// upgrade returns the arguments of the upgrade to edition two.
func (s thirty) upgrade(flags ...string) []string {
	return append([]string{"upgrade", "shop", thirtyChart, "--namespace", s.namespace, "--set", "edition=two", "--wait", "--timeout", "10m"}, flags...)
}

// end returns what the namespace contains, without what may differ between two runs with the same outcome.
func (s thirty) end(t *testing.T) map[string]any {
	t.Helper()
	state := map[string]any{}
	for name, object := range newLook(t, s.namespace).holds(t) {
		if object.GetKind() == "Job" { // its labels contain its UID
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			state[name] = containers[0].(map[string]any)["image"] //nolint:errcheck,forcetypeassert // the chart's Jobs have one
			continue
		}
		for _, path := range [][]string{{"metadata", "namespace"}, {"metadata", "annotations", "meta.helm.sh/release-namespace"}} {
			unstructured.RemoveNestedField(object.Object, path...)
		}
		state[name] = bare(object)
	}
	return state
}

// sameAs checks that the namespace is as an undisturbed run leaves it.
func (s thirty) sameAs(t *testing.T, undisturbed map[string]any) {
	t.Helper()
	for _, d := range fieldsApart("", undisturbed, s.end(t)) {
		t.Errorf("other than after an undisturbed run: %s", d)
	}
}

// soundHistory checks that only the newest revision is deployed, that none is pending, and that
// there are no gaps.
func (s thirty) soundHistory(t *testing.T) {
	t.Helper()
	history := rows(t, ours(t, "history", "shop", "--namespace", s.namespace, "-o", "json"))
	for i, r := range history {
		last := i == len(history)-1
		if r.Revision != i+1 || last != (r.Status == "deployed") || !last && r.Status != "superseded" && r.Status != "failed" {
			t.Errorf("the history is not sound: revision %d is %s in %v", r.Revision, r.Status, history)
		}
	}
}

// undisturbed runs an upgrade without disturbance, and returns how it ends, how many writes
// of objects and records it makes, and how many requests of all kinds.
func undisturbed(t *testing.T) (end map[string]any, writeCount, requests int) {
	t.Helper()
	s := newThirty(t)
	var lock sync.Mutex
	proxy := newProxy(t, func(r *http.Request) *fault {
		lock.Lock()
		defer lock.Unlock()
		requests++
		if writes(r) && !locks(r) {
			writeCount++
		}
		return nil
	})
	ours(t, s.upgrade("--kubeconfig", clustertest.KubeconfigFor(t, proxy, s.namespace))...)
	s.soundHistory(t)
	return s.end(t), writeCount, requests
}

// hookRuns watches the Jobs of a namespace until stop, which returns how often each
// was created.
func (s thirty) hookRuns(t *testing.T) (stop func() map[string]int) {
	t.Helper()
	events, err := newLook(t, s.namespace).client.Resource(resources["Job"]).Namespace(s.namespace).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uids, done := map[string][]string{}, make(chan struct{})
	go func() {
		defer close(done)
		for e := range events.ResultChan() {
			if job, ok := e.Object.(*unstructured.Unstructured); ok && !slices.Contains(uids[job.GetName()], string(job.GetUID())) {
				uids[job.GetName()] = append(uids[job.GetName()], string(job.GetUID()))
			}
		}
	}()
	return func() map[string]int {
		events.Stop()
		<-done
		runs := map[string]int{}
		for name, of := range uids {
			runs[name] = len(of)
		}
		return runs
	}
}

// sideBySide runs cases as subtests, at most limit at a time.
func sideBySide[C fmt.Stringer](t *testing.T, limit int, cases []C, run func(*testing.T, C)) {
	t.Helper()
	queue := make(chan C)
	var group sync.WaitGroup
	for range limit {
		group.Go(func() {
			for c := range queue {
				t.Run(strings.ReplaceAll(c.String(), " ", "_"), func(t *testing.T) { run(t, c) })
			}
		})
	}
	for _, c := range cases {
		queue <- c
	}
	close(queue)
	group.Wait()
}

// rerun runs the single command that follows a disturbed run.
func (s thirty) rerun(t *testing.T) {
	t.Helper()
	r := cluster.Run(t, clustertest.Program(t), "", s.upgrade()...)
	if r.ExitCode != 0 {
		t.Fatalf("the rerun: exit code %d\n%s%s", r.ExitCode, r.Stdout, r.Stderr)
	}
}

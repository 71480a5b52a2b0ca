//go:build cluster

package trust

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// pause is a lock holder that stands still for longer than its lease.
type pause struct {
	name string
	// flags are the flags of its upgrade.
	flags []string
	// when picks the request at which it stops; write is the number of writes
	// of objects and records so far.
	when func(r *http.Request, write int) bool
	// network says that its requests hang on the way, instead of the process being stopped.
	network bool
	// ahead is how far its clock is ahead of that of the run that takes over.
	ahead time.Duration
}

var pauses = []pause{
	{"paused between two writes", nil, atWrite(3), false, 0},
	{"paused in a wait, atomic", []string{"--atomic", "--set", "behave=never-ready"}, atWatch("deployments"), false, 0},
	{"paused in a hook", []string{"--set", "hooks.pre-upgrade=migrate,hookBehave=run"}, atWatch("jobs"), false, 0},
	{"whose network stalls between two writes", nil, atWrite(3), true, 0},
	{"whose network stalls in a wait, atomic", []string{"--atomic", "--set", "behave=never-ready"}, atWatch("deployments"), true, 0},
}

func atWrite(k int) func(*http.Request, int) bool {
	return func(r *http.Request, write int) bool { return writes(r) && !locks(r) && write == k }
}

func atWatch(resource string) func(*http.Request, int) bool {
	return func(r *http.Request, _ int) bool {
		return r.URL.Query().Get("watch") != "" && strings.HasSuffix(r.URL.Path, "/"+resource)
	}
}

// holder is a run that holds the lock and stands still.
type holder struct {
	*gate
	namespace string
	process   *exec.Cmd
	out       *bytes.Buffer
	ended     chan struct{}
}

// stop starts a holder, and makes it stand still.
func (p pause) stop(t *testing.T) holder {
	t.Helper()
	h := holder{gate: &gate{pause: p, reached: make(chan struct{}), still: make(chan struct{}), open: make(chan struct{})}, namespace: cluster.Namespace(t), out: &bytes.Buffer{}, ended: make(chan struct{})}
	ours(t, "install", "web", webChart, "--namespace", h.namespace)
	own := clustertest.KubeconfigFor(t, newProxy(t, h.judge), h.namespace)
	h.process = program(t, p.ahead, append([]string{"upgrade", "web", webChart, "--kubeconfig", own, "--set", "greeting=old,banner=old"}, p.flags...)...)
	h.process.Stdout, h.process.Stderr = h.out, h.out
	if err := h.process.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(h.ended)
		_ = h.process.Wait()
	}()
	t.Cleanup(func() { _ = h.process.Process.Kill(); <-h.ended })
	select {
	case <-h.reached:
	case <-h.ended:
		t.Fatalf("it ended before:\n%s", h.out.String())
	}
	if !p.network {
		if err := h.process.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	close(h.still)
	return h
}

// goOn lets the holder go on, and waits until it ends.
func (h holder) goOn(t *testing.T) {
	t.Helper()
	close(h.open)
	if !h.network {
		if err := h.process.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-h.ended:
	case <-time.After(5 * time.Minute):
		t.Fatalf("it goes on:\n%s", h.out.String())
	}
}

// play makes the holder stand still, lets another run take over and finish, and
// lets the holder continue: it must end on its own, say why, and write nothing.
func (p pause) play(t *testing.T) string {
	t.Helper()
	h := p.stop(t)
	began := time.Now()
	ours(t, "upgrade", "web", webChart, "--namespace", h.namespace, "--reset-values", "--set", "greeting=new")
	took := time.Since(began)
	before := versions(t, h.namespace)
	h.over.Store(true)
	again := time.Now()
	h.goOn(t)
	if code := h.process.ProcessState.ExitCode(); code <= 0 || !strings.Contains(h.out.String(), "lock of release "+h.namespace+"/web is lost") {
		t.Errorf("exit code %d, and it has to say that its lock is lost:\n%s", code, h.out.String())
	}
	if late := h.late(); len(late) > 0 {
		t.Errorf("it wrote on: %q", late)
	}
	time.Sleep(500 * time.Millisecond) // anything in flight would have arrived by now
	if after := versions(t, h.namespace); !maps.Equal(before, after) {
		t.Errorf("something was written behind the new holder:\n%v\n%v", before, after)
	}
	p.healed(t, h.namespace)
	return fmt.Sprintf("a holder %s | another run had taken over and finished %.0f s later; the holder wrote nothing more and ended with exit code %d, %s: “%s”",
		p.name, took.Seconds(), h.process.ProcessState.ExitCode(), when(p, time.Since(again)), reasonGiven(h.out.String()))
}

// outlasts makes the holder stand still for longer than its lease lasts, while nobody else takes its lock: it
// must go on and succeed.
func (p pause) outlasts(t *testing.T) string {
	t.Helper()
	h := p.stop(t)
	const outage = 40 * time.Second
	time.Sleep(outage)
	h.goOn(t)
	if code := h.process.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, h.out.String())
	}
	manifest := ours(t, "get", "manifest", "web", "--namespace", h.namespace)
	if !strings.Contains(manifest, "old") {
		t.Errorf("the release is not upgraded:\n%s", manifest)
	}
	l := newLook(t, h.namespace)
	if differences := l.exactly(t, "web", manifest, l.holds(t), func(string, *unstructured.Unstructured) bool { return false }); len(differences) > 0 {
		t.Errorf("the cluster does not hold exactly the manifest:\n  %s", strings.Join(differences, "\n  "))
	}
	return fmt.Sprintf("a holder %s for %.0f s, and nobody else comes | it went on and succeeded", p.name, outage.Seconds())
}

func when(p pause, after time.Duration) string {
	if p.network {
		return fmt.Sprintf("%.1f s after its network was back", after.Seconds())
	}
	return fmt.Sprintf("%.1f s after it went on", after.Seconds())
}

// reasonGiven returns the reason that the holder gives for ending.
func reasonGiven(out string) string {
	for line := range strings.Lines(out) {
		if _, why, found := strings.Cut(line, "is lost: "); found {
			return strings.TrimSpace(why)
		}
	}
	return ""
}

// healed checks that the release is as the other run has left it.
func (p pause) healed(t *testing.T, namespace string) {
	t.Helper()
	history := rows(t, ours(t, "history", "web", "--namespace", namespace, "-o", "json"))
	var statuses []string
	for _, r := range history {
		statuses = append(statuses, r.Status)
	}
	if want := []string{"superseded", "failed", "deployed"}; !slices.Equal(statuses, want) {
		t.Errorf("the revisions are %v, want %v", statuses, want)
	}
	l := newLook(t, namespace)
	held := l.holds(t)
	hookOnly := func(name string, _ *unstructured.Unstructured) bool { return name == "Job/web-migrate" }
	if differences := l.exactly(t, "web", ours(t, "get", "manifest", "web", "--namespace", namespace), held, hookOnly); len(differences) > 0 {
		t.Errorf("the cluster does not hold exactly the manifest:\n  %s", strings.Join(differences, "\n  "))
	}
}

// versions returns the resource versions of objects that only runs write.
func versions(t *testing.T, namespace string) map[string]string {
	t.Helper()
	found := map[string]string{}
	text := cluster.Kubectl(t, "get", "secrets,configmaps,services,leases", "--namespace", namespace,
		"-o", `jsonpath={range .items[*]}{.kind}/{.metadata.name} {.metadata.resourceVersion}{"\n"}{end}`)
	for line := range strings.Lines(text) {
		name, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		found[name] = version
	}
	return found
}

// gate is the proxy in front of one holder.
type gate struct {
	pause
	reached, still, open chan struct{}
	once                 sync.Once
	over                 atomic.Bool

	mu     sync.Mutex
	count  int
	behind []string
	closed bool
}

func (g *gate) judge(r *http.Request) *fault {
	hit, closed := g.see(r)
	if hit {
		g.once.Do(func() { close(g.reached) })
		<-g.still
	}
	if closed {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		select {
		case <-g.open:
		case <-r.Context().Done():
		}
	}
	return nil
}

// see counts a request; closed reports whether requests hang on the way from now on.
func (g *gate) see(r *http.Request) (hit, closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if writes(r) && !locks(r) {
		g.count++
		if g.over.Load() {
			g.behind = append(g.behind, r.Method+" "+r.URL.Path)
		}
	}
	hit = g.when(r, g.count) && !g.closed
	g.closed = g.closed || hit
	return hit, g.closed && g.network
}

func (g *gate) late() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.behind)
}

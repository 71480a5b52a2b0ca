//go:build cluster

package e2e

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestReadinessIsWatched waits for a Deployment that takes its time: the program learns of
// its state by one list and one watch, and does not poll.
func TestReadinessIsWatched(t *testing.T) {
	t.Parallel()
	var lock sync.Mutex
	var asked []string
	next := cluster.Proxy(t)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, of, found := strings.Cut(r.URL.Path, "/deployments"); found && r.Method == http.MethodGet {
			lock.Lock()
			switch {
			case of != "":
				asked = append(asked, "get")
			case r.URL.Query().Has("watch"):
				asked = append(asked, "watch")
			default:
				asked = append(asked, "list")
			}
			lock.Unlock()
		}
		next.ServeHTTP(w, r)
	}))
	defer proxy.Close()
	namespace := cluster.Namespace(t)
	waiting := func(flags ...string) []string {
		t.Helper()
		asked = nil
		must(t, cluster, clustertest.Program(t), append(flags, "--kubeconfig", clustertest.KubeconfigFor(t, proxy.URL, namespace))...)
		slices.Sort(asked)
		return asked
	}
	without := waiting("install", "before", webChart())
	with := waiting("install", "web", webChart(), "--set", "behave=slow", "--wait")
	if want := append(without, "list", "watch"); !slices.Equal(with, want) {
		t.Errorf("a run that waits asks for Deployments %q, want %q: one list and one watch more", with, want)
	}
}

// BenchmarkSpeedOfReadiness waits for a Deployment that takes its time, alongside a kubectl that
// watches it, and measures how much later the program reports that it is ready (make bench).
func BenchmarkSpeedOfReadiness(b *testing.B) {
	program, chart := clustertest.Program(b), webChart()
	for b.Loop() {
		namespace := cluster.Namespace(b)
		ready := firstLine(b, exec.Command(cluster.Binaries.Kubectl, "get", "deployments", "-n", namespace, "--watch",
			"-o", `jsonpath={.status.readyReplicas} of 2{"\n"}`), "2 of 2", false)
		told := firstLine(b, exec.Command(program, "install", "web", chart, "-n", namespace, "--set", "behave=slow", "--wait"),
			"Deployment/web: done", true)
		toldAt, readyAt := <-told, <-ready
		if toldAt.IsZero() || readyAt.IsZero() {
			b.Fatalf("the program told it at %v, kubectl at %v", toldAt, readyAt)
		}
		b.ReportMetric(float64(toldAt.Sub(readyAt).Milliseconds()), "ms")
	}
}

// firstLine starts a command and sends the time at which it prints a line that contains text,
// on standard error or on standard output. The command is killed when the test ends.
func firstLine(t testing.TB, command *exec.Cmd, text string, onStderr bool) <-chan time.Time {
	t.Helper()
	command.Env = cluster.Environment()
	open := command.StdoutPipe
	if onStderr {
		open = command.StderrPipe
	}
	output, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	at := make(chan time.Time, 1)
	go func() {
		defer close(at) // without such a line, the receiver gets the zero time
		lines := bufio.NewScanner(output)
		for lines.Scan() {
			if strings.Contains(lines.Text(), text) {
				at <- time.Now()
				_, _ = io.Copy(io.Discard, output)
				return
			}
		}
	}()
	return at
}

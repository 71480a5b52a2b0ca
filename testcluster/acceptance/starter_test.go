// Package acceptance tests the binary testcluster from outside, as suites use it.
// It imports nothing from Kubernetes, so its tests compile quickly.
package acceptance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain builds the binary that the tests run, unless it is up to date.
func TestMain(m *testing.M) {
	build := exec.Command("go", "run", "./build", "-q", "testcluster")
	build.Dir = ".."
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build testcluster:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// starter is a running `testcluster start`.
type starter struct {
	command    *exec.Cmd
	stdin      io.Closer
	stderr     bytes.Buffer
	kubeconfig string
	folder     string
	took       time.Duration
}

// startCluster starts a cluster that is stopped when t ends, if not before.
func startCluster(t *testing.T, flags ...string) *starter {
	t.Helper()
	began := time.Now()
	s := &starter{command: exec.Command("../bin/testcluster", append([]string{"start", "--stop-with-stdin"}, flags...)...)}
	s.command.Stderr = &s.stderr
	stdin, err := s.command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.stdin = stdin
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.stdin.Close()
		_ = s.command.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		_ = s.command.Wait()
		t.Fatalf("start the cluster: %v\n%s", err, s.stderr.String())
	}
	s.took = time.Since(began)
	s.kubeconfig = strings.TrimSpace(line)
	s.folder = filepath.Dir(s.kubeconfig)
	return s
}

// kubectl runs kubectl, which must succeed, and returns its output.
func (s *starter) kubectl(t *testing.T, args ...string) string {
	t.Helper()
	command := exec.Command("../bin/kubectl", args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.kubeconfig)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	return string(output)
}

// eventually waits until kubectl prints want.
func (s *starter) eventually(t *testing.T, want string, args ...string) {
	t.Helper()
	waitFor(t, func() string {
		if got := s.kubectl(t, args...); got != want {
			return fmt.Sprintf("kubectl %s prints %q, want %q", strings.Join(args, " "), got, want)
		}
		return ""
	})
}

// processes lists the running processes that have the cluster's folder in their
// command line, as all its parts do.
func (s *starter) processes(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && bytes.Contains(line, []byte(s.folder)) {
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// hangs is how long waitFor waits: what takes longer never happens.
const hangs = 5 * time.Minute

// waitFor calls look until it finds nothing wrong, and reports what is wrong if that never happens.
func waitFor(t *testing.T, look func() (wrong string)) {
	t.Helper()
	deadline := time.Now().Add(hangs)
	for {
		wrong := look()
		if wrong == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal(wrong)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

package acceptance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A suite that ends closes the pipe: nothing of its cluster may remain, and other
// clusters that run side by side must not notice.
func TestClustersRunSideBySideAndStopCleanly(t *testing.T) {
	first, second := startCluster(t), startCluster(t)
	t.Logf("started in %s and, beside it, in %s", first.took, second.took)
	if n := len(first.processes(t)); n != 5 {
		t.Fatalf("%d processes run, want 5: this test can't see them all", n)
	}
	first.kubectl(t, "create", "namespace", "only-here")
	if got := second.kubectl(t, "get", "namespace", "only-here", "--ignore-not-found"); got != "" {
		t.Errorf("the second cluster has the first one's namespace: %s", got)
	}
	_ = first.stdin.Close()
	if err := first.command.Wait(); err != nil {
		t.Errorf("the first cluster stopped with %v\n%s", err, first.stderr.String())
	}
	checkGone(t, first)
	if _, err := os.Stat(first.folder); !os.IsNotExist(err) {
		t.Errorf("the first cluster's folder is still there: %v", err)
	}
	second.kubectl(t, "get", "nodes")
}

// Ctrl-C and kill are how people stop a cluster that they started by hand.
func TestSignalsStopTheCluster(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			s := startCluster(t, "--nodes", "1")
			if err := s.command.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if err := s.command.Wait(); err != nil {
				t.Errorf("stopped with %v\n%s", err, s.stderr.String())
			}
			checkGone(t, s)
		})
	}
}

// kill -9 leaves the starter no time to clean up: its parts notice that it is gone,
// and the next start removes the folder.
func TestKilledStarterLeavesNoProcesses(t *testing.T) {
	s := startCluster(t)
	if err := s.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.command.Wait()
	waitFor(t, func() string {
		if left := s.processes(t); len(left) > 0 {
			return "still running after kill -9 of the starter: " + strings.Join(left, "\n")
		}
		return ""
	})
	startCluster(t, "--nodes", "1")
	if _, err := os.Stat(s.folder); !os.IsNotExist(err) {
		t.Errorf("the next start has left the folder of the killed one: %v", err)
	}
}

// The lifeline alone must be enough: it is all there is on systems without
// parent-death signals.
func TestPartEndsWithItsLifeline(t *testing.T) {
	etcd := exec.Command("../bin/testcluster", "etcd", "--data-dir", t.TempDir(),
		"--listen-client-urls", "http://127.0.0.1:0", "--advertise-client-urls", "http://127.0.0.1:0",
		"--listen-peer-urls", "http://127.0.0.1:0")
	etcd.Env = append(os.Environ(), "TESTCLUSTER_LIFELINE=stdin")
	stdin, err := etcd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := etcd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- etcd.Wait() }()
	select {
	case err := <-ended:
		t.Fatalf("etcd ended before its lifeline did: %v", err)
	case <-time.After(time.Second):
	}
	_ = stdin.Close()
	select {
	case <-ended:
	case <-time.After(hangs):
		_ = etcd.Process.Kill()
		t.Error("etcd runs on without its lifeline")
	}
}

// A cluster that has lost a part would fail tests in puzzling ways, so it ends and
// names the part.
func TestLostPartEndsTheCluster(t *testing.T) {
	s := startCluster(t, "--nodes", "1")
	killed := false
	for _, child := range children(t, s.command.Process.Pid) {
		line, err := os.ReadFile("/proc/" + child + "/cmdline")
		if err == nil && strings.Contains(string(line), "\x00kube-scheduler\x00") {
			killed = true
			kill(t, child)
		}
	}
	if !killed {
		t.Fatal("found no scheduler to kill")
	}
	if err := s.command.Wait(); err == nil {
		t.Error("exit code is 0 after the loss of the scheduler")
	}
	if !strings.Contains(s.stderr.String(), "kube-scheduler ended") {
		t.Errorf("the message does not name the lost part:\n%s", s.stderr.String())
	}
	checkGone(t, s)
}

// children lists the processes that any thread of pid has started.
func children(t *testing.T, pid int) []string {
	t.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, file := range files {
		list, err := os.ReadFile(file)
		if err == nil {
			all = append(all, strings.Fields(string(list))...)
		}
	}
	return all
}

func kill(t *testing.T, pid string) {
	t.Helper()
	var number int
	if _, err := fmt.Sscan(pid, &number); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(number, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func checkGone(t *testing.T, s *starter) {
	t.Helper()
	if left := s.processes(t); len(left) > 0 {
		t.Errorf("still running: %s", strings.Join(left, "\n"))
	}
}

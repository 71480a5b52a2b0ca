package clustertest

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-release/kubectl-release/internal/porttest"
)

// APIServer is a second API server of a cluster, on the same etcd: a test may kill it and
// start it again while the rest of the cluster keeps running.
type APIServer struct {
	// Kubeconfig is the path of a kubeconfig for it, with all permissions.
	Kubeconfig string

	t         testing.TB
	config    *rest.Config
	binary    string
	arguments []string
	process   *exec.Cmd
	lifeline  io.Closer
}

// APIServer starts a second API server with the arguments of the first one except the port. It
// is killed at the end of the test.
func (c *Cluster) APIServer(t testing.TB) *APIServer {
	t.Helper()
	if c.process == nil {
		t.Fatalf("a cluster of %s is not ours: no API server of it can be killed", ReuseVariable)
	}
	address := porttest.FreeAddress(t)
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	a := &APIServer{t: t, config: rest.CopyConfig(c.Config(t)), binary: c.Binaries.Testcluster, arguments: childOf(t, c.process.Process.Pid, "kube-apiserver")}
	for i, argument := range a.arguments {
		if strings.HasPrefix(argument, "--secure-port=") {
			a.arguments[i] = "--secure-port=" + port
		}
	}
	a.config.Host = "https://" + address
	kubeconfig, err := clientcmd.LoadFromFile(c.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range kubeconfig.Clusters {
		cluster.Server = a.config.Host
	}
	a.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*kubeconfig, a.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	a.Start()
	t.Cleanup(a.Kill)
	return a
}

// Start starts the API server and waits until it is ready.
func (a *APIServer) Start() {
	a.t.Helper()
	a.process = exec.Command(a.binary, a.arguments...)
	a.process.Env = append(os.Environ(), "TESTCLUSTER_LIFELINE=stdin")
	var err error
	if a.lifeline, err = a.process.StdinPipe(); err != nil {
		a.t.Fatal(err)
	}
	if err := a.process.Start(); err != nil {
		a.t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(a.config)
	if err != nil {
		a.t.Fatal(err)
	}
	const patience = 2 * time.Minute
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		status := 0
		client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(a.t.Context()).StatusCode(&status)
		if status == http.StatusOK {
			return
		}
	}
	a.t.Fatal("the second API server is not ready")
}

// Kill kills the API server like kill -9; if it is already dead, it does nothing.
func (a *APIServer) Kill() {
	if a.process == nil {
		return
	}
	_ = a.process.Process.Kill()
	_ = a.process.Wait()
	_ = a.lifeline.Close()
	a.process = nil
}

// childOf returns the command line, without the program, of the child of a process that runs the
// named subcommand.
func childOf(t testing.TB, parent int, name string) []string {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range all {
		status, _ := os.ReadFile(filepath.Join(dir, "status")) // missing if the process has ended
		if !bytes.Contains(status, fmt.Appendf(nil, "\nPPid:\t%d\n", parent)) {
			continue
		}
		line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
		words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
		if i := slices.Index(words, name); i > 0 {
			return words[i:]
		}
	}
	t.Fatalf("process %d has no child %s", parent, name)
	return nil
}

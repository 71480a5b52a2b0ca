package main_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	program "github.com/kubectl-release/kubectl-release"
	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// cluster is the control plane of the whole suite.
var cluster *clustertest.Cluster

// TestMain starts the control plane once. testscript runs this binary again
// for each call of kubectl-release: then it is the program and nothing else.
func TestMain(m *testing.M) {
	testscript.Main(suite{m}, map[string]func(){"kubectl-release": program.Main, clustertest.MeasuredName: clustertest.RunMeasured})
}

type suite struct{ m *testing.M }

// Run implements testscript.TestingM.
func (s suite) Run() int {
	_ = flag.Set("test.parallel", "4") // scripts wait most of the time
	return clustertest.Main(s.m, clustertest.Options{}, func(c *clustertest.Cluster) { cluster = c })
}

// TestScripts runs testdata/script: the whole binary against a real control
// plane, one namespace ($NS, the kubeconfig's too) and one home a script.
// Besides testscript's own commands there are those of scriptCommands.
func TestScripts(t *testing.T) {
	charts, err := filepath.Abs(filepath.Join("testdata", "charts"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireUniqueNames: true, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error { return setUp(e, charts) },
		Cmds:  scriptCommands(),
	})
}

// setUp gives a script its namespace, home, kubeconfig and PATH.
func setUp(e *testscript.Env, charts string) error {
	t, ok := e.T().(testing.TB)
	if !ok {
		return fmt.Errorf("a script is run by %T, not by a test", e.T())
	}
	home := filepath.Join(e.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	namespace := cluster.Namespace(t)
	config, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		return err
	}
	own := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(own, config, 0o600); err != nil {
		return err
	}
	if r := cluster.Run(t, cluster.Binaries.Kubectl, "", "--kubeconfig", own, "config", "set-context", "--current", "--namespace", namespace); r.ExitCode != 0 {
		return fmt.Errorf("choose namespace %s: %s", namespace, r.Stderr)
	}
	e.Setenv("NS", namespace)
	e.Setenv("KUBECONFIG", own)
	e.Setenv("HOME", home)
	e.Setenv("KUBECACHEDIR", filepath.Join(home, "cache"))
	e.Setenv("CHARTS", charts)
	e.Setenv("BIN", cluster.Binaries.Dir)
	e.Setenv("PATH", e.Getenv("PATH")+string(os.PathListSeparator)+cluster.Binaries.Dir)
	return nil
}

// scriptCommands are:
//
//	exits CODE PROGRAM ARGS...   as exec, and the exit code must be CODE
//	mode PERMISSIONS FILE        the file's permissions are exactly these (octal)
//	untouched                    the namespace holds nothing but what each one is born with
//	status RELEASE STATUSES      the statuses of the release's revisions, such as superseded,deployed
//	free RELEASE                 nobody holds the release's lock
//	json FILE PATH VALUE         the JSON file has that value at a path such as stages.0.name
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits": exits, "mode": mode, "untouched": untouched, "status": status, "free": free, "json": jsonField,
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // testscript gives it as it is
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode PERMISSIONS FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
		ts.Fatalf("%s has mode %s, want %s", args[1], got, args[0])
	}
}

// bornWith is what the control plane itself puts into a namespace.
var bornWith = map[string]bool{"configmap/kube-root-ca.crt": true, "serviceaccount/default": true}

func untouched(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: untouched")
	}
	kinds := "secrets,configmaps,serviceaccounts,services,pods,deployments.apps,statefulsets.apps,jobs.batch,leases.coordination.k8s.io"
	for name := range strings.FieldsSeq(kubectl(ts, "get", kinds, "-o", "name")) {
		if !bornWith[name] {
			ts.Fatalf("%s is in the namespace, which was to stay as it was", name)
		}
	}
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: status RELEASE STATUSES")
	}
	out := kubectl(ts, "get", "secrets", "-l", "owner=helm,name="+args[0], "--sort-by=.metadata.creationTimestamp",
		"-o", `jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}`)
	byRevision := map[int]string{}
	newest := 0
	for line := range strings.Lines(out) {
		var revision int
		var status string
		_, err := fmt.Sscan(line, &revision, &status)
		ts.Check(err)
		byRevision[revision] = status
		newest = max(newest, revision)
	}
	var got []string
	for revision := 1; revision <= newest; revision++ {
		if s, ok := byRevision[revision]; ok {
			got = append(got, s)
		}
	}
	if joined := strings.Join(got, ","); joined != args[1] {
		ts.Fatalf("the revisions of %s are %s, want %s", args[0], joined, args[1])
	}
}

func free(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: free RELEASE")
	}
	if out := kubectl(ts, "get", "leases", "kubectl-release."+args[0], "--ignore-not-found", "-o", "name"); out != "" {
		ts.Fatalf("%s is still there", strings.TrimSpace(out))
	}
}

// kubectl runs kubectl as the script would and returns what it prints.
func kubectl(ts *testscript.TestScript, args ...string) string {
	command := exec.Command(cluster.Binaries.Kubectl, args...)
	command.Env = []string{"KUBECONFIG=" + ts.Getenv("KUBECONFIG"), "KUBECACHEDIR=" + ts.Getenv("KUBECACHEDIR"), "HOME=" + ts.Getenv("HOME")}
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		ts.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

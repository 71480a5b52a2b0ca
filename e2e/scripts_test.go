//go:build cluster

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestScripts runs the scripts in testdata/script: the whole binary against a real control
// plane, with a namespace ($NS, also the kubeconfig's) and a home for each script.
// In addition to testscript's own commands there are those of scriptCommands.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"), RequireUniqueNames: true, RequireExplicitExec: true,
		Setup: setUp,
		Cmds:  scriptCommands(),
	})
}

// setUp provides a script's namespace, home, kubeconfig and PATH.
func setUp(e *testscript.Env) error {
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
	e.Setenv("CHARTS", inTree("testdata", "charts"))
	e.Setenv("BUILT", filepath.Dir(clustertest.Program(t)))
	e.Setenv("BIN", cluster.Binaries.Dir)
	e.Setenv("PATH", strings.Join([]string{filepath.Dir(clustertest.Program(t)), e.Getenv("PATH"), cluster.Binaries.Dir}, string(os.PathListSeparator)))
	return nil
}

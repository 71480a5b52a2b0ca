//go:build cluster

package controller_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

var shell = regexp.MustCompile("(?s)```sh\n(.*?)```")

// The commands in docs/controller.md are run in order, on a cluster with a helm-controller that does
// nothing; last the controller itself, which lets a HelmRelease go.
func TestCommandsOfThePage(t *testing.T) {
	r := newRig(t) // the CRDs
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "controller.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, namespace := range []string{"flux-system", "apps"} {
		cluster.Kubectl(t, "create", "namespace", namespace)
		t.Cleanup(func() { cluster.Kubectl(t, "delete", "namespace", namespace, "--wait=false") })
	}
	cluster.Kubectl(t, "-n", "flux-system", "create", "deployment", "helm-controller", "--image=helm-controller")
	cluster.Apply(t, "apps", "{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: web}, spec: {interval: 1m, chartRef: {kind: HelmChart, name: web}}}")
	blocks := shell.FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 4 {
		t.Fatalf("the page has %d blocks of commands", len(blocks))
	}
	environment := append(cluster.Environment(), "PATH="+strings.Join([]string{
		filepath.Dir(clustertest.Program(t)), filepath.Dir(clustertest.Controller(t)), cluster.Binaries.Dir, os.Getenv("PATH"),
	}, string(os.PathListSeparator)))
	process := ""
	for _, block := range blocks {
		if strings.HasPrefix(block[1], "RUNTIME_NAMESPACE=") {
			process = strings.TrimSpace(block[1])
			continue
		}
		command := exec.Command("bash", "-euc", block[1])
		command.Dir, command.Env = root, environment
		if out, err := command.CombinedOutput(); err != nil {
			t.Errorf("%s%v\n%s", block[1], err, out)
		}
	}
	c := launch(t, exec.Command("bash", "-euc", "exec env "+process+" --metrics-addr=0 --health-addr=0 --cache-dir="+t.TempDir()), environment)
	r.eventually("the controller works", func() bool { return strings.Contains(c.log.String(), "Starting workers") })
	cluster.Kubectl(t, "delete", "helmrelease", "web", "-n", "apps", "--timeout="+patience.String())
	c.stop()
}

//go:build cluster

package e2e

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Without a cluster the scopes of built-in kinds come from a table, which must
// agree with a real API server.
func TestOfflineScopesAreTheServers(t *testing.T) {
	out := cluster.Run(t, cluster.Binaries.Kubectl, "", "api-resources", "--no-headers")
	if out.ExitCode != 0 {
		t.Fatal(out.Stderr)
	}
	checked := 0
	for line := range strings.Lines(out.Stdout) {
		words := strings.Fields(line)
		n := len(words)
		if n < 4 {
			t.Fatalf("can't read %q", line)
		}
		gv, err := schema.ParseGroupVersion(words[n-3])
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(gv.Group, ".") && !strings.HasSuffix(gv.Group, ".k8s.io") {
			continue // another test's CRD
		}
		want := manifest.ScopeCluster
		if words[n-2] == "true" {
			want = manifest.ScopeNamespaced
		}
		checked++
		if got := engine.BuiltinScope(schema.GroupKind{Group: gv.Group, Kind: words[n-1]}); got != want {
			t.Errorf("%s in %s: scope %v, the server says %v", words[n-1], gv, got, want)
		}
	}
	if checked < 50 {
		t.Errorf("the server has only %d kinds", checked)
	}
}

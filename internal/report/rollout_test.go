package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Workloads that roll out alike share a line: what has to be seen first is not below a hundred of them.
func TestWorkloadsThatRollOutAlikeShareALine(t *testing.T) {
	p := &plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}}
	for _, kind := range []struct {
		prefix            string
		n                 int
		pods, least, most int64
	}{{"a", 100, 2, 2, 3}, {"b", 8, 1, 0, 1}, {"c", 3, 4, 0, 4}, {"d", 2, 1, 0, 1}} {
		for i := range kind.n {
			id := manifest.ID{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: fmt.Sprint(kind.prefix, i)}
			p.Impact.Rollouts = append(p.Impact.Rollouts, plan.Rollout{Object: id, Before: kind.pods, Pods: kind.pods, Least: kind.least, Most: kind.most})
		}
	}
	w := impactWriter{names: newNamer(p), view: view{bodies: true}}
	want := `
Deployment/b0, Deployment/b1, Deployment/b2, Deployment/b3, Deployment/b4, Deployment/b5, Deployment/b6, Deployment/b7, Deployment/d0, Deployment/d1: no pod available for a while; the only pod of each stops first
Deployment/c0, Deployment/c1, Deployment/c2: no pod available for a while; the 4 pods of each may stop all at once
Deployment/a0, Deployment/a1, Deployment/a2, Deployment/a3, Deployment/a4, Deployment/a5 and 94 more: at least 2 of 2 pods available in each, at most 3 at once`
	if got := "\n" + strings.Join(w.rollouts(p.Impact.Rollouts), "\n"); got != want {
		t.Errorf("got:%s\nwant:%s", got, want)
	}
	var b bytes.Buffer
	if err := Text(&b, p, TextOptions{Full: true}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Deployment/b7") {
		t.Errorf("--full does not name all workloads without a pod:\n%s", b.String())
	}
}

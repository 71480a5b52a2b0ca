package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// What somebody has written into an annotation becomes neither a link nor an image, wherever it is
// shown.
func TestMarkdownEscapesDetails(t *testing.T) {
	const hostile = "it belongs to release [approve](https://evil.example)/![x](https://evil.example/x.png) **now** `a`"
	p := &plan.Document{Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Applier: "[who](https://evil.example)"}
	p.Stages = []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{
		{ID: "a", Op: plan.OpKeep, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "a"}, Why: hostile},
		{ID: "b", Op: plan.OpAdopt, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "b"}, Why: hostile},
	}}}}}
	p.Summary = plan.Summary{Keep: 1, Adopt: 1}
	var b bytes.Buffer
	if err := Markdown(&b, p, MarkdownOptions{}); err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(b.String(), "```mermaid")
	_, rest, _ := strings.Cut(b.String(), "```\n")
	for _, markup := range []string{"](", "**now**", "`a`"} {
		if strings.Contains(text+rest, markup) {
			t.Errorf("%s is markup in\n%s", markup, b.String())
		}
	}
}

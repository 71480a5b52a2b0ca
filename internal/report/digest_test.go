package report

import (
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Whoever makes both plans can find two whose digests begin alike, so a comment keeps all of it.
func TestEffectLineHasTheWholeDigest(t *testing.T) {
	digest := strings.Repeat("0123456789abcdef", 4)
	if got := effectLine(plan.Summary{}, 0, "sha256:"+digest); !strings.HasPrefix(got, "<!-- effect="+digest+" ") {
		t.Errorf("got %s", got)
	}
}

// A set with a release that can't be planned, or a part that can't be read, does not have the effect of
// one that does nothing, so it isn't taken for what was approved.
func TestSetsThatFailHaveAnEffectOfTheirOwn(t *testing.T) {
	key := releaseset.Key{Namespace: "shop", Name: "web"}
	of := func(r releaseset.Planned, unread ...string) string {
		r.Key, r.Release = key, release.Key{Namespace: "shop", Name: "web"}
		d := &releaseset.Document{Files: []string{"releases.yaml"}, Releases: []releaseset.Planned{r}, Unread: unread}
		d.Finish()
		var b strings.Builder
		if err := SetMarkdown(&b, d, MarkdownOptions{}); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "<!-- effect=") {
				return line
			}
		}
		t.Fatalf("no effect in\n%s", b.String())
		return ""
	}
	seen := map[string]string{}
	for what, line := range map[string]string{
		"nothing": of(releaseset.Planned{}), "failed": of(releaseset.Planned{Error: "it is broken"}),
		"unread": of(releaseset.Planned{}, "apps/web.yaml: yaml: line 4"), "planned": of(releaseset.Planned{Plan: &plan.Document{EffectDigest: "sha256:01"}}),
		"uninstalled by a controller": of(releaseset.Planned{Verdict: &releaseset.Verdict{Action: "uninstall"}}),
	} {
		effect, counts, _ := strings.Cut(line, " to-create")
		if other := seen[effect]; other != "" {
			t.Errorf("%s and %s have the same effect", what, other)
		}
		seen[effect] = what
		if failed := what == "failed" || what == "unread"; failed != strings.HasSuffix(counts, " blocked=1 -->\n") {
			t.Errorf("%s: %s", what, line)
		}
	}
}

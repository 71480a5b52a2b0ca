package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/plan"
)

// Of a label or annotation that changes in many objects nothing is hidden: what is too long for one line keeps its
// rows, and the objects are named where they matter.
func TestFoldedChangesHideNothing(t *testing.T) {
	long := strings.Repeat("; more_set_headers x", 4)[2:]
	for _, c := range []struct {
		why, path     string
		from, to      any
		text, comment string
	}{
		{"what is long keeps its rows", "metadata.annotations[x.io/snippet]", long, long + "; proxy_pass evil", "… x; more_set_headers x; proxy_pass evil (and 3 like it)", "; proxy_pass evil   #"},
		{"so do texts", "metadata.annotations[x.io/snippet]", nil, "a\nb\n", "+ b\n", "+ b\n"},
		{
			"objects are named", "metadata.labels.enforce", "restricted", "privileged",
			"4 objects (ConfigMap/a, ConfigMap/b, ConfigMap/c and 1 more): label enforce restricted → privileged\n",
			"4 objects (ConfigMap/a, ConfigMap/b, ConfigMap/c, ConfigMap/d): label enforce restricted → privileged\n",
		},
		{"the chart's labels are everywhere", "metadata.labels[helm.sh/chart]", "web-1", "web-2", "4 objects: label helm.sh/chart web-1 → 2\n", "4 objects: label helm.sh/chart web-1 → 2\n"},
		{
			"so do labels that admission depends on", "metadata.labels[pod-security.kubernetes.io/enforce]", "restricted", "privileged",
			"restricted → privileged (and 3 like it)", "+ metadata.labels[pod-security.kubernetes.io/enforce]: privileged",
		},
		{"what is no label keeps its rows", "spec.metadata.rules.a", "1", "2", "\"1\" → \"2\" (and 3 like it)", "+ spec.metadata.rules.a: \"2\""},
	} {
		changes, names := map[string][]plan.Change{}, []string{"a", "b", "c", "d"}
		for _, name := range names {
			changes[name] = []plan.Change{{Path: c.path, From: c.from, To: c.to, Cause: plan.CauseChart}}
		}
		p := changing(changes, names...)
		var comment bytes.Buffer
		if err := Markdown(&comment, p, MarkdownOptions{}); err != nil {
			t.Fatal(err)
		}
		for want, got := range map[string]string{c.text: text(t, p, TextOptions{}), c.comment: comment.String()} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: want %q in\n%s", c.why, want, got)
			}
		}
	}
}

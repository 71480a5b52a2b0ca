package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// A value of several lines of which the first stays the same is not shown as equal on both sides.
func TestTheHeaderShowsWhatChangesInTexts(t *testing.T) {
	p := &plan.Document{Operation: plan.Upgrade, FromRevision: 1, ToRevision: 2, Values: []plan.Change{
		{Path: "cfg", From: "first\nold\n", To: "first\nnew\n"},
		{Path: "motd", To: "one\ntwo\n"},
		{Path: "n", From: "1", To: "2"},
	}}
	for want, full := range map[string]bool{
		`values  cfg text, +1 −1 lines, motd added: text, 2 lines, n "1" → "2"`:              false,
		`values  cfg "first\nold\n" → "first\nnew\n", motd added: "one\ntwo\n", n "1" → "2"`: true,
	} {
		var b bytes.Buffer
		if err := Text(&b, p, TextOptions{Full: full}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// Of values that differ only in blanks none are left out, and no line ends between them.
func TestTheHeaderKeepsBlanks(t *testing.T) {
	p := &plan.Document{Operation: plan.Upgrade, FromRevision: 1, ToRevision: 2, Values: []plan.Change{{Path: "motd", From: "a  b", To: "a b"}}}
	if got, want := text(t, p, TextOptions{}), "values  motd a  b → a b\n"; !strings.Contains(got, want) {
		t.Errorf("%q is missing in\n%s", want, got)
	}
	if got := strings.Join(Wrap("", " one   two three ", "", 9), "|"); got != "one   two|three" {
		t.Errorf("wrapped: %s", got)
	}
}

// The header says when objects are sent in a different way than before: their fields
// get another owner.
func TestTheHeaderSaysHowObjectsAreSent(t *testing.T) {
	for name, c := range map[string]struct {
		operation  plan.Operation
		was        release.ApplyMethod
		serverSide bool
		want       string
	}{
		"now server-side":      {plan.Upgrade, release.ClientSide, true, "with    server-side apply (client-side until now)"},
		"now client-side":      {plan.Rollback, release.ServerSide, false, "with    client-side apply (server-side until now)"},
		"still server-side":    {plan.Upgrade, release.ServerSide, true, "with    server-side apply"},
		"still client-side":    {plan.Upgrade, release.ClientSide, false, ""},
		"a name used again":    {plan.Install, release.ClientSide, true, "with    server-side apply"},
		"an uninstall is none": {plan.Uninstall, release.ServerSide, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Document{Operation: c.operation, FromRevision: 1, ToRevision: 2, AppliedFrom: c.was, Options: plan.Options{ServerSide: c.serverSide}}
			var b bytes.Buffer
			if err := Text(&b, p, TextOptions{}); err != nil {
				t.Fatal(err)
			}
			got := ""
			for line := range strings.Lines(b.String()) {
				if strings.Contains(line, "with    ") {
					got = strings.TrimSpace(line)
				}
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

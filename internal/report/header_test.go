package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

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

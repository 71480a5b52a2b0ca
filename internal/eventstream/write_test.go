package eventstream_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/eventstream"
	"github.com/kubectl-release/kubectl-release/internal/redact"
)

// A secret of several lines may begin on the first line of a message, and go on in the reasons, also if the
// message has a second line, which says where a rollback leads.
func TestASecretInMessageAndReasonsIsMasked(t *testing.T) {
	mask := redact.NewValuesMask(map[string]any{"password": "canary1\ncanary2\ncanary3"}, nil)
	for _, message := range []string{"refused: canary1", "refused: canary1\nroll back to revision 1"} {
		var out bytes.Buffer
		e := eventstream.Event{Type: "rollback-started", Message: message, Reasons: []string{"canary2", "canary3", "what follows"}}
		if err := eventstream.Write(&out, e, mask); err != nil {
			t.Fatal(err)
		}
		if text := out.String(); strings.Contains(text, "canary") || !strings.Contains(text, "what follows") || strings.Contains(message, "roll back") != strings.Contains(text, "roll back") {
			t.Errorf("%q: %s", message, text)
		}
	}
}

package reconcile

import (
	"fmt"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// maxMessage is how long the message of a condition may be, in bytes: the CRD allows as many
// characters, and a single message that is too long would get the whole status rejected.
const maxMessage = 32768

// bounded truncates a text that is too long, after a whole character.
func bounded(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	const more = " …"
	n := maxMessage - len(more)
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + more
}

// full returns "namespace/name.v7".
func full(s flux.Snapshot) string { return fmt.Sprintf("%s/%s.v%d", s.Namespace, s.Name, s.Version) }

// versionedChart returns "app@1.0.0".
func versionedChart(s flux.Snapshot) string { return s.ChartName + "@" + s.ChartVersion }

// succeeded returns the message about an action that succeeded.
func succeeded(action string, s flux.Snapshot) string {
	return fmt.Sprintf("Helm %s succeeded for release %s with chart %s", action, full(s), versionedChart(s))
}

// tellOf adds an event about a revision.
func (p *pass) tellOf(s flux.Snapshot, warning bool, reason, message string) {
	p.tell(Event{Warning: warning, Reason: reason, Message: message, Metadata: metadata(s.ChartVersion, s.ConfigDigest, s.AppVersion, s.OCIDigest)})
}

// metadata returns an event's annotations.
func metadata(revision, token, appVersion, ociDigest string) map[string]string {
	out := map[string]string{}
	for name, text := range map[string]string{"revision": revision, "token": token, "app-version": appVersion, "oci-digest": ociDigest} {
		if text != "" {
			out[flux.HelmGroup+"/"+name] = text
		}
	}
	return out
}

package terminal

import (
	"io"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kubectl-release/kubectl-release/internal/escape"
)

// Clean returns a stream that removes what could harm a terminal. Many commands print text from
// charts, records and the API server; this way none of them has to sanitize it.
func Clean(to io.Writer) io.Writer { return &cleaned{to: to} }

// CleanLog is Clean for a stream that may be the log of a CI job: its runner finds no commands in it.
func CleanLog(to io.Writer) io.Writer { return &cleaned{to: to, log: true} }

// Content returns the stream for output that programs read byte by byte, such as a manifest: it is
// unchanged unless it is a terminal.
func Content(stream io.Writer) io.Writer {
	if Is(stream) {
		return Clean(stream)
	}
	return stream
}

type cleaned struct {
	mu sync.Mutex
	to io.Writer
	// rest is the beginning of a UTF-8 character whose end has yet to be written.
	rest []byte
	// log says that commands of a CI job's runner are removed, too.
	log bool
}

// Write implements io.Writer.
func (w *cleaned) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := append(w.rest, text...)
	whole := len(all)
	for i := 1; i < utf8.UTFMax && i <= len(all); i++ {
		if last := all[len(all)-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				whole -= i
			}
			break
		}
	}
	w.rest = append([]byte(nil), all[whole:]...)
	clean := escape.Text(string(all[:whole]))
	if w.log {
		clean = withoutCommands(clean)
	}
	if _, err := io.WriteString(w.to, clean); err != nil {
		return 0, err
	}
	return len(text), nil
}

// withoutCommands changes text so that a runner of CI jobs finds no commands in it. For GitHub's these are
// lines that begin with "::", after white space, and whatever follows "##[" (actions/runner,
// src/Runner.Common/ActionCommand.cs, TryParseV2 and TryParse); for Azure's, what follows "##vso[", too
// (https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands).
func withoutCommands(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##") {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			b.WriteString("| ")
		}
		b.WriteString(line)
	}
	return strings.NewReplacer("##[", "## [", "##vso[", "##vso [").Replace(b.String())
}

package command

import (
	"io"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/kubectl-release/kubectl-release/internal/escape"
)

// cleaned is a stream that removes what could harm a terminal. Many commands print text from
// charts, records and the API server; this way none of them has to sanitize it.
type cleaned struct {
	mu sync.Mutex
	to io.Writer
	// rest is the beginning of a UTF-8 character whose end has yet to be written.
	rest []byte
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
	if _, err := io.WriteString(w.to, escape.Text(string(all[:whole]))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// content returns the stream for output that programs read byte by byte, such as a manifest: it is
// unchanged unless it is a terminal.
func content(stream io.Writer) io.Writer {
	if isTerminal(stream) {
		return &cleaned{to: stream}
	}
	return stream
}

func isTerminal(stream any) bool {
	f, ok := stream.(descriptor)
	return ok && term.IsTerminal(int(f.Fd()))
}

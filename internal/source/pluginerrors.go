package source

import (
	"bytes"
	"io"
	"sync"

	"github.com/kubectl-release/kubectl-release/internal/redact"
)

// longestLine is how many bytes of a line on a plugin's standard error are kept until its end: what is split could
// no longer be recognised as a secret.
const longestLine = 64 << 10

// pluginErrors passes on, line by line, what a plugin prints on its standard error, without the password that the
// plugin was given, and those in URLs: a plugin that runs curl or git may quote both.
type pluginErrors struct {
	to   io.Writer
	mask *redact.Mask

	mu sync.Mutex
	// rest is a line whose end is still to come.
	rest []byte
}

func newPluginErrors(to io.Writer, password string) *pluginErrors {
	var secrets [][]byte
	if password != "" {
		secrets = append(secrets, []byte(password))
	}
	return &pluginErrors{to: to, mask: redact.NewValuesMask(nil, nil, secrets...)}
}

// Write implements io.Writer. A carriage return ends a line, too: progress may have no others.
func (e *pluginErrors) Write(text []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rest = append(e.rest, text...)
	end := bytes.LastIndexAny(e.rest, "\r\n") + 1
	if end == 0 && len(e.rest) > longestLine {
		end = len(e.rest)
	}
	if err := e.pass(end); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Close implements io.Closer. It passes on what has no end of a line.
func (e *pluginErrors) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.pass(len(e.rest))
}

func (e *pluginErrors) pass(end int) error {
	if end == 0 || e.to == nil {
		return nil
	}
	text := e.mask.Text(string(e.rest[:end]))
	e.rest = append(e.rest[:0], e.rest[end:]...)
	_, err := io.WriteString(e.to, text)
	return err
}

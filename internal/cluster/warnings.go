package cluster

import "sync"

// warnings passes each distinct warning of the API server on once.
type warnings struct {
	mu   sync.Mutex
	seen map[string]bool
	warn func(string)
}

func newWarnings(warn func(string)) *warnings {
	return &warnings{seen: map[string]bool{}, warn: warn}
}

// HandleWarningHeader implements rest.WarningHandler. Code 299 is the only one
// that the API server uses.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	if code != 299 || text == "" || w.warn == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen[text] {
		return
	}
	w.seen[text] = true
	w.warn(text)
}

// Package quick has kubectl begin with less than half of the processor time: tests start it
// more than a thousand times.
//
// It works by being initialized before k8s.io/kubectl/pkg/cmd/options, whose variables are
// translated texts: of the packages that are ready, Go initializes the one first whose import
// path comes first (go.dev/ref/spec#Package_initialization). Where that is not so, kubectl
// begins as slowly as it does elsewhere, and nothing else is different.
package quick

import (
	"os"
	"runtime/debug"

	"k8s.io/kubectl/pkg/util/i18n"
)

// growth is by how many per cent the heap may grow before it is collected: it is small, and
// gone after a moment.
const growth = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	// Each text is its own translation into English. Without this, every start compresses
	// 350 kB of translations in order to read them from what comes of that; the error says
	// that it has been done already.
	_ = i18n.SetLoadTranslationsFunc(func() error { return nil })
}

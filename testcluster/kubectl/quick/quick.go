// Package quick makes kubectl start in less than half the CPU time: tests start it more than a
// thousand times.
//
// It works by being initialized before k8s.io/kubectl/pkg/cmd/options, whose variables are
// translated texts: of the packages that are ready, Go initializes the one whose import path
// sorts first (go.dev/ref/spec#Package_initialization). If that ever changes, kubectl starts as
// slowly as elsewhere, and nothing else is different.
package quick

import (
	"os"
	"runtime/debug"

	"k8s.io/kubectl/pkg/util/i18n"
)

// growth is the percentage by which the heap may grow before it is collected: kubectl's heap is
// small and short-lived.
const growth = 400

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(growth)
	}
	// Each text is its own English translation. Without this, every start compresses 350 kB of
	// translations only to read them back; the error says that it was already called.
	_ = i18n.SetLoadTranslationsFunc(func() error { return nil })
}

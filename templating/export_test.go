package templating

import (
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Effort is what a render used of its limits.
type Effort struct {
	Steps, Bytes int
	Keys         time.Duration
}

// The limits of an Effort.
const (
	MaxSteps = maxSteps
	MaxBytes = maxBytes
	MaxKeys  = maxKeySeconds * time.Second
)

// RenderEffort renders a chart and says what that took.
func RenderEffort(c *chart.Chart, top map[string]any) (Effort, error) {
	e := newExecution(Options{})
	_, err := e.render(c, top)
	return Effort{Steps: e.steps, Bytes: e.bytes, Keys: e.keys}, err
}

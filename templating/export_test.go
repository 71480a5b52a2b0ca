package templating

import (
	"time"

	"github.com/kubectl-release/kubectl-release/internal/budget"
	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Effort is what a render used of its limits.
type Effort struct {
	Steps, Bytes, Tables int
	Keys                 time.Duration
}

// The limits of an Effort.
const (
	MaxSteps  = budget.MaxSteps
	MaxBytes  = budget.MaxBytes
	MaxTables = budget.MaxTableBytes
	MaxKeys   = budget.MaxKeySeconds * time.Second
)

// RenderBriefly renders a chart as Render does with no options, but takes that many steps at most, and a second for keys.
func RenderBriefly(c *chart.Chart, top map[string]any, steps int) (Rendered, error) {
	e := newExecution(Options{})
	e.Steps, e.Keys = budget.MaxSteps-steps, MaxKeys-time.Second
	return e.render(c, top)
}

// RenderEffort renders a chart as Render does with no options, and returns the effort that this took, even
// if it fails. Errors are those of Render.
func RenderEffort(c *chart.Chart, top map[string]any) (Effort, error) {
	e := newExecution(Options{})
	_, err := e.render(c, top)
	return Effort{Steps: e.Steps, Bytes: e.Bytes, Tables: e.Tables, Keys: e.Keys}, err
}

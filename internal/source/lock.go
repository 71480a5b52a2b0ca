package source

import (
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/plan"
)

// LockOf returns what a plan says about a chart's lock; nil for no chart, or one without
// dependencies.
func LockOf(c *chart.Chart) *plan.ChartLock {
	if c == nil || c.Metadata == nil || len(c.Metadata.Dependencies) == 0 {
		return nil
	}
	out := &plan.ChartLock{Dependencies: len(c.Metadata.Dependencies)}
	lock, err := resolve.LockIn(c)
	if lock == nil && err == nil {
		return out
	}
	out.File = resolve.LockName(c.Metadata)
	if err == nil {
		err = inSync(c.Metadata, lock)
	}
	if err != nil {
		out.OutOfSync = err.Error()
	}
	if lock == nil {
		return out
	}
	out.Digest = lock.Digest
	for _, d := range lock.Dependencies {
		if d.Digest != "" {
			out.Pinned++
		}
	}
	return out
}

// inSync checks that a lock belongs to Chart.yaml. A repository alias in Chart.yaml is assumed to
// mean the lock's repository, since it may be configured only on another machine.
func inSync(m *chart.Metadata, lock *resolve.Lock) error {
	declared, err := resolve.Declared(m, &resolve.Repositories{}, lock)
	if err != nil {
		return err
	}
	return resolve.InSync(m, declared, lock)
}

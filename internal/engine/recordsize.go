package engine

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// recordLimit is how large the store takes a record; without a store, as Secrets.
func (e *Engine) recordLimit() int {
	if e.Store == nil {
		return releasestore.MaxSize
	}
	return e.Store.MaxSize()
}

// measuring encodes the record of a target, if there is one, to know its size, which takes as
// long as some LISTs do. What it returns waits for that and tells the plan how large its record
// is and, with a limit above 0, may be, in bytes.
func measuring(target *plan.Target, limit int) func(*plan.Input) error {
	if target == nil {
		return func(*plan.Input) error { return nil }
	}
	type measured struct {
		size int
		err  error
	}
	done := make(chan measured, 1)
	go func() {
		size, err := releasestore.Size(target.Record)
		done <- measured{size, err}
	}()
	return func(in *plan.Input) error {
		m := <-done
		if m.err != nil {
			return fmt.Errorf("measure the record of %s: %w", in.Release, m.err)
		}
		in.RecordSize, in.MaxRecordSize = m.size, limit
		if limit > 0 && m.size > limit {
			in.RecordParts = release.LargestParts(target.Record, 10)
		}
		return nil
	}
}

package engine

import (
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// recordLimit returns the size of the largest record that the store accepts, in bytes; without a
// store, the limit for Secrets.
func (e *Engine) recordLimit() int {
	if e.Store == nil {
		return releasestore.MaxSize
	}
	return e.Store.MaxSize()
}

// measuring encodes a target's record in the background to learn its size, which takes as long as a
// few LIST requests. The returned function waits for that and sets the size and the limit of the
// record, in bytes, in the input; a limit of 0 means none.
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
		if limit > 0 && m.size+plan.RecordReserve > limit {
			in.RecordParts = release.LargestParts(target.Record, 10)
		}
		return nil
	}
}

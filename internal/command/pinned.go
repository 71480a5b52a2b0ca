package command

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
)

// movedError is a StaleError: the reference of the plan's chart means other bytes now.
type movedError struct{ *engine.StaleError }

func (e *movedError) Unwrap() error { return e.StaleError }

// unmoved refuses a saved plan whose chart is another one by now where it was fetched
// from. The chart that was planned is in the plan: a server that does not answer is no
// reason to stop.
func (p *program) unmoved(ctx context.Context, o *applyFlags, saved *plan.Plan) error {
	from := saved.ChartSource
	switch {
	case from == nil || from.Fixed || o.pinned:
		return nil
	case o.source.chart.offline:
		fmt.Fprintf(p.streams.Err, "Offline: nobody is asked whether %s is still %s.\n", from.URL, from.Digest)
		return nil
	}
	s, err := p.sources(&o.source.chart.fetchFlags)
	if err != nil {
		return err
	}
	difference, err := s.Moved(ctx, from)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		p.serverWarning(err.Error())
	case difference != "":
		return &movedError{&engine.StaleError{Differences: []string{difference}}}
	}
	return nil
}

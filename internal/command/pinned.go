package command

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
)

func pinnedFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "pinned", Destination: to, Usage: "with FILE: do not check that the chart reference still means what was planned", Category: chartCategory}
}

// movedError is a StaleError: the reference of the plan's chart now resolves to another chart.
type movedError struct{ *engine.StaleError }

func (e *movedError) Unwrap() error { return e.StaleError }

// unmoved refuses a saved plan if its chart has changed at the source it was fetched from. The plan
// contains the chart, so a server that does not answer only causes a warning.
func (p *program) unmoved(ctx context.Context, fetch *fetchFlags, saved *plan.Plan) error {
	from := saved.ChartSource
	switch {
	case from == nil || from.Fixed:
		return nil
	case fetch.offline:
		fmt.Fprintf(p.streams.Err, "Offline: whether %s is still %s was not checked.\n", from.URL, from.Digest)
		return nil
	}
	s, err := p.sources(fetch)
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

package command

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
)

func pinnedFlag() cli.Flag {
	return &cli.BoolFlag{Name: "pinned", Usage: "with FILE: do not ask whether the chart's reference still means what was planned", Category: chartCategory}
}

// movedError is a StaleError: the reference of the plan's chart means other bytes now.
type movedError struct{ *engine.StaleError }

func (e *movedError) Unwrap() error { return e.StaleError }

// unmoved refuses a saved plan whose chart is another one by now where it was fetched
// from. The chart that was planned is in the plan: a server that does not answer is no
// reason to stop.
func (p *program) unmoved(c *cli.Context, saved *plan.Plan) error {
	from := saved.ChartSource
	switch {
	case from == nil || from.Fixed || c.Bool("pinned"):
		return nil
	case c.Bool("offline"):
		fmt.Fprintf(p.streams.Err, "Offline: nobody is asked whether %s is still %s.\n", from.URL, from.Digest)
		return nil
	}
	s, err := sources(c)
	if err != nil {
		return err
	}
	difference, err := s.Moved(c.Context, from)
	switch {
	case c.Err() != nil:
		return c.Err()
	case err != nil:
		p.serverWarning(err.Error())
	case difference != "":
		return &movedError{&engine.StaleError{Differences: []string{difference}}}
	}
	return nil
}

package command

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

func replanFlag() cli.Flag {
	return &cli.BoolFlag{Name: "replan", Usage: "with FILE: when it is stale, show what is different now, ask, and apply that", Category: applyCategory}
}

// applyOnward applies what a saved plan is for from where the release is by now: it
// shows what is different from the plan that was reviewed, and asks.
func (p *program) applyOnward(c *cli.Context, s *session, saved *plan.Plan) error {
	fresh, differences, err := s.engine.PlanOnward(c.Context, saved)
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		return p.reviewed(c, s, saved)
	}
	p.hideMore(fresh)
	if p.stream != nil {
		p.stream.plan(fresh)
	} else if err := p.showDifferences(c, fresh, differences); err != nil {
		return err
	}
	if fresh.Blocked() {
		return p.blocked(c, fresh)
	}
	if fresh.Effect() == plan.EffectNone {
		return nil
	}
	if err := p.confirmPlan(c, fresh); err != nil {
		return err
	}
	return p.reviewed(c, s, fresh)
}

// showDifferences shows in which ways a plan is not the one that was reviewed, and of
// the plan the objects that this is about.
func (p *program) showDifferences(c *cli.Context, fresh *plan.Plan, differences []plan.Difference) error {
	fmt.Fprintln(p.streams.Out, "Since the plan was reviewed:")
	o := p.textOptions(c, p.raw.Out)
	for _, d := range differences {
		fmt.Fprintf(p.streams.Out, "  %s\n", p.mask.Load().Text(d.String()))
		if d.Object != (manifest.ID{}) {
			o.Only = append(o.Only, d.Object.Kind+"/"+d.Object.Name)
		}
	}
	fmt.Fprintln(p.streams.Out)
	if len(o.Only) == 0 {
		o.Summary = true // no object is different
	}
	if !c.Bool("show-secrets") {
		fresh = redact.Plan(fresh)
	}
	return report.Text(p.raw.Out, &fresh.Document, o)
}

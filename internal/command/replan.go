package command

import (
	"context"
	"fmt"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// applyOnward applies what a saved plan is for from where the release is by now: it
// shows what is different from the plan that was reviewed, and asks.
func (p *program) applyOnward(ctx context.Context, s *session, o *applyFlags, saved *plan.Plan) error {
	fresh, differences, err := s.engine.PlanOnward(ctx, saved)
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		return p.reviewed(ctx, s, &o.planningFlags, saved)
	}
	p.hideMore(fresh)
	if p.stream != nil {
		p.stream.plan(fresh)
	} else if err := p.showDifferences(&o.show, fresh, differences); err != nil {
		return err
	}
	if fresh.Blocked() {
		return p.blocked(fresh)
	}
	if fresh.Effect() == plan.EffectNone {
		return nil
	}
	if err := p.confirmPlan(o.yes, fresh); err != nil {
		return err
	}
	return p.reviewed(ctx, s, &o.planningFlags, fresh)
}

// showDifferences shows in which ways a plan is not the one that was reviewed, and of
// the plan the objects that this is about.
func (p *program) showDifferences(show *showFlags, fresh *plan.Plan, differences []plan.Difference) error {
	fmt.Fprintln(p.streams.Out, "Since the plan was reviewed:")
	o := show.text(p.raw.Out)
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
	return report.Text(p.raw.Out, &p.masked(fresh).Document, o)
}

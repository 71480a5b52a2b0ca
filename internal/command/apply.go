package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/plan"
)

func (p *program) applyCommand() *cli.Command {
	return &cli.Command{
		Name: "apply", Usage: "apply a saved plan, or plan, ask and apply", ArgsUsage: "FILE | NAME CHART",
		Description: describe("With FILE, does exactly what the saved plan says, or refuses when that is no longer\nwhat would happen. With NAME and CHART, shows the plan, asks, and does it.",
			"kubectl release apply web.plan\nkubectl release apply web ./chart -f prod.yaml\nkubectl release apply web ./chart --yes"),
		Flags: joined([]cli.Flag{&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "do not ask", Category: applyCategory}, eventsFlag(), pinnedFlag(), replanFlag()},
			openingFlags(), planFlags(), valuesFlags(), reuseFlags(), renderFlags(), deployFlags(), chartFlags()),
		Action: p.streamed(func(c *cli.Context) error {
			args, err := arguments(c, 1, 2)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return p.applySaved(c, args[0])
			}
			if c.Bool("replan") {
				return usage("--replan is for a saved plan; a chart is planned now anyway")
			}
			if c.Bool("pinned") {
				return usage("--pinned is for a saved plan; a chart is pinned by its digest: CHART@sha256:… in a registry, or --version VERSION@sha256:…")
			}
			return p.applyChart(c, args[0], args[1])
		}),
	}
}

func (p *program) applySaved(c *cli.Context, file string) error {
	saved, err := p.readPlan(c, file)
	if err != nil {
		return err
	}
	if err := saved.Applicable(); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if saved, err = guarded(c, saved); err != nil {
		return err
	}
	p.hide(c, saved)
	if p.stream != nil {
		p.stream.plan(saved)
	}
	if saved.Blocked() {
		return p.blocked(c, saved)
	}
	s, err := p.connect(c)
	if err != nil {
		return err
	}
	// Helm tells its plugins the current namespace, which nobody has chosen.
	chosen := c.String("namespace")
	if chosen != "" && chosen != os.Getenv("HELM_NAMESPACE") && s.namespace != saved.Release.Namespace {
		return usage("the plan is for namespace %s, not %s", saved.Release.Namespace, s.namespace)
	}
	if s.namespace != saved.Release.Namespace {
		p.invocation = p.invocation.In(saved.Release.Namespace)
		s.engine.Invocation = p.invocation
	}
	if err := p.unmoved(c, saved); err != nil {
		return err
	}
	if c.Bool("replan") {
		return p.applyOnward(c, s, saved)
	}
	return p.reviewed(c, s, saved)
}

func (p *program) applyChart(c *cli.Context, name, path string) error {
	s, err := p.connect(c)
	if err != nil {
		return err
	}
	made, err := s.engine.PlanWhenUnlocked(c.Context, lockOptions(c), func(context.Context) (*plan.Plan, error) {
		return p.planDeployment(c, s, name, path, engine.InstallOrUpgrade)
	})
	if err != nil {
		return err
	}
	p.hide(c, made)
	switch {
	case p.stream != nil:
		p.stream.plan(made)
		p.warnings(c, made)
		if made.Blocked() {
			return p.blocked(c, made)
		}
	default:
		if err := p.showWithWarnings(c, made); err != nil {
			return err
		}
		if made.Blocked() {
			return codeError(exitError)
		}
	}
	if made.Effect() == plan.EffectNone {
		if p.stream != nil {
			p.stream.close(c.Context, ending{idle: true})
		}
		return nil
	}
	if err := p.confirmPlan(c, made); err != nil {
		return err
	}
	if isTerminal(p.raw.Out) && p.stream == nil {
		fmt.Fprintln(p.streams.Err) // the plan ends here
	}
	return p.reviewed(c, s, made)
}

// reviewed applies a plan that somebody has seen before.
func (p *program) reviewed(c *cli.Context, s *session, made *plan.Plan) error {
	p.underway.begin(made)
	outcome, err := s.engine.ApplyReviewed(c.Context, made, lockOptions(c))
	s.progress.Stop()
	return p.finish(c, made, outcome, err)
}

func (p *program) confirmPlan(c *cli.Context, made *plan.Plan) error {
	return p.confirm(c, fmt.Sprintf("\nApply these changes to %s in %s?", made.Release, made.Cluster), "not applied; nothing was written")
}

// confirm asks a question; an error says what has not happened when the answer is not
// yes. Without a terminal only --yes is an answer.
func (p *program) confirm(c *cli.Context, question, otherwise string) error {
	if c.Bool("yes") {
		return nil
	}
	if !isTerminal(p.raw.In) {
		return fmt.Errorf("%s: nobody is there to be asked; --yes goes on without a question", otherwise)
	}
	fmt.Fprintf(p.streams.Err, "%s Type yes: ", question)
	answer, err := bufio.NewReader(p.streams.In).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New(otherwise)
	}
	return nil
}

// finish tells how a run has ended.
func (p *program) finish(c *cli.Context, made *plan.Plan, outcome apply.Outcome, err error) error {
	if err != nil {
		var back *engine.RolledBackError
		if !errors.As(err, &back) && (outcome.Written || outcome.Recorded) {
			err = &unfinishedError{err, made, outcome}
		}
		if p.stream != nil {
			p.stream.close(c.Context, ending{outcome: outcome, err: err})
		}
		return err
	}
	if p.stream != nil {
		p.stream.close(c.Context, ending{outcome: outcome, notes: !c.Bool("hide-notes")})
		return nil
	}
	if c.String("output") == "yaml" {
		if outcome.Revision == nil {
			return nil
		}
		return p.record(c, outcome.Revision)
	}
	p.result(c, made)
	return nil
}

// testsResult does not call passed what has not run.
func testsResult(made *plan.Plan) string {
	switch {
	case made.Summary.Hooks > 0:
		return "The tests of release " + made.Release.Name + " have passed."
	case len(made.Options.OnlyTests)+len(made.Options.SkipTests) > 0:
		return "None of the tests of release " + made.Release.String() + " was chosen; nothing has been tested."
	}
	return "Release " + made.Release.String() + " has no tests."
}

func (p *program) result(c *cli.Context, made *plan.Plan) {
	name := made.Release.Name
	switch made.Operation {
	case plan.Install:
		fmt.Fprintf(p.streams.Out, "Release %s is installed in namespace %s (revision %d).\n", name, made.Release.Namespace, made.ToRevision)
	case plan.Upgrade:
		fmt.Fprintf(p.streams.Out, "Release %s is upgraded to revision %d.\n", name, made.ToRevision)
	case plan.Rollback:
		fmt.Fprintf(p.streams.Out, "Release %s is rolled back to revision %d (as revision %d).\n", name, made.RollbackTo, made.ToRevision)
	case plan.Uninstall:
		fmt.Fprintf(p.streams.Out, "Release %s is uninstalled.\n", name)
	case plan.Test:
		fmt.Fprintln(p.streams.Out, testsResult(made))
	}
	if notes := strings.TrimSpace(made.Notes); notes != "" && !c.Bool("hide-notes") && (made.Operation == plan.Install || made.Operation == plan.Upgrade) {
		fmt.Fprintf(p.streams.Out, "\nNOTES:\n%s\n", p.mask.Load().Notes(notes))
	}
}

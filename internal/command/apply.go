package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// applyFlags are the flags of apply.
type applyFlags struct {
	runFlags
	source              sourceFlags
	files               planFileFlags
	approval            approvalFlags
	yes, pinned, replan bool
}

func (p *program) applyCommand() *cli.Command {
	var o applyFlags
	return &cli.Command{
		Name: "apply", Usage: "apply a saved plan, or plan, ask and apply", ArgsUsage: "FILE | NAME CHART",
		Description: describe("With FILE, does exactly what the saved plan says, or refuses if that is no longer what\nwould happen. With NAME and CHART, shows the plan, asks, and applies it. For a release\nnamed many: apply -- many CHART.",
			"kubectl release apply web.plan\nkubectl release apply web.plan --allowed-signers allowed_signers --max-age 24h\nkubectl release apply web ./chart -f prod.yaml\nkubectl release apply web ./chart --yes"),
		Flags: joined([]cli.Flag{
			applyToggle("yes", &o.yes, "do not ask for confirmation", "y"),
			o.show.eventsFlag(),
			pinnedFlag(&o.pinned),
			applyToggle("replan", &o.replan, "with FILE: if it is stale, show what has changed, ask, and apply the new plan"),
		}, o.files.opening(), o.approval.flags(), o.effect.flags(), o.show.flags(&p.showSecrets), o.source.valueFlags(), o.source.reuse.flags(), o.source.render.flags(), o.options.deploying(), o.source.chart.flags(&p.paths)),
		Action: p.presented(&o.runFlags, takes(1, 2, func(ctx context.Context, args []string) error {
			if len(args) == 1 {
				if o.effect != (effectFlags{}) {
					return usage("--expect-effect and --effect-key-file are for a chart; for a saved plan use --expect-digest")
				}
				if err := p.checkPlanned(&o); err != nil {
					return err
				}
				return p.applySaved(ctx, &o, args[0])
			}
			if o.approval != (approvalFlags{}) {
				return usage("--expect-digest, --expect-commit, --max-age, --allowed-signers and --signer are for a saved plan; for a chart use --expect-effect")
			}
			if o.replan {
				return usage("--replan is for a saved plan; a chart is planned now anyway")
			}
			if o.pinned {
				return usage("--pinned is for a saved plan; a chart is pinned by its digest: CHART@sha256:… in a registry, or --version VERSION@sha256:…")
			}
			return p.applyChart(ctx, &o, args[0], args[1])
		})),
		Subcommands: []*cli.Command{p.applyManyCommand()},
	}
}

// checkPlanned refuses, with a saved plan, the flags that say what is planned, and how: they would change
// nothing. What judges the plan, and how long to wait for other runs, is up to whoever applies it.
func (p *program) checkPlanned(o *applyFlags) error {
	s := &o.source
	return p.checkSaved(joined(s.valueFlags(), s.reuse.flags(), s.render.flags(), s.chart.choosing(), s.chart.verify.flags(), o.options.deploying()), "deny", "policy", "lock-timeout")
}

// checkSaved refuses these flags, except some, with a saved plan.
func (p *program) checkSaved(flags []cli.Flag, except ...string) error {
	for _, flag := range flags {
		names := flag.Names()
		if slices.ContainsFunc(names, p.hasFlag) && !slices.Contains(except, names[0]) {
			return usage("--%s is for a chart; a saved plan has its own", names[0])
		}
	}
	return nil
}

// applySaved applies the plan saved in a file.
func (p *program) applySaved(ctx context.Context, o *applyFlags, file string) error {
	saved, err := unlessStopped(ctx, func() (*plan.Plan, error) { // it may ask for a passphrase
		return p.openSaved(&o.planningFlags, &o.files, &o.approval, file)
	})
	if err != nil {
		return err
	}
	if err := p.presenter.plan(saved, known); err != nil {
		return err
	}
	s, err := p.connectFor(ctx, saved, &o.source.chart.fetchFlags, o.pinned)
	if err != nil {
		return err
	}
	if o.replan {
		return p.applyOnward(ctx, s, o, saved)
	}
	return p.reviewed(ctx, s, &o.options, saved)
}

// applyChart plans, shows the plan, asks and applies.
func (p *program) applyChart(ctx context.Context, o *applyFlags, name, path string) error {
	if err := o.effect.check(); err != nil {
		return err
	}
	s, err := p.connect()
	if err != nil {
		return p.reportImpossible(&o.show, p.offlineKey(name), err)
	}
	made, err := s.engine.PlanWhenUnlocked(ctx, o.options.lock, func(context.Context) (*plan.Plan, error) {
		return p.planDeployment(ctx, s, deployment{&o.planningFlags, &o.source, name, path, engine.InstallOrUpgrade})
	})
	if err != nil {
		return p.reportImpossible(&o.show, s.key(name), unwritten(err))
	}
	p.hide(made)
	shown, err := p.withEffectToKeep(&o.show, &o.effect, made)
	if err != nil {
		return err
	}
	if err := p.presenter.plan(shown, whole); err != nil {
		return err
	}
	if err := p.approved(&o.effect, made); err != nil {
		return err
	}
	if made.Effect() == plan.EffectNone {
		return p.presenter.end(ctx, ending{idle: true})
	}
	if err := p.confirmPlan(ctx, o.yes || o.effect.expect != "", made); err != nil {
		return err
	}
	p.presenter.confirmed()
	return p.reviewed(ctx, s, &o.options, made)
}

// reviewed applies a plan that the user has reviewed.
func (p *program) reviewed(ctx context.Context, s *session, o *optionFlags, made *plan.Plan) error {
	p.underway.begin(made)
	outcome, err := s.engine.ApplyReviewed(ctx, made, o.lock)
	s.progress.Stop()
	return p.finish(ctx, ending{made: made, outcome: outcome, err: err})
}

func (p *program) confirmPlan(ctx context.Context, yes bool, made *plan.Plan) error {
	return p.confirm(ctx, yes, fmt.Sprintf("\nApply these changes to %s in %s?", made.Release, made.Cluster), "not applied; nothing was written")
}

// confirm asks the user a question. If the answer is not yes, it returns an error with the text
// otherwise. Without a terminal, only --yes is accepted.
func (p *program) confirm(ctx context.Context, yes bool, question, otherwise string) error {
	if yes {
		return nil
	}
	if !terminal.Is(p.raw.In) {
		return fmt.Errorf("%s: there is no terminal to ask on; use --yes to go ahead without confirmation", otherwise)
	}
	fmt.Fprintf(p.streams.Err, "%s Type yes: ", question)
	answer, err := unlessStopped(ctx, func() (string, error) { return bufio.NewReader(p.streams.In).ReadString('\n') })
	if stopped := (*stoppedError)(nil); errors.As(err, &stopped) {
		fmt.Fprintln(p.streams.Err) // the error is not to stand behind the question
		return err
	}
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return errors.New(otherwise)
	}
	return nil
}

// finish reports how a run ended.
func (p *program) finish(ctx context.Context, how ending) error {
	how.err = how.explained()
	return p.presenter.end(ctx, how)
}

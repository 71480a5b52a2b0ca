package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// planAndApply plans and applies in one go, for the release called name. With --dry-run, it only shows
// the plan.
func (p *program) planAndApply(ctx context.Context, o *runFlags, name string, prepare func(context.Context, *session) (*plan.Plan, error)) error {
	if err := o.effect.check(); err != nil {
		return err
	}
	if dry, err := dryRun(o.dryRun); err != nil {
		return err
	} else if dry {
		return p.showDryRun(o, name, func(s *session) (*plan.Plan, error) { return prepare(ctx, s) })
	}
	s, err := p.connect()
	if err != nil {
		return p.reportImpossible(&o.show, p.offlineKey(name), err)
	}
	warned := false
	see := func(made *plan.Plan) error {
		p.hide(made)
		p.underway.begin(made)
		if !warned {
			warned = true
			p.warnings(made)
		}
		shown, err := p.withEffectToKeep(&o.show, &o.effect, made)
		if err != nil {
			return err
		}
		if err := p.presenter.plan(shown, brief); err != nil {
			return err
		}
		return p.approved(&o.effect, made)
	}
	made, outcome, err := s.engine.PlanAndApply(ctx, o.options.lock,
		func(ctx context.Context) (*plan.Plan, error) { return prepare(ctx, s) }, see)
	s.progress.Stop()
	if errors.Is(err, errMayBeAbsent) {
		return p.presenter.end(ctx, ending{idle: true})
	}
	if made == nil {
		return p.reportImpossible(&o.show, s.key(name), unwritten(err))
	}
	return p.finish(ctx, ending{made: made, outcome: outcome, err: err})
}

// blocked returns the error of a plan that cannot be applied: all its blocking problems, and what
// to do about them.
func (p *program) blocked(made *plan.Plan) error {
	made = p.masked(made)
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s can't be done, and nothing was written:", made.Operation, made.Release)
	for _, problem := range made.Problems {
		if !problem.Blocking {
			continue
		}
		text.WriteString("\n  ✗ " + problem.Text())
		if problem.Do != "" {
			text.WriteString("\n    → " + problem.Do)
		}
	}
	return errors.New(text.String())
}

// headline describes the plan in one line, for commands that show no plan.
func headline(made *plan.Plan) string {
	return fmt.Sprintf("%s %s: %s", made.Operation, made.Release, report.Brief(made.Summary))
}

// runFlags are the flags of commands that plan and apply in one go.
type runFlags struct {
	planningFlags
	effect     effectFlags
	dryRun     string
	hideSecret bool
}

func (o *runFlags) flags(secrets *bool) []cli.Flag {
	return joined([]cli.Flag{
		notEmpty(&cli.StringFlag{Name: "dry-run", Destination: &o.dryRun, Usage: "show the plan instead; install --dry-run=client contacts no cluster and prints what template prints", Category: applyCategory}),
		&cli.BoolFlag{Name: "hide-notes", Destination: &o.show.hideNotes, Usage: "do not print the chart's notes", Category: planCategory},
		o.show.eventsFlag(),
	}, o.effect.flags(), o.show.flags(secrets))
}

// hideSecretFlag does nothing without a dry run, and a warning says so; Helm refuses it then (4.3.1,
// pkg/action/install.go and upgrade.go).
func (o *runFlags) hideSecretFlag() cli.Flag {
	return applyToggle("hide-secret", &o.hideSecret, "leave Secrets out of what install --dry-run=client prints; plans mask them in any case")
}

// installFlags are the flags of install.
type installFlags struct {
	runFlags
	source sourceFlags
	name   nameFlags
}

func (p *program) installCommand() *cli.Command {
	var o installFlags
	return &cli.Command{
		Name: "install", Usage: "install a release", ArgsUsage: "NAME CHART",
		Description: describe("Plans the installation of CHART as release NAME and applies it at once.",
			"kubectl release install web ./chart -n shop --create-namespace\nkubectl release install web ./chart --set replicas=2 --atomic\nkubectl release install web stable/web --version '~1.4'\nkubectl release install --generate-name ./chart"),
		Flags: joined(o.flags(&p.showSecrets), []cli.Flag{
			&cli.BoolFlag{Name: "generate-name", Destination: &o.name.generate, Aliases: []string{"g"}, Usage: "generate a name from the chart's", Category: applyCategory},
			&cli.StringFlag{Name: "name-template", Destination: &o.name.template, Usage: "template for the name", Category: applyCategory},
			o.hideSecretFlag(),
			applyToggle("replace", &o.options.Replace, "reuse the name of an uninstalled release"),
		}, o.source.valueFlags(), o.source.render.flags(), o.options.deploying(), o.source.chart.flags(&p.paths)),
		Action: p.presented(&o.runFlags, takesBetween(o.name.arguments, func(ctx context.Context, args []string) error {
			name, path, err := o.name.nameAndChart(args)
			if err != nil {
				return err
			}
			if o.dryRun == "client" {
				return p.installOffline(ctx, &o, name, path)
			}
			return p.planAndApply(ctx, &o.runFlags, name, func(_ context.Context, s *session) (*plan.Plan, error) {
				return p.planDeployment(ctx, s, deployment{&o.planningFlags, &o.source, name, path, engine.InstallOnly})
			})
		})),
	}
}

func (p *program) upgradeCommand() *cli.Command {
	var o struct {
		runFlags
		source  sourceFlags
		install bool
	}
	return &cli.Command{
		Name: "upgrade", Usage: "upgrade a release", ArgsUsage: "NAME CHART",
		Description: describe("Plans the upgrade of release NAME to CHART and applies it at once.",
			"kubectl release upgrade web ./chart --reuse-values --set image.tag=2.0\nkubectl release upgrade --install --atomic web ./chart -f prod.yaml"),
		Flags: joined(o.flags(&p.showSecrets), []cli.Flag{
			applyToggle("install", &o.install, "install the release if it does not exist", "i"), o.hideSecretFlag(),
		}, o.source.valueFlags(), o.source.reuse.flags(), o.source.render.flags(), o.options.deploying(), o.source.chart.flags(&p.paths)),
		Action: p.presented(&o.runFlags, takes(2, 2, func(ctx context.Context, args []string) error {
			mode := engine.UpgradeOnly
			if o.install {
				mode = engine.InstallOrUpgrade
			}
			return p.planAndApply(ctx, &o.runFlags, args[0], func(_ context.Context, s *session) (*plan.Plan, error) {
				return p.planDeployment(ctx, s, deployment{&o.planningFlags, &o.source, args[0], args[1], mode})
			})
		})),
	}
}

func (p *program) rollbackCommand() *cli.Command {
	var o runFlags
	return &cli.Command{
		Name: "rollback", Usage: "roll back to an earlier revision", ArgsUsage: "NAME [REVISION]",
		Description: describe("Plans the rollback to REVISION and applies it at once. Without REVISION it goes to the\nlast successful revision before the newest one.",
			"kubectl release rollback web\nkubectl release rollback web 3 --wait"),
		Flags: joined(o.flags(&p.showSecrets), o.options.deploying()),
		Action: p.presented(&o, takes(1, 2, func(ctx context.Context, args []string) error {
			to, err := revisionArgument(args[1:])
			if err != nil {
				return err
			}
			return p.planAndApply(ctx, &o, args[0], func(_ context.Context, s *session) (*plan.Plan, error) {
				return p.planRollback(ctx, s, &o.planningFlags, args[0], to)
			})
		})),
	}
}

// errMayBeAbsent is the error of a planner when there is no release, and that is no failure.
var errMayBeAbsent = errors.New("there is no such release")

func ignoreNotFoundFlag(to *bool) cli.Flag {
	return applyToggle("ignore-not-found", to, "do not fail if the release does not exist")
}

func (p *program) uninstallCommand() *cli.Command {
	var o runFlags
	var ignoreNotFound bool
	return &cli.Command{
		Name: "uninstall", Aliases: []string{"del", "delete", "un"}, Usage: "remove releases", ArgsUsage: "NAME...",
		Description: describe("Plans the removal of everything a release consists of and applies it at once.",
			"kubectl release uninstall web\nkubectl release uninstall web --keep-history --wait"),
		Flags: joined(o.flags(&p.showSecrets), o.options.uninstalling(), []cli.Flag{ignoreNotFoundFlag(&ignoreNotFound)}),
		Action: p.presented(&o, takes(1, 1000, func(ctx context.Context, args []string) error {
			if err := errors.Join(o.show.checkFiles(len(args)), o.effect.checkReleases(len(args))); err != nil {
				return err
			}
			var gone []string
			for i, name := range args {
				p.turnTo(gone, args[i:])
				removed, err := p.uninstall(ctx, &o, name, ignoreNotFound)
				if err != nil && len(gone) > 0 {
					return fmt.Errorf("%s; %s: %w", uninstalled(gone), name, err)
				}
				if err != nil {
					return err
				}
				if removed {
					gone = append(gone, name)
				}
			}
			return nil
		})),
	}
}

// uninstall plans and applies the removal of one release, and reports whether it has removed something.
func (p *program) uninstall(ctx context.Context, o *runFlags, name string, ignoreNotFound bool) (removed bool, err error) {
	err = p.planAndApply(ctx, o, name, func(_ context.Context, s *session) (*plan.Plan, error) {
		made, err := p.planUninstall(ctx, s, &o.planningFlags, name)
		if ignoreNotFound && isNoRelease(err) {
			return nil, errMayBeAbsent
		}
		dry, _ := dryRun(o.dryRun) // planAndApply returns the error
		removed = made != nil && !dry
		return made, err
	})
	return removed, err
}

func (p *program) testCommand() *cli.Command {
	var o runFlags
	var filter cli.StringSlice
	return &cli.Command{
		Name: "test", Usage: "run a release's tests", ArgsUsage: "NAME",
		Description: describe("Runs the release's test hooks, one after the other.", "kubectl release test web\nkubectl release test web --filter name=smoke --logs"),
		Flags: joined([]cli.Flag{
			&cli.StringSliceFlag{Name: "filter", Destination: &filter, Usage: "run only the test of that name (name=NAME), or all but that one (!name=NAME)", Category: applyCategory},
			applyToggle("logs", &o.options.HookLogs, "print the logs of tests that succeed, too"),
			&cli.BoolFlag{Name: "hide-notes", Destination: &o.show.hideNotes, Hidden: true}, // Helm's test has the flag, too; no notes are printed anyway
		}, o.flags(&p.showSecrets), o.options.applying()),
		Action: p.presented(&o, takes(1, 1, func(ctx context.Context, args []string) error {
			return p.planAndApply(ctx, &o, args[0], func(ctx context.Context, s *session) (*plan.Plan, error) {
				p.presenter.about(s.key(args[0]))
				options, err := o.planOptions()
				if err != nil {
					return nil, err
				}
				if options.OnlyTests, options.SkipTests, err = testFilters(filter.Value()); err != nil {
					return nil, err
				}
				return s.engine.PlanTest(ctx, s.key(args[0]), options)
			})
		})),
	}
}

// testFilters parses --filter as Helm does (Helm 4.3.1, pkg/cmd/release_testing.go): name=NAME or
// !name=NAME; several are separated by commas or given in repeated flags.
func testFilters(filters []string) (only, skip []string, err error) {
	for _, filter := range strings.Split(strings.Join(filters, ","), ",") {
		if name, ok := strings.CutPrefix(filter, "name="); ok {
			only = append(only, name)
		} else if name, ok := strings.CutPrefix(strings.Replace(filter, "! ", "!", 1), "!name="); ok {
			skip = append(skip, name)
		} else if filter != "" {
			return nil, nil, usage("--filter %s: must be name=NAME or !name=NAME", filter)
		}
	}
	return only, skip, nil
}

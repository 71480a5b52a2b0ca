package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// planAndApply is plan and apply in one. With --dry-run the plan is shown instead.
func (p *program) planAndApply(c *cli.Context, prepare func(context.Context, *session) (*plan.Plan, error)) error {
	s, err := p.connect(c)
	if err != nil {
		return err
	}
	if dry, err := dryRun(c.String("dry-run")); err != nil {
		return err
	} else if dry {
		return p.runPlan(c, func(s *session) (*plan.Plan, error) { return prepare(c.Context, s) })
	}
	warned := false
	see := func(made *plan.Plan) error {
		p.hide(c, made)
		p.underway.begin(made)
		if !warned {
			warned = true
			p.warnings(c, made)
		}
		if p.stream != nil {
			p.stream.plan(made)
			if !made.Blocked() {
				return nil
			}
			return p.blocked(c, made)
		}
		if !made.Blocked() {
			if dangers := report.Dangers(made.Summary.Risks); dangers != "" {
				fmt.Fprintln(p.streams.Err, dangers)
			}
			fmt.Fprintf(p.streams.Err, "%s\n", headline(made))
			return nil
		}
		return p.blocked(c, made)
	}
	made, outcome, err := s.engine.PlanAndApply(c.Context, lockOptions(c),
		func(ctx context.Context) (*plan.Plan, error) { return prepare(ctx, s) }, see)
	s.progress.Stop()
	if made == nil {
		return err
	}
	return p.finish(c, made, outcome, err)
}

// blocked is the error of a plan that can't be applied: all that stands in its
// way, and what to do about it.
func (p *program) blocked(c *cli.Context, made *plan.Plan) error {
	if !c.Bool("show-secrets") {
		made = redact.Plan(made)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %s can't be done, and nothing was written:", made.Operation, made.Release)
	for _, problem := range made.Problems {
		if !problem.Blocking {
			continue
		}
		text.WriteString("\n  ✗ ")
		if problem.Object.Kind != "" {
			text.WriteString(problem.Object.String() + ": ")
		}
		text.WriteString(problem.What)
		if problem.Do != "" {
			text.WriteString("\n    → " + problem.Do)
		}
	}
	return errors.New(text.String())
}

// headline is the plan in one line, for runs that show no plan.
func headline(made *plan.Plan) string {
	return fmt.Sprintf("%s %s: %s", made.Operation, made.Release, counts(made.Summary))
}

// counts is what a plan does, such as "create 1, change 2".
func counts(s plan.Summary) string {
	var parts []string
	for _, part := range []struct {
		n    int
		verb string
	}{
		{s.Create, "create"},
		{s.Patch, "change"},
		{s.Adopt, "adopt"},
		{s.Replace, "replace"},
		{s.Recreate, "recreate"},
		{s.Delete, "delete"},
		{s.Keep, "keep"},
	} {
		if part.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", part.verb, part.n))
		}
	}
	switch s.Hooks {
	case 0:
	case 1:
		parts = append(parts, "run 1 hook")
	default:
		parts = append(parts, fmt.Sprintf("run %d hooks", s.Hooks))
	}
	if len(parts) == 0 {
		parts = []string{"no object changes"}
	}
	return strings.Join(parts, ", ")
}

func dryRun(text string) (bool, error) {
	switch text {
	case "", "none", "false":
		return false, nil
	case "client", "server", "true":
		return true, nil
	}
	return false, usage("--dry-run=%s: it is none, client or server", text)
}

// eventsFlag is -o for commands that apply.
func eventsFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: "text, json (an event a line while it runs, see docs/events.md) or yaml (the revision at the end); where the plan is shown, all that plan has", Value: "text", Category: planCategory}
}

func nowFlags() []cli.Flag {
	return joined([]cli.Flag{
		&cli.StringFlag{Name: "dry-run", Usage: "show the plan instead", Category: applyCategory},
		&cli.BoolFlag{Name: "hide-notes", Usage: "do not print the chart's notes", Category: planCategory},
		eventsFlag(),
	}, planFlags())
}

func (p *program) installCommand() *cli.Command {
	return &cli.Command{
		Name: "install", Usage: "install a release", ArgsUsage: "NAME CHART",
		Description: describe("Plans the installation of CHART as release NAME and applies it at once.",
			"kubectl release install web ./chart -n shop --create-namespace\nkubectl release install web ./chart --set replicas=2 --atomic\nkubectl release install web stable/web --version '~1.4'\nkubectl release install --generate-name ./chart"),
		Flags: joined(nowFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "generate-name", Aliases: []string{"g"}, Usage: "make up a name from the chart's", Category: applyCategory},
			&cli.StringFlag{Name: "name-template", Usage: "template for the name", Category: applyCategory},
			&cli.BoolFlag{Name: "replace", Usage: "use the name of an uninstalled release again", Category: applyCategory},
		}, valuesFlags(), renderFlags(), deployFlags(), chartFlags()),
		Action: p.streamed(func(c *cli.Context) error {
			name, path, err := p.nameAndChart(c)
			if err != nil {
				return err
			}
			return p.planAndApply(c, func(_ context.Context, s *session) (*plan.Plan, error) {
				return p.planDeployment(c, s, name, path, engine.InstallOnly)
			})
		}),
	}
}

func (p *program) upgradeCommand() *cli.Command {
	return &cli.Command{
		Name: "upgrade", Usage: "upgrade a release", ArgsUsage: "NAME CHART",
		Description: describe("Plans the upgrade of release NAME to CHART and applies it at once.",
			"kubectl release upgrade web ./chart --reuse-values --set image.tag=2.0\nkubectl release upgrade --install --atomic web ./chart -f prod.yaml"),
		Flags: joined(nowFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "install", Aliases: []string{"i"}, Usage: "install when there is no such release", Category: applyCategory},
		}, valuesFlags(), reuseFlags(), renderFlags(), deployFlags(), chartFlags()),
		Action: p.streamed(func(c *cli.Context) error {
			args, err := arguments(c, 2, 2)
			if err != nil {
				return err
			}
			mode := engine.UpgradeOnly
			if c.Bool("install") {
				mode = engine.InstallOrUpgrade
			}
			return p.planAndApply(c, func(_ context.Context, s *session) (*plan.Plan, error) {
				return p.planDeployment(c, s, args[0], args[1], mode)
			})
		}),
	}
}

func (p *program) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name: "rollback", Usage: "return to an earlier revision", ArgsUsage: "NAME [REVISION]",
		Description: describe("Plans the return to REVISION and applies it at once. Without REVISION it goes to the\nlast successful revision before the newest one.",
			"kubectl release rollback web\nkubectl release rollback web 3 --wait"),
		Flags: joined(nowFlags(), deployFlags()),
		Action: p.streamed(func(c *cli.Context) error {
			name, to, err := rollbackArguments(c)
			if err != nil {
				return err
			}
			return p.planAndApply(c, func(_ context.Context, s *session) (*plan.Plan, error) { return p.planRollback(c, s, name, to) })
		}),
	}
}

func uninstallFlags() []cli.Flag {
	return joined(applyFlags(), guardFlags(), []cli.Flag{
		&cli.BoolFlag{Name: "keep-history", Usage: "keep the records, marked as uninstalled", Category: applyCategory},
		&cli.StringFlag{Name: "cascade", Usage: "background, foreground or orphan", Value: "background", Category: applyCategory},
		&cli.BoolFlag{Name: "ignore-not-found", Usage: "a release that is not there is no error", Category: applyCategory},
	})
}

func (p *program) uninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Aliases: []string{"delete", "un"}, Usage: "remove releases", ArgsUsage: "NAME...",
		Description: describe("Plans the removal of everything a release has sent and applies it at once.",
			"kubectl release uninstall web\nkubectl release uninstall web --keep-history --wait"),
		Flags: joined(nowFlags(), uninstallFlags()),
		Action: p.streamed(func(c *cli.Context) error {
			args, err := arguments(c, 1, 100)
			if err != nil {
				return err
			}
			for _, name := range args {
				err := p.planAndApply(c, func(_ context.Context, s *session) (*plan.Plan, error) { return p.planUninstall(c, s, name) })
				idle := c.Bool("ignore-not-found") && isNoRelease(err)
				if idle {
					err = nil
				}
				if p.stream != nil {
					p.stream.close(c.Context, ending{err: err, idle: idle})
				}
				if err != nil {
					return err
				}
			}
			return nil
		}),
	}
}

func (p *program) testCommand() *cli.Command {
	return &cli.Command{
		Name: "test", Usage: "run a release's tests", ArgsUsage: "NAME",
		Description: describe("Runs the hooks of event test, one after the other.", "kubectl release test web\nkubectl release test web --filter name=smoke --logs"),
		Flags: joined([]cli.Flag{
			&cli.StringSliceFlag{Name: "filter", Usage: "run the test of that name (name=NAME), or all but it (!name=NAME)", Category: applyCategory},
			&cli.BoolFlag{Name: "logs", Usage: "print the logs of tests that succeed, too", Category: applyCategory},
			&cli.BoolFlag{Name: "hide-notes", Hidden: true}, // as with Helm: none are printed anyway
		}, nowFlags(), applyFlags()),
		Action: p.streamed(func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			return p.planAndApply(c, func(ctx context.Context, s *session) (*plan.Plan, error) {
				p.about(s.key(args[0]))
				o, err := options(c)
				if err != nil {
					return nil, err
				}
				if o.OnlyTests, o.SkipTests, err = testFilters(c.StringSlice("filter")); err != nil {
					return nil, err
				}
				o.HookLogs = c.Bool("logs")
				return s.engine.PlanTest(ctx, s.key(args[0]), o)
			})
		}),
	}
}

// testFilters reads --filter as Helm does: name=NAME or !name=NAME, several by
// commas or by repeating the flag.
func testFilters(filters []string) (only, skip []string, err error) {
	for _, filter := range strings.Split(strings.Join(filters, ","), ",") {
		if name, ok := strings.CutPrefix(filter, "name="); ok {
			only = append(only, name)
		} else if name, ok := strings.CutPrefix(strings.Replace(filter, "! ", "!", 1), "!name="); ok {
			skip = append(skip, name)
		} else if filter != "" {
			return nil, nil, usage("--filter %s: want name=NAME or !name=NAME", filter)
		}
	}
	return only, skip, nil
}

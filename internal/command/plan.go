package command

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

func (p *program) planCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "show what an operation would do", ArgsUsage: "NAME CHART",
		Description: describe("Shows what installing or upgrading release NAME with CHART would do. Nothing is\nwritten to the cluster. A plan with blocking problems is shown, and exits with 1.",
			"kubectl release plan web ./chart -f prod.yaml\nkubectl release plan web ./chart --out web.plan\nkubectl release plan web ./chart --against 3\nkubectl release plan web ./chart --offline --against ../base/chart -o markdown\nkubectl release plan rollback web 3\nkubectl release plan uninstall web -o json\nkubectl release plan show web.plan"),
		Flags: joined(savingFlags(), openingFlags(), planFlags(), againstFlags(), valuesFlags(), reuseFlags(), renderFlags(), deployFlags(), chartFlags()),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 2, 2)
			if err != nil {
				return err
			}
			return p.planChart(c, args[0], args[1])
		}),
		Subcommands: []*cli.Command{p.planRollbackCommand(), p.planUninstallCommand(), p.planShowCommand(), p.planGraphCommand()},
	}
}

func (p *program) planRollbackCommand() *cli.Command {
	return &cli.Command{
		Name: "rollback", Usage: "show what a rollback would do", ArgsUsage: "NAME [REVISION]",
		Description: describe("Shows what a rollback would do. Without REVISION it goes to the last successful\nrevision before the newest one.", "kubectl release plan rollback web"),
		Flags:       joined(savingFlags(), planFlags(), deployFlags()),
		Action: p.readOnly(func(c *cli.Context) error {
			name, to, err := rollbackArguments(c)
			if err != nil {
				return err
			}
			return p.runPlan(c, func(s *session) (*plan.Plan, error) { return p.planRollback(c, s, name, to) })
		}),
	}
}

func (p *program) planUninstallCommand() *cli.Command {
	return &cli.Command{
		Name: "uninstall", Usage: "show what an uninstall would do", ArgsUsage: "NAME",
		Description: describe("Shows what an uninstall would delete, and what it would keep.", "kubectl release plan uninstall web"),
		Flags:       joined(savingFlags(), planFlags(), uninstallFlags()),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			err = p.runPlan(c, func(s *session) (*plan.Plan, error) { return p.planUninstall(c, s, args[0]) })
			if c.Bool("ignore-not-found") && isNoRelease(err) {
				return nil
			}
			return err
		}),
	}
}

func (p *program) planShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", Usage: "show a saved plan", ArgsUsage: "FILE",
		Description: describe("Shows a plan that --out saved, in every form of output. No cluster is needed.",
			"kubectl release plan show web.plan\nkubectl release plan show web.plan -o html > web.html\nkubectl release plan show web.plan.age --identity key.txt"),
		Flags: joined(planFlags(), openingFlags()),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			saved, err := p.readPlan(c, args[0])
			if err != nil {
				return err
			}
			if err := sensitive(c); err != nil {
				return err
			}
			return p.render(c, p.raw.Out, saved.WithSensitive(c.StringSlice("sensitive")))
		}),
	}
}

// runPlan makes a plan, shows it, and saves it where that is asked for.
func (p *program) runPlan(c *cli.Context, prepare func(*session) (*plan.Plan, error)) error {
	if err := errors.Join(checkSaving(c), checkShowing(c)); err != nil {
		return err
	}
	s, err := p.connect(c)
	if err != nil {
		return err
	}
	made, err := prepare(s)
	if err != nil {
		return err
	}
	return p.showAndSave(c, made)
}

// showAndSave shows a plan, and saves it where that is asked for.
func (p *program) showAndSave(c *cli.Context, made *plan.Plan) error {
	if err := p.showWithWarnings(c, made); err != nil {
		return err
	}
	if made.Blocked() {
		return codeError(exitError)
	}
	if file := c.String("out"); file != "" {
		if err := p.savePlan(c, file, made); err != nil {
			return err
		}
		if made.Applicable() != nil {
			fmt.Fprintf(p.streams.Err, "Saved for reading: %s. A comparison can't be applied.\n", p.invocation.WithoutNamespace().Command("plan", "show", file))
		} else {
			fmt.Fprintf(p.streams.Err, "Saved. To do exactly this: %s\n", p.invocation.WithoutNamespace().Command("apply", file))
		}
	}
	return detailed(c, made)
}

// detailed is the exit code of --detailed-exitcode.
func detailed(c *cli.Context, made *plan.Plan) error {
	if !c.Bool("detailed-exitcode") {
		return nil
	}
	switch made.Effect() {
	case plan.EffectObjects:
		return codeError(exitChanges)
	case plan.EffectRecord:
		return codeError(exitRecordOnly)
	case plan.EffectNone:
	}
	return nil
}

func (p *program) planDeployment(c *cli.Context, s *session, name, path string, mode engine.Mode) (*plan.Plan, error) {
	p.about(s.key(name))
	d, err := p.deployment(c, s.key(name), path, mode)
	if err != nil {
		return nil, err
	}
	made, err := s.engine.PlanDeployment(c.Context, d)
	return p.hideRead(d.Source.Values, made, err)
}

// deployment reads chart, values and flags.
func (p *program) deployment(c *cli.Context, key release.Key, path string, mode engine.Mode) (engine.Deployment, error) {
	d := engine.Deployment{Release: key, Mode: mode}
	if err := releaseName(key.Name); err != nil {
		return d, err
	}
	var err error
	if d.Source, err = p.source(c, path); err != nil {
		return d, err
	}
	p.hideValues(c, d.Source.Values)
	if d.Options, err = options(c); err != nil {
		return d, err
	}
	d.ServerSide, err = serverSide(c)
	return d, err
}

func (p *program) planRollback(c *cli.Context, s *session, name string, to int) (*plan.Plan, error) {
	p.about(s.key(name))
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	side, err := serverSide(c)
	if err != nil {
		return nil, err
	}
	return s.engine.PlanRollback(c.Context, s.key(name), to, side, o)
}

func (p *program) planUninstall(c *cli.Context, s *session, name string) (*plan.Plan, error) {
	p.about(s.key(name))
	o, err := options(c)
	if err != nil {
		return nil, err
	}
	switch o.Cascade {
	case "", "background", "foreground", "orphan":
	default:
		return nil, usage("--cascade=%s: it is background, foreground or orphan", o.Cascade)
	}
	return s.engine.PlanUninstall(c.Context, s.key(name), o)
}

func (s *session) key(name string) release.Key {
	return release.Key{Namespace: s.namespace, Name: name}
}

func rollbackArguments(c *cli.Context) (name string, to int, err error) {
	args, err := arguments(c, 1, 2)
	if err != nil {
		return "", 0, err
	}
	if len(args) == 2 {
		if to, err = strconv.Atoi(args[1]); err != nil || to < 0 {
			return "", 0, usage("%q is no revision number", args[1])
		}
	}
	return args[0], to, nil
}

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
	"github.com/kubectl-release/kubectl-release/plan"
)

func (p *program) planCommand() *cli.Command {
	var o chartPlanFlags
	return &cli.Command{
		Name: "plan", Usage: "show what an operation would do", ArgsUsage: "NAME CHART",
		Description: describe(`Shows what installing or upgrading release NAME with CHART would do. Nothing is
written to the cluster. A plan with blocking problems is shown, and exits with 1. For a
release named like one of the commands below: plan -- many CHART.`,
			`kubectl release plan web ./chart -f prod.yaml
kubectl release plan web ./chart --out web.plan
kubectl release plan web ./chart --against 3
kubectl release plan web ./chart --offline --against ../base/chart -o markdown
kubectl release plan rollback web 3
kubectl release plan uninstall web -o json
kubectl release plan show web.plan`),
		Flags: joined(o.files.saving(), o.files.opening(), o.show.flags(&p.showSecrets), o.planning(&p.paths)),
		Action: p.readOnly(takes(2, 2, func(ctx context.Context, args []string) error {
			return p.planChart(ctx, &o, args[0], args[1])
		})),
		Subcommands: []*cli.Command{p.planRollbackCommand(), p.planUninstallCommand(), p.planShowCommand(), p.planGraphCommand(), p.planManyCommand(), p.planCheckCommand(), p.planStatementCommand()},
	}
}

func (p *program) planRollbackCommand() *cli.Command {
	var o planningFlags
	var files planFileFlags
	return &cli.Command{
		Name: "rollback", Usage: "show what a rollback would do", ArgsUsage: "NAME [REVISION]",
		Description: describe("Shows what a rollback would do. Without REVISION it goes to the last successful\nrevision before the newest one.", "kubectl release plan rollback web"),
		Flags:       joined(files.saving(), o.show.flags(&p.showSecrets), o.options.deploying()),
		Action: p.readOnly(takes(1, 2, func(ctx context.Context, args []string) error {
			to, err := revisionArgument(args[1:])
			if err != nil {
				return err
			}
			return p.runPlan(&o.show, &files, args[0], func(s *session) (*plan.Plan, error) { return p.planRollback(ctx, s, &o, args[0], to) })
		})),
	}
}

func (p *program) planUninstallCommand() *cli.Command {
	var o planningFlags
	var files planFileFlags
	var ignoreNotFound bool
	return &cli.Command{
		Name: "uninstall", Usage: "show what an uninstall would do", ArgsUsage: "NAME",
		Description: describe("Shows what an uninstall would delete, and what it would keep.", "kubectl release plan uninstall web"),
		Flags:       joined(files.saving(), o.show.flags(&p.showSecrets), o.options.uninstalling(), []cli.Flag{ignoreNotFoundFlag(&ignoreNotFound)}),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error {
			return p.runPlan(&o.show, &files, args[0], func(s *session) (*plan.Plan, error) {
				made, err := p.planUninstall(ctx, s, &o, args[0])
				if ignoreNotFound && isNoRelease(err) {
					return nil, nil
				}
				return made, err
			})
		})),
	}
}

func (p *program) planShowCommand() *cli.Command {
	var o showFlags
	var files planFileFlags
	return &cli.Command{
		Name: "show", Usage: "show a saved plan or set of plans", ArgsUsage: "FILE",
		Description: describe("Shows a plan that --out saved, or a set that plan many saved, in any output format. No\ncluster is needed.",
			"kubectl release plan show web.plan\nkubectl release plan show web.plan -o html > web.html\nkubectl release plan show web.plan.age --identity key.txt"),
		Flags: joined(o.flags(&p.showSecrets), files.opening()),
		Action: p.readOnly(takes(1, 1, func(_ context.Context, args []string) error {
			sensitive, err := o.patterns()
			if err != nil {
				return err
			}
			if kept, err := setrun.OpenKept(args[0]); err == nil {
				return p.showSavedSet(&o, &files, kept, sensitive)
			}
			saved, err := p.readPlan(&files, args[0])
			if err != nil {
				return err
			}
			return p.render(&o, p.raw.Out, saved.WithSensitive(sensitive))
		})),
	}
}

// runPlan makes a plan for the release called name, shows it, and saves it if asked to. prepare may
// return nil if there is nothing to plan.
func (p *program) runPlan(show *showFlags, files *planFileFlags, name string, prepare func(*session) (*plan.Plan, error)) error {
	if err := errors.Join(files.check(), show.check(planOutputs)); err != nil {
		return err
	}
	key := p.offlineKey(name)
	s, err := p.connect()
	if err != nil {
		return p.reportImpossible(show, key, err)
	}
	key = s.key(name)
	files.reader.apply(s)
	made, err := prepare(s)
	if err != nil {
		return p.reportImpossible(show, key, err)
	}
	if made == nil {
		return nil
	}
	return p.showAndSave(show, files, made)
}

// showResult shows a plan that is the result of a command. A blocked plan is an error.
func (p *program) showResult(show *showFlags, made *plan.Plan) error {
	if err := p.showWithWarnings(show, made); err != nil {
		return err
	}
	if made.Blocked() {
		return codeError(exitError)
	}
	return nil
}

// showAndSave shows a plan, and saves it if asked to.
func (p *program) showAndSave(show *showFlags, files *planFileFlags, made *plan.Plan) error {
	var encoded []byte
	made, err := p.withEffect(&files.effect, made)
	if err != nil {
		return err
	}
	if files.out != "" && !made.Blocked() {
		saved, data, err := planfile.Encode(made, plan.Stamp{EffectDigest: made.EffectDigest, Origin: originOf(files.commit, time.Now())})
		if err != nil {
			return err
		}
		p.sameMask(made, saved)
		made, encoded = saved, data
	}
	if err := p.showResult(show, made); err != nil {
		return err
	}
	if file := files.out; file != "" {
		if err := p.savePlan(files, encoded, made); err != nil {
			return err
		}
		if made.Applicable() != nil {
			fmt.Fprintf(p.streams.Err, "Saved for reading: %s. A comparison can't be applied.\n", p.invocation.WithoutNamespace().Command("plan", "show", file))
		} else {
			fmt.Fprintf(p.streams.Err, "Saved. To do exactly this: %s\n", p.invocation.WithoutNamespace().Command("apply", file))
		}
		fmt.Fprintf(p.streams.Err, "Digest: %s\n", made.PlanDigest)
	}
	if files.detailedExitCode {
		return effectCode(made.Effect())
	}
	return nil
}

// effectCode returns the exit code of --detailed-exitcode.
func effectCode(effect plan.Effect) error {
	switch effect {
	case plan.EffectObjects:
		return codeError(exitChanges)
	case plan.EffectRecord:
		return codeError(exitRecordOnly)
	case plan.EffectNone:
	}
	return nil
}

// deployment is a chart to be deployed as a release, and how.
type deployment struct {
	*planningFlags
	source     *sourceFlags
	name, path string
	mode       engine.Mode
}

func (p *program) planDeployment(ctx context.Context, s *session, asked deployment) (*plan.Plan, error) {
	p.presenter.about(s.key(asked.name))
	d, err := p.deployment(ctx, s.namespace, asked)
	if err != nil {
		return nil, err
	}
	made, err := s.engine.PlanDeployment(ctx, d)
	return p.hideRead(made, err)
}

// deployment reads the chart, the values and the flags into a request for the engine.
func (p *program) deployment(ctx context.Context, namespace string, asked deployment) (engine.Deployment, error) {
	d := engine.Deployment{Release: release.Key{Namespace: namespace, Name: asked.name}, Mode: asked.mode}
	if err := releaseName(asked.name); err != nil {
		return d, err
	}
	var err error
	if d.Source, err = p.source(ctx, asked.source, asked.path); err != nil {
		return d, err
	}
	if d.Options, err = asked.planOptions(); err != nil {
		return d, err
	}
	d.Options.SkipCRDs, d.Options.UpdateCRDs = asked.source.render.skipCRDs, asked.source.render.updateCRDs
	d.ServerSide, err = asked.options.method()
	return d, err
}

func (p *program) planRollback(ctx context.Context, s *session, o *planningFlags, name string, to int) (*plan.Plan, error) {
	p.presenter.about(s.key(name))
	options, err := o.planOptions()
	if err != nil {
		return nil, err
	}
	side, err := o.options.method()
	if err != nil {
		return nil, err
	}
	return s.engine.PlanRollback(ctx, s.key(name), engine.Rollback{To: to, ServerSide: side, Options: options})
}

func (p *program) planUninstall(ctx context.Context, s *session, o *planningFlags, name string) (*plan.Plan, error) {
	p.presenter.about(s.key(name))
	options, err := o.planOptions()
	if err != nil {
		return nil, err
	}
	switch options.Cascade {
	case "", "background", "foreground", "orphan":
	default:
		return nil, usage("--cascade=%s: must be background, foreground or orphan", options.Cascade)
	}
	return s.engine.PlanUninstall(ctx, s.key(name), engine.Uninstall{Options: options})
}

// offlineKey returns a release's key without asking the kubeconfig for the namespace.
func (p *program) offlineKey(name string) release.Key {
	return release.Key{Namespace: cmp.Or(p.connection.namespace, "default"), Name: name}
}

func (s *session) key(name string) release.Key {
	return release.Key{Namespace: s.namespace, Name: name}
}

// revisionArgument parses the number of a revision; it is 0 if none is given.
func revisionArgument(args []string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	revision, err := strconv.Atoi(args[0])
	if err != nil || revision < 0 {
		return 0, usage("%q is not a revision number", args[0])
	}
	return revision, nil
}

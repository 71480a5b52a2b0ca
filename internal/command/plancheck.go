package command

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/plansign"
	"github.com/kubectl-release/kubectl-release/plan"
)

func (p *program) planCheckCommand() *cli.Command {
	var o planningFlags
	var files planFileFlags
	var approval approvalFlags
	var fetch fetchFlags
	var pinned bool
	return &cli.Command{
		Name: "check", Usage: "check whether a saved plan still holds", ArgsUsage: "FILE",
		Description: describe("Checks the cluster as apply does before it writes, but writes nothing: exit 0 if the plan\nwould be applied, 4 if it is stale or not the one that was approved. No template is\nrendered. For merge queues and scheduled jobs.",
			"kubectl release plan check web.plan\nkubectl release plan check web.plan --max-age 24h --allowed-signers allowed_signers"),
		Flags: joined(files.opening(), approval.flags(), o.options.guarding(), []cli.Flag{pinnedFlag(&pinned), fetch.offlineFlag(), fetch.access.plainHTTPFlag()}, fetch.access.flags(), p.paths.flags()),
		Action: p.readOnly(takes(1, 1, func(ctx context.Context, args []string) error {
			saved, err := p.openSaved(&o, &files, &approval, args[0])
			if err != nil {
				return err
			}
			if saved.Blocked() {
				return p.blocked(saved)
			}
			s, err := p.connectFor(ctx, saved, &fetch, pinned)
			if err != nil {
				return err
			}
			if err := s.engine.Check(ctx, saved); err != nil {
				return err
			}
			fmt.Fprintf(p.streams.Out, "%s still holds: %s %s.\n", args[0], saved.Operation, saved.Release)
			return nil
		})),
	}
}

func (p *program) planStatementCommand() *cli.Command {
	var files planFileFlags
	var approval approvalFlags
	return &cli.Command{
		Name: "statement", Usage: "print what can be attested about a saved plan", ArgsUsage: "FILE",
		Description: describe("Prints an in-toto statement (https://in-toto.io/Statement/v1) about the plan's digest:\nwhat it is for, its effect's digest, risks, chart, commit and job. No cluster is needed.",
			"kubectl release plan statement web.plan > web.statement\nkubectl release plan statement web.plan --allowed-signers allowed_signers"),
		Flags: joined(files.opening(), approval.flags()),
		Action: p.readOnly(takes(1, 1, func(_ context.Context, args []string) error {
			saved, err := p.readApproved(&files, &approval, args[0])
			if err != nil {
				return err
			}
			text, err := plansign.Statement(saved)
			if err != nil {
				return err
			}
			_, err = p.raw.Out.Write(escape.JSON(text))
			return err
		})),
	}
}

// readApproved reads a saved plan that meets the approval flags. It asks no cluster.
func (p *program) readApproved(files *planFileFlags, approval *approvalFlags, file string) (*plan.Plan, error) {
	if err := approval.check(); err != nil {
		return nil, err
	}
	data, err := planfile.Open(file, p.keys(files))
	if err != nil {
		return nil, err
	}
	if err := approval.sealed(file, data); err != nil {
		return nil, err
	}
	saved, err := planfile.Parse(file, data, planfile.Keys{})
	if err != nil {
		return nil, err
	}
	return saved, approval.allows(file, saved.Origin, time.Now())
}

// openSaved reads a saved plan that can be applied, and judges it by the --deny and --policy of
// this command.
func (p *program) openSaved(o *planningFlags, files *planFileFlags, approval *approvalFlags, file string) (*plan.Plan, error) {
	saved, err := p.readApproved(files, approval, file)
	if err != nil {
		return nil, err
	}
	if err := saved.Applicable(); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if saved, err = o.guarded(saved); err != nil {
		return nil, err
	}
	p.hide(saved)
	return saved, nil
}

// connectFor connects to the cluster of a saved plan, after checking that the chart has not changed
// at its source.
func (p *program) connectFor(ctx context.Context, saved *plan.Plan, fetch *fetchFlags, pinned bool) (*session, error) {
	s, err := p.connect()
	if err != nil {
		return nil, err
	}
	// Helm always sets HELM_NAMESPACE for its plugins, so the user may not have chosen that
	// namespace.
	chosen := p.connection.namespace
	if chosen != "" && chosen != os.Getenv("HELM_NAMESPACE") && s.namespace != saved.Release.Namespace {
		return nil, usage("the plan is for namespace %s, not %s", saved.Release.Namespace, s.namespace)
	}
	if s.namespace != saved.Release.Namespace {
		p.invocation = p.invocation.In(saved.Release.Namespace)
		s.engine.Invocation = p.invocation
	}
	if pinned {
		return s, nil
	}
	return s, p.unmoved(ctx, fetch, saved)
}

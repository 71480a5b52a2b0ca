package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Mode says whether a deployment may install, upgrade, or either.
type Mode int

const (
	InstallOrUpgrade Mode = iota
	InstallOnly
	UpgradeOnly
)

// ServerSide is the choice between server-side apply and three-way patches.
type ServerSide string

const (
	// ServerSideAuto continues with the method that the release was last applied with; new releases
	// use server-side apply.
	ServerSideAuto ServerSide = "auto"
	ServerSideOn   ServerSide = "true"
	ServerSideOff  ServerSide = "false"
)

// Deployment is an install or an upgrade.
type Deployment struct {
	Release    release.Key
	Mode       Mode
	Source     Source
	ServerSide ServerSide
	Options    plan.Options
	// Estimated reports whether a body contains placeholders for unknown values, see plan.Input.
	Estimated func(body map[string]any) bool
	// IgnoreHistory plans as if there were no records: by the time the plan is applied, the release
	// will have been uninstalled.
	IgnoreHistory bool
}

// PlanDeployment plans an install or upgrade. It returns an *ExistsError if there is a release that
// Mode does not allow to upgrade, and a *NoReleaseError if there is none to upgrade.
func (e *Engine) PlanDeployment(ctx context.Context, d Deployment) (*plan.Plan, error) {
	if err := e.Store.CheckLabels(labels(d.Options.Labels, nil)); err != nil {
		return nil, err
	}
	g, err := e.gather(ctx, d.Release)
	if err != nil {
		return nil, err
	}
	if d.IgnoreHistory {
		g.history, g.pending = nil, plan.Pending{}
	}
	return e.planDeployment(ctx, d, g)
}

// planDeployment plans a deployment from what was gathered.
func (e *Engine) planDeployment(ctx context.Context, d Deployment, g gathered) (*plan.Plan, error) {
	op, err := d.operation(g.history)
	if err != nil {
		return nil, err
	}
	d = d.as(op)
	target, err := targetOf(ctx, d, g, op)
	if err != nil {
		return nil, d.Source.placed(err)
	}
	in := e.input(op, d.Release, d.Options, g)
	in.Options.ServerSide = d.ServerSide.resolve(continued(op, g.history))
	target.Record.ApplyMethod = applyMethod(in.Options.ServerSide)
	in.Target, in.Estimated = &target.Target, d.Estimated
	in.Warnings, in.Secrets = target.warnings, slices.Concat(d.Source.Secrets, g.lookups.read())
	in.Values = valuesChanges(g.history, target.Record)
	p, err := e.decide(ctx, in)
	d.Source.locate(p)
	return p, g.lookups.quoted(err)
}

// operation returns whether this is an install or an upgrade. A release that has only failed
// revisions is upgraded, too.
func (d Deployment) operation(h release.History) (plan.Operation, error) {
	last := h.Last()
	exists := last != nil && last.Info.Status != release.StatusUninstalled
	switch {
	case d.Mode == InstallOnly && last != nil && d.Options.Replace && replaceable(last):
		return plan.Install, nil
	case d.Mode == InstallOnly && (exists || last != nil && !d.Options.Replace):
		return "", &ExistsError{Key: d.Release, Revision: last.Version, Status: last.Info.Status}
	case d.Mode == UpgradeOnly && !exists:
		return "", &NoReleaseError{Key: d.Release, Operation: plan.Upgrade}
	case exists:
		return plan.Upgrade, nil
	default:
		return plan.Install, nil
	}
}

// replaceable reports whether plan.Options.Replace installs a release again over this newest revision (Helm
// 4.3.1, pkg/action/install.go, availableName).
func replaceable(last *release.Revision) bool {
	return last.Info.Status == release.StatusUninstalled || last.Info.Status == release.StatusFailed
}

// as returns the deployment as the operation carries it out: an install uses only the values that it is
// given, even over a failed release (Helm 4.3.1, pkg/action/install.go, RunWithContext).
func (d Deployment) as(op plan.Operation) Deployment {
	if op == plan.Install {
		d.Source.Reuse = values.ResetValues
	}
	return d
}

// continued returns the revisions from which an operation takes labels, the time of the first deployment and
// the method of applying: none for an install (Helm 4.3.1, pkg/action/install.go, createRelease).
func continued(op plan.Operation, h release.History) release.History {
	if op == plan.Install {
		return nil
	}
	return h
}

// ExistsError says that a release can't be installed because there is one of that name. If its Status
// is uninstalled, only its history was kept, and plan.Options.Replace installs it again.
type ExistsError struct {
	Key release.Key
	// Revision and Status are those of its newest revision.
	Revision int
	Status   release.Status
}

func (e *ExistsError) Error() string {
	if e.Status == release.StatusUninstalled {
		return fmt.Sprintf("the name %s is taken by an uninstalled release whose history was kept", e.Key)
	}
	return fmt.Sprintf("release %s already exists (revision %d, %s)", e.Key, e.Revision, e.Status)
}

// resolve reports whether to use server-side apply for a release with this history.
func (s ServerSide) resolve(h release.History) bool {
	switch s {
	case ServerSideOn:
		return true
	case ServerSideOff:
		return false
	case ServerSideAuto:
	}
	last := h.Last()
	return last == nil || last.Info.Status == release.StatusUninstalled || last.ApplyMethod == release.ServerSide
}

// resolveRollback reports whether to use server-side apply for a rollback to a revision: as it was
// applied itself, also if it was uninstalled since (Helm 4.3.1, pkg/action/rollback.go, prepareRollback).
func (s ServerSide) resolveRollback(goal *release.Revision) bool {
	if s == ServerSideAuto {
		return goal.ApplyMethod == release.ServerSide
	}
	return s == ServerSideOn
}

func applyMethod(serverSide bool) release.ApplyMethod {
	if serverSide {
		return release.ServerSide
	}
	return release.ClientSide
}

// rendered is a target with the warnings from rendering it.
type rendered struct {
	plan.Target
	warnings []plan.Problem
}

// targetOf renders the desired state of the release.
func targetOf(ctx context.Context, d Deployment, g gathered, op plan.Operation) (rendered, error) {
	source, err := reuse(d.Source, g.history)
	if err != nil {
		return rendered{}, err
	}
	out, err := targetFrom(ctx, d, source, g, op)
	if err != nil {
		return rendered{}, &RenderError{Err: err, Secrets: g.lookups.read(), Values: source.AllValues()}
	}
	return out, nil
}

// targetFrom is targetOf with the values that are reused.
func targetFrom(ctx context.Context, d Deployment, source Source, g gathered, op plan.Operation) (rendered, error) {
	c, warnings, err := values.ProcessDependencies(source.Chart, source.Values)
	if err != nil {
		return rendered{}, err
	}
	source.Warnings = slices.Concat(source.Warnings, warnings)
	crds, err := manifest.ParseCRDs(c.CRDs())
	if err != nil {
		return rendered{}, err
	}
	crds = labelled(crds, source.Render.CRDLabels)
	if d.Options.SkipCRDs {
		crds = nil
	}
	known := g.facts
	known.APIVersions = slices.Concat(known.APIVersions, g.assumed)
	versions := brought(known, crds, d.Options.UpdateCRDs)
	source.Render.Undiscovered = g.facts.Undiscovered
	version := 1
	if last := g.history.Last(); last != nil {
		version = last.Version + 1
	}
	moment := Moment{Key: d.Release, Revision: version, IsInstall: op == plan.Install, IsUpgrade: op == plan.Upgrade}
	if moment.IsInstall {
		moment.Revision = 1 // even over a history that was kept (Helm 4.3.1, pkg/action/install.go, RunWithContext)
	}
	r, err := render(ctx, source, c, moment, capabilities(known, versions), g.lookups.answer(brought(g.facts, crds, false), versions))
	if err != nil {
		return rendered{}, err
	}
	record := newRecord(d, r, version, continued(op, g.history))
	t, err := newTarget(record, crds, digestedRef(source.Chart))
	t.Source, t.Lock = source.Fetched, source.Lock
	return rendered{Target: t, warnings: problems(source, r.Warnings)}, err
}

func (e *Engine) input(op plan.Operation, key release.Key, o plan.Options, g gathered) plan.Input {
	return plan.Input{
		Operation: op, Release: key, Options: o, ToolVersion: e.ToolVersion, Invocation: e.Invocation,
		Now: e.Now(), KubeVersion: g.facts.KubeVersion.Version, Cluster: g.facts.Cluster,
		History: g.history, Corrupt: corruptRecords(g.corrupt), Pending: g.pending,
	}
}

package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Mode says whether a deployment may install, upgrade, or whichever fits.
type Mode int

const (
	InstallOrUpgrade Mode = iota
	InstallOnly
	UpgradeOnly
)

// ServerSide is the choice between server-side apply and three-way patches.
type ServerSide string

const (
	// ServerSideAuto goes on as the release was last applied; new releases
	// start server-side.
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
}

// PlanDeployment plans an install or upgrade.
func (e *Engine) PlanDeployment(ctx context.Context, d Deployment) (*plan.Plan, error) {
	g, err := e.gather(ctx, d.Release)
	if err != nil {
		return nil, err
	}
	op, err := d.operation(g.history)
	if err != nil {
		return nil, err
	}
	target, err := e.target(ctx, d, g, op)
	if err != nil {
		return nil, err
	}
	in := e.input(op, d.Release, d.Options, g)
	in.Options.ServerSide = d.ServerSide.settle(g.history)
	target.Record.ApplyMethod = applyMethod(in.Options.ServerSide)
	in.Target = &target.Target
	in.Warnings = target.warnings
	in.Values = valuesChanges(g.history, target.Record)
	return e.decide(ctx, in)
}

// operation settles whether this is an install or an upgrade. A release whose
// only revisions failed is upgraded without ceremony.
func (d Deployment) operation(h release.History) (plan.Operation, error) {
	last := h.Last()
	exists := last != nil && last.Info.Status != release.StatusUninstalled
	switch {
	case d.Mode == InstallOnly && exists && d.Options.Replace && last.Info.Status == release.StatusFailed:
		return plan.Install, nil
	case d.Mode == InstallOnly && exists:
		return "", fmt.Errorf("release %s exists already (revision %d, %s): upgrade it, or choose another name", d.Release, last.Version, last.Info.Status)
	case d.Mode == InstallOnly && last != nil && !d.Options.Replace:
		return "", fmt.Errorf("the name %s is taken by an uninstalled release whose history was kept: add --replace to use it again", d.Release)
	case d.Mode == UpgradeOnly && !exists:
		return "", fmt.Errorf("there is no release %s to upgrade: install it, or add --install", d.Release)
	case exists:
		return plan.Upgrade, nil
	default:
		return plan.Install, nil
	}
}

func (s ServerSide) settle(h release.History) bool {
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

func applyMethod(serverSide bool) release.ApplyMethod {
	if serverSide {
		return release.ServerSide
	}
	return release.ClientSide
}

// rendered is a target with what rendering it has found odd.
type rendered struct {
	plan.Target
	warnings []plan.Problem
}

func (e *Engine) target(ctx context.Context, d Deployment, g gathered, op plan.Operation) (rendered, error) {
	source, err := reuse(d.Source, g.history)
	if err != nil {
		return rendered{}, err
	}
	crds, err := ParseCRDs(source.Chart)
	if err != nil {
		return rendered{}, err
	}
	if d.Options.SkipCRDs {
		crds = nil
	}
	caps, err := capabilities(g.facts, crds)
	if err != nil {
		return rendered{}, err
	}
	version := 1
	if last := g.history.Last(); last != nil {
		version = last.Version + 1
	}
	moment := Moment{Key: d.Release, Revision: version, IsInstall: op == plan.Install, IsUpgrade: op == plan.Upgrade}
	r, err := Render(ctx, source, moment, caps, e.lookup(ctx))
	if err != nil {
		return rendered{}, err
	}
	record := newRecord(d, r, version, g.history)
	t, err := newTarget(record, crds, chartRef(source.Chart))
	return rendered{Target: t, warnings: problems(r.Warnings)}, err
}

// reuse applies --reuse-values and its kin.
func reuse(s Source, h release.History) (Source, error) {
	prev := h.Deployed()
	if prev == nil {
		prev = h.Last()
	}
	if prev == nil || prev.Info.Status == release.StatusUninstalled {
		return s, nil
	}
	var err error
	s.Chart, s.Values, err = s.Reuse.Apply(values.Previous{Chart: prev.Chart, Config: prev.Config}, s.Chart, s.Values)
	return s, err
}

func newRecord(d Deployment, r Rendering, version int, h release.History) *release.Revision {
	record := &release.Revision{
		Name: d.Release.Name, Namespace: d.Release.Namespace, Version: version,
		Chart: r.Chart, Config: r.Config, Manifest: manifest.Text(r.Classified.Documents),
		Labels: labels(d.Options.Labels, h),
		Info:   release.Info{Status: release.StatusUnknown, Notes: r.Notes},
	}
	if first := h.Last(); first != nil {
		record.Info.FirstDeployed = first.Info.FirstDeployed
	}
	for _, hook := range r.Classified.Hooks {
		record.Hooks = append(record.Hooks, release.Hook{Hook: hook})
	}
	return record
}

// labels are the last revision's with the new ones on top; the value "null"
// takes one away (Helm 4.3.1).
func labels(given map[string]string, h release.History) map[string]string {
	merged := map[string]string{}
	if last := h.Last(); last != nil {
		maps.Copy(merged, last.Labels)
	}
	for k, v := range given {
		if v == "null" {
			delete(merged, k)
			continue
		}
		merged[k] = v
	}
	return merged
}

func newTarget(record *release.Revision, crds []manifest.Object, ref plan.ChartRef) (plan.Target, error) {
	objects, err := record.Objects()
	if err != nil {
		return plan.Target{}, err
	}
	hooks, err := hookObjects(record)
	if err != nil {
		return plan.Target{}, err
	}
	return plan.Target{Record: record, Objects: objects, HookObjects: hooks, CRDs: crds, Chart: ref}, nil
}

func problems(warnings []chart.Warning) []plan.Problem {
	seen := map[string]bool{}
	var out []plan.Problem
	for _, w := range warnings {
		if !seen[w.String()] {
			seen[w.String()] = true
			out = append(out, plan.Problem{What: w.String()})
		}
	}
	return out
}

func (e *Engine) input(op plan.Operation, key release.Key, o plan.Options, g gathered) plan.Input {
	return plan.Input{
		Operation: op, Release: key, Options: o, ToolVersion: e.ToolVersion,
		KubeVersion: g.facts.KubeVersion, Cluster: g.facts.Cluster, History: g.history, Pending: g.pending,
	}
}

// PlanRollback plans the return to a revision; 0 is the last successful one
// before the newest.
func (e *Engine) PlanRollback(ctx context.Context, key release.Key, to int, s ServerSide, o plan.Options) (*plan.Plan, error) {
	g, err := e.gather(ctx, key)
	if err != nil {
		return nil, err
	}
	goal, err := rollbackGoal(g.history, key, to)
	if err != nil {
		return nil, err
	}
	last := g.history.Last()
	record := &release.Revision{
		Name: key.Name, Namespace: key.Namespace, Version: last.Version + 1,
		Chart: goal.Chart, Config: goal.Config, Manifest: goal.Manifest, Labels: labels(o.Labels, release.History{goal}),
		Info: release.Info{
			Status: release.StatusUnknown, Notes: goal.Info.Notes,
			FirstDeployed: last.Info.FirstDeployed, RollbackRevision: goal.Version,
		},
	}
	for _, h := range goal.Hooks {
		record.Hooks = append(record.Hooks, release.Hook{Hook: h.Hook})
	}
	target, err := newTarget(record, nil, refOf(goal))
	if err != nil {
		return nil, err
	}
	in := e.input(plan.Rollback, key, o, g)
	in.Options.ServerSide = s.settle(release.History{goal})
	record.ApplyMethod = applyMethod(in.Options.ServerSide)
	in.Target, in.RollbackTo = &target, goal.Version
	in.Values = valuesChanges(g.history, record)
	return e.decide(ctx, in)
}

func refOf(r *release.Revision) plan.ChartRef {
	if r.Chart == nil || r.Chart.Metadata == nil {
		return plan.ChartRef{}
	}
	m := r.Chart.Metadata
	return plan.ChartRef{Name: m.Name, Version: m.Version, AppVersion: m.AppVersion}
}

// rollbackGoal finds the revision to return to. Without a number that is the
// last one that was up, apart from the newest revision itself: Helm takes the
// one before the newest even when that one had failed.
func rollbackGoal(h release.History, key release.Key, to int) (*release.Revision, error) {
	last := h.Last()
	if last == nil {
		return nil, fmt.Errorf("there is no release %s to roll back", key)
	}
	if to != 0 {
		if goal := h.Revision(to); goal != nil {
			return goal, nil
		}
		return nil, fmt.Errorf("release %s has no revision %d: see kubectl release history %s", key, to, key.Name)
	}
	for _, r := range slices.Backward(h[:len(h)-1]) {
		if r.Info.Status == release.StatusDeployed || r.Info.Status == release.StatusSuperseded {
			return r, nil
		}
	}
	return nil, fmt.Errorf("release %s has no earlier successful revision to roll back to", key)
}

// PlanUninstall plans the removal of a release.
func (e *Engine) PlanUninstall(ctx context.Context, key release.Key, o plan.Options) (*plan.Plan, error) {
	g, err := e.gather(ctx, key)
	if err != nil {
		return nil, err
	}
	if last := g.history.Last(); last == nil {
		return nil, &NoReleaseError{Key: key}
	}
	return e.decide(ctx, e.input(plan.Uninstall, key, o, g))
}

// PlanTest plans the test hooks of the newest revision.
func (e *Engine) PlanTest(ctx context.Context, key release.Key, o plan.Options) (*plan.Plan, error) {
	g, err := e.gather(ctx, key)
	if err != nil {
		return nil, err
	}
	last := g.history.Last()
	if last == nil {
		return nil, &NoReleaseError{Key: key}
	}
	target, err := newTarget(last, nil, refOf(last))
	if err != nil {
		return nil, err
	}
	in := e.input(plan.Test, key, o, g)
	in.Target = &target
	return e.decide(ctx, in)
}

// NoReleaseError says that there is no such release.
type NoReleaseError struct{ Key release.Key }

func (e *NoReleaseError) Error() string {
	return fmt.Sprintf("there is no release %s in namespace %s", e.Key.Name, e.Key.Namespace)
}

// DefaultTimeout is Helm's: how long a wait or a hook may take.
const DefaultTimeout = 5 * time.Minute

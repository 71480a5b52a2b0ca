package setrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/plan"
)

// plan plans one entry, with or without its cluster. It returns nil if the entry is to be
// uninstalled and does not exist, or its cluster can't be asked.
func (p *Planner) plan(ctx context.Context, j *job) (*plan.Plan, error) {
	e := cmp.Or(j.head, j.base)
	asked, err := p.engine(ctx, j)
	if err != nil {
		return nil, err
	}
	if asked == nil && p.Base == nil && e.Manager != nil {
		return nil, fmt.Errorf("%s stores no releases, so it can only be compared with an earlier version: give --against-ref or --base-dir", e.Manager)
	}
	if asked == nil {
		return p.offline(ctx, j, p.Head.Clusters(p.Base)[e.Cluster])
	}
	if j.elsewhere != "" {
		j.note(j.elsewhere)
		return nil, nil
	}
	if j.replaced() {
		return p.uninstall(ctx, j, j.out.Verdict)
	}
	if j.drift != nil {
		return j.drift, nil
	}
	if !j.deploys() {
		made, err := j.asking(asked, func(by *engine.Engine) (*plan.Plan, error) {
			return by.PlanUninstall(ctx, e.Release(), engine.Uninstall{Options: options(e.Options, p.Defaults)})
		})
		if none := (*engine.NoReleaseError)(nil); errors.As(err, &none) {
			j.out.Absent = true
			return nil, nil
		}
		return made, err
	}
	return p.deploy(ctx, j, asked)
}

// deploy plans an install or upgrade in a cluster.
func (p *Planner) deploy(ctx context.Context, j *job, asked *engine.Engine) (*plan.Plan, error) {
	if i := slices.IndexFunc(j.head.Values, func(v releaseset.Value) bool { return v.Encrypted }); i >= 0 {
		return nil, fmt.Errorf("%s: %s is encrypted: decrypt it and name the result under values, or plan with --no-cluster, which compares the ciphertext", j.head.From, j.head.Values[i].File)
	}
	d, err := p.Head.deployment(ctx, j.head, p.Defaults)
	if err != nil {
		return nil, err
	}
	d.Estimated = j.estimated
	d.IgnoreHistory = j.out.Verdict != nil && j.out.Verdict.Leaves != nil
	j.given = append(j.given, d.Source.AllValues()...)
	if err := p.chartOf(ctx, j, &d); err != nil {
		return nil, err
	}
	j.version(&d)
	return j.asking(asked, func(by *engine.Engine) (*plan.Plan, error) { return by.PlanDeployment(ctx, d) })
}

// replaced reports whether the entry's controller uninstalls its release and installs one with
// the same name: the uninstall is planned, not how the new release differs from the old one.
func (j *job) replaced() bool {
	v := j.out.Verdict
	return j.head != nil && v != nil && v.Leaves != nil && *v.Leaves == j.head.Release()
}

// deploys reports whether the plan of an entry whose cluster is asked is that of an install or upgrade.
func (j *job) deploys() bool {
	return j.head != nil && !j.head.Uninstalled && !j.replaced() && j.drift == nil
}

// uninstall plans the uninstall of v.Leaves, the release that the controller gives up for another.
func (p *Planner) uninstall(ctx context.Context, j *job, v *releaseset.Verdict) (*plan.Plan, error) {
	return j.asking(j.bare.StoringIn(v.LeavesIn, v.Leaves.Namespace), func(by *engine.Engine) (*plan.Plan, error) {
		return by.PlanUninstall(ctx, *v.Leaves, engine.Uninstall{Options: options(v.LeavesBy, p.Defaults)})
	})
}

// leaving says how many objects v.Leaves has, the release that the controller uninstalls.
func (p *Planner) leaving(ctx context.Context, j *job, v *releaseset.Verdict) string {
	made, err := p.uninstall(ctx, j, v)
	if err != nil {
		return fmt.Sprintf("what release %s contains can't be determined: %v", v.Leaves, err)
	}
	return fmt.Sprintf("objects of release %s: %d; volumes among them: %d", v.Leaves, made.Summary.Delete+made.Summary.Keep, made.Summary.Risks.Data)
}

// asking makes a plan with an engine. The user may lack permissions that the controller has:
// if that blocks the plan, it is made without dry runs.
func (j *job) asking(asked *engine.Engine, plans func(*engine.Engine) (*plan.Plan, error)) (*plan.Plan, error) {
	made, err := plans(asked)
	if err != nil || !j.reader || !slices.ContainsFunc(made.Problems, isMissing) {
		return made, err
	}
	reading := *asked
	reading.ReadOnly = true
	return plans(&reading)
}

func isMissing(p plan.Problem) bool { return p.Blocking && p.Kind == plan.ProblemPermission }

// offline plans the entry without a cluster, compared with the base.
func (p *Planner) offline(ctx context.Context, j *job, cluster releaseset.Cluster) (*plan.Plan, error) {
	key := j.out.Key
	api, err := p.Clusters.Offline(key.Cluster, cluster)
	if err != nil {
		return nil, err
	}
	base := engine.Baseline{Against: plan.Against{Kind: plan.AgainstNothing, Name: p.BaseName}}
	base.AsInstall = j.head != nil && j.head.Manager != nil && j.head.Manager.Writer().Storage == ""
	if err := p.baseline(ctx, j, &base); err != nil {
		return nil, err
	}
	if j.head == nil || j.head.Uninstalled || j.replaced() && base.Kind == plan.AgainstChart {
		if base.Kind != plan.AgainstChart {
			return nil, nil
		}
		by := cmp.Or(j.head, j.base).Options
		if j.replaced() {
			by = j.out.Verdict.LeavesBy
		}
		return engine.PlanOfflineUninstall(ctx, api, p.ToolVersion, engine.Deployment{Release: key.Release(), Options: options(by, p.Defaults)}, base)
	}
	d, err := p.Head.deployment(ctx, j.head, p.Defaults)
	if err != nil {
		return nil, err
	}
	j.given = append(j.given, d.Source.AllValues()...)
	if err := p.chartOf(ctx, j, &d); err != nil {
		return nil, err
	}
	j.version(&d)
	d.Estimated = j.estimated
	return engine.PlanOffline(ctx, api, p.ToolVersion, d, base)
}

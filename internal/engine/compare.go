package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
	"github.com/kubectl-release/kubectl-release/templating"
)

// PlanAgainst plans as if the cluster held what the baseline says and nothing else. The chart is
// rendered as for an upgrade in this cluster, including lookups; of the release, only the records
// are read. It returns a *NoReleaseError or a *NoRevisionError if the baseline is a revision that
// does not exist.
func (e *Engine) PlanAgainst(ctx context.Context, d Deployment, b Baseline) (*plan.Plan, error) {
	facts, err := e.Cluster.Facts(ctx)
	if err != nil {
		return nil, err
	}
	history, err := e.history(ctx, d.Release, func(h release.History) []*release.Revision {
		return []*release.Revision{h.Revision(b.Revision)}
	})
	if err != nil {
		return nil, err
	}
	c := comparison{api: e.Cluster, toolVersion: e.ToolVersion, Deployment: d, baseline: b, recordLimit: e.recordLimit()}
	return c.plan(ctx, gathered{facts: facts, history: history, lookups: e.lookups(ctx)})
}

// PlanOffline plans without a cluster: no records or objects are read, and api answers lookups.
// Only the given values are used, or, on request, those of a baseline that is a chart.
func PlanOffline(ctx context.Context, api Offline, toolVersion string, d Deployment, b Baseline) (*plan.Plan, error) {
	facts, err := api.Facts(ctx)
	if err != nil {
		return nil, err
	}
	b.Offline, b.Source.Reuse = true, values.ResetValues
	if d.Source.Reuse != values.ReuseValues || b.Kind != plan.AgainstChart {
		d.Source.Reuse = values.ResetValues
	}
	// Charts that use the revision number see that of a first upgrade.
	first := &release.Revision{Version: 1, ApplyMethod: release.ServerSide, Info: release.Info{Status: release.StatusDeployed}}
	c := comparison{api: api, toolVersion: toolVersion, Deployment: d, baseline: b, recordLimit: releasestore.MaxSize, lookupGiven: api.Lookup != nil}
	return c.plan(ctx, gathered{facts: facts, history: release.History{first}, lookups: &lookups{find: api.Lookup}})
}

// PlanOfflineUninstall plans the removal of what the baseline chart renders, as PlanOffline plans
// an upgrade from it. It uses only the release and the options of d.
func PlanOfflineUninstall(ctx context.Context, api Offline, toolVersion string, d Deployment, b Baseline) (*plan.Plan, error) {
	facts, err := api.Facts(ctx)
	if err != nil {
		return nil, err
	}
	b.Offline, b.Source.Reuse = true, values.ResetValues
	c := comparison{api: api, toolVersion: toolVersion, Deployment: d, baseline: b}
	g := gathered{facts: facts, lookups: &lookups{find: api.Lookup}}
	base, err := c.base(ctx, g, plan.Upgrade)
	if broken, is := errors.AsType[*brokenError](err); is {
		base, err = c.unknownBase(), nil
		c.warnings = append(c.warnings, broken.warning(b.Source.Secrets))
	}
	if err != nil {
		return nil, err
	}
	against := b.Against
	against.Chart = base.chart
	return c.decide(ctx, plan.Input{
		Operation: plan.Uninstall, Release: d.Release, Options: d.Options, ToolVersion: toolVersion, KubeVersion: facts.KubeVersion.Version,
		History: release.History{base.revision}, Against: &against, Predictions: map[string]plan.Prediction{}, Warnings: c.warnings,
		Secrets: append(base.secrets, g.lookups.read()...),
	}, base)
}

// comparison is one call of PlanAgainst, PlanOffline or PlanOfflineUninstall.
type comparison struct {
	Deployment
	api         API
	toolVersion string
	baseline    Baseline
	recordLimit int
	// lookupGiven says that the user has supplied the objects for lookups.
	lookupGiven bool
	// warnings are about the baseline.
	warnings []plan.Problem
}

func (c comparison) plan(ctx context.Context, g gathered) (*plan.Plan, error) {
	base, target, err := c.rendered(ctx, g)
	if broken, is := errors.AsType[*brokenError](err); is {
		return c.mended(ctx, g, broken)
	}
	if err != nil {
		return nil, err
	}
	op := plan.Upgrade
	if base.revision == nil {
		op = plan.Install
	}
	in := plan.Input{
		Operation: op, Release: c.Release, Options: c.Options, ToolVersion: c.toolVersion,
		KubeVersion: g.facts.KubeVersion.Version, Cluster: g.facts.Cluster,
		Target: &target.Target, Warnings: slices.Concat(c.warnings, target.warnings), Secrets: slices.Concat(base.secrets, c.Source.Secrets, g.lookups.read()), Predictions: map[string]plan.Prediction{},
	}
	against := c.baseline.Against
	against.Chart = base.chart
	in.Against, in.Estimated = &against, c.Estimated
	in.Options.ServerSide = c.ServerSide.resolve(g.history)
	target.Record.ApplyMethod = applyMethod(in.Options.ServerSide)
	if base.revision != nil {
		in.History = release.History{base.revision}
		if base.revision.Chart != nil {
			in.Values = valuesChanges(in.History, target.Record)
		}
	}
	return c.decide(ctx, in, base)
}

// rendered renders both sides as an upgrade, or as an install if the baseline says so. If an
// upgrade fails to render and a lookup found nothing, both are rendered as an install: charts such
// as Bitnami's refuse to upgrade without the Secret that they created on install.
func (c comparison) rendered(ctx context.Context, g gathered) (base, rendered, error) {
	if c.baseline.AsInstall {
		return c.sides(ctx, g, plan.Install)
	}
	b, target, err := c.sides(ctx, g, plan.Upgrade)
	if err == nil || !g.lookups.missed || c.lookupGiven {
		return b, target, err
	}
	b, target, again := c.sides(ctx, g, plan.Install)
	if again != nil {
		return b, target, err
	}
	told := plan.Problem{What: "rendered as an install on both sides: as an upgrade, templates fail because a lookup finds nothing"}
	if c.baseline.Offline {
		told.Do = "use --lookup to pass the objects that they look up"
	}
	target.warnings = append(target.warnings, told)
	return b, target, nil
}

// sides renders the target and, if it is a chart, the baseline. Random values are the same on both
// sides, so only differences in chart and values remain.
func (c comparison) sides(ctx context.Context, g gathered, op plan.Operation) (base, rendered, error) {
	recall := templating.NewRecall()
	c.Source.Render.Recall, c.baseline.Source.Render.Recall = recall, recall
	b, err := c.base(ctx, g, op)
	if err != nil {
		return b, rendered{}, err
	}
	if b.revision == nil {
		op, g.history = plan.Install, nil
	}
	if c.baseline.Offline && c.Source.Reuse == values.ReuseValues {
		if c.Source, err = reuse(c.Source, release.History{b.revision}); err != nil {
			return b, rendered{}, err
		}
		c.Source.Reuse = values.ResetValues
	}
	g.assumed = servedBy(b.crds)
	target, err := targetOf(ctx, c.Deployment, g, op)
	return b, target, c.Source.placed(err)
}

// decide is Engine.decide with the baseline instead of the cluster's objects.
func (c comparison) decide(ctx context.Context, in plan.Input, base base) (*plan.Plan, error) {
	sent, err := sentBy(in.History, in.Target)
	if err != nil {
		return nil, err
	}
	if err := qualify(ctx, c.api, &in, sent); err != nil {
		return nil, err
	}
	if base.partial {
		base.crds = append(base.crds, takenToBeThere(&in, base.crds)...)
	}
	in.Live = plan.Unmoved(in.Stored, base.crds, in.Release)
	if err := measuring(in.Target, c.recordLimit)(&in); err != nil {
		return nil, err
	}
	p, _, err := plan.Build(in)
	c.Source.locate(p)
	return p, err
}

// takenToBeThere returns the target's CRDs that are not in a rendered file, and warns that they are
// assumed to be installed: helm template omits CRDs unless --include-crds is given.
func takenToBeThere(in *plan.Input, known []manifest.Object) []manifest.Object {
	have := map[manifest.ID]bool{}
	for _, o := range known {
		have[o.ID] = true
	}
	var missing []manifest.Object
	for _, o := range in.Target.CRDs {
		if !have[o.ID] {
			missing = append(missing, o)
		}
	}
	if len(missing) > 0 && !in.Options.SkipCRDs {
		in.Warnings = append(in.Warnings, plan.Problem{
			What: fmt.Sprintf("%s does not have %d of the CRDs in crds/; they are assumed to be in the cluster", in.Against, len(missing)),
			Do:   "render it with --include-crds to see what is new, or leave CRDs out with --skip-crds",
		})
	}
	return missing
}

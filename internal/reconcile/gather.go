package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/expression"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// ErrArtifactGone says that a source's artifact does not exist, or not yet.
var ErrArtifactGone = errors.New("artifact not found")

// gather fills the input, up to the first obstacle.
func (p *pass) gather(ctx context.Context) {
	for _, step := range []func(context.Context) bool{p.healthChecks, p.dependencies, p.source, p.compose, p.version, p.connect, p.records} {
		if !step(ctx) {
			return
		}
	}
}

// healthChecks reads the health checks of custom resources.
func (p *pass) healthChecks(context.Context) bool {
	if checks := p.hr.Spec.HealthCheckExprs; len(checks) > 0 {
		p.readiness, p.input.Obstacles.Expression = expression.Health(checks)
	}
	return p.input.Obstacles.Expression == nil
}

// source reports whether there is an artifact.
func (p *pass) source(context.Context) bool {
	o, ref := &p.input.Obstacles, p.hr.ChartSource()
	if p.r.NoCrossNamespaceRefs {
		o.Denied = p.hr.CrossNamespace()
	}
	switch {
	case o.Denied != nil:
	case p.r.NoExternalArtifacts && ref.Kind == flux.KindExternalArtifact: // helm-controller 1.6.3, getSourceFromExternalArtifact
		o.Denied = fmt.Errorf("can't access '%s', ExternalArtifact feature gate is disabled", ref)
	case p.in.Source == nil && p.in.Err == nil:
		o.NoSource = fmt.Errorf("%s does not exist", ref)
	case p.in.Err != nil:
		o.NoSource = p.in.Err
	default:
		if why := p.in.Source.NotReady(); why != "" {
			o.SourceNotReady = fmt.Sprintf("%s '%s/%s' is not ready: %s", ref.Kind, ref.Namespace, ref.Name, why)
		}
	}
	return o.Denied == nil && o.NoSource == nil && o.SourceNotReady == ""
}

// version finds the chart's name and version: for a HelmChart those in its status, other charts are
// loaded. They only tell that nothing has changed, so that the chart need not be loaded. Those in
// Chart.yaml may differ: for a chart in a registry source-controller 1.9 takes the name from
// spec.chart, which may have slashes, and the version from the tag
// (internal/helm/repository/oci_chart_repository.go, getChartVersion).
func (p *pass) version(ctx context.Context) bool {
	s := p.in.Source
	if s.Kind == flux.KindHelmChart && s.Status.ObservedChartName != "" {
		p.input.Chart = decision.Chart{Name: s.Status.ObservedChartName, Version: s.Status.Artifact.Revision}
		return true
	}
	return p.load(ctx)
}

// load loads the chart, under the version that it is released as.
func (p *pass) load(ctx context.Context) bool {
	if p.chart != nil {
		return true
	}
	loaded, err := p.in.Chart(ctx)
	if p.input.Obstacles.Chart = err; err != nil {
		return false
	}
	is := decision.Chart{Name: loaded.Metadata.Name, Version: loaded.Metadata.Version}
	if s := p.in.Source; s.HasRevisionDigest() {
		is.Version, is.Digest, err = flux.VersionOf(is.Version, s.Status.Artifact.Revision)
		if p.input.Obstacles.Version = err; err != nil {
			return false
		}
	}
	p.chart, p.input.Chart = versioned(loaded, is.Version), is
	return true
}

func versioned(c *chart.Chart, version string) *chart.Chart {
	with, metadata := *c, *c.Metadata
	metadata.Version = version
	with.Metadata = &metadata
	return &with
}

// connect prepares an engine for the cluster that the release goes to.
func (p *pass) connect(ctx context.Context) bool {
	access, err := p.accessTo(ctx)
	if err == nil {
		p.access = access
		err = p.open(ctx, p.hr.ReleaseNamespace(), p.hr.StorageNamespace())
	}
	p.input.Obstacles.Client = err
	return err == nil
}

// open makes an engine for releases of a namespace with their records in another one.
func (p *pass) open(ctx context.Context, namespace, storage string) error {
	c, err := p.r.Connect(ctx, p.access)
	if err != nil {
		return err
	}
	store, err := releasestore.Open(c.Records, "secret", releasestore.SystemClock{})
	if err != nil {
		return err
	}
	p.stored = c.Records
	p.engine = &engine.Engine{
		Cluster: c.Cluster, Store: store.In(storage, namespace), Locker: c.Locker,
		Now: p.r.Now, Identity: releasestore.NewIdentity(p.r.Holder), ToolVersion: p.r.ToolVersion, Readiness: p.readiness, Observer: watcher{p.in.Hook, p.in.Waiting, p.in.Waited},
	}
	return nil
}

// records reads the release's records, or has the history stand in for them. The search for drift
// would read them anyway, once it is too late to load the chart for what they call for.
func (p *pass) records(ctx context.Context) bool {
	if !p.in.RecordsUnchanged || len(p.hr.Status.History) == 0 || p.hr.DriftMode() != "" {
		p.readRecords(ctx)
		return true
	}
	p.standing, p.input.Records = true, nil
	for _, s := range p.hr.Status.History {
		p.input.Records = append(p.input.Records, &release.Revision{
			Name: s.Name, Namespace: s.Namespace, Version: s.Version, Info: release.Info{Status: release.Status(s.Status)},
			Chart: &chart.Chart{Metadata: &chart.Metadata{Name: s.ChartName, Version: s.ChartVersion}},
		})
	}
	return true
}

// readRecords reads the release's records, also in place of what has stood in for them.
func (p *pass) readRecords(ctx context.Context) {
	p.standing = false
	p.input.Records, p.input.Obstacles.Records = p.engine.Records(ctx, p.key())
}

// next decides from what has been gathered.
func (p *pass) next() decision.Decision {
	in := p.input
	hr := *p.hr
	if last := p.newest(); last != nil && !p.standing {
		in.Resumable = plan.Resumable(last) && p.made(last)
	}
	if p.standing { // stand-ins for records have no digest to check
		hr.Status.History = slices.Clone(hr.Status.History)
		for i := range hr.Status.History {
			hr.Status.History[i].APIVersion = ""
		}
	}
	in.HelmRelease = &hr
	return decision.Next(in)
}

// decide decides from what is stored and live. Live objects are looked at last, when
// everything else is in sync.
func (p *pass) decide(ctx context.Context) (decision.Decision, error) {
	p.input.Drift = decision.DriftNotLooked
	d := p.next()
	if p.standing && d.Action != decision.Nothing {
		p.readRecords(ctx)
		d = p.next()
	}
	if d.Action != decision.Nothing || d.State != decision.InSync || p.hr.DriftMode() == "" {
		return d, nil
	}
	if err := p.lookForDrift(ctx); err != nil {
		return d, p.driftNotSeen(ctx, err)
	}
	return p.next(), nil
}

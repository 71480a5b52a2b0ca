package command

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

const againstCategory = "Comparing"

// againstFlags make plan compare a chart with something other than live objects.
type againstFlags struct {
	against string
	version optional[string]
	values  cli.StringSlice
	capable capabilityFlags
	lookup  optional[string]
}

// flags returns the flags; its --offline also forbids fetching charts.
func (o *againstFlags) flags(fetch *fetchFlags) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "against", Destination: &o.against, Usage: "compare with a `REVISION, FILE or CHART` instead of live objects: a number, rendered YAML or a saved plan (- for standard input), or any chart reference", Category: againstCategory},
		&cli.StringFlag{Name: "against-version", Destination: &o.version.value, Action: o.version.note, Usage: "compare with this `VERSION` of the chart of --against, or of CHART without it; contacts no cluster", Category: againstCategory},
		&cli.StringSliceFlag{Name: "against-values", Destination: &o.values, Usage: "render the chart of --against with only the values of this `FILE` (repeatable); the default is the same values", Category: againstCategory},
		&cli.BoolFlag{Name: "offline", Destination: &fetch.offline, Usage: "contact no cluster and fetch nothing; needs --against", Category: againstCategory},
		&cli.StringFlag{Name: "kube-version", Destination: &o.capable.kubeVersion.value, Action: o.capable.kubeVersion.note, Usage: "without a cluster: the Kubernetes `VERSION` that templates see", Category: againstCategory},
		&cli.StringSliceFlag{Name: "api-versions", Destination: &o.capable.apiVersions, Aliases: []string{"a"}, Usage: "without a cluster: API `VERSION` that templates see besides the built-in ones (repeatable)", Category: againstCategory},
		lookupFlag(&o.lookup, againstCategory),
	}
}

// chartPlanFlags are the flags of plan NAME CHART.
type chartPlanFlags struct {
	planningFlags
	source  sourceFlags
	files   planFileFlags
	against againstFlags
}

// planning returns the flags for what is planned and what it is compared with.
func (o *chartPlanFlags) planning(paths *pathFlags) []cli.Flag {
	chart := &o.source.chart
	return joined(o.against.flags(&chart.fetchFlags), o.source.valueFlags(), o.source.reuse.flags(), o.source.render.flags(), o.options.deploying(), chart.flags(paths))
}

// planChart is plan NAME CHART in all its forms: with a cluster, against something else, or
// offline.
func (p *program) planChart(ctx context.Context, o *chartPlanFlags, name, path string) error {
	if err := errors.Join(o.check(), o.files.check(), o.show.check(planOutputs)); err != nil {
		return err
	}
	if err := p.againstOneServer(o, path); err != nil {
		return err
	}
	d := deployment{&o.planningFlags, &o.source, name, path, engine.InstallOrUpgrade}
	var made *plan.Plan
	defer func() { p.noteSameValues(o, made) }()
	switch {
	case o.against.against == "" && !o.withoutCluster():
		return p.runPlan(&o.show, &o.files, name, func(s *session) (*plan.Plan, error) { return p.planDeployment(ctx, s, d) })
	case o.withoutCluster():
		var err error
		if made, err = p.planOffline(ctx, o, d); err != nil {
			return p.reportImpossible(&o.show, p.offlineKey(name), err)
		}
		return p.showAndSave(&o.show, &o.files, made)
	}
	return p.runPlan(&o.show, &o.files, name, func(s *session) (*plan.Plan, error) {
		d, err := p.deployment(ctx, s.namespace, d)
		if err != nil {
			return nil, err
		}
		b, err := p.baseline(ctx, o, path, d)
		if err != nil {
			return nil, err
		}
		made, err = p.hideRead(s.engine.PlanAgainst(ctx, d, b))
		return made, err
	})
}

// noteSameValues says why values change nothing in a comparison with another chart: they are those of
// both.
func (p *program) noteSameValues(o *chartPlanFlags, made *plan.Plan) {
	if made == nil || made.Against == nil || made.Against.Kind != plan.AgainstChart || made.Effect() == plan.EffectObjects {
		return
	}
	if made.Record != nil && len(made.Record.Config) > 0 && len(o.against.values.Value()) == 0 {
		fmt.Fprintln(p.streams.Err, "Both were rendered with the same values; --against-values gives the base its own.")
	}
}

// againstOneServer refuses the credentials of flags if --against names a chart on another server than
// the one at path is on, or than those of the dependencies that --dependency-update fetches may be on: each
// would get them.
func (p *program) againstOneServer(o *chartPlanFlags, path string) error {
	fetch := &o.source.chart.fetchFlags
	requests := []resolve.Request{o.source.chart.request(path)}
	if other := o.against.against; other != "" && other != "-" {
		requests = append(requests, o.source.chart.request(other))
	}
	const instead = "repo add or registry login"
	if err := p.oneServer(fetch, requests, instead); err != nil {
		return err
	}
	if o.source.render.dependencyUpdate && isThere(path) && fetch.access.secret() && len(p.servers) > 0 {
		return usage("--username, --password and --cert-file are for one server, %s, and with --dependency-update those of dependencies would get them, too: use %s", p.servers[0], instead)
	}
	return nil
}

// withoutCluster reports whether the plan is made without any request to a cluster.
func (o *chartPlanFlags) withoutCluster() bool {
	return o.source.chart.offline || o.against.version.given
}

// check refuses combinations of flags that make no sense.
func (o *chartPlanFlags) check() error {
	against := &o.against
	switch {
	case o.source.chart.offline && against.against == "" && !against.version.given:
		return usage("--offline needs --against: what to compare with; an empty file, such as /dev/null, plans a first install")
	case against.against == "" && len(against.values.Value()) > 0 && !against.version.given:
		return usage("--against-values needs --against: the chart that these values are for")
	}
	needsRecords := func(flag string) error {
		return usage("--%s needs the release's records, which --offline and --against-version do not read: give the values with -f", flag)
	}
	needsNone := func(flag string) error {
		return usage("--%s needs --offline or --against-version: with a cluster, templates see what it has and serves", flag)
	}
	switch without := o.withoutCluster(); {
	case without && o.source.reuse.reuse:
		return needsRecords("reuse-values")
	case without && o.source.reuse.resetThenReuse:
		return needsRecords("reset-then-reuse-values")
	case without:
		return nil
	case against.capable.kubeVersion.given:
		return needsNone("kube-version")
	case len(against.capable.apiVersions.Value()) > 0:
		return needsNone("api-versions")
	case against.lookup.given:
		return needsNone("lookup")
	}
	return nil
}

// planOffline plans a chart against a file or another chart, without a cluster.
func (p *program) planOffline(ctx context.Context, o *chartPlanFlags, asked deployment) (*plan.Plan, error) {
	caps, err := o.against.capable.capabilities()
	if err != nil {
		return nil, err
	}
	namespace := p.offlineKey(asked.name).Namespace
	d, err := p.deployment(ctx, namespace, asked)
	if err != nil {
		return nil, err
	}
	b, err := p.baseline(ctx, o, asked.path, d)
	if err != nil {
		return nil, err
	}
	if b.Kind == plan.AgainstRevision {
		return nil, usage("--against %s is a revision, and --offline reads no records: save its manifest with %s, or write ./%s for a file of that name", b.Name, p.command("get", "manifest", asked.name, "--revision", b.Name), b.Name)
	}
	lookup, err := p.lookup(o.against.lookup.value, namespace)
	if err != nil {
		return nil, err
	}
	made, err := engine.PlanOffline(ctx, engine.Offline{Capabilities: caps, Lookup: lookup}, toolVersion(), d, b)
	return p.hideRead(made, err)
}

// baseline reads what --against names. A number is a revision, a folder or an archive is a chart,
// any other file is a saved plan or rendered YAML, and whatever does not exist here is a chart from
// elsewhere.
func (p *program) baseline(ctx context.Context, o *chartPlanFlags, path string, d engine.Deployment) (engine.Baseline, error) {
	name := cmp.Or(o.against.against, path)
	b := engine.Baseline{Against: plan.Against{Name: name}}
	if o.against.version.given {
		return p.chartBaseline(ctx, o, b, d)
	}
	if number, err := strconv.Atoi(name); err == nil && number > 0 {
		b.Kind, b.Revision = plan.AgainstRevision, number
		return b, o.against.onlyChart()
	}
	info, err := os.Stat(name)
	switch {
	case name == "-":
	case err != nil || info.IsDir():
		return p.chartBaseline(ctx, o, b, d)
	}
	data, err := p.readFile("--against", name)
	if err != nil {
		return b, fmt.Errorf("--against: %w", err)
	}
	if gzipped := []byte{0x1f, 0x8b}; bytes.HasPrefix(data, gzipped) || filepath.Ext(name) == ".tgz" {
		return p.chartBaseline(ctx, o, b, d)
	}
	if plan.IsSaved(data) || planfile.Encrypted(data) {
		b.Kind = plan.AgainstPlan
		if b.Saved, err = planfile.Parse(name, data, p.keys(&o.files)); err != nil {
			return b, err
		}
		return b, o.against.onlyChart()
	}
	b.Kind, b.Manifest = plan.AgainstFile, string(data)
	return b, o.against.onlyChart()
}

// onlyChart refuses --against-values for a baseline that is not a chart: only a chart is rendered.
func (o *againstFlags) onlyChart() error {
	if len(o.values.Value()) > 0 {
		return usage("--against-values needs a chart, and --against %s is not one", o.against)
	}
	return nil
}

// chartBaseline renders another chart with the same values, or with only those of --against-values.
func (p *program) chartBaseline(ctx context.Context, o *chartPlanFlags, b engine.Baseline, d engine.Deployment) (engine.Baseline, error) {
	fetch, request := &o.source.chart.fetchFlags, o.source.chart.request(b.Name)
	request.Version = o.against.version.value // not the --version of the chart that is planned
	if o.against.version.given && request.Repo == "" && isThere(b.Name) {
		return b, usage("--against-version selects a version of a chart in a repository or registry, and %s is a file or folder here: give the other chart with --against PATH", b.Name)
	}
	found, err := p.located(ctx, fetch, request)
	if err != nil {
		return b, fmt.Errorf("--against %s: not a revision number or a file; as a chart: %w", b.Name, err)
	}
	b.Name = resolve.Public(b.Name)
	loaded, warnings, err := found.complete()
	if b.Kind = plan.AgainstChart; err != nil && found.fetched == nil && chartload.IsChart(b.Name) && !isA[*source.DigestError](err) {
		b.Broken = err
		return b, nil
	}
	if err != nil {
		return b, err
	}
	b.Source = d.Source
	b.Source.Chart, b.Source.Warnings, b.Source.Fetched = loaded, warnings, found.pin
	if given := o.against.values.Value(); len(given) > 0 {
		b.Source.Reuse = values.ResetValues
		if b.Source.Values, _, err = (values.Sources{Files: given}).Merge(p.valuesReader(ctx, fetch, "--against-values")); err != nil {
			return b, fmt.Errorf("--against-values: %w", err)
		}
	}
	p.hideValues(b.Source)
	return b, nil
}

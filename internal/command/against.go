package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/planfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

const againstCategory = "Comparing"

// againstFlags compare a chart with something else than live objects.
func againstFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "against", Usage: "compare with a `REVISION, FILE or CHART` in the place of live objects: a number, rendered YAML or a saved plan (- for standard input), a chart, wherever it is", Category: againstCategory},
		&cli.StringFlag{Name: "against-version", Usage: "compare with this `VERSION` of the chart of --against, or of CHART without it; asks no cluster", Category: againstCategory},
		&cli.StringSliceFlag{Name: "against-values", Usage: "render the chart of --against with the values of this `FILE` and no others (repeatable); without it, with the same values", Category: againstCategory},
		&cli.BoolFlag{Name: "offline", Usage: "ask no cluster for anything, and fetch nothing; needs --against", Category: againstCategory},
		&cli.StringFlag{Name: "kube-version", Usage: "without a cluster: the Kubernetes `VERSION` that templates see", Category: againstCategory},
		&cli.StringSliceFlag{Name: "api-versions", Aliases: []string{"a"}, Usage: "without a cluster: API `VERSION` that templates see besides the built-in ones (repeatable)", Category: againstCategory},
		lookupFlag(againstCategory),
	}
}

// planChart is plan NAME CHART in all its forms: with a cluster, against
// something else, offline.
func (p *program) planChart(c *cli.Context, name, path string) error {
	if err := errors.Join(checkAgainst(c), checkSaving(c), checkShowing(c)); err != nil {
		return err
	}
	switch {
	case c.String("against") == "" && !withoutCluster(c):
		return p.runPlan(c, func(s *session) (*plan.Plan, error) {
			return p.planDeployment(c, s, name, path, engine.InstallOrUpgrade)
		})
	case withoutCluster(c):
		made, err := p.planOffline(c, name, path)
		if err != nil {
			return err
		}
		return p.showAndSave(c, made)
	}
	return p.runPlan(c, func(s *session) (*plan.Plan, error) {
		d, err := p.deployment(c, s.key(name), path, engine.InstallOrUpgrade)
		if err != nil {
			return nil, err
		}
		b, err := p.baseline(c, path, d)
		if err != nil {
			return nil, err
		}
		made, err := s.engine.PlanAgainst(c.Context, d, b)
		return p.hideRead(d.Source.Values, made, err)
	})
}

// withoutCluster says whether no cluster is asked for anything.
func withoutCluster(c *cli.Context) bool { return c.Bool("offline") || c.IsSet("against-version") }

// checkAgainst refuses flags that mean nothing together.
func checkAgainst(c *cli.Context) error {
	switch {
	case c.Bool("offline") && c.String("against") == "" && !c.IsSet("against-version"):
		return usage("--offline needs --against: what to compare with; an empty file, such as /dev/null, plans a first install")
	case c.String("against") == "" && c.IsSet("against-values") && !c.IsSet("against-version"):
		return usage("--against-values needs --against: the chart that these values are for")
	case withoutCluster(c):
		for _, flag := range []string{"reuse-values", "reset-then-reuse-values"} {
			if c.Bool(flag) {
				return usage("--%s needs the release's records, which --offline and --against-version do not read: give the values with -f", flag)
			}
		}
		return nil
	}
	for _, flag := range []string{"kube-version", "api-versions", "lookup"} {
		if c.IsSet(flag) {
			return usage("--%s goes with --offline or --against-version: with a cluster, templates see what it has and serves", flag)
		}
	}
	return nil
}

func (p *program) planOffline(c *cli.Context, name, path string) (*plan.Plan, error) {
	caps, err := offlineCapabilities(c)
	if err != nil {
		return nil, err
	}
	key := release.Key{Namespace: orDefault(c.String("namespace"), "default"), Name: name}
	d, err := p.deployment(c, key, path, engine.InstallOrUpgrade)
	if err != nil {
		return nil, err
	}
	b, err := p.baseline(c, path, d)
	if err != nil {
		return nil, err
	}
	if b.Kind == plan.AgainstRevision {
		return nil, usage("--against %s is a revision, and --offline reads no records: save its manifest with %s, or write ./%s for a file of that name", b.Name, p.command("get", "manifest", name, "--revision", b.Name), b.Name)
	}
	lookup, err := p.lookup(c, key.Namespace)
	if err != nil {
		return nil, err
	}
	made, err := engine.PlanOffline(c.Context, engine.Offline{Capabilities: caps, Lookup: lookup}, toolVersion(), d, b)
	return p.hideRead(d.Source.Values, made, err)
}

// baseline reads what --against names: a number is a revision, a folder or an
// archive a chart, a file a saved plan or rendered YAML.
func (p *program) baseline(c *cli.Context, path string, d engine.Deployment) (engine.Baseline, error) {
	name := orDefault(c.String("against"), path)
	b := engine.Baseline{Against: plan.Against{Name: name}}
	if c.IsSet("against-version") {
		return p.chartBaseline(c, b, d)
	}
	if number, err := strconv.Atoi(name); err == nil && number > 0 {
		b.Kind, b.Revision = plan.AgainstRevision, number
		return b, againstOnlyChart(c)
	}
	info, err := os.Stat(name)
	switch {
	case name == "-":
	case err != nil || info.IsDir():
		return p.chartBaseline(c, b, d)
	}
	data, err := p.readFile(name)
	if err != nil {
		return b, fmt.Errorf("--against: %w", err)
	}
	if gzipped := []byte{0x1f, 0x8b}; bytes.HasPrefix(data, gzipped) || filepath.Ext(name) == ".tgz" {
		return p.chartBaseline(c, b, d)
	}
	if plan.IsSaved(data) || planfile.Encrypted(data) {
		b.Kind = plan.AgainstPlan
		if b.Saved, err = planfile.Parse(name, data, p.keys(c)); err != nil {
			return b, err
		}
		return b, againstOnlyChart(c)
	}
	b.Kind, b.Manifest = plan.AgainstFile, string(data)
	return b, againstOnlyChart(c)
}

// againstOnlyChart refuses values for what is not rendered.
func againstOnlyChart(c *cli.Context) error {
	if c.IsSet("against-values") {
		return usage("--against-values goes with a chart; --against %s is none", c.String("against"))
	}
	return nil
}

// chartBaseline is another chart with the same values, or with those of
// --against-values and no others.
func (p *program) chartBaseline(c *cli.Context, b engine.Baseline, d engine.Deployment) (engine.Baseline, error) {
	found, err := p.located(c, againstRequest(c, b.Name))
	if err != nil {
		return b, fmt.Errorf("--against %s: it is no revision number or file, and as a chart: %w", b.Name, err)
	}
	loaded, warnings, err := found.load()
	if err != nil {
		return b, err
	}
	b.Kind, b.Source = plan.AgainstChart, d.Source
	b.Source.Chart, b.Source.Warnings, b.Source.Fetched = loaded, warnings, found.pin
	if c.IsSet("against-values") {
		b.Source.Reuse = values.ResetValues
		if b.Source.Values, _, err = (values.Sources{Files: c.StringSlice("against-values")}).Merge(p.valuesReader(c)); err != nil {
			return b, fmt.Errorf("--against-values: %w", err)
		}
	}
	return b, nil
}

// againstRequest is what the flags say of the chart to compare with: the version is
// its own.
func againstRequest(c *cli.Context, name string) resolve.Request {
	r := chartRequest(c, name)
	r.Version = c.String("against-version")
	return r
}

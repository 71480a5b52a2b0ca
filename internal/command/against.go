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
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

const againstCategory = "Comparing"

// againstFlags compare a chart with something else than live objects.
func againstFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "against", Usage: "compare with a `REVISION, FILE or CHART` in the place of live objects: a number, rendered YAML or a saved plan (- for standard input), a chart", Category: againstCategory},
		&cli.StringSliceFlag{Name: "against-values", Usage: "render the chart of --against with the values of this `FILE` and no others (repeatable); without it, with the same values", Category: againstCategory},
		&cli.BoolFlag{Name: "offline", Usage: "ask no cluster for anything; needs --against", Category: againstCategory},
		&cli.StringFlag{Name: "kube-version", Usage: "with --offline: the Kubernetes `VERSION` that templates see", Category: againstCategory},
		&cli.StringSliceFlag{Name: "api-versions", Aliases: []string{"a"}, Usage: "with --offline: API `VERSION` that templates see besides the built-in ones (repeatable)", Category: againstCategory},
	}
}

// planChart is plan NAME CHART in all its forms: with a cluster, against
// something else, offline.
func (p *program) planChart(c *cli.Context, name, path string) error {
	if err := errors.Join(checkAgainst(c), checkSaving(c), checkShowing(c)); err != nil {
		return err
	}
	switch {
	case c.String("against") == "":
		return p.planned(c, func(s *session) (*plan.Plan, error) {
			return p.planDeployment(c, s, name, path, engine.InstallOrUpgrade)
		})
	case c.Bool("offline"):
		made, err := p.planOffline(c, name, path)
		if err != nil {
			return err
		}
		return p.presented(c, made)
	}
	return p.planned(c, func(s *session) (*plan.Plan, error) {
		d, err := p.deployment(c, s.key(name), path, engine.InstallOrUpgrade)
		if err != nil {
			return nil, err
		}
		b, err := p.baseline(c, d)
		if err != nil {
			return nil, err
		}
		return s.engine.PlanAgainst(c.Context, d, b)
	})
}

// checkAgainst refuses flags that mean nothing together.
func checkAgainst(c *cli.Context) error {
	switch {
	case c.Bool("offline") && c.String("against") == "":
		return usage("--offline needs --against: what to compare with; an empty file, such as /dev/null, plans a first install")
	case c.String("against") == "" && c.IsSet("against-values"):
		return usage("--against-values needs --against: the chart that these values are for")
	case c.Bool("offline"):
		for _, flag := range []string{"reuse-values", "reset-then-reuse-values"} {
			if c.Bool(flag) {
				return usage("--%s needs the release's records, which --offline does not read: give the values with -f", flag)
			}
		}
		return nil
	}
	for _, flag := range []string{"kube-version", "api-versions"} {
		if c.IsSet(flag) {
			return usage("--%s goes with --offline: with a cluster, templates see what it serves", flag)
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
	b, err := p.baseline(c, d)
	if err != nil {
		return nil, err
	}
	if b.Kind == plan.AgainstRevision {
		return nil, usage("--against %s is a revision, and --offline reads no records: save its manifest with %s get manifest %s --revision %s, or write ./%s for a file of that name", b.Name, p.name, name, b.Name, b.Name)
	}
	return engine.PlanOffline(c.Context, engine.Offline{Capabilities: caps}, toolVersion(), d, b)
}

// baseline reads what --against names: a number is a revision, a folder or an
// archive a chart, a file a saved plan or rendered YAML.
func (p *program) baseline(c *cli.Context, d engine.Deployment) (engine.Baseline, error) {
	name := c.String("against")
	b := engine.Baseline{Against: plan.Against{Name: name}}
	if number, err := strconv.Atoi(name); err == nil && number > 0 {
		b.Kind, b.Revision = plan.AgainstRevision, number
		return b, againstOnlyChart(c)
	}
	info, err := os.Stat(name)
	if name != "-" && err != nil {
		return b, chartHint(name, fmt.Errorf("--against %s: it is no revision number, file or chart: %w", name, err))
	}
	if name != "-" && info.IsDir() {
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
	loaded, warnings, err := loadChart(b.Name)
	if err != nil {
		return b, err
	}
	b.Kind, b.Source = plan.AgainstChart, d.Source
	b.Source.Chart, b.Source.Warnings = loaded, warnings
	if c.IsSet("against-values") {
		b.Source.Reuse = values.ResetValues
		if b.Source.Values, _, err = (values.Sources{Files: c.StringSlice("against-values")}).Merge(p.readFile); err != nil {
			return b, fmt.Errorf("--against-values: %w", err)
		}
	}
	return b, nil
}

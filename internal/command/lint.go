package command

import (
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/lint"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

func (p *program) lintCommand() *cli.Command {
	return &cli.Command{
		Name: "lint", Usage: "find what is wrong with charts", ArgsUsage: "CHART [CHART…]",
		Description: describe("Checks charts by the rules of helm lint, renders them and checks every object: its\nname, labels, hook annotations and, for Kubernetes' own kinds, its fields. Exits with 1\nwhen there is an error. No cluster is asked unless --validate is given.",
			"kubectl release lint ./chart -f prod.yaml\nkubectl release lint ./chart --strict --kube-version 1.36 -o json\nkubectl release lint ./chart --validate"),
		Flags: joined([]cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "warnings count as errors"},
			&cli.BoolFlag{Name: "quiet", Usage: "print only warnings and errors"},
			&cli.BoolFlag{Name: "with-subcharts", Usage: "lint the charts in charts/ by themselves, too"},
			&cli.StringFlag{Name: "kube-version", Usage: "Kubernetes `VERSION` that the charts are for"},
			&cli.StringSliceFlag{Name: "api-versions", Aliases: []string{"a"}, Usage: "API `VERSION` that templates see besides the built-in ones (repeatable)"},
			&cli.BoolFlag{Name: "skip-schema-validation", Usage: "do not check values against values.schema.json"},
			&cli.BoolFlag{Name: "validate", Usage: "have the cluster check every object in a dry run with strict field validation"},
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Usage: oneOf(outputs), Value: "text", Category: planCategory},
		}, valuesFlags(), chartFlags()),
		Action: p.readOnly(p.lint),
	}
}

// linted is the answer for machines.
type linted struct {
	Charts   int            `json:"charts"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Findings []lint.Finding `json:"findings"`
	paths    []string
}

func (p *program) lint(c *cli.Context) error {
	args, err := arguments(c, 1, math.MaxInt)
	if err != nil {
		return err
	}
	l, err := p.newLinter(c)
	if err != nil {
		return err
	}
	out := linted{Findings: []lint.Finding{}}
	for _, path := range args {
		charts, findings, err := l.tree(p, c, path)
		if err != nil {
			return err
		}
		out.paths = append(out.paths, charts...)
		out.Findings = append(out.Findings, findings...)
	}
	out.Charts = len(out.paths)
	for _, f := range out.Findings {
		switch f.Severity {
		case lint.Error:
			out.Errors++
		case lint.Warning:
			out.Warnings++
		case lint.Info:
		}
	}
	if err := p.printLinted(c, out); err != nil {
		return err
	}
	if out.Errors > 0 || c.Bool("strict") && out.Warnings > 0 {
		return codeError(exitError)
	}
	return nil
}

// linter is what all charts of one run share.
type linter struct {
	options lint.Options
	values  map[string]any
	session *session
	deep    bool
}

func (p *program) newLinter(c *cli.Context) (*linter, error) {
	caps, err := offlineCapabilities(c)
	if err != nil {
		return nil, err
	}
	given, err := p.givenValues(c)
	if err != nil {
		return nil, err
	}
	kinds, err := cluster.NewBuiltin()
	if err != nil {
		return nil, err
	}
	l := &linter{values: given, deep: c.Bool("with-subcharts"), options: lint.Options{
		Namespace: orDefault(c.String("namespace"), "default"), Capabilities: caps, ExactVersion: c.IsSet("kube-version"),
		SkipSchema: c.Bool("skip-schema-validation"), Kinds: kinds,
	}}
	if c.Bool("validate") {
		if l.session, err = p.connect(c); err != nil {
			return nil, err
		}
		l.options.Namespace = l.session.namespace
	}
	return l, nil
}

// tree lints the chart at a path and, when asked, those in its charts/. It gives the
// paths of them all.
func (l *linter) tree(p *program, c *cli.Context, path string) ([]string, []lint.Finding, error) {
	refused := func(err error) ([]string, []lint.Finding, error) {
		return []string{path}, []lint.Finding{{Severity: lint.Error, Chart: path, Message: err.Error()}}, nil
	}
	found, err := p.located(c, chartRequest(c, path))
	if err != nil {
		return refused(err)
	}
	in := lint.Input{Values: l.values, Options: l.options}
	in.Chart, in.Warnings, in.LoadErr = found.load()
	if in.LoadErr == nil {
		in.Files = in.Chart.Raw
		return l.chart(c, path, in)
	}
	if in.Files, err = found.files(); err != nil {
		return refused(in.LoadErr)
	}
	return l.chart(c, path, in)
}

func (l *linter) chart(c *cli.Context, path string, in lint.Input) ([]string, []lint.Finding, error) {
	if l.session != nil && in.Chart != nil {
		caps, err := liveCapabilities(c, l.session, in.Chart)
		if err != nil {
			return nil, nil, err
		}
		in.Options.Capabilities, in.Options.ExactVersion = caps, true
	}
	report := lint.Run(in)
	findings := report.Findings
	if l.session != nil && in.Chart != nil {
		refused, err := l.refused(c, in.Chart, report)
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, refused...)
	}
	for i := range findings {
		findings[i].Chart = path
	}
	charts := []string{path}
	if !l.deep || in.Chart == nil {
		return charts, findings, nil
	}
	table, err := values.Coalesce(in.Chart, in.Values)
	if err != nil {
		table = nil
	}
	for _, sub := range in.Chart.Dependencies() {
		own, _ := table[sub.Name()].(map[string]any)
		below, more, err := l.chart(c, joinChart(path, "charts/"+sub.Name()), lint.Input{
			Files: sub.Raw, Chart: sub.Clone(), Values: own, Options: l.options,
		})
		if err != nil {
			return nil, nil, err
		}
		charts = append(charts, below...)
		findings = append(findings, more...)
	}
	return charts, findings, nil
}

// refused are the findings of the API server.
func (l *linter) refused(c *cli.Context, loaded *chart.Chart, report lint.Report) ([]lint.Finding, error) {
	crds, err := engine.ParseCRDs(loaded)
	if err != nil {
		return nil, nil //nolint:nilerr // lint itself has found it
	}
	verdicts, err := l.session.cluster.Validate(c.Context, report.Objects, crds, l.options.Namespace)
	if err != nil {
		return nil, err
	}
	var out []lint.Finding
	for _, v := range verdicts {
		_, path, _ := strings.Cut(v.Object.Source, "/")
		f := lint.Finding{Severity: lint.Error, Path: path, Object: v.Object.String(), Message: v.Refused}
		if v.Unasked != "" {
			f.Severity, f.Message = lint.Info, "the cluster could not check it: "+v.Unasked
		}
		if f.Message != "" {
			out = append(out, f)
		}
	}
	return out, nil
}

// liveCapabilities are the cluster's, with what flags add to them.
func liveCapabilities(c *cli.Context, s *session, loaded *chart.Chart) (*templating.Capabilities, error) {
	caps, err := s.engine.Capabilities(c.Context, loaded)
	if err != nil {
		return nil, err
	}
	given, err := offlineCapabilities(c)
	if err != nil {
		return nil, err
	}
	if c.String("kube-version") != "" {
		caps.KubeVersion = given.KubeVersion
	}
	for _, list := range c.StringSlice("api-versions") {
		caps.APIVersions = append(caps.APIVersions, strings.Split(list, ",")...)
	}
	return caps, nil
}

package command

import (
	"context"
	"math"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/cluster"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/lint"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// lintFlags are the flags of lint.
type lintFlags struct {
	chart   chartFlags
	values  valuesFlags
	capable capabilityFlags
	outputFlags
	strict, quiet, subcharts, skipSchema, validate bool
}

func (p *program) lintCommand() *cli.Command {
	var o lintFlags
	toggle := func(name string, to *bool, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: to, Usage: usage}
	}
	return &cli.Command{
		Name: "lint", Usage: "find problems in charts", ArgsUsage: "CHART [CHART…]",
		Description: describe(`Checks charts by the rules of helm lint, renders them and checks every object: its
name, labels, hook annotations and, for Kubernetes' own kinds, its fields. Exits with 1
if there is an error. No cluster is contacted unless --validate is given.`,
			"kubectl release lint ./chart -f prod.yaml\nkubectl release lint ./chart --strict --kube-version 1.36 -o json\nkubectl release lint ./chart --validate"),
		Flags: joined([]cli.Flag{
			toggle("strict", &o.strict, "warnings count as errors"),
			toggle("quiet", &o.quiet, "print only warnings and errors"),
			toggle("with-subcharts", &o.subcharts, "lint the charts in charts/ on their own, too"),
		}, o.capable.flags("Kubernetes `VERSION` that the charts are for"), []cli.Flag{
			toggle("skip-schema-validation", &o.skipSchema, "do not check values against values.schema.json"),
			toggle("validate", &o.validate, "have the cluster check every object in a dry run with strict field validation"),
			o.flag(),
		}, o.values.flags(), []cli.Flag{o.chart.outsideLinksFlag()}, o.chart.flags(&p.paths)),
		Action: p.readOnly(takes(1, math.MaxInt, func(ctx context.Context, args []string) error { return p.lint(ctx, &o, args) })),
	}
}

// linted is the result in JSON and YAML output.
type linted struct {
	Charts   int            `json:"charts"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Findings []lint.Finding `json:"findings"`
	paths    []string
}

func (p *program) lint(ctx context.Context, o *lintFlags, args []string) error {
	l, err := p.newLinter(ctx, o)
	if err != nil {
		return err
	}
	out := linted{Findings: []lint.Finding{}}
	for _, path := range args {
		charts, findings, err := l.tree(ctx, p, path)
		if err != nil {
			return err
		}
		out.paths = append(out.paths, charts...)
		out.Findings = append(out.Findings, findings...)
	}
	out.Charts = len(out.paths)
	for i, f := range out.Findings {
		out.Findings[i].Message = p.errorMask().Text(f.Message)
		switch f.Severity {
		case lint.Error:
			out.Errors++
		case lint.Warning:
			out.Warnings++
		case lint.Info:
		}
	}
	if err := p.printLinted(o, out); err != nil {
		return err
	}
	if out.Errors > 0 || o.strict && out.Warnings > 0 {
		return codeError(exitError)
	}
	return nil
}

// linter holds what all charts of a run have in common.
type linter struct {
	*lintFlags
	options lint.Options
	values  map[string]any
	session *session
}

func (p *program) newLinter(ctx context.Context, o *lintFlags) (*linter, error) {
	caps, err := o.capable.capabilities()
	if err != nil {
		return nil, err
	}
	given, err := p.givenValues(ctx, &o.values, &o.chart.fetchFlags)
	if err != nil {
		return nil, err
	}
	kinds, err := cluster.NewBuiltin()
	if err != nil {
		return nil, err
	}
	l := &linter{lintFlags: o, values: given, options: lint.Options{
		Namespace: p.namespace(), Capabilities: caps, ExactVersion: o.capable.kubeVersion.given,
		SkipSchema: o.skipSchema, Kinds: kinds,
	}}
	if o.validate {
		if l.session, err = p.connect(); err != nil {
			return nil, err
		}
		l.options.Namespace = l.session.namespace
	}
	return l, nil
}

// tree lints the chart at a path or URL and, if asked for, its subcharts. It returns the names of all of
// them.
func (l *linter) tree(ctx context.Context, p *program, path string) ([]string, []lint.Finding, error) {
	name := resolve.Public(path)
	refused := func(err error) ([]string, []lint.Finding, error) {
		return []string{name}, []lint.Finding{{Severity: lint.Error, Chart: name, Message: err.Error()}}, nil
	}
	found, err := p.located(ctx, &l.chart.fetchFlags, l.chart.request(path))
	if err != nil {
		return refused(err)
	}
	in := lint.Input{Values: l.values, Options: l.options}
	in.Chart, in.Warnings, in.LoadErr = found.complete()
	p.hideValues(engine.Source{Chart: in.Chart, Values: in.Values})
	if in.LoadErr == nil {
		in.Files = in.Chart.Raw
		return l.lintChart(ctx, name, in)
	}
	if in.Files, err = found.files(); err != nil {
		return refused(in.LoadErr)
	}
	return l.lintChart(ctx, name, in)
}

func (l *linter) lintChart(ctx context.Context, path string, in lint.Input) ([]string, []lint.Finding, error) {
	var crds []manifest.Object
	if l.session != nil && in.Chart != nil {
		crds, _ = engine.EnabledCRDs(in.Chart, in.Values) // lint reports the error
		caps, _, err := l.capable.live(ctx, l.session, crds)
		if err != nil {
			return nil, nil, err
		}
		in.Options.Capabilities, in.Options.ExactVersion = caps, true
	}
	report := lint.Run(in)
	findings := report.Findings
	if l.session != nil && in.Chart != nil {
		refused, err := l.refused(ctx, crds, report)
		if err != nil {
			return nil, nil, err
		}
		findings = append(findings, refused...)
	}
	for i := range findings {
		findings[i].Chart = path
	}
	charts := []string{path}
	if !l.subcharts || in.Chart == nil {
		return charts, findings, nil
	}
	table, err := values.Coalesce(in.Chart, in.Values)
	if err != nil {
		table = nil
	}
	for _, sub := range in.Chart.Dependencies() {
		own, _ := table[sub.Name()].(map[string]any)
		below, more, err := l.lintChart(ctx, joinChart(path, "charts/"+sub.Name()), lint.Input{
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

// refused returns findings for the objects that the API server refuses or could not check.
func (l *linter) refused(ctx context.Context, crds []manifest.Object, report lint.Report) ([]lint.Finding, error) {
	verdicts, err := l.session.cluster.Validate(ctx, report.Objects, crds, l.options.Namespace)
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

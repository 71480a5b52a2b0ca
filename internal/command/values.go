package command

import (
	"context"
	"encoding/csv"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/postrender"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

const (
	valuesCategory = "Values"
	renderCategory = "Rendering"
)

// valuesFlags are Helm's flags for values.
type valuesFlags struct {
	files, json, set, str, file, literal cli.StringSlice
}

func (o *valuesFlags) flags() []cli.Flag {
	list := func(name string, to *cli.StringSlice, usage string, aliases ...string) cli.Flag {
		return &cli.StringSliceFlag{Name: name, Destination: to, Aliases: aliases, Usage: usage, Category: valuesCategory, KeepSpace: true}
	}
	return []cli.Flag{
		list("values", &o.files, "YAML `FILE` of values, or the URL of one, - for standard input (repeatable, or separated by commas)", "f"),
		list("set", &o.set, "`KEY=VALUE`, separated by commas (repeatable)"),
		list("set-string", &o.str, "`KEY=VALUE` whose value stays a string"),
		list("set-file", &o.file, "`KEY=FILE` whose content is the value"),
		list("set-json", &o.json, "`KEY=JSON`, or a whole JSON object"),
		list("set-literal", &o.literal, "`KEY=VALUE` whose value is taken literally"),
	}
}

// sources returns the sources that the flags for values name.
func (o *valuesFlags) sources() (values.Sources, error) {
	files, err := commaSeparated("values", o.files.Value())
	if err != nil {
		return values.Sources{}, err
	}
	return values.Sources{
		Files: files, JSON: o.json.Value(), Set: o.set.Value(),
		String: o.str.Value(), File: o.file.Value(), Literal: o.literal.Value(),
	}, nil
}

// renderFlags change how a chart is rendered.
type renderFlags struct {
	engine.RenderOptions
	dependencyUpdate, skipCRDs, updateCRDs bool
	untrusted                              bool
	postRenderer                           string
	postRendererArgs                       cli.StringSlice
}

func (o *renderFlags) flags() []cli.Flag {
	toggle := func(name string, to *bool, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: to, Usage: usage, Category: renderCategory}
	}
	return []cli.Flag{
		toggle("dependency-update", &o.dependencyUpdate, "fetch the chart's dependencies into charts/ first if one is missing"),
		toggle("skip-crds", &o.skipCRDs, "do not create the CRDs of crds/ folders"),
		toggle("update-crds", &o.updateCRDs, "update existing CRDs of crds/ folders, too"),
		toggle("skip-schema-validation", &o.SkipSchema, "do not check values against values.schema.json"),
		toggle("enable-dns", &o.DNS, "let templates look up host names"),
		toggle("render-subchart-notes", &o.SubchartNotes, "show the notes of subcharts, too"),
		toggle("strict", &o.Strict, "fail if a template reads a value that does not exist"),
		toggle("untrusted", &o.untrusted, "the chart or its values are not trusted, as in a pull request: refuse flags that run programs, use the network or follow links for it"),
		&cli.StringFlag{Name: "post-renderer", Destination: &o.postRenderer, Usage: "`PROGRAM` that rewrites the rendered manifest", Category: renderCategory},
		&cli.StringSliceFlag{Name: "post-renderer-args", Destination: &o.postRendererArgs, Usage: "argument of the post-renderer (repeatable)", Category: renderCategory, KeepSpace: true},
	}
}

// options returns the engine's options.
func (o *renderFlags) options() engine.RenderOptions {
	out := o.RenderOptions
	out.PostRender = postrender.By(o.postRenderer, o.postRendererArgs.Value(), withoutSecrets(os.Environ()))
	return out
}

// reuseFlags say what an upgrade takes from the values of the last revision.
type reuseFlags struct{ reuse, reset, resetThenReuse bool }

func (o *reuseFlags) flags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "reuse-values", Destination: &o.reuse, Usage: "keep the last revision's values and defaults", Category: valuesCategory},
		&cli.BoolFlag{Name: "reset-values", Destination: &o.reset, Usage: "forget the last revision's values", Category: valuesCategory},
		&cli.BoolFlag{Name: "reset-then-reuse-values", Destination: &o.resetThenReuse, Usage: "new defaults, then the last revision's values", Category: valuesCategory},
	}
}

func (o *reuseFlags) mode() values.Reuse {
	switch {
	case o.reset:
		return values.ResetValues
	case o.reuse:
		return values.ReuseValues
	case o.resetThenReuse:
		return values.ResetThenReuseValues
	default:
		return values.ReuseUnlessGiven
	}
}

// sourceFlags are the flags of commands that render a chart: which chart, and with which values.
type sourceFlags struct {
	chart  chartFlags
	values valuesFlags
	reuse  reuseFlags
	render renderFlags
}

func (o *sourceFlags) valueFlags() []cli.Flag {
	return append(o.values.flags(), o.chart.outsideLinksFlag())
}

// source loads the chart and reads the values that the flags name.
func (p *program) source(ctx context.Context, o *sourceFlags, path string) (engine.Source, error) {
	if err := o.checkUntrusted(); err != nil {
		return engine.Source{}, err
	}
	loaded, warnings, err := p.completeChart(ctx, o, path)
	if err != nil {
		return engine.Source{}, err
	}
	sources, err := o.values.sources()
	if err != nil {
		return engine.Source{}, err
	}
	read := remembered(p.valuesReader(ctx, &o.chart.fetchFlags, "--values"))
	given, more, err := sources.Merge(read)
	if err != nil {
		return engine.Source{}, err
	}
	out := engine.Source{
		Chart: loaded, Fetched: p.charts[o.chart.request(path)].pin, Lock: source.LockOf(loaded),
		Warnings: append(warnings, more...), Values: given, Reuse: o.reuse.mode(),
		Folder: chartFolder(path), File: fileInstead(path, sources.Files), Path: inRepository,
		Origins: func(paths [][]string) []values.Origin { return sources.Origins(paths, read) },
		Render:  o.render.options(),
	}
	p.hideValues(out)
	return out, nil
}

// givenValues returns the merged values of all flags for values.
func (p *program) givenValues(ctx context.Context, o *valuesFlags, fetch *fetchFlags) (map[string]any, error) {
	sources, err := o.sources()
	if err != nil {
		return nil, err
	}
	given, warnings, err := sources.Merge(p.valuesReader(ctx, fetch, "--values"))
	p.warnAll(warnings)
	return given, err
}

// commaSeparated splits each of a flag's values as Helm 4.3.1 does (pflag's StringSlice): as a line
// of CSV, in which quotes protect commas.
func commaSeparated(flag string, given []string) ([]string, error) {
	var out []string
	for _, text := range given {
		if text == "" {
			continue
		}
		fields, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil {
			return nil, usage("--%s %s: %v", flag, text, err)
		}
		out = append(out, fields...)
	}
	return out, nil
}

// valuesReader returns a function that reads the values files that a flag names. A file that came with
// a chart, as in the checkout of a pull request, may be a symbolic link to a private file on this
// machine, so links that lead out of its folder are refused.
func (p *program) valuesReader(ctx context.Context, o *fetchFlags, by string) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		switch {
		case strings.Contains(name, "://"):
			return p.fetchInput(ctx, name, o.offline)
		case name == "-" || o.load.OutsideLinks:
			return p.readFile(by, name)
		}
		return inputfile.ReadInside(name, inputfile.MaxBytes)
	}
}

// readFile reads the file that is named by a flag or an argument, such as --against or FILE; - is standard
// input, which only one of them may name: the others would find it empty. It is kept, as a plan may have to
// be made again.
func (p *program) readFile(by, name string) ([]byte, error) {
	if name != inputfile.StandardInput {
		return inputfile.Read(name, inputfile.MaxBytes)
	}
	if p.input.by != "" && p.input.by != by {
		return nil, usage("%s and %s are both -, but standard input can be read only once", p.input.by, by)
	}
	if p.input.by == "" {
		p.input.by = by
		p.input.data, p.input.err = inputfile.ReadAll(p.streams.In, "standard input", inputfile.MaxBytes)
	}
	return p.input.data, p.input.err
}

// remembered returns a function that reads every file only once.
func remembered(read func(string) ([]byte, error)) func(string) ([]byte, error) {
	content := map[string][]byte{}
	return func(name string) ([]byte, error) {
		if data, ok := content[name]; ok {
			return data, nil
		}
		data, err := read(name)
		if err == nil {
			content[name] = data
		}
		return data, err
	}
}

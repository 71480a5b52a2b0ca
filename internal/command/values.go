package command

import (
	"encoding/csv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

const (
	valuesCategory = "Values"
	renderCategory = "Rendering"
)

// valuesFlags are Helm's ways to give values.
func valuesFlags() []cli.Flag {
	list := func(name, usage string, aliases ...string) cli.Flag {
		return &cli.StringSliceFlag{Name: name, Aliases: aliases, Usage: usage, Category: valuesCategory, KeepSpace: true}
	}
	return []cli.Flag{
		list("values", "YAML `FILE` of values, or the URL of one, - for standard input (repeatable, or separated by commas)", "f"),
		list("set", "`KEY=VALUE`, separated by commas (repeatable)"),
		list("set-string", "`KEY=VALUE` whose value stays a string"),
		list("set-file", "`KEY=FILE` whose content is the value"),
		list("set-json", "`KEY=JSON`, or a whole JSON object"),
		list("set-literal", "`KEY=VALUE` with nothing in it escaped"),
		outsideLinksFlag(),
	}
}

// outsideLinksFlag is for charts and files of values that are one's own.
func outsideLinksFlag() cli.Flag {
	return &cli.BoolFlag{Name: outsideLinks, Usage: "follow symbolic links that lead out of a chart's folder, or out of the folder of a values file", Category: valuesCategory}
}

const outsideLinks = "allow-outside-symlinks"

func chartOptions(c *cli.Context) chartload.Options {
	return chartload.Options{OutsideLinks: c.Bool(outsideLinks)}
}

func renderFlags() []cli.Flag {
	toggle := func(name, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Usage: usage, Category: renderCategory}
	}
	return []cli.Flag{
		toggle("dependency-update", "bring the chart's dependencies into charts/ first, when one is missing"),
		toggle("skip-crds", "leave out the CRDs of crds/ folders"),
		toggle("update-crds", "update the CRDs of crds/ folders that are there, too"),
		toggle("skip-schema-validation", "do not check values against values.schema.json"),
		toggle("enable-dns", "let templates look up host names"),
		toggle("render-subchart-notes", "show the notes of subcharts, too"),
		toggle("strict", "reading a value that is not there is an error"),
		&cli.StringFlag{Name: "post-renderer", Usage: "`PROGRAM` that rewrites the rendered manifest", Category: renderCategory},
		&cli.StringSliceFlag{Name: "post-renderer-args", Usage: "argument of the post-renderer (repeatable)", Category: renderCategory, KeepSpace: true},
	}
}

// reuseFlags say what an upgrade takes over from earlier values.
func reuseFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "reuse-values", Usage: "keep the last revision's values and defaults", Category: valuesCategory},
		&cli.BoolFlag{Name: "reset-values", Usage: "forget the last revision's values", Category: valuesCategory},
		&cli.BoolFlag{Name: "reset-then-reuse-values", Usage: "new defaults, then the last revision's values", Category: valuesCategory},
	}
}

func reuseMode(c *cli.Context) values.Reuse {
	switch {
	case c.Bool("reset-values"):
		return values.ResetValues
	case c.Bool("reuse-values"):
		return values.ReuseValues
	case c.Bool("reset-then-reuse-values"):
		return values.ResetThenReuseValues
	default:
		return values.ReuseUnlessGiven
	}
}

// source loads the chart and reads the values that flags name.
func (p *program) source(c *cli.Context, path string) (engine.Source, error) {
	loaded, warnings, err := p.completeChart(c, path)
	if err != nil {
		return engine.Source{}, err
	}
	sources, err := valueSources(c)
	if err != nil {
		return engine.Source{}, err
	}
	read := remembered(p.valuesReader(c))
	given, more, err := sources.Merge(read)
	if err != nil {
		return engine.Source{}, err
	}
	return engine.Source{
		Chart: loaded, Fetched: p.charts[chartRequest(c, path)].pin,
		Warnings: append(warnings, more...), Values: given, Reuse: reuseMode(c),
		Origin: func(path []string) string { return sources.Origin(path, read) },
		Render: engine.RenderOptions{
			SkipSchema: c.Bool("skip-schema-validation"), DNS: c.Bool("enable-dns"),
			SubchartNotes: c.Bool("render-subchart-notes"), Strict: c.Bool("strict"), PostRender: postRenderer(c),
		},
	}, nil
}

// givenValues are what the flags for values give in all.
func (p *program) givenValues(c *cli.Context) (map[string]any, error) {
	sources, err := valueSources(c)
	if err != nil {
		return nil, err
	}
	given, warnings, err := sources.Merge(p.valuesReader(c))
	p.warnAll(warnings)
	return given, err
}

// valueSources are what the flags for values name.
func valueSources(c *cli.Context) (values.Sources, error) {
	files, err := commaSeparated("values", c.StringSlice("values"))
	if err != nil {
		return values.Sources{}, err
	}
	return values.Sources{
		Files: files, JSON: c.StringSlice("set-json"), Set: c.StringSlice("set"),
		String: c.StringSlice("set-string"), File: c.StringSlice("set-file"), Literal: c.StringSlice("set-literal"),
	}, nil
}

// commaSeparated splits each of a flag's values as Helm 4.3.1 does: as a line of
// CSV, where quotes keep a comma.
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

// valuesReader reads files of values. What came with a chart, as in the checkout
// of a pull request, may be a link to what somebody else keeps on this machine.
func (p *program) valuesReader(c *cli.Context) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		switch {
		case strings.Contains(name, "://"):
			return fetchInput(c, name, c.Bool("offline"))
		case name == "-" || c.Bool(outsideLinks):
			return p.readFile(name)
		}
		return inputfile.ReadInside(name, maxInputBytes)
	}
}

// readFile reads what a flag names, - for standard input.
func (p *program) readFile(name string) ([]byte, error) {
	if name == "-" {
		return inputfile.ReadAll(p.streams.In, "standard input", maxInputBytes)
	}
	return inputfile.Read(name, maxInputBytes)
}

// maxInputBytes is the size of a file that a flag names.
const maxInputBytes = 32 << 20

// remembered reads every file once: standard input has no second time.
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

package command

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
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
		list("values", "YAML `FILE` of values, - for standard input (repeatable, or separated by commas)", "f"),
		list("set", "`KEY=VALUE`, separated by commas (repeatable)"),
		list("set-string", "`KEY=VALUE` whose value stays a string"),
		list("set-file", "`KEY=FILE` whose content is the value"),
		list("set-json", "`KEY=JSON`, or a whole JSON object"),
		list("set-literal", "`KEY=VALUE` with nothing in it escaped"),
	}
}

func renderFlags() []cli.Flag {
	toggle := func(name, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Usage: usage, Category: renderCategory}
	}
	return []cli.Flag{
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
	loaded, warnings, err := loadChart(path)
	if err != nil {
		return engine.Source{}, err
	}
	sources, err := valueSources(c)
	if err != nil {
		return engine.Source{}, err
	}
	read := remembered(p.readFile)
	given, more, err := sources.Merge(read)
	if err != nil {
		return engine.Source{}, err
	}
	return engine.Source{
		Chart: loaded, Warnings: append(warnings, more...), Values: given, Reuse: reuseMode(c),
		Origin: func(path []string) string { return sources.Origin(path, read) },
		Render: engine.RenderOptions{
			SkipSchema: c.Bool("skip-schema-validation"), DNS: c.Bool("enable-dns"),
			SubchartNotes: c.Bool("render-subchart-notes"), Strict: c.Bool("strict"), PostRender: postRenderer(c),
		},
	}, nil
}

func loadChart(path string) (*chart.Chart, []chart.Warning, error) {
	loaded, warnings, err := chartload.Load(path)
	if err != nil {
		return nil, nil, chartHint(path, err)
	}
	return loaded, warnings, nil
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

// repoChart is a chart of a repository as Helm's users write it.
var repoChart = regexp.MustCompile(`^[a-zA-Z0-9][^/]*/[^/]+$`)

// chartHint tells people who write REPO/CHART what this tool reads.
func chartHint(path string, err error) error {
	if _, statErr := os.Stat(path); statErr == nil || !os.IsNotExist(statErr) {
		return err
	}
	if strings.HasPrefix(path, "oci://") || strings.HasPrefix(path, "https://") || strings.HasPrefix(path, "http://") || repoChart.MatchString(path) {
		return fmt.Errorf("%w\n%s is no folder or file: fetch the chart first, for example with helm pull %s", err, path, path)
	}
	return err
}

func (p *program) readFile(name string) ([]byte, error) {
	if name == "-" {
		return readBounded(p.streams.In)
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := readBounded(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return data, nil
}

// maxInputBytes is the size of a file that a flag for values names.
const maxInputBytes = 32 << 20

// readBounded is io.ReadAll for what may have no end, such as /dev/zero.
func readBounded(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxInputBytes+1))
	if err == nil && len(data) > maxInputBytes {
		err = fmt.Errorf("it is larger than %d MiB", maxInputBytes>>20)
	}
	return data, err
}

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

// postRenderer runs a program with the manifest on its standard input.
func postRenderer(c *cli.Context) func(context.Context, string) (string, error) {
	name := c.String("post-renderer")
	if name == "" {
		return nil
	}
	return func(ctx context.Context, text string) (string, error) {
		run := exec.CommandContext(ctx, name, c.StringSlice("post-renderer-args")...)
		run.Stdin = strings.NewReader(text)
		var failure strings.Builder
		run.Stderr = &failure
		out, err := run.Output()
		if err != nil {
			return "", fmt.Errorf("%s: %w: %s", name, err, strings.TrimSpace(failure.String()))
		}
		if strings.TrimSpace(string(out)) == "" {
			return "", fmt.Errorf("%s printed nothing", name)
		}
		return string(out), nil
	}
}

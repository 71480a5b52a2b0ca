package setrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// defaultHistory is how many revisions an upgrade keeps by default.
const defaultHistory = 10

// deployment returns an entry as the engine deploys it. defaults holds the options that entries
// do not set.
func (s *Side) deployment(ctx context.Context, e *releaseset.Entry, defaults plan.Options) (engine.Deployment, error) {
	d := engine.Deployment{Release: e.Release(), Options: options(e.Options, defaults), ServerSide: engine.ServerSideAuto}
	if e.Options.ServerSide != "" {
		d.ServerSide = engine.ServerSide(e.Options.ServerSide)
	}
	var secrets [][]byte
	if e.Manager != nil {
		if err := e.Manager.Err(); err != nil {
			return d, err
		}
		secrets = e.Manager.Secrets()
	}
	chart, err := s.charts.load(ctx, e.Chart, secrets...)
	if err != nil {
		return d, err
	}
	sources, tables, read := s.values(e)
	given, warnings, err := sources.Merge(read)
	if err != nil {
		return d, err
	}
	d.Source = engine.Source{
		Chart: chart.chart, Fetched: chart.pin, Lock: source.LockOf(chart.chart), Warnings: append(warnings, chart.warnings...),
		Values: given, Reuse: reuse(e.Options),
		Path: func(name string) string { return cmp.Or(tables[name].File, name) },
		Origins: func(paths [][]string) []values.Origin {
			out := sources.Origins(paths, read)
			lines := map[string]func(begins int, path []string) int{} // by file, which may be large
			for i := range out {
				table, ok := tables[out[i].Name]
				if !ok {
					continue
				}
				if lines[table.File] == nil {
					file, _ := s.readFile(table.File) // without it, where the table begins
					lines[table.File] = releaseset.ValueLines(file)
				}
				out[i].Line = lines[table.File](table.Line, paths[i])
			}
			return out
		},
		Render: engine.RenderOptions{SkipSchema: e.Options.SkipSchema},
	}
	if !strings.HasSuffix(e.Chart.Path, ".tgz") {
		d.Source.Folder = e.Chart.Path
	}
	if m := e.Manager; m != nil {
		d.Options.FieldManager = cmp.Or(m.Writer().FieldManager, d.Options.FieldManager)
		d.Source.Secrets, d.Source.Render.CRDLabels = secrets, m.Writer().Labels
		d.Source.Render.PostRender = func(_ context.Context, text string) (string, error) { return m.Rewrite(text) }
		if d.Source.Chart, err = s.withValues(chart.chart, m); err != nil {
			return d, err
		}
		whole := *d.Source.Chart
		whole.Metadata, err = versioned(m, chart)
		d.Source.Chart = &whole
	}
	return d, err
}

// values returns an entry's layers of values as on the command line, the places of those that are
// tables in the set's file, and a function that reads layers by name. A table is named by its place.
func (s *Side) values(e *releaseset.Entry) (values.Sources, map[string]releaseset.Place, func(string) ([]byte, error)) {
	out := values.Sources{
		JSON: e.Settings.JSON, Set: e.Settings.Set, String: e.Settings.String, File: e.Settings.File, Literal: e.Settings.Literal,
	}
	tables := map[string]releaseset.Place{}
	inline, optional, encrypted := map[string][]byte{}, map[string]bool{}, map[string]bool{}
	for _, v := range e.Values {
		name := v.File
		if name == "" {
			name = v.From.String()
			for inline[name] != nil { // two tables on one line
				name += "'"
			}
			inline[name], tables[name] = v.Inline, v.From
		}
		optional[name], encrypted[name] = v.Optional, v.Encrypted
		out.Files = append(out.Files, name)
	}
	return out, tables, func(name string) ([]byte, error) {
		if text, ok := inline[name]; ok {
			return text, nil
		}
		data, err := s.readFile(name)
		switch {
		case errors.Is(err, fs.ErrNotExist) && optional[name]:
			return nil, nil
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no such file: %w", fs.ErrNotExist)
		case err == nil && encrypted[name]:
			return withoutCiphertext(data)
		}
		return data, err
	}
}

// readFile reads a file of the tree, or of what a user has named outside it.
func (s *Side) readFile(name string) ([]byte, error) {
	if at, err := s.charts.outside.find(name); err != nil || at != "" {
		if err != nil {
			return nil, err
		}
		return inputfile.ReadInside(at, maxValuesBytes)
	}
	return releaseset.ReadFile(s.Tree, name)
}

// maxValuesBytes limits the size of a values file outside the tree.
const maxValuesBytes = 16 << 20

func reuse(o releaseset.Options) values.Reuse {
	if o.ReuseValues {
		return values.ReuseValues
	}
	return values.ResetValues
}

func options(o releaseset.Options, defaults plan.Options) plan.Options {
	defaults.Timeout, defaults.HistoryMax = plan.DefaultTimeout, defaultHistory
	return o.Of(defaults)
}

// withoutCiphertext returns a SOPS-encrypted file with each value replaced by a token of its
// ciphertext, which shows whether the value changes and nothing else.
func withoutCiphertext(data []byte) ([]byte, error) {
	var table map[string]any
	if err := yaml.Unmarshal(data, &table); err != nil {
		return nil, err
	}
	delete(table, "sops")
	return yaml.Marshal(tokens(table))
}

func tokens(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, below := range v {
			v[key] = tokens(below)
		}
	case []any:
		for i, below := range v {
			v[i] = tokens(below)
		}
	case string:
		if strings.HasPrefix(v, "ENC[") {
			const short = 12
			return "(encrypted " + checksum([]byte(v))[:short] + ")"
		}
	}
	return v
}

// withValues returns the chart with its own values replaced by those of m's files, merged in
// order.
func (s *Side) withValues(c *chart.Chart, m releaseset.Manager) (*chart.Chart, error) {
	own := m.ChartValues()
	if len(own.Files) == 0 {
		return c, nil
	}
	e := &releaseset.Entry{}
	for _, name := range own.Files {
		e.Values = append(e.Values, releaseset.Value{File: name, Optional: own.IgnoreMissing})
	}
	sources, _, read := s.values(e)
	if own.InChart {
		read = func(name string) ([]byte, error) { return fileOf(c, name, own.IgnoreMissing) }
	}
	merged, _, err := sources.Merge(read)
	if err != nil {
		return nil, err
	}
	out := *c
	out.Values = merged
	return &out, nil
}

// fileOf returns the content of a chart's file, or of its values.yaml.
func fileOf(c *chart.Chart, name string, optional bool) ([]byte, error) {
	name = path.Clean(name)
	if name == "values.yaml" {
		return yaml.Marshal(c.Values)
	}
	for _, f := range c.Files {
		if f.Name == name {
			return f.Data, nil
		}
	}
	if optional {
		return nil, nil
	}
	return nil, fmt.Errorf("the chart has no file %s", name)
}

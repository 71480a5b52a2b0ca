package setrun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

// defaultHistory is how many revisions upgrade keeps where nobody says how many.
const defaultHistory = 10

// deployment is an entry as the engine deploys it. defaults are what no entry says.
func (s *Side) deployment(ctx context.Context, e *releaseset.Entry, defaults plan.Options) (engine.Deployment, error) {
	d := engine.Deployment{Release: e.Release(), Options: options(e.Options, defaults), ServerSide: engine.ServerSideAuto}
	if e.Options.ServerSide != "" {
		d.ServerSide = engine.ServerSide(e.Options.ServerSide)
	}
	chart, err := s.charts.load(ctx, e.Chart)
	if err != nil {
		return d, err
	}
	sources, read := s.values(e)
	tables := map[string]releaseset.Place{}
	for _, v := range e.Values {
		if v.File == "" {
			tables[v.From.String()] = v.From
		}
	}
	given, warnings, err := sources.Merge(read)
	if err != nil {
		return d, err
	}
	d.Source = engine.Source{
		Chart: chart.chart, Fetched: chart.pin, Warnings: append(warnings, chart.warnings...),
		Values: given, Reuse: values.ResetValues,
		Path: func(name string) string { return cmp.Or(tables[name].File, name) },
		Origin: func(path []string) values.Origin {
			out := sources.Origin(path, read)
			if table, ok := tables[out.Name]; ok {
				out.Line = table.Line // where it begins in the set's file
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
		d.Source.Secrets, d.Source.Render.CRDLabels = m.Secrets(), m.Writer().Labels
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

// values are an entry's layers as the command line would name them, and what reads
// them: tables that stand in the set's file go by their place in it.
func (s *Side) values(e *releaseset.Entry) (values.Sources, func(string) ([]byte, error)) {
	out := values.Sources{
		JSON: e.Settings.JSON, Set: e.Settings.Set, String: e.Settings.String, File: e.Settings.File, Literal: e.Settings.Literal,
	}
	inline, optional, encrypted := map[string][]byte{}, map[string]bool{}, map[string]bool{}
	for _, v := range e.Values {
		name := v.File
		if name == "" {
			name = v.From.String()
			for inline[name] != nil { // two tables of one line
				name += "'"
			}
			inline[name] = v.Inline
		}
		optional[name], encrypted[name] = v.Optional, v.Encrypted
		out.Files = append(out.Files, name)
	}
	return out, func(name string) ([]byte, error) {
		if text, ok := inline[name]; ok {
			return text, nil
		}
		data, err := releaseset.ReadFile(s.Tree, name)
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

func options(o releaseset.Options, defaults plan.Options) plan.Options {
	out := defaults
	out.Atomic, out.CleanupOnFail = o.Atomic, o.CleanupOnFail
	out.Wait, out.WaitForJobs = o.Wait || o.Atomic, o.WaitForJobs
	out.Force, out.ForceConflicts, out.TakeOwnership = o.Force, o.ForceConflicts, o.TakeOwnership
	out.NoHooks, out.SkipCRDs, out.UpdateCRDs, out.CreateNamespace = o.NoHooks, o.SkipCRDs, o.UpdateCRDs, o.CreateNamespace
	out.Description, out.HistoryMax = o.Description, defaultHistory
	if out.Timeout = o.Timeout; out.Timeout == 0 {
		out.Timeout = engine.DefaultTimeout
	}
	if o.HistoryMax != nil {
		out.HistoryMax = *o.HistoryMax
	}
	return out
}

// withoutCiphertext is a file that SOPS has encrypted, each value a token of its
// ciphertext: whether it changes can be told, and nothing else.
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

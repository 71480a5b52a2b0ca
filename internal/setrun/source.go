package setrun

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

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
	given, warnings, err := sources.Merge(read)
	if err != nil {
		return d, err
	}
	d.Source = engine.Source{
		Chart: chart.chart, Fetched: chart.pin, Warnings: append(warnings, chart.warnings...),
		Values: given, Reuse: values.ResetValues,
		Origin: func(path []string) string { return sources.Origin(path, read) },
		Render: engine.RenderOptions{SkipSchema: e.Options.SkipSchema},
	}
	if m := e.Manager; m != nil {
		d.Source.Render.PostRender = func(_ context.Context, text string) (string, error) { return m.Rewrite(text) }
		d.Source.Chart, err = s.withValues(chart.chart, m)
	}
	return d, err
}

// values are an entry's layers as the command line would name them, and what reads
// them: tables that stand in the set's file go by their place in it.
func (s *Side) values(e *releaseset.Entry) (values.Sources, func(string) ([]byte, error)) {
	out := values.Sources{
		JSON: e.Settings.JSON, Set: e.Settings.Set, String: e.Settings.String, File: e.Settings.File, Literal: e.Settings.Literal,
	}
	inline, optional := map[string][]byte{}, map[string]bool{}
	for _, v := range e.Values {
		name := v.File
		if name == "" {
			name = v.From.String()
			for inline[name] != nil { // two tables of one line
				name += "'"
			}
			inline[name] = v.Inline
		}
		optional[name] = v.Optional
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
		}
		return data, err
	}
}

func options(o releaseset.Options, defaults plan.Options) plan.Options {
	out := defaults
	out.Atomic, out.CleanupOnFail = o.Atomic, o.CleanupOnFail
	out.Wait, out.WaitForJobs = o.Wait || o.Atomic, o.WaitForJobs
	out.Force, out.ForceConflicts, out.TakeOwnership = o.Force, o.ForceConflicts, o.TakeOwnership
	out.NoHooks, out.SkipCRDs, out.CreateNamespace = o.NoHooks, o.SkipCRDs, o.CreateNamespace
	out.Description, out.HistoryMax = o.Description, defaultHistory
	if out.Timeout = o.Timeout; out.Timeout == 0 {
		out.Timeout = engine.DefaultTimeout
	}
	if o.HistoryMax != nil {
		out.HistoryMax = *o.HistoryMax
	}
	return out
}

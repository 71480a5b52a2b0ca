package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/dependency"
	"github.com/kubectl-release/kubectl-release/internal/engine"
	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/source"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/plan"
)

const outdatedCategory = "Newer charts"

// outdatedFlags are the flags of list that look for newer charts.
type outdatedFlags struct{ only, plan, devel bool }

func (o *outdatedFlags) flags() []cli.Flag {
	toggle := func(name string, to *bool, usage string) cli.Flag {
		return &cli.BoolFlag{Name: name, Destination: to, Usage: usage, Category: outdatedCategory}
	}
	return []cli.Flag{
		toggle("outdated", &o.only, "only releases with a newer chart in configured repositories and known registries"),
		toggle("plan", &o.plan, "with --outdated: show what upgrading to it would do with the release's own values"),
		toggle("devel", &o.devel, "with --outdated: consider prereleases, too"),
	}
}

func (o *outdatedFlags) check() error {
	switch {
	case o.plan && !o.only:
		return usage("--plan needs --outdated")
	case o.devel && !o.only:
		return usage("--devel needs --outdated")
	}
	return nil
}

// outdated is a release whose chart has a newer version.
type outdated struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Chart     string `json:"chart"`
	Version   string `json:"version"`
	Newest    string `json:"newest"`
	Source    string `json:"source"`
	// Guessed is set if the record does not say where the chart came from.
	Guessed bool `json:"guessed,omitempty"`
	// Plan is what an upgrade would do; Error is why that is unknown.
	Plan  *plan.Summary `json:"plan,omitempty"`
	Error string        `json:"error,omitempty"`

	words string
}

// outdated lists the releases whose charts have newer versions.
func (p *program) outdated(ctx context.Context, s *session, flags *listFlags, form string, found []*release.Revision) error {
	charts, err := p.repositories()
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(slices.Clone(found), func(r *release.Revision) bool { return r.Info.Status == release.StatusUninstalled }) // there is nothing to upgrade
	installed := make([]source.Installed, 0, len(found))
	for _, r := range found {
		one := source.Installed{From: plan.AnnotatedSource(r.Annotations())}
		if r.Chart != nil && r.Chart.Metadata != nil {
			one.Name, one.Version = r.Chart.Metadata.Name, r.Chart.Metadata.Version
		}
		installed = append(installed, one)
	}
	offers, err := charts.Offers(ctx, installed, flags.outdated.devel)
	if err != nil {
		return err
	}
	rows, unknown := []outdated{}, []string{}
	for i, o := range offers {
		r := found[i]
		switch _, notKnown := errors.AsType[*source.NotKnownError](o.Err); {
		case notKnown && installed[i].From == nil:
			unknown = append(unknown, r.Key().String())
		case o.Err != nil:
			p.warn(fmt.Sprintf("can't tell whether there is a newer chart for %s: %s", r.Key(), o.Err))
			p.hintRegistry(o.Err)
		}
		if o.Version == "" {
			continue
		}
		row := outdated{Name: r.Name, Namespace: r.Namespace, Chart: installed[i].Name, Version: installed[i].Version, Newest: o.Version, Source: o.Place, Guessed: o.Guessed}
		if flags.outdated.plan {
			p.planNewer(ctx, s, charts, o, &row)
		}
		rows = append(rows, row)
	}
	if len(unknown) > 0 {
		fmt.Fprintf(p.streams.Err, "No repository known here has the charts of %s.\n", escape.Line(strings.Join(unknown, ", ")))
	}
	switch {
	case flags.short && form != "text":
		names := make([]string, 0, len(rows))
		for _, r := range rows {
			names = append(names, r.Name)
		}
		return p.structured(form, names)
	case form != "text":
		return p.structured(form, rows)
	}
	return p.printOutdated(flags, rows)
}

// hintRegistry says how to make known a registry that a record names.
func (p *program) hintRegistry(err error) {
	if unknown, ok := errors.AsType[*source.NotKnownError](err); ok && unknown.Registry != "" {
		fmt.Fprintf(p.streams.Err, "Hint: %s, or in sources.yaml: registries: [%q]\n", p.clusterless("registry", "login", unknown.Registry), unknown.Registry)
	}
}

// planNewer fills in what an upgrade to a newer chart would do. An error is shown in the release's
// row; it does not hide the others.
func (p *program) planNewer(ctx context.Context, s *session, charts *source.Sources, o source.Offer, row *outdated) {
	made, err := p.newer(ctx, s, charts, o, release.Key{Namespace: row.Namespace, Name: row.Name})
	if err != nil {
		row.Error = firstLine(p.errorText(err))
		row.words = "error: " + row.Error
		return
	}
	row.Plan = &made.Summary
	row.words = report.Brief(made.Summary)
	if made.Blocked() {
		row.words = "blocked: " + row.words
	}
	if dangers := report.Dangers(made.Summary.Risks); dangers != "" {
		row.words += "; " + dangers
	}
}

func (p *program) newer(ctx context.Context, s *session, charts *source.Sources, o source.Offer, key release.Key) (*plan.Plan, error) {
	found, err := charts.Find(ctx, o.Chart)
	if err != nil {
		return nil, err
	}
	fetched, other, err := dependency.Fetch(ctx, charts, found)
	if err != nil {
		return nil, err
	}
	loaded, warnings, err := located{name: fetched.FileName(), fetched: &fetched}.complete()
	if err != nil {
		return nil, err
	}
	made, err := s.engine.PlanDeployment(ctx, engine.Deployment{
		Release: key, Mode: engine.UpgradeOnly, ServerSide: engine.ServerSideAuto,
		Source:  engine.Source{Chart: loaded, Warnings: append(other, warnings...), Fetched: fetched.Pin(o.Chart, o.Place), Reuse: values.ResetThenReuseValues},
		Options: plan.Options{Timeout: plan.DefaultTimeout, FieldManager: plan.FieldManager},
	})
	return p.hideRead(made, err)
}

func (p *program) printOutdated(o *listFlags, rows []outdated) error {
	if o.short {
		for _, r := range rows {
			fmt.Fprintln(p.streams.Out, escape.Line(r.Name))
		}
		return nil
	}
	header := []string{"NAME", "NAMESPACE", "CHART", "VERSION", "NEWEST", "SOURCE"}
	if o.outdated.plan {
		header = append(header, "UPGRADE")
	}
	cells := make([][]string, 0, len(rows))
	for _, r := range rows {
		place := r.Source
		if r.Guessed {
			place += " (by its name)"
		}
		row := []string{r.Name, r.Namespace, r.Chart, r.Version, r.Newest, place}
		if o.outdated.plan {
			row = append(row, r.words)
		}
		cells = append(cells, row)
	}
	if o.noHeaders {
		header = nil
	}
	return table(p.streams.Out, header, cells)
}

package command

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
	"github.com/kubectl-release/kubectl-release/internal/settrees"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// showSavedSet prints a saved set as plan many showed it, without the entries for which there was
// nothing to do.
func (p *program) showSavedSet(o *showFlags, files *planFileFlags, kept *setrun.Kept, sensitive []string) error {
	if err := o.check(setOutputs); err != nil {
		return err
	}
	saved, err := setrun.OpenSaved(kept, p.keys(files))
	if err != nil {
		return err
	}
	return p.renderSet(o, saved.Document(func(made *plan.Plan) *plan.Document {
		return &p.masked(made.WithSensitive(sensitive)).Document
	}))
}

// renderSet prints the plan of a set.
func (p *program) renderSet(o *showFlags, d *releaseset.Document) error {
	print := func(format string, w io.Writer) error { return p.renderSetAs(o, format, w, d) }
	if err := print(o.output, p.raw.Out); err != nil {
		return err
	}
	return o.writeReports(p.raw.Out, print)
}

// renderSetAs prints the plan of a set in a format.
func (p *program) renderSetAs(o *showFlags, format string, w io.Writer, d *releaseset.Document) error {
	switch format {
	case "json":
		return report.SetJSON(w, d)
	case "yaml":
		var b bytes.Buffer
		if err := report.SetJSON(&b, d); err != nil {
			return err
		}
		text, err := yaml.JSONToYAML(b.Bytes())
		if err == nil {
			_, err = terminal.Content(w).Write(text)
		}
		return err
	case "markdown", "md":
		return o.setMarkdown(w, d)
	case "summary":
		return report.SetMarkdown(w, d, o.jobSummary())
	case "html":
		return report.SetHTML(w, d)
	case "text":
		return report.SetText(w, d, p.text(o, w))
	}
	if !slices.Contains(setOutputs, format) {
		return usage("-o %s: for a set it must be %s", format, oneOf(setOutputs))
	}
	return printFindings(terminal.Content(w), format, findings.Subject{Name: setName(d), Digest: d.Digest}, setPlans(d)...)
}

// setPlans returns the plans of a set for findings. Each plan refers to its entry in the set and is
// distinct from those of other clusters. An entry that cannot be planned becomes a plan that is
// blocked by that error.
func setPlans(d *releaseset.Document) []*plan.Document {
	var out []*plan.Document
	for _, r := range d.Releases {
		leaves := r.Leaves()
		switch {
		case r.Error != "":
			at := plan.Place(cmp.Or(r.ErrorAt, r.From))
			out = append(out, plan.Impossible(r.Release, r.Error, at, d.ToolVersion).Entry(r.Cluster, at))
		case r.Plan != nil:
			out = append(out, r.Plan.Entry(r.Cluster, plan.Place(r.From)))
		case leaves != nil:
			out = append(out, plan.Unplanned(r.Release, *leaves, d.ToolVersion).Entry(r.Cluster, plan.Place{}))
		}
	}
	for _, what := range d.Unread {
		out = append(out, &plan.Impossible(release.Key{Name: setName(d)}, what, plan.Place{}, d.ToolVersion).Document)
	}
	return out
}

// setName returns the name of a set for users.
func setName(d *releaseset.Document) string {
	return strings.TrimSpace(strings.Join(d.Files, ",") + " " + d.Selection())
}

// setMarkdown prints a comment, and writes what does not fit to a file.
func (o *showFlags) setMarkdown(w io.Writer, d *releaseset.Document) error {
	options := report.MarkdownOptions{Budget: o.maxBytes.value, Marker: o.marker.value, RestName: o.spill.value}
	if options.RestName == "" {
		return report.SetMarkdown(w, d, options)
	}
	var comment, rest bytes.Buffer
	options.Rest = &rest
	if err := report.SetMarkdown(&comment, d, options); err != nil {
		return err
	}
	if err := outputfile.Write(options.RestName, rest.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--spill: %w", err)
	}
	_, err := w.Write(comment.Bytes())
	return err
}

// listSetCharts prints the charts of both versions of the set, except those at paths.
func (p *program) listSetCharts(o *manyFlags, t *settrees.Trees) error {
	selector, err := releaseset.ParseSelector(o.set.selectors.Value())
	if err != nil {
		return usage("--selector: %v", err)
	}
	charts := t.Fetched(selector)
	for i, c := range charts {
		if !p.showSecrets {
			charts[i] = c.Public()
		}
	}
	if o.show.output == "text" {
		var b strings.Builder
		for _, c := range charts {
			b.WriteString(strings.TrimSpace(strings.Join([]string{c.Name, c.Version, c.Repo}, "\t")) + "\n")
		}
		fmt.Fprint(p.streams.Out, b.String())
		return nil
	}
	if charts == nil {
		charts = []releaseset.Chart{}
	}
	return p.structured(o.show.output, charts)
}

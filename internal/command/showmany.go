package command

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/report"
)

// setOutputs are the forms in which the plan of a set is shown.
var setOutputs = []string{"text", "json", "yaml", "markdown", "html"}

// renderSet prints the plan of a set.
func (p *program) renderSet(o *showFlags, d *releaseset.Document) error {
	w := p.raw.Out
	switch o.output {
	case "json":
		return report.SetJSON(w, d)
	case "yaml":
		var b bytes.Buffer
		if err := report.SetJSON(&b, d); err != nil {
			return err
		}
		text, err := yaml.JSONToYAML(b.Bytes())
		if err == nil {
			_, err = content(w).Write(text)
		}
		return err
	case "markdown", "md":
		return p.setMarkdown(o, d)
	case "html":
		return report.SetHTML(w, d)
	}
	return report.SetText(w, d, o.text(w))
}

// setMarkdown prints a comment, and writes what it has no room for to a file.
func (p *program) setMarkdown(show *showFlags, d *releaseset.Document) error {
	o := report.MarkdownOptions{Budget: show.maxBytes.value, Marker: show.marker.value, RestName: show.spill.value}
	if o.RestName == "" {
		return report.SetMarkdown(p.raw.Out, d, o)
	}
	var comment, rest bytes.Buffer
	o.Rest = &rest
	if err := report.SetMarkdown(&comment, d, o); err != nil {
		return err
	}
	if err := outputfile.Write(o.RestName, rest.Bytes(), 0o600); err != nil {
		return fmt.Errorf("--spill: %w", err)
	}
	_, err := p.raw.Out.Write(comment.Bytes())
	return err
}

// listSetCharts prints the charts that are no paths, of both versions of the set.
func (p *program) listSetCharts(o *manyFlags, t *trees) error {
	selector, err := releaseset.ParseSelector(o.set.selectors.Value())
	if err != nil {
		return usage("--selector: %v", err)
	}
	var charts []releaseset.Chart
	for _, s := range t.sides() {
		for _, e := range s.Set.Entries {
			if e.Chart.Path == "" && e.Chart.Name != "" && selector.Selects(e) && !slices.Contains(charts, e.Chart) {
				charts = append(charts, e.Chart)
			}
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

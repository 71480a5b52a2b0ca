package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"text/template"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/findings"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
	"github.com/kubectl-release/kubectl-release/plan"
)

// render prints a plan in the format of -o, and masks secrets unless --show-secrets is given.
func (p *program) render(o *showFlags, w io.Writer, made *plan.Plan) error {
	if err := o.check(planOutputs); err != nil {
		return err
	}
	p.separate(o.output)
	if err := p.renderAs(o, cmp.Or(o.output, "text"), w, p.masked(made)); err != nil {
		return err
	}
	return p.report(o, made)
}

// separate prints the line that separates a document of YAML on standard output from the one before it.
func (p *program) separate(format string) {
	if format != "yaml" {
		return
	}
	if p.follows {
		fmt.Fprintln(p.raw.Out, "---")
	}
	p.follows = true
}

// report writes the files of --report, and masks secrets as render does.
func (p *program) report(o *showFlags, made *plan.Plan) error {
	if len(o.reports.Value()) == 0 {
		return nil // masking takes long
	}
	made = p.masked(made)
	return o.writeReports(p.raw.Out, func(format string, w io.Writer) error { return p.renderAs(o, format, w, made) })
}

// renderAs prints a masked plan in a format.
func (p *program) renderAs(o *showFlags, format string, w io.Writer, made *plan.Plan) error {
	switch format {
	case "text", "table":
		return report.Text(w, &made.Document, p.text(o, w))
	case "json":
		return report.JSON(w, &made.Document)
	case "yaml":
		return planYAML(terminal.Content(w), made)
	case "markdown", "md":
		return o.markdown(w, made)
	case "summary":
		return report.Markdown(w, &made.Document, o.jobSummary())
	case "html":
		return report.HTML(w, &made.Document)
	case "mermaid":
		return report.Mermaid(w, &made.Document)
	case "dot":
		return report.DOT(w, &made.Document)
	default:
		if !slices.Contains(findings.Formats(), format) {
			return usage("-o %s: must be %s", format, oneOf(planOutputs))
		}
		return printFindings(terminal.Content(w), format, findings.Subject{Name: made.Release.String(), Digest: made.PlanDigest, Effect: made.EffectDigest}, &made.Document)
	}
}

// printFindings prints plans in one of findings.Formats; annotations as the CI system that runs the job
// reads them. TF_BUILD is Azure Pipelines' (https://learn.microsoft.com/azure/devops/pipelines/build/variables).
func printFindings(w io.Writer, format string, of findings.Subject, plans ...*plan.Document) error {
	if format == "annotations" && os.Getenv("TF_BUILD") != "" {
		return findings.AzureAnnotations(w, plans...)
	}
	return findings.Print(w, format, of, plans...)
}

func planYAML(w io.Writer, made *plan.Plan) error {
	var b bytes.Buffer
	if err := report.JSON(&b, &made.Document); err != nil {
		return err
	}
	out, err := yaml.JSONToYAML(b.Bytes())
	if err != nil {
		return fmt.Errorf("print the plan as YAML: %w", err)
	}
	_, err = w.Write(out)
	return err
}

// structured prints any value as JSON or YAML.
func (p *program) structured(format string, value any) error {
	return structured(terminal.Content(p.raw.Out), format, value)
}

func structured(w io.Writer, format string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	data = escape.JSON(data) // YAML needs some characters as escapes
	if format == "yaml" {
		if data, err = yaml.JSONToYAML(data); err != nil {
			return err
		}
		_, err = w.Write(data)
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", data)
	return err
}

// fill prints data with a template from the command line.
func fill(w io.Writer, text string, data any) error {
	t, err := template.New("--template").Parse(text)
	if err != nil {
		return usage("%v", err)
	}
	if err := t.Execute(w, data); err != nil {
		return fmt.Errorf("fill the template: %w", err)
	}
	return nil
}

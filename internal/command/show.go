package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// render prints a plan in the format that -o names. Secrets are masked unless
// --show-secrets is given.
func (p *program) render(c *cli.Context, w io.Writer, made *plan.Plan) error {
	if err := checkShowing(c); err != nil {
		return err
	}
	if !c.Bool("show-secrets") {
		made = redact.Plan(made)
	}
	switch format := orDefault(c.String("output"), "text"); format {
	case "text", "table":
		return report.Text(w, &made.Document, p.textOptions(c, w))
	case "json":
		return report.JSON(w, &made.Document)
	case "yaml":
		return planYAML(content(w), made)
	case "markdown", "md":
		return p.markdown(c, w, made)
	case "html":
		return report.HTML(w, &made.Document)
	case "mermaid":
		return report.Mermaid(w, &made.Document)
	case "dot":
		return report.DOT(w, &made.Document)
	default:
		return usage("-o %s: it is %s", format, oneOf(planOutputs))
	}
}

// checkShowing finds mistakes in the flags that say how a plan is shown. It is
// called before a plan is made, too.
func checkShowing(c *cli.Context) error {
	switch {
	case c.Bool("full") && c.Bool("summary"):
		return usage("--full and --summary are opposites: give one of them")
	case c.String("color") != "" && !slices.Contains(choices["color"], c.String("color")):
		return usage("--color=%s: it is %s", c.String("color"), oneOf(choices["color"]))
	case c.Int("context-lines") < 0:
		return usage("--context-lines=%d: it is a number of lines, 0 for none", c.Int("context-lines"))
	}
	for _, filter := range c.StringSlice("only") {
		kind, name, _ := strings.Cut(filter, "/")
		if _, err := path.Match(name, ""); err != nil || kind == "" {
			return usage("--only %s: it is KIND or KIND/NAME, and * and ? stand for any letters in NAME", filter)
		}
	}
	return checkMarkdown(c)
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

func (p *program) textOptions(c *cli.Context, w io.Writer) report.TextOptions {
	o := report.TextOptions{
		Color: p.color(c, w), Full: c.Bool("full"), Summary: c.Bool("summary"), Only: c.StringSlice("only"),
		Width: width(w),
	}
	if c.IsSet("context-lines") {
		if o.Context = c.Int("context-lines"); o.Context == 0 {
			o.Context = -1
		}
	}
	return o
}

// color says whether to print in colour: on a terminal, without NO_COLOR.
func (p *program) color(c *cli.Context, w io.Writer) bool {
	switch c.String("color") {
	case "always":
		return true
	case "never":
		return false
	}
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// width is the terminal's, or COLUMNS; 0 leaves it to the printer.
func width(w io.Writer) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if f, ok := w.(descriptor); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

// structured prints any value as JSON or YAML.
func (p *program) structured(format string, value any) error {
	return structured(content(p.raw.Out), format, value)
}

func structured(w io.Writer, format string, value any) error {
	data, err := json.Marshal(value)
	if err != nil {
		return err
	}
	data = escape.JSON(data) // some of that YAML reads as escapes only
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

// format checks -o of commands that know text, json and yaml.
func format(c *cli.Context) (string, error) {
	switch f := orDefault(c.String("output"), "text"); f {
	case "text", "table":
		return "text", nil
	case "json", "yaml":
		return f, nil
	default:
		return "", usage("-o %s: it is %s", f, oneOf(outputs))
	}
}

// templateFlag is --template of Helm's get all and version.
func templateFlag(example string) cli.Flag {
	return &cli.StringFlag{Name: "template", Usage: "print what this `TEMPLATE` of Go's makes of it, such as " + example, Category: planCategory}
}

// fill prints a template of the command line with data in it.
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

package command

import (
	"cmp"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/internal/terminal"
)

const planCategory = "Output"

// showFlags say how a plan is shown, and what is printed at the end of a run.
type showFlags struct {
	output, color   string
	full, summary   bool
	only, sensitive cli.StringSlice
	reports         cli.StringSlice
	contextLines    int
	maxBytes        optional[int]
	spill, marker   optional[string]
	hideNotes       bool
}

func (o *showFlags) flags(secrets *bool) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "output", Destination: &o.output, Aliases: []string{"o"}, Usage: oneOf(planOutputs), Value: "text", Category: planCategory},
		&cli.StringFlag{Name: "color", Destination: &o.color, Aliases: []string{"colour"}, Usage: oneOf(choices["color"]), Value: "auto", EnvVars: readable("HELM_COLOR", helmsColor), Category: planCategory},
		&cli.BoolFlag{Name: "full", Destination: &o.full, Usage: "in text: show everything, including the YAML of new objects", Category: planCategory},
		&cli.BoolFlag{Name: "summary", Destination: &o.summary, Usage: "in text: show only the header, counts, problems and risks", Category: planCategory},
		&cli.StringSliceFlag{Name: "only", Destination: &o.only, Usage: "in text: show only `KIND/NAME`, or all of a KIND; NAME may contain wildcards (repeatable)", Category: planCategory},
		&cli.IntFlag{Name: "context-lines", Destination: &o.contextLines, Aliases: []string{"C"}, Usage: "in text: unchanged `LINES` around a change in a multi-line value", Value: 3, Category: planCategory},
		&cli.StringSliceFlag{Name: "sensitive", Destination: &o.sensitive, Usage: "mask these fields, too: `PATTERN` is PATH or KIND/NAME:PATH or values:PATH (repeatable)", Category: planCategory},
		showSecretsFlag(secrets),
		&cli.StringSliceFlag{Name: "report", Destination: &o.reports, Usage: "also print the plan to a file: `FORMAT=FILE`, in one of the formats of -o; - is standard output (repeatable)", Category: planCategory},
		// These are for comments on pull requests.
		&cli.IntFlag{Name: "max-bytes", Destination: &o.maxBytes.value, Action: o.maxBytes.note, Usage: "in Markdown: maximum size of the comment in bytes", Value: report.DefaultBudget, Category: planCategory},
		&cli.StringFlag{Name: "spill", Destination: &o.spill.value, Action: o.spill.note, Usage: "in Markdown: write to `FILE` what does not fit in the comment", Category: planCategory},
		&cli.StringFlag{Name: "marker", Destination: &o.marker.value, Action: o.marker.note, Usage: "in Markdown: a `NAME` for the comment's marker, to tell the comments of several clusters apart", Category: planCategory},
	}
}

func showSecretsFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "show-secrets", Destination: to, Usage: "do not mask secrets", Category: planCategory}
}

// eventsFlag is -o of commands that apply.
func (o *showFlags) eventsFlag() cli.Flag {
	return &cli.StringFlag{Name: "output", Destination: &o.output, Aliases: []string{"o"}, Usage: "text, json (one event per line while it runs; see docs/events.md) or yaml (the revision at the end); where the plan is shown, all formats of plan", Value: "text", Category: planCategory}
}

// check refuses flags that make no sense; formats are those that --report has here. It is also called
// before a plan is made.
func (o *showFlags) check(formats []string) error {
	switch {
	case o.full && o.summary:
		return usage("--full and --summary are opposites: give one of them")
	case o.color != "" && !slices.Contains(choices["color"], strings.ToLower(o.color)):
		return usage("--color=%s: must be %s", o.color, oneOf(choices["color"]))
	case o.contextLines < 0:
		return usage("--context-lines=%d: must be a number of lines, 0 for none", o.contextLines)
	}
	for _, filter := range o.only.Value() {
		kind, name, _ := strings.Cut(filter, "/")
		if _, err := path.Match(name, ""); err != nil || kind == "" {
			return usage("--only %s: must be KIND or KIND/NAME, with * and ? as wildcards in NAME", filter)
		}
	}
	if err := o.checkReports(formats); err != nil {
		return err
	}
	return o.checkMarkdown()
}

// patterns checks and returns the patterns of --sensitive.
func (o *showFlags) patterns() ([]string, error) {
	for _, text := range o.sensitive.Value() {
		if err := redact.CheckPattern(text); err != nil {
			return nil, usage("--sensitive: %s", err)
		}
	}
	return o.sensitive.Value(), nil
}

// isText reports whether the output is text for users.
func (o *showFlags) isText() bool { return slices.Contains([]string{"", "text", "table"}, o.output) }

func (p *program) text(o *showFlags, w io.Writer) report.TextOptions {
	return report.TextOptions{
		Color: o.colored(w), Full: o.full, Summary: o.summary, Only: o.only.Value(),
		Width: terminal.Width(w, p.raw.Err), Context: cmp.Or(o.contextLines, -1),
	}
}

// colored reports whether to print in colour; without --color, on a terminal that has colours.
func (o *showFlags) colored(w io.Writer) bool {
	switch strings.ToLower(o.color) {
	case "always":
		return true
	case "never":
		return false
	}
	return terminal.HasColors(w)
}

// helmsColor returns an error if HELM_COLOR does not count: it may be in capitals, and NO_COLOR comes before it
// (Helm 4.3.1, pkg/cli/environment.go, envColorMode).
func helmsColor(text string) (string, error) {
	mode := strings.ToLower(text)
	if os.Getenv("NO_COLOR") != "" || !slices.Contains(choices["color"], mode) {
		return "", usage("HELM_COLOR=%s does not count", text)
	}
	return mode, nil
}

// outputFlags hold -o of commands that print records and lists.
type outputFlags struct{ output string }

func (o *outputFlags) flag() cli.Flag {
	return &cli.StringFlag{Name: "output", Destination: &o.output, Aliases: []string{"o"}, Usage: oneOf(outputs), Value: "text", Category: planCategory}
}

// format returns "text", "json" or "yaml", or an error for any other output.
func (o *outputFlags) format() (string, error) {
	switch f := cmp.Or(o.output, "text"); f {
	case "text", "table":
		return "text", nil
	case "json", "yaml":
		return f, nil
	default:
		return "", usage("-o %s: must be %s", f, oneOf(outputs))
	}
}

// templateFlag is --template of helm get all and helm version.
func templateFlag(to *string, example string) cli.Flag {
	return &cli.StringFlag{Name: "template", Destination: to, Usage: "print it with this Go `TEMPLATE`, such as " + example, Category: planCategory}
}

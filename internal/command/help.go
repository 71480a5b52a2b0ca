package command

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
)

// flagLine formats a flag for help: short names first, the placeholder of its value, its
// description, and the default if it is worth mentioning.
func flagLine(f cli.Flag) string {
	names := argv.Names(f)
	slices.SortStableFunc(names, func(a, b string) int { return min(len(a), 2) - min(len(b), 2) })
	for i, n := range names {
		names[i] = "--" + n
		if len(n) == 1 {
			names[i] = "-" + n
		}
	}
	left := strings.Join(names, ", ")
	doc, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return left
	}
	value, usage := quoted(doc.GetUsage())
	if doc.TakesValue() {
		left += " " + value
	}
	if d := strings.Trim(doc.GetDefaultText(), `"`); d != "" && d != "false" && d != "0" && d != "0s" {
		usage += fmt.Sprintf(" (default %s)", d)
	}
	return left + "\t" + usage
}

// quoted cuts the placeholder of the value out of a usage text: the word in backquotes, or VALUE.
func quoted(usage string) (placeholder, text string) {
	before, rest, found := strings.Cut(usage, "`")
	if !found {
		return "VALUE", usage
	}
	name, after, _ := strings.Cut(rest, "`")
	return name, before + name + after
}

// optionsCommand is like kubectl options: listing these flags for each command would make the help
// long without saying more.
func (p *program) optionsCommand() *cli.Command {
	return &cli.Command{
		Name: "options", Usage: "list the connection flags, which every command takes",
		Description: describe("Lists the flags for the connection to the cluster. They are kubectl's, plus Helm's names for them.", "kubectl release options"),
		Action: p.readOnly(takes(0, 0, func(context.Context, []string) error {
			table := tabwriter.NewWriter(p.streams.Out, 0, 8, 2, ' ', 0)
			for _, f := range p.connection.flags() {
				fmt.Fprintf(table, "  %s\n", flagLine(f))
			}
			return table.Flush()
		})),
	}
}

// Package helptext formats help: the line of a flag, and text as wide as a terminal.
//
// It knows no commands, and prints nothing.
package helptext

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/report"
)

// FlagLine formats a flag for help: short names first, the placeholder of its value, its
// description, and the default if it is worth mentioning.
func FlagLine(f cli.Flag) string {
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
	value, usage := Placeholder(doc.GetUsage())
	if doc.TakesValue() {
		left += " " + value
	}
	if d := strings.Trim(doc.GetDefaultText(), `"`); d != "" && d != "false" && d != "0" && d != "0s" {
		usage += fmt.Sprintf(" (default %s)", d)
	}
	return left + "\t" + usage
}

// Placeholder cuts the placeholder of the value out of a usage text: the word in backquotes, or VALUE.
func Placeholder(usage string) (placeholder, text string) {
	before, rest, found := strings.Cut(usage, "`")
	if !found {
		return "VALUE", usage
	}
	name, after, _ := strings.Cut(rest, "`")
	return name, before + name + after
}

// widestProse is how wide paragraphs of help become at most; wider ones are hard to read.
const widestProse = 100

// tableRow is a line of help with two columns: a command or flag, and what it means.
var tableRow = regexp.MustCompile(`^( +\S.*?  +)(\S.*)$`)

// Fit breaks the lines of help. Examples stay as they are: they are meant to be pasted.
func Fit(text string, columns int) string {
	var out, paragraph []string
	examples := false
	for line := range strings.SplitSeq(text, "\n") {
		if line != "" && line[0] != ' ' {
			paragraph = append(paragraph, line)
			examples = line == "Examples:"
			continue
		}
		if len(paragraph) > 0 {
			out = append(out, report.Wrap("", strings.Join(paragraph, " "), "", min(columns, widestProse))...)
			paragraph = nil
		}
		row := tableRow.FindStringSubmatch(line)
		switch {
		case row == nil || examples && line != "":
			out = append(out, line)
		case len(row[1])+narrowest > columns: // the meaning goes below
			out = append(out, strings.TrimRight(row[1], " "))
			out = append(out, report.Wrap(below, row[2], below, columns)...)
		default:
			out = append(out, report.Wrap(row[1], row[2], strings.Repeat(" ", len(row[1])), columns)...)
		}
	}
	return strings.Join(out, "\n")
}

// A meaning has at least so many columns beside its flag; below it, it is indented.
const (
	narrowest = 30
	below     = "        "
)

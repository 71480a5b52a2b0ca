package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// flagLine is how help shows a flag: short names first, what its value is, what
// it is for, and a default that is worth telling.
func flagLine(f cli.Flag) string {
	names := slices.Clone(f.Names())
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

// quoted takes the placeholder for the value out of a usage text: the word in
// backquotes, else VALUE.
func quoted(usage string) (placeholder, text string) {
	before, rest, found := strings.Cut(usage, "`")
	if !found {
		return "VALUE", usage
	}
	name, after, _ := strings.Cut(rest, "`")
	return name, before + name + after
}

package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// usageError is a mistake on the command line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error {
	return &usageError{text: fmt.Sprintf(format, args...)}
}

func unknownFlag(word string, known map[string]cli.Flag) error {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	names := make([]string, 0, len(known))
	for n := range known {
		if len(n) > 1 {
			names = append(names, n)
		}
	}
	if best := nearest(name, names); best != "" {
		return usage("unknown flag %s: did you mean --%s?", word, best)
	}
	return usage("unknown flag %s", word)
}

func unknownCommand(commands []*cli.Command, word, program string) error {
	if instead, ok := helmCommands[word]; ok {
		return usage("there is no command %q: %s", word, instead)
	}
	var names []string
	for _, c := range commands {
		names = append(append(names, c.Name), c.Aliases...)
	}
	if best := nearest(word, names); best != "" {
		return usage("unknown command %q: did you mean %q?", word, best)
	}
	return usage("unknown command %q: see %s --help", word, program)
}

// nearest returns the candidate with the smallest edit distance, or "" if none is close enough: it
// must differ by at most one letter or begin with the same one.
func nearest(word string, candidates []string) string {
	slices.Sort(candidates)
	best, bestDistance := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		d := distance(word, c)
		if d > 1 && sharedPrefix(word, c) == 0 || d >= len(word) {
			continue
		}
		if d < bestDistance || (d == bestDistance && best != "" && sharedPrefix(word, c) > sharedPrefix(word, best)) {
			best, bestDistance = c, d
		}
	}
	return best
}

// sharedPrefix returns the length of the longest common prefix of two words.
func sharedPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// distance returns the Levenshtein distance of two words.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// badValue rewords the flag parser's errors.
func badValue(c *cli.Context, err error, _ bool) error {
	var value, flag string
	if _, scanErr := fmt.Sscanf(err.Error(), "invalid value %q for flag -%s", &value, &flag); scanErr != nil {
		if _, scanErr = fmt.Sscanf(err.Error(), "invalid boolean value %q for -%s", &value, &flag); scanErr != nil {
			return usage("%v", err)
		}
	}
	flag = strings.TrimSuffix(flag, ":")
	if _, err := strconv.ParseFloat(value, 64); err == nil && isDuration(c, flag) {
		return usage("invalid value %q for flag --%s: the unit is missing, as in %ss", value, flag, value)
	}
	return usage("invalid value %q for flag --%s", value, flag)
}

func isDuration(c *cli.Context, name string) bool {
	_, is := flagIndex(c.Command.Flags)[name].(*cli.DurationFlag)
	return is
}

// Package argv splits a command line into commands, flags and arguments, wherever on the line the flags
// stand: urfave/cli stops at the first argument, but "upgrade web ./chart -n shop --wait" must mean the
// same as "-n shop upgrade --wait web ./chart".
//
// It is given a program's commands, flags and rules, and has none of its own. What flags mean and what
// values they may have is the program's and the parser's. It runs and prints nothing.
package argv

import (
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// Rules are what the declarations of a program's flags don't say.
type Rules struct {
	// OptionalValue maps the flags that may be given without a value to what they then mean. They are
	// written --flag or --flag=value.
	OptionalValue map[string]string
	// SeparateValues lists the values that may follow such a flag as the next word.
	SeparateValues map[string][]string
	// Instead maps commands that the program lacks to what to use instead.
	Instead map[string]string
	// Lacking maps flags that somebody may look for at a command, as "plan many --untrusted", to why
	// they are not there.
	Lacking map[string]string
	// NoCommand maps flags that lack a value, and before which there is no command, to what was perhaps
	// meant.
	NoCommand map[string]string
}

// UnknownCommand returns the error for a word that is none of the program's commands, with a suggestion.
func (r *Rules) UnknownCommand(commands []*cli.Command, word, program string) error {
	if instead, ok := r.Instead[word]; ok {
		return Usage("there is no command %q: %s", word, instead)
	}
	var names []string
	for _, c := range commands {
		names = append(append(names, c.Name), c.Aliases...)
	}
	if best := spelling.Word(word, names); best != "" {
		return Usage("unknown command %q: did you mean %q?", word, best)
	}
	return Usage("unknown command %q: see %s --help", word, program)
}

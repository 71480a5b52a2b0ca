// Package completion finds what can come next on a command line, for the scripts that shells run when somebody
// presses TAB. It knows what the usage lines call their arguments, and which files, charts and versions
// there are.
//
// It is given the program's commands, and asks registries but no cluster: the words from there are its
// caller's.
package completion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/helptext"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// Sources have the words that only this machine or a cluster knows. What can't be read has no words, and no
// error: a shell shows none during completion.
type Sources interface {
	Releases(ctx context.Context) []Candidate
	// Revisions are those of a release, newest first.
	Revisions(ctx context.Context, release string) []Candidate
	Namespaces(ctx context.Context) []Candidate
	// Kubeconfig has the names of each context, cluster or user.
	Kubeconfig(what string) []Candidate
	// Settings are the names that the command env takes.
	Settings() []Candidate
	// Values are those of a flag that accepts only a few on this line. They are nil for other flags.
	Values(flag string, l *Line) []string
	// Charts has the repositories and registries.
	Charts() (*source.Sources, error)
}

// Candidate is a word that may come next, with its description.
type Candidate struct{ Word, Meaning string }

// Answer lists what can come next on a line, in the terms of cobra's protocol
// (https://github.com/spf13/cobra/blob/v1.10.2/completions.go).
type Answer struct {
	candidates []Candidate
	// directive tells the shell what it may add on its own. Zero allows files of any kind.
	directive cobra.ShellCompDirective
}

// words returns an answer with these words only.
func words(all ...string) Answer {
	out := Answer{directive: cobra.ShellCompDirectiveNoFileComp}
	for _, w := range all {
		out.candidates = append(out.candidates, Candidate{Word: w})
	}
	return out
}

// Nothing is the answer for a line that can't be completed.
func Nothing() Answer { return words() }

// Line is a line whose last word is still to be completed.
type Line struct {
	*argv.Line
	flag cli.Flag // the flag whose value the last word is, or nil
	last string   // what has been typed of that word or value
}

// Requested returns the words of the line that a completion script asks about, if args, without the
// program's name, are its request: the hidden first argument, then the words of the line so far, the last
// one unfinished. described reports whether it wants descriptions.
func Requested(args []string) (words []string, described, ok bool) {
	if len(args) == 0 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return nil, false, false
	}
	return args[1:], args[0] == cobra.ShellCompRequestCmd, true
}

// ParseLine parses a line, without the program's name, whose last word is not finished.
func ParseLine(app *cli.App, rules *argv.Rules, args []string) (*Line, error) {
	l := &Line{}
	if len(args) > 0 {
		l.last = args[len(args)-1]
		args = args[:len(args)-1]
	}
	var err error
	l.Line, err = rules.Parse(app, args)
	l.Flags = slices.DeleteFunc(l.Flags, func(g argv.Flag) bool { return l.Known[g.Name] == cli.HelpFlag }) // else help would be shown
	var missing *argv.NoValueError
	if errors.As(err, &missing) {
		l.flag, err = missing.Flag, nil
	}
	name, value, hasValue := strings.Cut(strings.TrimLeft(l.last, "-"), "=")
	if flag := l.Known[name]; l.flag == nil && hasValue && strings.HasPrefix(l.last, "-") && flag != nil {
		l.flag, l.last = flag, value
	}
	return l, err
}

// finder finds what can come next.
type finder struct{ from Sources }

// Find returns what can come next on a line, as far as it begins with what has been typed of the last word.
func Find(ctx context.Context, l *Line, from Sources) Answer {
	return finder{from}.candidates(ctx, l).beginning(l.last)
}

// candidates returns what can come next on a line.
func (f finder) candidates(ctx context.Context, l *Line) Answer {
	switch {
	case l.flag != nil:
		return f.flagValues(ctx, l)
	case strings.HasPrefix(l.last, "-") && !l.Literal:
		return l.flagNames()
	}
	out := f.argument(ctx, l)
	if len(l.Arguments) == 0 && !l.Literal {
		for _, sub := range l.Commands {
			out.candidates = append(out.candidates, Candidate{sub.Name, sub.Usage})
		}
	}
	return out
}

// has reports whether a flag was given, by any of its names.
func (l *Line) has(name string) bool {
	return slices.ContainsFunc(l.Flags, func(g argv.Flag) bool { return l.Known[g.Name] == l.Known[name] })
}

// flagNames returns the command's flags, without those that were given and cannot be repeated.
func (l *Line) flagNames() Answer {
	out := words()
	for name, f := range l.Known {
		visible, ok := f.(cli.VisibleFlag)
		_, repeatable := f.(*cli.StringSliceFlag)
		given := slices.ContainsFunc(l.Flags, func(g argv.Flag) bool { return l.Known[g.Name] == f })
		if len(name) < 2 || ok && !visible.IsVisible() || given && !repeatable {
			continue
		}
		_, meaning, _ := strings.Cut(helptext.FlagLine(f), "\t")
		out.candidates = append(out.candidates, Candidate{"--" + name, meaning})
	}
	slices.SortFunc(out.candidates, func(a, b Candidate) int { return strings.Compare(a.Word, b.Word) })
	return out
}

// beginning keeps the candidates that begin with what has been typed of the last word. File name
// extensions all stay: the shell looks for files with them.
func (c Answer) beginning(last string) Answer {
	if c.directive&cobra.ShellCompDirectiveFilterFileExt != 0 {
		return c
	}
	c.candidates = slices.DeleteFunc(c.candidates, func(w Candidate) bool { return !strings.HasPrefix(w.Word, last) })
	return c
}

// plainWord matches what every shell reads as one plain word. Names from a cluster or a repository
// end up on the user's command line, so anything else is not offered.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./*-]+$`)

// Print prints the answer for a completion script.
func (c Answer) Print(w io.Writer, described bool) {
	for _, one := range c.candidates {
		switch meaning, _, _ := strings.Cut(one.Meaning, "\n"); {
		case !plainWord.MatchString(one.Word):
		case described && meaning != "":
			fmt.Fprintf(w, "%s\t%s\n", one.Word, strings.ReplaceAll(meaning, "\t", " "))
		default:
			fmt.Fprintln(w, one.Word)
		}
	}
	fmt.Fprintf(w, ":%d\n", c.directive)
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/argv"
)

// completionTime limits how long a user who has pressed TAB waits for a cluster.
const completionTime = 3 * time.Second

// candidate is a word that may come next, with its description.
type candidate struct{ word, meaning string }

// completion lists what can come next on a line, in the terms of cobra's protocol
// (https://github.com/spf13/cobra/blob/v1.10.2/completions.go).
type completion struct {
	candidates []candidate
	// directive tells the shell what it may add on its own. Zero allows files of any kind.
	directive cobra.ShellCompDirective
}

// words returns a completion with these words only.
func words(all ...string) completion {
	out := completion{directive: cobra.ShellCompDirectiveNoFileComp}
	for _, w := range all {
		out.candidates = append(out.candidates, candidate{word: w})
	}
	return out
}

// line is a line whose last word is still to be completed.
type line struct {
	*argv.Line
	flag cli.Flag // the flag whose value the last word is, or nil
	last string   // what has been typed of that word or value
}

// completes answers a completion script, and reports whether args are its request: the hidden
// first argument, then the words of the line so far, the last one unfinished.
func completes(ctx context.Context, args []string, s Streams) bool {
	described := len(args) > 1 && args[1] == cobra.ShellCompRequestCmd
	if !described && (len(args) < 2 || args[1] != cobra.ShellCompNoDescRequestCmd) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	// Errors are dropped: a shell shows none during completion.
	p := newProgram(Streams{In: strings.NewReader(""), Out: s.Out, Err: io.Discard}, args[0])
	p.transport = func(next http.RoundTripper) http.RoundTripper { return impatient{next, cancel} }
	p.complete(ctx, slices.Concat([]string{args[0]}, args[2:])).print(p.streams.Out, described)
	return true
}

// impatient gives up when a server can't be reached: nobody wants to wait for more attempts after
// pressing TAB.
type impatient struct {
	next   http.RoundTripper
	giveUp func()
}

// RoundTrip implements http.RoundTripper.
func (i impatient) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := i.next.RoundTrip(r)
	if err != nil {
		i.giveUp()
	}
	return answer, err
}

// complete runs the command line with an action that only finds what can come next, so flags and
// the environment are read as for any other command.
func (p *program) complete(ctx context.Context, args []string) completion {
	app := p.appFor(args)
	l, err := unfinished(app, args)
	if err != nil {
		return words()
	}
	out := words()
	find := func(c *cli.Context) error {
		out = p.candidates(c.Context, l)
		return nil
	}
	app.Action = find
	if l.Command != nil {
		l.Command.Action = find
	}
	app.Writer = io.Discard // what it shows is not a candidate
	_ = app.RunContext(ctx, append(args[:1:1], l.Words()...))
	return out.beginning(l.last)
}

// unfinished parses a line whose last word is not finished.
func unfinished(app *cli.App, args []string) (*line, error) {
	l := &line{}
	if len(args) > 1 {
		l.last = args[len(args)-1]
		args = args[1 : len(args)-1]
	}
	var err error
	l.Line, err = lineRules.Parse(app, args)
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

// candidates returns what can come next on a line.
func (p *program) candidates(ctx context.Context, l *line) completion {
	switch {
	case l.flag != nil:
		return p.flagValues(ctx, l)
	case strings.HasPrefix(l.last, "-") && !l.Literal:
		return l.flagNames()
	}
	out := p.argument(ctx, l)
	if len(l.Arguments) == 0 && !l.Literal {
		for _, sub := range l.Commands {
			out.candidates = append(out.candidates, candidate{sub.Name, sub.Usage})
		}
	}
	return out
}

// has reports whether a flag was given, by any of its names.
func (l *line) has(name string) bool {
	return slices.ContainsFunc(l.Flags, func(g argv.Flag) bool { return l.Known[g.Name] == l.Known[name] })
}

// flagNames returns the command's flags, without those that were given and cannot be repeated.
func (l *line) flagNames() completion {
	out := words()
	for name, f := range l.Known {
		visible, ok := f.(cli.VisibleFlag)
		_, repeatable := f.(*cli.StringSliceFlag)
		given := slices.ContainsFunc(l.Flags, func(g argv.Flag) bool { return l.Known[g.Name] == f })
		if len(name) < 2 || ok && !visible.IsVisible() || given && !repeatable {
			continue
		}
		_, meaning, _ := strings.Cut(flagLine(f), "\t")
		out.candidates = append(out.candidates, candidate{"--" + name, meaning})
	}
	slices.SortFunc(out.candidates, func(a, b candidate) int { return strings.Compare(a.word, b.word) })
	return out
}

// beginning keeps the candidates that begin with what has been typed of the last word. File name
// extensions all stay: the shell looks for files with them.
func (c completion) beginning(last string) completion {
	if c.directive&cobra.ShellCompDirectiveFilterFileExt != 0 {
		return c
	}
	c.candidates = slices.DeleteFunc(c.candidates, func(w candidate) bool { return !strings.HasPrefix(w.word, last) })
	return c
}

// plainWord matches what every shell reads as one plain word. Names from a cluster or a repository
// end up on the user's command line, so anything else is not offered.
var plainWord = regexp.MustCompile(`^[\w@%+=:,./*-]+$`)

func (c completion) print(w io.Writer, described bool) {
	for _, one := range c.candidates {
		switch meaning, _, _ := strings.Cut(one.meaning, "\n"); {
		case !plainWord.MatchString(one.word):
		case described && meaning != "":
			fmt.Fprintf(w, "%s\t%s\n", one.word, strings.ReplaceAll(meaning, "\t", " "))
		default:
			fmt.Fprintln(w, one.word)
		}
	}
	fmt.Fprintf(w, ":%d\n", c.directive)
}

package command

import (
	"context"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/internal/completion"
)

func (p *program) completionCommand() *cli.Command {
	var wordsAlone bool
	return &cli.Command{
		Name: "completion", Usage: "print a completion script for a shell", ArgsUsage: "bash|zsh|fish|powershell|kubectl",
		Description: describe(`Prints a script that completes commands, flags and their values, releases, revisions and
charts, for kubectl-release. "kubectl" prints the program kubectl_complete-release, which
kubectl runs for "kubectl release" when it is in PATH. The one for bash needs the package
bash-completion, as kubectl's own does.`,
			"source <(kubectl-release completion bash)\nkubectl-release completion fish > ~/.config/fish/completions/kubectl-release.fish\nkubectl-release completion kubectl > ~/bin/kubectl_complete-release && chmod +x ~/bin/kubectl_complete-release"),
		Flags: []cli.Flag{&cli.BoolFlag{Name: "no-descriptions", Destination: &wordsAlone, Usage: "complete words without descriptions"}},
		Action: p.readOnly(takes(1, 1, func(_ context.Context, args []string) error {
			scripts := completion.Scripts()
			script, ok := scripts[args[0]]
			if !ok {
				return usage("completion supports %s, not %q", oneOf(slices.Sorted(maps.Keys(scripts))), args[0])
			}
			return script(p.streams.Out, !wordsAlone)
		})),
	}
}

// completionTime limits how long a user who has pressed TAB waits for a cluster.
const completionTime = 3 * time.Second

// completes answers a completion script, and reports whether args are its request.
func completes(ctx context.Context, args []string, s Streams) bool {
	line, described, ok := completion.Requested(args[1:])
	if !ok {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, completionTime)
	defer cancel()
	// Errors are dropped: a shell shows none during completion.
	p := newProgram(Streams{In: strings.NewReader(""), Out: s.Out, Err: io.Discard}, args[0])
	p.transport = func(next http.RoundTripper) http.RoundTripper { return impatient{next, cancel} }
	p.complete(ctx, line).Print(p.streams.Out, described)
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
func (p *program) complete(ctx context.Context, args []string) completion.Answer {
	out := completion.Nothing()
	app := p.appFor(args)
	l, err := completion.ParseLine(app, lineRules, args)
	if err != nil {
		return out
	}
	find := func(c *cli.Context) error {
		out = completion.Find(c.Context, l, completionSources{p})
		return nil
	}
	app.Action = find
	if l.Command != nil {
		l.Command.Action = find
	}
	app.Writer = io.Discard // what it shows is not a candidate
	_ = app.RunContext(ctx, append([]string{app.Name}, l.Words()...))
	return out
}

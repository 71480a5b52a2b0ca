package command

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/kubectl-release/kubectl-release/releasestore"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a completion script for a shell", ArgsUsage: "bash|zsh|fish|kubectl",
		Description: describe("Prints a script that completes commands, flags and release names. \"kubectl\" prints the\nprogram kubectl_complete-release, which kubectl runs for its plugin when it is in PATH.",
			"source <(kubectl-release completion bash)\nkubectl-release completion kubectl > ~/bin/kubectl_complete-release && chmod +x ~/bin/kubectl_complete-release"),
		Action: p.readOnly(func(c *cli.Context) error {
			args, err := arguments(c, 1, 1)
			if err != nil {
				return err
			}
			script, ok := completionScripts[args[0]]
			if !ok {
				return usage("completion is there for bash, zsh, fish and kubectl, not for %q", args[0])
			}
			_, err = fmt.Fprint(p.streams.Out, strings.TrimLeft(script, "\n"))
			return err
		}),
	}
}

// completeWord is the hidden first argument with which scripts ask for
// candidates; the words of the line so far follow, the last one unfinished.
const completeWord = "__complete"

// complete prints candidates for the last word, one a line.
func (p *program) complete(app *cli.App, words []string) {
	if len(words) == 0 {
		words = []string{""}
	}
	last := words[len(words)-1]
	path, known := descend(app, words[:len(words)-1])
	for _, candidate := range candidates(path, known, last, app) {
		if strings.HasPrefix(candidate, last) {
			fmt.Fprintln(p.streams.Out, candidate)
		}
	}
	if !strings.HasPrefix(last, "-") && takesRelease(path) {
		p.completeReleases(app, words)
	}
	if strings.HasPrefix(last, "-") {
		fmt.Fprintln(p.streams.Out, ":4") // kubectl: no file names
	}
}

// descend finds the command that the words lead to, and the flags it knows.
func descend(app *cli.App, words []string) (path []*cli.Command, known map[string]cli.Flag) {
	commands, known := app.Commands, flagIndex(app.Flags)
	for _, w := range words {
		c := findCommand(commands, w)
		if c == nil {
			continue
		}
		path = append(path, c)
		commands = c.Subcommands
		for name, f := range flagIndex(c.Flags) {
			known[name] = f
		}
	}
	return path, known
}

func candidates(path []*cli.Command, known map[string]cli.Flag, last string, app *cli.App) []string {
	var out []string
	if strings.HasPrefix(last, "-") {
		for name := range known {
			if len(name) > 1 {
				out = append(out, "--"+name)
			}
		}
		return sorted(out)
	}
	commands := app.Commands
	if len(path) > 0 {
		commands = path[len(path)-1].Subcommands
	}
	for _, c := range commands {
		out = append(out, c.Name)
	}
	return out
}

func takesRelease(path []*cli.Command) bool {
	return len(path) > 0 && strings.HasPrefix(path[len(path)-1].ArgsUsage, "NAME")
}

// completeReleases prints the names of the namespace's releases; without a
// cluster there are none.
func (p *program) completeReleases(app *cli.App, words []string) {
	last := words[len(words)-1]
	app.Commands = append(app.Commands, &cli.Command{
		Name: completeWord, Flags: connectionFlags(), SkipFlagParsing: false,
		Action: func(c *cli.Context) error {
			s, err := p.connect(c)
			if err != nil {
				return err
			}
			found, err := s.store.List(c.Context, releasestore.Query{Namespace: s.namespace})
			if err != nil {
				return err
			}
			for _, r := range found {
				if strings.HasPrefix(r.Name, last) {
					fmt.Fprintln(p.streams.Out, r.Name)
				}
			}
			return nil
		},
	})
	_ = app.Run(append([]string{app.Name, completeWord}, connectionWords(words)...))
}

// connectionWords are the connection flags among the words of a line.
func connectionWords(words []string) []string {
	known := flagIndex(connectionFlags())
	var out []string
	for i := 0; i < len(words)-1; i++ {
		name, _, hasValue := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		f, ok := known[name]
		if !ok || !strings.HasPrefix(words[i], "-") {
			continue
		}
		out = append(out, words[i])
		if !hasValue && !isSwitch(f) && i+1 < len(words)-1 {
			i++
			out = append(out, words[i])
		}
	}
	return out
}

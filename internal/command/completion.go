package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/urfave/cli/v2"
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
			scripts := completionScripts()
			script, ok := scripts[args[0]]
			if !ok {
				return usage("completion supports %s, not %q", oneOf(slices.Sorted(maps.Keys(scripts))), args[0])
			}
			return script(p.streams.Out, !wordsAlone)
		})),
	}
}

// oneOf joins words for a message, such as "text, json or yaml".
func oneOf(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// completionScripts returns functions that write a shell's script, with or without descriptions.
// The scripts are cobra's, like those of kubectl and Helm: they pass the words of a line to
// "kubectl-release __complete" and offer what it prints.
func completionScripts() map[string]func(w io.Writer, described bool) error {
	shells := &cobra.Command{Use: "kubectl-release"}
	return map[string]func(io.Writer, bool) error{
		"bash": shells.GenBashCompletionV2,
		"fish": shells.GenFishCompletion,
		"zsh": func(w io.Writer, described bool) error {
			if described {
				return shells.GenZshCompletion(w)
			}
			return shells.GenZshCompletionNoDesc(w)
		},
		"powershell": func(w io.Writer, described bool) error {
			if described {
				return shells.GenPowerShellCompletionWithDesc(w)
			}
			return shells.GenPowerShellCompletion(w)
		},
		"kubectl": kubectlCompletion,
	}
}

// kubectlCompletion writes the program that kubectl runs to complete a plugin; see
// https://kubernetes.io/docs/tasks/extend-kubectl/kubectl-plugins, "Adding support for command-line
// completion".
func kubectlCompletion(w io.Writer, described bool) error {
	request := cobra.ShellCompNoDescRequestCmd
	if described {
		request = cobra.ShellCompRequestCmd
	}
	_, err := fmt.Fprintf(w, "#!/usr/bin/env sh\n# kubectl runs this for \"kubectl release ...\" and offers what it prints.\nexec kubectl-release %s \"$@\"\n", request)
	return err
}

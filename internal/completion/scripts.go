package completion

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
)

// Scripts returns functions that write a shell's script, with or without descriptions.
// The scripts are cobra's, like those of kubectl and Helm: they pass the words of a line to
// "kubectl-release __complete" and offer what it prints.
func Scripts() map[string]func(w io.Writer, described bool) error {
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

// Command kubectl is Kubernetes' own kubectl, with its plugin handler: `kubectl release` finds
// kubectl-release in PATH. As a subcommand of testcluster it would first initialize everything
// that a control plane registers, which doubled its CPU time.
package main

import (
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	_ "github.com/kubectl-release/kubectl-release/testcluster/kubectl/quick"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}

// Command kubectl is Kubernetes' own, with its plugin handler: `kubectl release` finds
// kubectl-release in PATH. As a part of testcluster it would begin with all that a control
// plane registers, which doubled its processor time.
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

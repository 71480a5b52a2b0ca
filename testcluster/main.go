// Command testcluster runs a real Kubernetes control plane for tests: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and kwok, all from
// this one binary. It does not run containers: kwok plays the kubelet, and pods
// are ready because our stages say so.
package main

import (
	"fmt"
	"io"
	"os"
	_ "time/tzdata" // CronJobs name time zones

	"github.com/kubectl-release/kubectl-release/testcluster/controlplane"
)

func main() {
	if len(os.Args) < 2 {
		usage()
		os.Exit(2)
	}
	name := os.Args[1]
	run, known := components()[name]
	if !known {
		usage()
		os.Exit(2)
	}
	holdLifeline()
	// Each part parses os.Args itself, so the part's own name replaces ours.
	os.Args = append([]string{name}, os.Args[2:]...)
	os.Exit(run())
}

func usage() {
	fmt.Fprintln(os.Stderr, `usage: testcluster start [flags]
       testcluster etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kwok [flags]`)
}

// holdLifeline ends this process when its starter is gone, even if that was killed:
// the pipe on standard input closes.
func holdLifeline() {
	if os.Getenv(controlplane.LifelineVariable) == "" {
		return
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
}

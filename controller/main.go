// kubectl-release-controller reconciles Flux's HelmReleases with plan, then apply, instead of
// helm-controller.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-release/kubectl-release/internal/controller"
)

func main() { os.Exit(run()) }

// run runs the controller and returns its exit code. The first SIGINT or SIGTERM ends
// what is under way; the second one ends the process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return controller.Main(ctx, os.Args[1:], os.Stderr)
}

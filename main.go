// kubectl-release deploys Helm charts by plan, then apply.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

func main() { os.Exit(run()) }

// run starts the program with the process's arguments and streams. The first
// SIGINT or SIGTERM cancels the context; the second one ends the process.
func run() int {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		paceCollector()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop()
	}()
	return command.Main(ctx, os.Args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// kubectl-release deploys Helm charts by plan, then apply.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/kubectl-release/kubectl-release/internal/command"
)

func main() { os.Exit(run()) }

// softMemory is where the garbage collector begins to work harder: what is live
// is below it, and a hostile chart's garbage stays bounded, too.
const softMemory = 160 << 20

// run starts the program with the process's arguments and streams. The first
// SIGINT or SIGTERM cancels the context; the second one ends the process.
func run() int {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(300) // most runs are over before the heap is large
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(softMemory)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop()
	}()
	return command.Main(ctx, os.Args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// kubectl-release deploys Helm charts: plan, then apply.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/kubectl-release/kubectl-release/internal/command"
	_ "github.com/kubectl-release/kubectl-release/internal/gcpacing/early"
)

func main() { os.Exit(run()) }

// run runs the program with the process's arguments and streams, and returns its exit code.
func run() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	leave := make(chan struct{})
	go stopOnSignal(stop, func() { close(leave) })
	return command.Main(ctx, leave, os.Args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// stopOnSignal calls stop on the first SIGINT, SIGTERM or SIGHUP, and leave on the
// next SIGINT or SIGTERM; the one after that ends the process. A second SIGHUP doesn't
// count: when a terminal closes, the kernel and the shell send one each. Under nohup,
// SIGHUP stays ignored.
func stopOnSignal(stop, leave func()) {
	requests, hangups := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(requests, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
	}
	select {
	case <-requests:
	case <-hangups:
	}
	stop()
	<-requests
	leave()
	signal.Stop(requests)
}

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

// run starts the program with the process's arguments and streams.
func run() int {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		paceCollector()
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go stopOnSignal(stop)
	return command.Main(ctx, os.Args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}

// stopOnSignal calls stop on the first SIGINT, SIGTERM or SIGHUP; the second
// SIGINT or SIGTERM ends the process. A second SIGHUP doesn't: when a terminal
// closes, the kernel and the shell send one each. Under nohup there is none.
func stopOnSignal(stop func()) {
	requests, hangups := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(requests, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
	}
	select {
	case <-requests:
	case <-hangups:
		stop()
		<-requests
	}
	stop()
	signal.Stop(requests)
}

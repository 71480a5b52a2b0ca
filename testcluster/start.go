package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/kubectl-release/kubectl-release/testcluster/controlplane"
	"github.com/kubectl-release/kubectl-release/testcluster/fakecloud"
	"github.com/kubectl-release/kubectl-release/testcluster/fakenodes"
)

// patience is how long a start may take on a busy machine; on an idle one it takes
// seconds.
const patience = 2 * time.Minute

// startFlags holds the flags of `testcluster start`.
type startFlags struct {
	kubeconfig    string
	nodes         int
	auditLog      string
	keepData      bool
	stopWithStdin bool
}

func parseStartFlags(args []string) (startFlags, error) {
	var f startFlags
	set := flag.NewFlagSet("testcluster start", flag.ContinueOnError)
	set.StringVar(&f.kubeconfig, "kubeconfig-file", "", "write the kubeconfig to this file too")
	set.IntVar(&f.nodes, "nodes", 3, "number of nodes")
	set.StringVar(&f.auditLog, "audit-log", "", "let the API server write one JSON line a request to this file")
	set.BoolVar(&f.keepData, "keep-data", false, "leave the folder with logs and data in place")
	set.BoolVar(&f.stopWithStdin, "stop-with-stdin", false, "stop when standard input is closed")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if set.NArg() > 0 {
		return f, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	return f, nil
}

// runStart runs a cluster in the foreground until it is told to stop.
func runStart() int {
	flags, err := parseStartFlags(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if flags.stopWithStdin {
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin)
			stop()
		}()
	}
	if err := serve(ctx, flags); err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
		return 1
	}
	return 0
}

// serve starts the cluster, announces it, and stops it when ctx ends. It is an error
// if a part of the cluster ends on its own.
func serve(ctx context.Context, flags startFlags) (err error) {
	began := time.Now()
	progress := func(message string) {
		fmt.Fprintf(os.Stderr, "testcluster: %4.1fs %s\n", time.Since(began).Seconds(), message)
	}
	starting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cluster, err := controlplane.Start(starting, controlplane.Options{
		Stages:   fakenodes.Stages(),
		AuditLog: flags.auditLog,
		KeepData: flags.keepData,
		Progress: progress,
	})
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, cluster.Stop())
		progress("stopped")
	}()
	furnished := make(chan error, 1)
	go func() { furnished <- furnish(ctx, starting, cluster, flags.nodes) }()
	select {
	case err := <-furnished:
		if err != nil {
			return err
		}
	case err := <-cluster.Failed():
		return err
	}
	if err := announce(cluster, flags.kubeconfig); err != nil {
		return err
	}
	progress("ready")
	select {
	case <-ctx.Done():
		return nil
	case err := <-cluster.Failed():
		return err
	}
}

// furnish adds what turns a control plane into a cluster: nodes, volumes, load
// balancers, logs. They serve until ctx ends; starting bounds the wait.
func furnish(ctx, starting context.Context, cluster *controlplane.Cluster, nodes int) error {
	client, err := cluster.Client()
	if err != nil {
		return err
	}
	certificate, err := cluster.KubeletCertificate()
	if err != nil {
		return err
	}
	port, err := fakenodes.ServeLogs(ctx, client, certificate)
	if err != nil {
		return err
	}
	if err := fakenodes.GuardDeletions(starting, client, controlplane.KubeletUser); err != nil {
		return err
	}
	if err := fakenodes.Create(starting, client, nodes, port); err != nil {
		return err
	}
	if err := fakecloud.Start(ctx, client); err != nil {
		return err
	}
	return fakenodes.WaitUntilUsable(starting, client, nodes)
}

// announce prints the kubeconfig's path, and nothing else, on standard output.
func announce(cluster *controlplane.Cluster, file string) error {
	path := cluster.Kubeconfig()
	if file != "" {
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read the kubeconfig: %w", err)
		}
		if err := os.WriteFile(file, content, 0o600); err != nil {
			return fmt.Errorf("write the kubeconfig: %w", err)
		}
		path = file
	}
	_, err := fmt.Println(path)
	return err
}

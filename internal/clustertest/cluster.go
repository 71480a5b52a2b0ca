// Package clustertest gives a test suite a real Kubernetes control plane: one
// start for each suite, one namespace for each test, and kubectl, Helm 3 and
// Helm 4 to inspect and change it.
//
// It does not skip: a suite that can't get its cluster fails. The binaries of
// testcluster do all the work, except creating namespaces.
package clustertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
)

// ReuseVariable is the environment variable with the path of the kubeconfig of
// a running cluster to use instead of starting one.
const ReuseVariable = "KUBECTL_RELEASE_TEST_KUBECONFIG"

// Options configures the cluster of a suite; the zero value is a good default.
type Options struct {
	// Nodes is the number of nodes; 0 means 3.
	Nodes int
	// AuditLog is a file that gets a JSON line (audit.k8s.io/v1 Event, level
	// Metadata) for each request; a reused cluster can't have one.
	AuditLog string
	// Progress receives what happens while a suite waits; nil means os.Stderr.
	Progress io.Writer
}

// Cluster is a running control plane.
type Cluster struct {
	Binaries Binaries
	// Kubeconfig is the path of a kubeconfig with all permissions.
	Kubeconfig string

	process *exec.Cmd // nil for a reused cluster
	stdin   io.Closer

	namespaced atomic.Int32 // how many namespaces were created for tests
}

// Start starts a cluster, which takes seconds, and builds it first if necessary,
// which takes minutes. The cluster lives until Stop, or until this process ends,
// however it ends. ctx bounds only the start.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	if options.Progress == nil {
		options.Progress = os.Stderr
	}
	binaries, err := FindBinaries(ctx, options.Progress)
	if err != nil {
		return nil, err
	}
	if kubeconfig := os.Getenv(ReuseVariable); kubeconfig != "" {
		if options.AuditLog != "" {
			return nil, fmt.Errorf("use the cluster of %s: a running cluster can't be given an audit log", ReuseVariable)
		}
		return &Cluster{Binaries: binaries, Kubeconfig: kubeconfig}, nil
	}
	c := &Cluster{Binaries: binaries}
	if err := c.start(ctx, options); err != nil {
		return nil, errors.Join(fmt.Errorf("start a test cluster: %w", err), c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, options Options) error {
	args := []string{"start", "--stop-with-stdin"}
	if options.Nodes > 0 {
		args = append(args, "--nodes", strconv.Itoa(options.Nodes))
	}
	if options.AuditLog != "" {
		args = append(args, "--audit-log", options.AuditLog)
	}
	process := exec.Command(c.Binaries.Testcluster, args...)
	process.Stderr = options.Progress
	stdin, err := process.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	c.process, c.stdin = process, stdin
	giveUp := context.AfterFunc(ctx, func() { _ = stdin.Close() })
	defer giveUp()

	line, err := bufio.NewReader(stdout).ReadString('\n')
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("read the path of its kubeconfig: %w", err)
	}
	c.Kubeconfig = strings.TrimSpace(line)
	return nil
}

// Stop stops the cluster and returns when all its processes and files are gone. A
// reused cluster keeps running. A second Stop does nothing.
func (c *Cluster) Stop() error {
	if c.process == nil {
		return nil
	}
	process := c.process
	c.process = nil
	_ = c.stdin.Close()
	if err := process.Wait(); err != nil {
		return fmt.Errorf("stop the test cluster: %w", err)
	}
	return nil
}

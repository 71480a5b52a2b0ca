package clustertest

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
)

// Main implements TestMain: it starts a cluster, passes it to use, runs the tests and
// stops the cluster. It returns the exit code for os.Exit, which is 1 if the cluster
// can't be started.
//
//	var cluster *clustertest.Cluster
//
//	func TestMain(m *testing.M) {
//		os.Exit(clustertest.Main(m, clustertest.Options{}, func(c *clustertest.Cluster) { cluster = c }))
//	}
func Main(m *testing.M, options Options, use func(*Cluster)) int {
	hangUpOnPrograms()
	c, err := Start(context.Background(), options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return 1
	}
	defer removeProgram()
	use(c)
	code := m.Run()
	if err := c.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "clustertest:", err)
		return max(code, 1)
	}
	return code
}

// MainWithoutCluster is like Main, for a suite that runs programs but needs no cluster.
func MainWithoutCluster(m *testing.M) int {
	hangUpOnPrograms()
	defer removeProgram()
	return m.Run()
}

// hangUpOnPrograms makes sure that programs started by tests receive SIGHUP if the
// suite ignores it, as under nohup: they would inherit that.
func hangUpOnPrograms() {
	if signal.Ignored(syscall.SIGHUP) {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
}

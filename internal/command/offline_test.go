package command_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-release/kubectl-release/internal/command"
	_ "github.com/kubectl-release/kubectl-release/internal/gittest"
)

// TestMain lets testscript run this binary as the program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"kubectl-release": func() {
		os.Exit(command.Main(context.Background(), nil, os.Args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}})
}

// TestOffline runs testdata/offline: the whole program without a cluster, a
// kubeconfig or a network.
func TestOffline(t *testing.T) {
	charts, err := filepath.Abs(filepath.Join("..", "..", "testdata", "charts"))
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "offline"), RequireUniqueNames: true, RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("CHARTS", charts)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("KUBECONFIG", filepath.Join(e.WorkDir, "none"))
			e.Setenv("COLUMNS", "120")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

// exits CODE PROGRAM ARGS... is exec with the exit code to expect.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	code := "0"
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = strconv.Itoa(exit.ExitCode())
	} else {
		ts.Check(err)
	}
	if code != args[0] {
		ts.Fatalf("%s: exit code %s, want %s", strings.Join(args[1:], " "), code, args[0])
	}
}

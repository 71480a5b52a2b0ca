//go:build cluster

package trust

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// TestScenarios runs each script in testdata/scenarios, unmodified, with our
// program and, in a soak, with Helm 3 and Helm 4. Ours must pass. What the others do
// is reported as it is, in a table in docs/trust.md. According to the API server's audit
// log, everything that ours writes must be in its plans: see played.unplanned.
//
// A script's first line is "# S1: what it shows". $RELEASE is the program, $NS an
// empty namespace (also the kubeconfig's), $FAULTY a kubeconfig for the same namespace
// through a proxy that the command fault controls. See scenarioCommands.
func TestScenarios(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txtar"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	outcomes := make(map[string][]outcome, len(scripts)) // by script, in the order of hands
	hands := hands(t)[:sample(1, 3)]
	recorder := newRecorder(t, clustertest.Program(t))
	hands[0].program = recorder.program()
	defer func() { recorder.asPlanned(t, all(outcomes)) }()
	t.Run("all", func(t *testing.T) {
		for _, script := range scripts {
			outcomes[script] = make([]outcome, len(hands))
			for i, h := range hands {
				t.Run(strings.TrimSuffix(filepath.Base(script), ".txtar")+"/"+h.name, func(t *testing.T) {
					t.Parallel()
					o := play(t, script, h)
					outcomes[script][i] = o
					if h.name == "ours" && o.failed {
						t.Errorf("ours fails: %s\n%s", o.claim, o.log)
					} else if o.failed {
						t.Logf("%s fails: %s\n%s", h.name, o.claim, o.log)
					} else {
						t.Log(o.log)
					}
				})
			}
		}
	})
	if *soak && all(outcomes) {
		report(t, "scenarios", scenarioTable(t, scripts, outcomes))
	}
}

// all reports whether every script was played, which is not so with -run.
func all(outcomes map[string][]outcome) bool {
	for _, hands := range outcomes {
		if slices.ContainsFunc(hands, func(o outcome) bool { return !o.played }) {
			return false
		}
	}
	return true
}

// outcome is the result of one script with one program.
type outcome struct {
	played bool
	failed bool
	// claim is the last claim that the script was about to prove.
	claim string
	log   string
}

// play runs one script with one program.
func play(t testing.TB, script string, h hand) outcome {
	stage := &stage{TB: t, script: script, hand: h}
	stage.run(func() {
		testscript.RunT(stage, testscript.Params{
			Files: []string{script}, RequireExplicitExec: true,
			Setup: func(e *testscript.Env) error { return setScenarioUp(t, e, stage) },
			Cmds:  scenarioCommands(stage),
		})
	})
	return outcome{played: true, failed: stage.failed, claim: stage.claim, log: stage.log.String()}
}

// stage is the testscript.T of one run of a script: it records what went wrong
// instead of failing the test.
type stage struct {
	testing.TB
	script string // its path
	hand   hand
	faults *faults
	failed bool
	claim  string
	log    strings.Builder
}

// errEnded ends a script, as runtime.Goexit would end a test.
var errEnded = errors.New("the script has ended")

func (s *stage) run(script func()) {
	defer func() {
		if r := recover(); r != nil && r != errEnded { //nolint:errorlint // it is panicked with as it is
			panic(r)
		}
	}()
	script()
}

// The methods of testscript.T.
func (s *stage) Fatal(args ...any) {
	s.Log(args...)
	s.failed = true
	panic(errEnded)
}
func (s *stage) Skip(...any)                             { s.Fatal("a scenario skips itself") }
func (s *stage) Log(args ...any)                         { fmt.Fprintln(&s.log, args...) }
func (s *stage) FailNow()                                { s.failed = true; panic(errEnded) }
func (s *stage) Parallel()                               {}
func (s *stage) Run(_ string, script func(testscript.T)) { script(s) }
func (s *stage) Verbose() bool                           { return true }

func setScenarioUp(t testing.TB, e *testscript.Env, s *stage) error {
	namespace := cluster.Namespace(t)
	home := filepath.Join(e.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return fmt.Errorf("make a home: %w", err)
	}
	config, err := os.ReadFile(cluster.Kubeconfig)
	if err != nil {
		return fmt.Errorf("read the kubeconfig: %w", err)
	}
	own := filepath.Join(home, "kubeconfig")
	if err := os.WriteFile(own, config, 0o600); err != nil {
		return fmt.Errorf("write a kubeconfig: %w", err)
	}
	if r := cluster.Run(t, cluster.Binaries.Kubectl, "", "--kubeconfig", own, "config", "set-context", "--current", "--namespace", namespace); r.ExitCode != 0 {
		return fmt.Errorf("choose namespace %s: %s", namespace, r.Stderr)
	}
	s.faults = &faults{}
	faulty := clustertest.KubeconfigFor(t, newProxy(t, s.faults.judge), namespace)
	for name, value := range map[string]string{
		"NS": namespace, "RELEASE": s.hand.program, "KUBECONFIG": own, "FAULTY": faulty, "HOME": home,
		"KUBECACHEDIR": filepath.Join(home, "cache"), "HELM_CACHE_HOME": filepath.Join(home, "helm"),
		"PATH": cluster.Binaries.Dir + string(os.PathListSeparator) + e.Getenv("PATH"),
	} {
		e.Setenv(name, value)
	}
	return nil
}

// scenarioTable returns the table for docs/trust.md.
func scenarioTable(t *testing.T, scripts []string, outcomes map[string][]outcome) string {
	t.Helper()
	slices.SortFunc(scripts, func(a, b string) int { return scenarioNumber(a) - scenarioNumber(b) })
	var table strings.Builder
	table.WriteString("| scenario | ours | Helm 3.22.0 | Helm 4.3.1 |\n|---|---|---|---|\n")
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n")
		fmt.Fprintf(&table, "| %s |", strings.TrimPrefix(first, "# "))
		for _, o := range outcomes[script] {
			if o.failed {
				fmt.Fprintf(&table, " ✗ not so: %s |", o.claim)
			} else {
				table.WriteString(" ✓ |")
			}
		}
		table.WriteString("\n")
	}
	return table.String()
}

// scenarioNumber returns 7 for S7-fields.txtar.
func scenarioNumber(script string) int {
	n := 0
	_, _ = fmt.Sscanf(filepath.Base(script), "S%d", &n)
	return n
}

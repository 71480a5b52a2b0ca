//go:build cluster

package trust

import (
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// scenarioCommands returns these commands, in addition to testscript's own:
//
//	claim SENTENCE...              what the following lines show; used to report a script that fails
//	exits CODE|failing PROGRAM ... like exec, and the exit code must be CODE (failing: anything but 0)
//	tries PROGRAM ARGS...          like exec, whatever the exit code is
//	within DURATION PROGRAM ...    like exec, and it must end on its own within that time (six times that
//	                               except in a soak, next to other tests), whatever its exit code is
//	eventually PROGRAM ARGS...     repeated until it exits with 0, for at most five minutes
//	status RELEASE STATUSES        the statuses of the release's revisions, such as superseded,deployed
//	                               (* stands for any: deployed,*,failed)
//
// and those of historyCommands, faultCommands, killCommands, crowdCommands and
// clockCommands.
func scenarioCommands(s *stage) map[string]func(*testscript.TestScript, bool, []string) {
	commands := map[string]func(*testscript.TestScript, bool, []string){
		"claim": func(_ *testscript.TestScript, _ bool, args []string) { s.claim = strings.Join(args, " ") },
		"exits": exits, "tries": tries, "within": within, "eventually": eventually, "status": status,
	}
	maps.Copy(commands, historyCommands())
	maps.Copy(commands, faultCommands(s))
	maps.Copy(commands, killCommands(s))
	maps.Copy(commands, crowdCommands(s))
	maps.Copy(commands, clockCommands(s))
	return commands
}

// run is like Exec, but returns the exit code and sets $CODE to it.
func run(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	code := 0
	if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // testscript gives it as it is
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	ts.Setenv("CODE", strconv.Itoa(code))
	return code
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE|failing PROGRAM ARGS...")
	}
	got := run(ts, args[1:])
	if args[0] == "failing" && got == 0 || args[0] != "failing" && strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

func tries(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: tries PROGRAM ARGS...")
	}
	run(ts, args)
}

func within(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: within DURATION PROGRAM ARGS...")
	}
	bound, err := time.ParseDuration(args[0])
	ts.Check(err)
	bound *= time.Duration(sample(6, 1))
	began := time.Now()
	run(ts, append([]string{"timeout", "--signal=KILL", strconv.Itoa(int((2 * bound).Seconds()) + 1)}, args[1:]...))
	if took := time.Since(began); took > bound {
		ts.Fatalf("it took %v, want at most %v", took.Round(time.Millisecond), bound)
	}
}

func eventually(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: eventually PROGRAM ARGS...")
	}
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if run(ts, args) == 0 {
			return
		}
	}
	ts.Fatalf("it has never exited with 0")
}

func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: status RELEASE STATUSES")
	}
	got := statuses(ts, args[0])
	same, err := path.Match(args[1], got)
	ts.Check(err)
	if !same {
		ts.Fatalf("the revisions of %s are %s, want %s", args[0], got, args[1])
	}
}

// statuses returns the statuses of a release's revisions, oldest first, according to
// the labels of its records.
func statuses(ts *testscript.TestScript, release string) string {
	command := exec.Command(cluster.Binaries.Kubectl, "get", "secrets", "-l", "owner=helm,name="+release,
		"-o", `jsonpath={range .items[*]}{.metadata.labels.version} {.metadata.labels.status}{"\n"}{end}`)
	command.Env = append(os.Environ(), "KUBECONFIG="+ts.Getenv("KUBECONFIG"), "KUBECACHEDIR="+filepath.Join(ts.Getenv("HOME"), "cache"))
	out, err := command.Output()
	ts.Check(err)
	byRevision, newest := map[int]string{}, 0
	for line := range strings.Lines(string(out)) {
		revision, status, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.Atoi(revision)
		ts.Check(err)
		byRevision[n], newest = status, max(newest, n)
	}
	var found []string
	for n := range newest {
		if status, ok := byRevision[n+1]; ok {
			found = append(found, status)
		}
	}
	return strings.Join(found, ",")
}

//go:build cluster

package trust

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// killCommands returns these commands:
//
//	killed SIGNAL [before] [since=CALL] CALL NTH PROGRAM ARGS...
//
// runs a program through the proxy and sends it a signal (SIGKILL, SIGTERM, SIGINT, SIGHUP)
// when the API server has carried out that call (see faultCommands); with the word
// before, when the call is about to reach it, which it then never does.
// After SIGKILL the answer is lost; after the others it arrives once the program has been
// idle for 300 ms. The command returns when the program has ended, with its exit code in $CODE.
// A program that makes fewer such calls just ends; ours must not.
//
//	frozen [since=CALL] CALL NTH PROGRAM ARGS...
//
// does the same with SIGSTOP, and returns while the program stands still.
//
//	thawed
//
// lets it continue, and returns when it has ended, with its exit code in $CODE.
func killCommands(s *stage) map[string]func(*testscript.TestScript, bool, []string) {
	var stopped *victim
	return map[string]func(*testscript.TestScript, bool, []string){
		"killed": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 4 || signals[args[0]] == 0 {
				ts.Fatalf("usage: killed SIGNAL [before] [since=CALL] CALL NTH PROGRAM ARGS...")
			}
			v := s.attack(ts, signals[args[0]], args[1:])
			v.end(ts)
			if !v.hit.Load() && s.hand.name == "ours" {
				ts.Fatalf("it has ended before there was such a call")
			}
		},
		"frozen": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || stopped != nil {
				ts.Fatalf("usage: frozen [since=CALL] CALL NTH PROGRAM ARGS..., one at a time")
			}
			stopped = s.attack(ts, syscall.SIGSTOP, args)
			select {
			case <-stopped.struck:
			case <-stopped.ended:
				ts.Fatalf("it has ended before there was such a call")
			}
		},
		"thawed": func(ts *testscript.TestScript, neg bool, _ []string) {
			if neg || stopped == nil {
				ts.Fatalf("nothing is frozen")
			}
			ts.Check(stopped.Process.Signal(syscall.SIGCONT))
			stopped.end(ts)
			stopped = nil
		},
	}
}

// signals are the signals that scripts may send.
var signals = map[string]syscall.Signal{"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM, "SIGINT": syscall.SIGINT, "SIGHUP": syscall.SIGHUP}

// victim is a program that gets a signal.
type victim struct {
	*exec.Cmd
	stdout, stderr strings.Builder
	hit            atomic.Bool
	struck, ended  chan struct{}
}

// attack starts a program that a signal will hit.
func (s *stage) attack(ts *testscript.TestScript, signal syscall.Signal, args []string) *victim {
	before := len(args) > 0 && args[0] == "before"
	if before {
		args = args[1:]
	}
	rule, line, err := parseRule(args)
	if err == nil && len(line) == 0 {
		err = errors.New("a PROGRAM is wanted")
	}
	ts.Check(err)
	v := &victim{Cmd: scripted(ts, line), struck: make(chan struct{}), ended: make(chan struct{})}
	v.Env = append(v.Env, "KUBECONFIG="+ts.Getenv("FAULTY"))
	v.Stdout, v.Stderr = &v.stdout, &v.stderr
	var started sync.WaitGroup
	started.Add(1)
	rule.onwards = false
	rule.fault = fault{committed: !before, heard: signal != syscall.SIGKILL && !before, strike: func() {
		started.Wait()
		v.hit.Store(true) // first: the program's end is waited for at the same time
		_ = v.Process.Signal(signal)
		close(v.struck)
		if signal == syscall.SIGKILL {
			<-v.ended
		} else {
			heard(v.Process.Pid)
		}
	}}
	s.faults.first(rule)
	if err := v.Start(); err != nil {
		ts.Fatalf("start %s: %v", line[0], err)
	}
	started.Done()
	go func() {
		_ = v.Wait()
		close(v.ended)
	}()
	ts.Defer(func() { _ = v.Process.Kill() })
	return v
}

// heard waits until a program has nothing left to do (its threads have been idle for a while,
// or it has ended), because the program must notice a signal before it gets an answer.
func heard(pid int) {
	for still, end := 0, time.Now().Add(time.Minute); still < 6 && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		still++
		for _, thread := range threads {
			stat, err := os.ReadFile(thread)
			// The state follows the name, which is in parentheses.
			if _, state, ok := strings.Cut(string(stat), ") "); err == nil && ok && strings.HasPrefix(state, "R") {
				still = 0
			}
		}
	}
}

// end waits for the program, for at most five minutes, and passes on its output and exit code.
func (v *victim) end(ts *testscript.TestScript) {
	select {
	case <-v.ended:
	case <-time.After(5 * time.Minute):
		_ = v.Process.Kill()
		ts.Fatalf("it has not ended in five minutes")
	}
	fmt.Fprint(ts.Stdout(), v.stdout.String())
	fmt.Fprint(ts.Stderr(), v.stderr.String())
	ts.Logf("exit code %d", v.ProcessState.ExitCode())
	ts.Setenv("CODE", fmt.Sprint(v.ProcessState.ExitCode()))
}

// scripted returns a command in the script's folder and environment.
func scripted(ts *testscript.TestScript, line []string) *exec.Cmd {
	command := exec.Command(line[0], line[1:]...)
	command.Dir = ts.MkAbs(".")
	command.Env = os.Environ()
	for _, name := range []string{"KUBECONFIG", "HOME", "KUBECACHEDIR", "HELM_CACHE_HOME", "HELM_DRIVER", "PATH"} {
		if value := ts.Getenv(name); value != "" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	return command
}

//go:build cluster

package trust

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// kill is one run that gets a signal after its k-th write of objects or records.
type kill struct {
	signal syscall.Signal
	write  int
	atomic bool
}

func (k kill) String() string {
	name := "SIGKILL"
	if k.signal == syscall.SIGTERM {
		name = "SIGTERM"
	}
	if k.atomic {
		name += " atomic"
	}
	return fmt.Sprintf("%s behind write %d", name, k.write)
}

// ends is the time after SIGTERM beyond which a run counts as hanging.
const ends = 5 * time.Minute

// TestKillSweep sends a signal to an upgrade of thirty objects with hooks after each
// of its writes (without -soak, after one of them per kind of run), and runs it once
// more: nothing is left of the first run, without manual intervention.
func TestKillSweep(t *testing.T) {
	end, writeCount, _ := undisturbed(t)
	var kills []kill
	for _, k := range []kill{{syscall.SIGKILL, 0, false}, {syscall.SIGTERM, 0, false}, {syscall.SIGKILL, 0, true}, {syscall.SIGTERM, 0, true}} {
		every := sample(writeCount, 1)
		for write := 1 + rand.IntN(every); write <= writeCount; write += every {
			k.write = write
			kills = append(kills, k)
		}
	}
	t.Logf("%d of %d writes and signals: %v", len(kills), 4*writeCount, kills)
	began := time.Now()
	recorder := newRecorder(t, clustertest.Program(t))
	defer func() { recorder.asPlanned(t, false) }()
	var struck atomic.Int32
	sideBySide(t, 8, kills, func(t *testing.T, k kill) {
		if k.play(t, recorder, end) {
			struck.Add(1)
		}
	})
	if struck.Load() == 0 {
		t.Error("no run got its signal before it had ended")
	}
	if !t.Failed() {
		report(t, "kill sweep", fmt.Sprintf("%d runs of an upgrade with %d writes, of which %d got their signal before they had ended, took %s: "+
			"after one rerun each namespace was as after an undisturbed upgrade, each history sound, no lock left.",
			len(kills), writeCount, struck.Load(), time.Since(began).Round(time.Second)))
	}
}

// play reports whether the signal came before the run had ended. What the run writes is recorded.
func (k kill) play(t *testing.T, by recorder, undisturbed map[string]any) bool {
	s := newThirty(t)
	flags := []string{}
	if k.atomic {
		flags = append(flags, "--atomic")
	}
	var count atomic.Int32
	var pid atomic.Pointer[func() error]
	var victim atomic.Int64
	started := make(chan struct{})
	proxy := newProxy(t, func(r *http.Request) *fault {
		if !writes(r) || locks(r) || int(count.Add(1)) != k.write {
			return nil
		}
		return &fault{committed: true, heard: k.signal != syscall.SIGKILL, strike: func() {
			<-started
			_ = (*pid.Load())()
			if k.signal != syscall.SIGKILL {
				heard(int(victim.Load()))
			}
		}}
	})
	upgrade := program(t, 0, s.upgrade(append(flags, "--kubeconfig", clustertest.KubeconfigFor(t, proxy, s.namespace))...)...)
	upgrade.Path, upgrade.Args[0] = by.program(), by.program()
	var out bytes.Buffer
	upgrade.Stdout, upgrade.Stderr = &out, &out
	if err := upgrade.Start(); err != nil {
		t.Fatal(err)
	}
	var signalled atomic.Int64
	send := func() error {
		signalled.Store(time.Now().UnixNano())
		return upgrade.Process.Signal(k.signal)
	}
	victim.Store(int64(upgrade.Process.Pid))
	pid.Store(&send)
	close(started)
	_ = upgrade.Wait()
	code := upgrade.ProcessState.ExitCode()
	struck := signalled.Load() != 0
	if struck && k.signal == syscall.SIGTERM {
		if took := time.Since(time.Unix(0, signalled.Load())); took > ends {
			t.Errorf("it went on for %v after SIGTERM", took.Round(time.Second))
		}
		// The last two writes are the records of success: after the first of them the run has succeeded.
		if code < 0 || code == 0 && k.write < int(count.Load())-1 {
			t.Errorf("exit code %d after SIGTERM:\n%s", code, out.String())
		}
		if status := ours(t, "status", "shop", "--namespace", s.namespace, "-o", "json"); strings.Contains(status, `"pending-`) {
			t.Errorf("it left a pending revision:\n%s\n%s", status, out.String())
		}
	}
	if !struck && code != 0 {
		t.Errorf("exit code %d without a signal:\n%s", code, out.String())
	}
	s.rerun(t)
	s.sameAs(t, undisturbed)
	s.soundHistory(t)
	return struck
}

//go:build cluster

package trust

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
)

// faultKinds are the faults that occur between us and the API server.
var faultKinds = []struct {
	name string
	fault
}{
	{"500", fault{status: http.StatusInternalServerError}},
	{"503", fault{status: http.StatusServiceUnavailable}},
	{"504", fault{status: http.StatusGatewayTimeout}},
	{"429", fault{status: http.StatusTooManyRequests, retryAfter: "1"}},
	{"409", fault{status: http.StatusConflict}},
	{"reset", fault{}},
	{"stall", fault{stall: true}},
}

// trouble is one upgrade with faults: one at its k-th request or, with a seed, several
// at random.
type trouble struct {
	kind      int // of faultKinds
	committed bool
	request   int
	seed      uint64
}

func (f trouble) String() string {
	if f.seed != 0 {
		return fmt.Sprintf("one request in ten, seed %d", f.seed)
	}
	when := "before"
	if f.committed {
		when = "after"
	}
	return fmt.Sprintf("%s %s commit, request %d", faultKinds[f.kind].name, when, f.request)
}

// Time limits for a run: with one fault, which may be a stall until the request's own
// timeout of a minute, and with many.
const (
	boundOfOne  = 3 * time.Minute
	boundOfMany = 12 * time.Minute
)

// TestFaultSweep upgrades through a proxy that makes requests fail: the run must succeed
// with the outcome of an undisturbed one, in bounded time, with each hook run once.
func TestFaultSweep(t *testing.T) {
	end, _, requests := undisturbed(t)
	var troubles []trouble
	if *seedFlag == 0 {
		for kind := range faultKinds {
			for _, committed := range []bool{false, true} {
				every := sample(requests, 1)
				for k := 1 + rand.IntN(every); k <= requests; k += every {
					troubles = append(troubles, trouble{kind: kind, committed: committed, request: k})
				}
			}
		}
		for seed := range sample(2, 200) {
			troubles = append(troubles, trouble{seed: uint64(seed + 1)})
		}
	} else {
		troubles = []trouble{{seed: *seedFlag}}
	}
	t.Logf("%d troubles, of an upgrade with %d requests", len(troubles), requests)
	began := time.Now()
	recorder := newRecorder(t, clustertest.Program(t))
	defer func() { recorder.asPlanned(t, false) }()
	var lock sync.Mutex
	var hit int
	var longest time.Duration
	sideBySide(t, sample(6, 12), troubles, func(t *testing.T, f trouble) {
		o := f.play(t, recorder, end)
		lock.Lock()
		defer lock.Unlock()
		hit += o.faults
		longest = max(longest, o.took)
	})
	if !t.Failed() && *seedFlag == 0 {
		report(t, "fault sweep", fmt.Sprintf("%d runs of an upgrade with %d requests, %d faults in all, took %s, the longest run %s: "+
			"each ended as an undisturbed one, with each hook run once.",
			len(troubles), requests, hit, time.Since(began).Round(time.Second), longest.Round(time.Second)))
	}
}

// faultyEnd is the outcome of a run: how many faults there were, and how long it took.
type faultyEnd struct {
	faults int
	took   time.Duration
}

func (f trouble) play(t *testing.T, by recorder, undisturbed map[string]any) faultyEnd {
	s := newThirty(t)
	runs := s.hookRuns(t)
	judge := &troubleJudge{trouble: f, random: rand.New(rand.NewPCG(f.seed, 0))}
	proxy := newProxy(t, judge.judge)
	began := time.Now()
	r := cluster.Run(t, by.program(), "", s.upgrade("--kubeconfig", clustertest.KubeconfigFor(t, proxy, s.namespace))...)
	o := faultyEnd{faults: judge.faults(), took: time.Since(began)}
	bound := boundOfOne
	if f.seed != 0 {
		bound = boundOfMany
	}
	bound *= time.Duration(sample(6, 1)) // next to other tests
	if o.took > bound {
		t.Errorf("it took %v, want at most %v", o.took.Round(time.Second), bound)
	}
	for name, n := range runs() {
		if n > 1 {
			t.Errorf("hook %s ran %d times", name, n)
		}
	}
	if r.ExitCode != 0 {
		t.Errorf("exit code %d\n%s%s\nfaults: %v", r.ExitCode, r.Stdout, r.Stderr, judge.log)
		s.rerun(t)
	}
	s.sameAs(t, undisturbed)
	s.soundHistory(t)
	return o
}

// troubleJudge decides for the proxy which requests of one run get a fault.
type troubleJudge struct {
	trouble
	lock   sync.Mutex
	random *rand.Rand
	count  int
	log    []string
}

func (j *troubleJudge) faults() int {
	j.lock.Lock()
	defer j.lock.Unlock()
	return len(j.log)
}

func (j *troubleJudge) judge(r *http.Request) *fault {
	j.lock.Lock()
	defer j.lock.Unlock()
	j.count++
	kind, committed := j.kind, j.committed
	switch {
	case j.seed != 0:
		if j.random.IntN(10) != 0 {
			return nil
		}
		kind, committed = j.random.IntN(len(faultKinds)), j.random.IntN(2) == 0
	case j.count != j.request:
		return nil
	}
	f := faultKinds[kind].fault
	f.committed = committed && r.URL.Query().Get("watch") == "" // a watch does not end on its own
	j.log = append(j.log, fmt.Sprintf("%s %v %s %s", faultKinds[kind].name, f.committed, r.Method, r.URL.Path))
	return &f
}

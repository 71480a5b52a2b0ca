package apply_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// troubled is a cluster that reports why its Jobs fail.
type troubled struct{ clusterfake.FailingJobs }

func (troubled) Diagnose(context.Context, apply.Ref, time.Time) apply.Diagnosis {
	return apply.Diagnosis{Reasons: []apply.Reason{{Of: []string{"Pod/a"}, Cause: "BackOff", Trouble: true}}, Log: apply.Log{Of: "Pod/a", Lines: []string{"password is oops"}}}
}

type ear func(apply.Event)

func (e ear) Observe(event apply.Event) { e(event) }

// A failure is reported with its reasons; log lines are shown but not recorded.
func TestReasonsAreToldAndLogsNotRecorded(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	env := w.Env()
	env.Cluster = troubled{clusterfake.FailingJobs{Cluster: w}}
	var told [][]string
	env.Observer = ear(func(e apply.Event) {
		if _, details := e.Text(); e.Type == apply.StepFailed && e.Reasons != nil {
			told = append(told, details)
		}
	})
	_, err := apply.Run(t.Context(), p, env)
	if err == nil || !strings.Contains(err.Error(), "| password is oops") {
		t.Errorf("the error is %v", err)
	}
	if diff := cmp.Diff([][]string{{"Pod/a: BackOff", "| log of Pod/a:", "| password is oops"}}, told); diff != "" {
		t.Errorf("told with it (-want +got):\n%s", diff)
	}
	description := w.Records[2].Info.Description
	if !strings.Contains(description, "Pod/a: BackOff") || strings.Contains(description, "oops") {
		t.Errorf("the record says %q", description)
	}
}

// slow is a cluster in which Jobs do not end before the reason has been reported.
type slow struct {
	*clusterfake.Cluster
	// trouble reports whether the Jobs are held up by a problem, not just by a normal stage of starting.
	trouble bool
	told    chan struct{}
}

func (s slow) Reasons(_ context.Context, asked []apply.Asked) [][]apply.Reason {
	out := make([][]apply.Reason, len(asked))
	for i, a := range asked {
		out[i] = []apply.Reason{{Of: []string{"Pod/" + a.Name}, Cause: "no node has room", Trouble: s.trouble}}
	}
	return out
}

func (s slow) Watch(ctx context.Context, kind schema.GroupVersionKind, namespace string, names []string, see func(string, *unstructured.Unstructured) bool) error {
	if kind.Kind == "Job" {
		s.Mu.Lock()
		running := s.Objects[manifest.ID{Group: kind.Group, Kind: kind.Kind, Namespace: namespace, Name: names[0]}].DeepCopy()
		s.Mu.Unlock()
		delete(running.Object, "status")
		see(names[0], running)
		select {
		case <-s.told:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return s.Cluster.Watch(ctx, kind, namespace, names, see)
}

// A12: The reason is reported within five seconds for a pod in trouble, after half a minute for one
// that is still starting, and once each.
func TestTroubleIsToldWithinFiveSeconds(t *testing.T) {
	for trouble, within := range map[bool]time.Duration{true: 5 * time.Second, false: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			w := installed(t)
			p := upgrade(t, w)
			p.Options.Timeout = 2 * time.Minute
			env := w.Env()
			env.Now, env.Sleep = time.Now, clusterfake.Sleep
			s := slow{w, trouble, make(chan struct{})}
			env.Cluster = s
			began, told := time.Now(), 0
			env.Observer = ear(func(e apply.Event) {
				if e.Type != apply.StepProgress || e.Reasons == nil || e.Object.Kind != "Job" {
					return
				}
				if told++; told == 1 {
					if took := time.Since(began); took > within || !trouble && took < within {
						t.Errorf("trouble %t: told after %s", trouble, took)
					}
					if diff := cmp.Diff("no node has room", e.Reasons[0].Cause); diff != "" {
						t.Error(diff)
					}
					time.AfterFunc(time.Minute, func() { close(s.told) })
				}
			})
			if _, err := apply.Run(t.Context(), p, env); err != nil {
				t.Error(err)
			}
			if told != 1 {
				t.Errorf("trouble %t: told %d times", trouble, told)
			}
		})
	}
}

// laborious is a cluster in which nothing becomes ready, and looking for the reasons takes a while.
type laborious struct {
	stuck
	takes time.Duration
	looks *int
}

func (l laborious) Reasons(ctx context.Context, asked []apply.Asked) [][]apply.Reason {
	*l.looks++
	_ = clusterfake.Sleep(ctx, l.takes)
	return make([][]apply.Reason, len(asked))
}

// Where a look for reasons takes long, there are fewer: at most a tenth of the time goes into them, unless that leaves
// more than half a minute between two.
func TestLooksForReasonsSpareTheServer(t *testing.T) {
	for takes, want := range map[time.Duration]int{
		0: 60, 200 * time.Millisecond: 55, time.Second: 12, 10 * time.Second: 3, // every 2, 2.2, 10 and 40 seconds
	} {
		synctest.Test(t, func(t *testing.T) {
			w, looks := installed(t), 0
			p := plannedWith(t, w, plan.Upgrade, revision(2, after), plan.Options{Timeout: 121 * time.Second})
			env := w.Env()
			env.Now, env.Sleep = time.Now, clusterfake.Sleep
			env.Cluster = laborious{stuck{w, "hook"}, takes, &looks}
			if _, err := apply.Run(t.Context(), p, env); err == nil {
				t.Error("the hook has ended")
			}
			if looks -= 1; looks != want { // without the one when the wait has ended
				t.Errorf("%d looks that take %v, want %d", looks, takes, want)
			}
		})
	}
}

// A12: Whoever interrupts a wait is told what it was waiting for, and why that was not ready.
func TestAnInterruptedWaitSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := installed(t)
		p := upgrade(t, w)
		env := w.Env()
		env.Now, env.Sleep = time.Now, clusterfake.Sleep
		env.Cluster = slow{w, true, make(chan struct{})}
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		_, err := apply.Run(ctx, p, env)
		if err == nil || !strings.Contains(err.Error(), "stopped while waiting for Job") || !strings.Contains(err.Error(), "no node has room") {
			t.Errorf("it says %v", err)
		}
		if !errors.Is(err, context.Canceled) {
			t.Error("nobody can tell that it was interrupted")
		}
		if description := w.Records[2].Info.Description; !strings.Contains(description, "no node has room") {
			t.Errorf("the record says %q", description)
		}
	})
}

// A cause is reported once, however many pods it holds up; restarts do not make it a
// separate cause.
func TestReasonsAreGroupedByCause(t *testing.T) {
	pod := func(name, cause string, restarts int) apply.Reason {
		return apply.Reason{Of: []string{"Pod/" + name}, Cause: cause, Restarts: restarts}
	}
	var got []string
	for _, r := range apply.Grouped([]apply.Reason{
		pod("a", "FailedScheduling: 0/3 nodes", 0), pod("b", "FailedScheduling: 0/3 nodes", 0), pod("c", "CrashLoopBackOff", 2),
		pod("c", "FailedScheduling: 0/3 nodes", 0), pod("d", "CrashLoopBackOff", 4), pod("d", "it is pending", 0),
		{Of: []string{"Deployment/x"}, Cause: "quota"},
		{Of: []string{"ReplicaSet/x-1"}, Cause: "quota"},
	}) {
		got = append(got, r.String())
	}
	want := []string{"3 pods: FailedScheduling: 0/3 nodes", "2 pods: CrashLoopBackOff after up to 4 restarts", "Pod/d: it is pending", "2 objects: quota"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Steps run in parallel, and an observer is told one event at a time.
func TestEventsAreToldOneByOne(t *testing.T) {
	var text strings.Builder
	for i := range 20 {
		fmt.Fprintf(&text, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c%d, namespace: shop}\n", i)
	}
	w := clusterfake.New()
	env := w.Env()
	var inside, events atomic.Int32
	env.Observer = ear(func(apply.Event) {
		if inside.Add(1) > 1 {
			t.Error("two events at a time")
		}
		time.Sleep(time.Millisecond)
		inside.Add(-1)
		events.Add(1)
	})
	if _, err := apply.Run(t.Context(), planned(t, w, plan.Install, revision(1, text.String())), env); err != nil || events.Load() < 40 {
		t.Errorf("%d events, %v", events.Load(), err)
	}
}

package apply_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/apply"
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/clusterfake"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

const before = `apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: shop}
data: {key: same}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: changed, namespace: shop}
data: {key: old}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: dropped, namespace: shop}
`

const after = `apiVersion: v1
kind: ConfigMap
metadata: {name: kept, namespace: shop}
data: {key: same}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: changed, namespace: shop}
data: {key: new}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: born, namespace: shop}
`

const hook = `apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  namespace: shop
  annotations: {helm.sh/hook: pre-upgrade, helm.sh/hook-delete-policy: "before-hook-creation,hook-succeeded"}
spec: {template: {spec: {containers: [{name: a, image: b}]}}}
`

func revision(version int, text string) *release.Revision {
	return &release.Revision{
		Name: "web", Namespace: "shop", Version: version, Manifest: text,
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "web", Version: "1.0.0"}},
	}
}

// installed is a cluster in which revision 1 is deployed.
func installed(t *testing.T) *clusterfake.Cluster {
	t.Helper()
	w := clusterfake.New()
	p := planned(t, w, plan.Install, revision(1, before))
	if _, err := apply.Run(t.Context(), p, w.Env()); err != nil {
		t.Fatal(err)
	}
	w.Calls, w.Log = 0, nil
	return w
}

// planned builds a plan from what is really in the cluster.
func planned(t *testing.T, w *clusterfake.Cluster, op plan.Operation, target *release.Revision) *plan.Plan {
	t.Helper()
	return plannedWith(t, w, op, target, plan.Options{})
}

func plannedWith(t *testing.T, w *clusterfake.Cluster, op plan.Operation, target *release.Revision, o plan.Options) *plan.Plan {
	t.Helper()
	in := plan.Input{
		Operation: op, Options: o, Release: release.Key{Namespace: "shop", Name: "web"}, History: clusterfake.Store{Cluster: w}.History(),
		Live: map[manifest.ID]plan.Observation{}, Predictions: map[string]plan.Prediction{},
		Pending: plan.Pending{Ours: true}, Records: plan.Records{Resource: "secrets", Namespace: "shop"},
	}
	var sent []plan.Sent
	for _, r := range plan.Sources(in.History) {
		objects, err := r.Objects()
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, plan.Sent{Revision: r.Version, Objects: objects})
	}
	in.Stored = plan.Stored(sent)
	for id, o := range w.Objects {
		in.Live[id] = plan.Observed(o.DeepCopy())
	}
	if target != nil {
		objects, err := target.Objects()
		if err != nil {
			t.Fatal(err)
		}
		in.Target = &plan.Target{Record: target, Objects: objects}
	}
	if op == plan.Upgrade {
		job, err := manifest.ParseDocument(hook, "web/templates/hook.yaml")
		if err != nil {
			t.Fatal(err)
		}
		target.Hooks = []release.Hook{{Hook: manifest.Hook{
			Name: "migrate", Kind: "Job", Manifest: hook, Events: []manifest.Event{manifest.PreUpgrade},
			DeletePolicies: []manifest.Policy{manifest.BeforeHookCreation, manifest.HookSucceeded},
		}}}
		in.Target.HookObjects = [][]manifest.Object{job}
	}
	p, _, err := plan.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	if p.Blocked() {
		t.Fatalf("blocked: %+v", p.Problems)
	}
	return p
}

func upgrade(t *testing.T, w *clusterfake.Cluster) *plan.Plan {
	next := clusterfake.Store{Cluster: w}.History().Last().Version + 1
	return planned(t, w, plan.Upgrade, revision(next, after))
}

// state returns the contents of the cluster: objects by name with their content, and the
// statuses of the records.
func state(w *clusterfake.Cluster) (objects map[string]string, statuses string) {
	objects = map[string]string{}
	for id, o := range w.Objects {
		objects[id.String()] = fmt.Sprint(o.Object["data"], o.Object["spec"])
	}
	var parts []string
	for _, r := range (clusterfake.Store{Cluster: w}).History() {
		parts = append(parts, string(r.Info.Status))
	}
	return objects, strings.Join(parts, ",")
}

// undisturbed returns the objects after an upgrade that nothing disturbs, and how many
// calls it takes.
func undisturbed(t *testing.T) (objects map[string]string, calls int) {
	t.Helper()
	w := installed(t)
	if _, err := apply.Run(t.Context(), upgrade(t, w), w.Env()); err != nil {
		t.Fatal(err)
	}
	objects, statuses := state(w)
	if statuses != "superseded,deployed" {
		t.Fatalf("statuses %s", statuses)
	}
	if _, left := objects["Job/migrate"]; left {
		t.Error("the succeeded hook is still there")
	}
	return objects, w.Calls
}

func forbidden() error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", errors.New("no"))
}

// Whichever call fails permanently, the run ends with an error, no more objects are
// written, and nothing stays pending.
func TestEveryFailureEndsInATerminalStatus(t *testing.T) {
	_, calls := undisturbed(t)
	for n := 1; n <= calls; n++ {
		t.Run(fmt.Sprintf("call %d", n), func(t *testing.T) {
			w := installed(t)
			w.Trouble = func(call int) clusterfake.Trouble {
				if call == n {
					return clusterfake.Trouble{Before: forbidden()}
				}
				return clusterfake.Trouble{}
			}
			p, env, noted := upgrade(t, w), w.Env(), ""
			env.Observer = ear(func(e apply.Event) {
				if e.Type == apply.Note {
					noted += e.Message
				}
			})
			outcome, err := apply.Run(t.Context(), p, env)
			_, statuses := state(w)
			if err == nil && statuses == "deployed,deployed" {
				if !strings.HasPrefix(noted, "the release is deployed, but ") {
					t.Errorf("it leaves the older record, and notes %q", noted)
				}
				return // the older record is left to the next run: see TestAKilledRunConverges
			}
			if err == nil {
				t.Fatal("no error")
			}
			if !apierrors.IsForbidden(err) {
				t.Errorf("the cause is lost: %v", err)
			}
			for _, line := range w.Log[n-1:] {
				if !strings.HasPrefix(line, "record ") && line != "delete Job/migrate" {
					t.Errorf("after the failure: %s", line)
				}
			}
			if strings.Contains(statuses, "pending") {
				t.Errorf("statuses %s after %q", statuses, w.Log)
			}
			if outcome.Recorded && !strings.HasSuffix(statuses, "failed") && !strings.HasSuffix(statuses, "deployed") {
				t.Errorf("statuses %s", statuses)
			}
		})
	}
}

// Whichever call fails once with a transient error, before or after it took
// effect, the outcome is the undisturbed one.
func TestEveryPassingFailureIsRetried(t *testing.T) {
	want, calls := undisturbed(t)
	faults := map[string]error{
		"500":     apierrors.NewInternalError(errors.New("etcd is away")),
		"429":     apierrors.NewTooManyRequests("slow down", 0),
		"timeout": apierrors.NewTimeoutError("too slow", 0),
		"503":     apierrors.NewServiceUnavailable("restarting"),
		"404":     proxied(http.StatusNotFound),
	}
	for name, fault := range faults {
		for n := 1; n <= calls; n++ {
			for when, what := range map[string]clusterfake.Trouble{"before": {Before: fault}, "after": {After: fault}} {
				t.Run(fmt.Sprintf("%s %s call %d", name, when, n), func(t *testing.T) {
					w := installed(t)
					w.Trouble = func(call int) clusterfake.Trouble {
						if call == n {
							return what
						}
						return clusterfake.Trouble{}
					}
					env := w.Env()
					env.Observer = ear(func(e apply.Event) {
						if e.Type == apply.StepRetried && e.Step == "" {
							t.Errorf("a retry without its step: %s", e.Message)
						}
					})
					if _, err := apply.Run(t.Context(), upgrade(t, w), env); err != nil {
						t.Fatal(err)
					}
					got, statuses := state(w)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Error(diff)
					}
					if statuses != "superseded,deployed" {
						t.Errorf("statuses %s", statuses)
					}
				})
			}
		}
	}
}

// flakyReads is a cluster in which every second read of an object fails.
type flakyReads struct {
	*clusterfake.Cluster
	looks *atomic.Int32
}

func (f flakyReads) Get(ctx context.Context, ref apply.Ref) (*unstructured.Unstructured, error) {
	if f.looks.Add(1)%2 == 0 {
		return nil, apierrors.NewServiceUnavailable("restarting")
	}
	return f.Cluster.Get(ctx, ref)
}

// After a lost answer the object is read, and read again if that fails, too.
func TestALookThatFailsIsRepeated(t *testing.T) {
	want, calls := undisturbed(t)
	for n := 1; n <= calls; n++ {
		w := installed(t)
		w.Trouble = func(call int) clusterfake.Trouble {
			if call == n {
				return clusterfake.Trouble{After: apierrors.NewServiceUnavailable("restarting")}
			}
			return clusterfake.Trouble{}
		}
		env := w.Env()
		env.Cluster = flakyReads{w, new(atomic.Int32)}
		if _, err := apply.Run(t.Context(), upgrade(t, w), env); err != nil {
			t.Errorf("call %d: %v", n, err)
		}
		if got, _ := state(w); !cmp.Equal(want, got) {
			t.Errorf("call %d: %s", n, cmp.Diff(want, got))
		}
	}
}

// Whichever call a run dies after, a new plan from the actual state leads to the
// undisturbed outcome, and nothing is pending.
func TestAKilledRunConverges(t *testing.T) {
	want, calls := undisturbed(t)
	for n := 1; n <= calls; n++ {
		t.Run(fmt.Sprintf("behind call %d", n), func(t *testing.T) {
			w := installed(t)
			dead := forbidden()
			w.Trouble = func(call int) clusterfake.Trouble {
				if call > n {
					return clusterfake.Trouble{Before: dead}
				}
				return clusterfake.Trouble{}
			}
			_, err := apply.Run(t.Context(), upgrade(t, w), w.Env())
			w.Trouble = func(int) clusterfake.Trouble { return clusterfake.Trouble{} }
			if err != nil || n < calls {
				if _, err := apply.Run(t.Context(), upgrade(t, w), w.Env()); err != nil {
					t.Fatal(err)
				}
			}
			got, statuses := state(w)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if strings.Contains(statuses, "pending") || strings.Count(statuses, "deployed") != 1 || !strings.HasSuffix(statuses, "deployed") {
				t.Errorf("statuses %s", statuses)
			}
		})
	}
}

// A run that has lost its lock writes nothing more, not even records.
func TestAFencedRunStops(t *testing.T) {
	w := installed(t)
	env := w.Env()
	lost := errors.New("the lock is lost")
	env.Lock = lockUntil{func() error {
		if len(w.Log) >= 2 {
			return lost
		}
		return nil
	}, nil}
	_, err := apply.Run(t.Context(), upgrade(t, w), env)
	if !errors.Is(err, lost) {
		t.Fatalf("got %v", err)
	}
	if len(w.Log) != 2 {
		t.Errorf("it wrote on: %q", w.Log)
	}
}

// When the context ends, no new step begins and the failure is on record.
func TestACancelledRunIsRecordedAsFailed(t *testing.T) {
	w := installed(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.Trouble = func(call int) clusterfake.Trouble {
		if call == 2 {
			cancel()
		}
		return clusterfake.Trouble{}
	}
	p := upgrade(t, w)
	_, err := apply.Run(ctx, p, w.Env())
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	_, statuses := state(w)
	if statuses != "deployed,failed" {
		t.Errorf("statuses %s after %q", statuses, w.Log)
	}
	if _, there := w.Objects[manifest.ID{Group: "rbac.authorization.k8s.io", Kind: "Role", Namespace: "shop", Name: "born"}]; there {
		t.Error("a step of a later wave has begun")
	}
}

// When the context ends while the last step is under way, the run completes: a deployed
// revision is not turned into a failure, which would be rolled back.
func TestARunCancelledAtItsEndIsDone(t *testing.T) {
	undisturbed := installed(t)
	calls := 0
	undisturbed.Trouble = func(call int) clusterfake.Trouble { calls = max(calls, call); return clusterfake.Trouble{} }
	if _, err := apply.Run(t.Context(), upgrade(t, undisturbed), undisturbed.Env()); err != nil {
		t.Fatal(err)
	}
	for last := range 2 { // the record of the new revision and that of the old one
		w := installed(t)
		ctx, cancel := context.WithCancel(t.Context())
		w.Trouble = func(call int) clusterfake.Trouble {
			if call == calls-last {
				cancel()
			}
			return clusterfake.Trouble{}
		}
		if _, err := apply.Run(ctx, upgrade(t, w), w.Env()); err != nil {
			t.Errorf("cancelled at call %d of %d: %v", calls-last, calls, err)
		}
		if _, statuses := state(w); statuses != "superseded,deployed" {
			t.Errorf("cancelled at call %d of %d: statuses %s after %q", calls-last, calls, statuses, w.Log)
		}
	}
}

// A comparison knows nothing of the cluster: applying it is refused, wherever it came from.
func TestAComparisonWritesNothing(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	p.Against = &plan.Against{Kind: plan.AgainstFile, Name: "base.yaml", Offline: true}
	var compared *plan.ComparedError
	if _, err := apply.Run(t.Context(), p, w.Env()); !errors.As(err, &compared) {
		t.Fatalf("got %v", err)
	}
	if w.Calls != 0 {
		t.Errorf("it wrote %q", w.Log)
	}
}

// A plan that is blocked writes nothing.
func TestABlockedPlanWritesNothing(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	p.Summary.Blocking = 1
	if _, err := apply.Run(t.Context(), p, w.Env()); !errors.Is(err, apply.ErrBlocked) {
		t.Fatalf("got %v", err)
	}
	if w.Calls != 0 {
		t.Errorf("it wrote %q", w.Log)
	}
}

// A failing hook stops the upgrade before any resource is touched.
func TestAFailingHookStopsTheUpgrade(t *testing.T) {
	w := installed(t)
	p := upgrade(t, w)
	failing := clusterfake.FailingJobs{Cluster: w}
	env := w.Env()
	env.Cluster = failing
	_, err := apply.Run(t.Context(), p, env)
	var notReady *apply.NotReadyError
	if !errors.As(err, &notReady) || !notReady.Failed {
		t.Fatalf("got %v", err)
	}
	for _, line := range w.Log {
		if strings.Contains(line, "patch") || strings.Contains(line, "born") {
			t.Errorf("a resource was written: %q", w.Log)
		}
	}
	if phase := w.Records[2].Hooks[0].LastRun.Phase; phase != release.PhaseFailed {
		t.Errorf("the hook's phase is %q", phase)
	}
}

// What the API server says about an object may quote a secret, and many people read
// descriptions: the record omits the secret and keeps the rest of the message.
func TestARecordQuotesNoSecret(t *testing.T) {
	w := clusterfake.New()
	p := planned(t, w, plan.Install, revision(1, `apiVersion: v1
kind: Secret
metadata: {name: login, namespace: shop}
stringData: {key: canary-4711}
`))
	w.Trouble = func(call int) clusterfake.Trouble {
		if call == 2 { // after the pending record
			return clusterfake.Trouble{Before: fmt.Errorf("the key canary-4711 is too weak: %w", forbidden())}
		}
		return clusterfake.Trouble{}
	}
	if _, err := apply.Run(t.Context(), p, w.Env()); err == nil {
		t.Fatal("it went through")
	}
	got := w.Records[1].Info.Description
	if strings.Contains(got, "canary-4711") || !strings.Contains(got, "is too weak") {
		t.Errorf("the description is %q", got)
	}
}

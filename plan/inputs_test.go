package plan

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// shopInput returns an operation on a release of two ConfigMaps, a and b, which are live and have drifted.
func shopInput(op Operation) Input {
	record := &release.Revision{Name: "web", Namespace: "shop", Version: 3, Info: release.Info{Status: release.StatusDeployed}}
	in := Input{
		Operation: op, Release: record.Key(), History: release.History{record}, Live: map[manifest.ID]Observation{},
		Target: &Target{Record: record}, Predictions: map[string]Prediction{}, Options: Options{ServerSide: true, ForceConflicts: true},
	}
	for minute, name := range []string{"a", "b"} {
		id := manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: name}
		doc := func(text string) *unstructured.Unstructured {
			u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"text": text}}}
			u.SetName(name)
			u.SetNamespace("shop")
			return u
		}
		o := manifest.Object{ID: id, Version: "v1", Doc: doc("wanted")}
		in.Target.Objects = append(in.Target.Objects, o)
		in.Stored = append(in.Stored, StoredObject{ID: id, Docs: []manifest.Object{o}, Revision: 3, Revisions: []int{3}})
		live := owned(doc("by hand"), in.Release)
		live.SetUID("1")
		live.SetCreationTimestamp(metav1.NewTime(time.Date(2026, 11, 24, 12, minute, 0, 0, time.UTC)))
		in.Live[id] = Observed(live)
		after := live.DeepCopy()
		after.Object["data"] = map[string]any{"text": "wanted"}
		in.Predictions["resources/"+id.Key()] = Prediction{After: after}
	}
	return in
}

// builtOf returns the ops of the plan's resources, by name, and the plan.
func builtOf(t *testing.T, in Input) (string, *Plan) {
	t.Helper()
	p, _, err := Build(in)
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	p.Steps(func(stage StageName, s *Step) {
		if stage == StageResources {
			ops = append(ops, s.Object.Name+" "+string(s.Op))
		}
	})
	slices.Sort(ops)
	return strings.Join(ops, ", "), p
}

// An uninstall keeps the objects that it spares, by name or by age, says why, and does not wait
// for them.
func TestSparedIsKept(t *testing.T) {
	for _, tc := range []struct {
		why   string
		spare Spare
		want  string
	}{
		{"nothing", Spare{}, "a delete, b delete"},
		{"by name", Spare{Objects: map[manifest.ID]bool{{Kind: "ConfigMap", Namespace: "shop", Name: "b"}: true}}, "a delete, b keep"},
		{"by age", Spare{Before: metav1.NewTime(time.Date(2026, 11, 24, 12, 0, 30, 0, time.UTC))}, "a keep, b delete"},
	} {
		in := shopInput(Uninstall)
		in.Spare, in.Options.Wait = tc.spare, true
		ops, p := builtOf(t, in)
		if ops != tc.want {
			t.Errorf("%s: %s, want %s", tc.why, ops, tc.want)
		}
		p.Steps(func(_ StageName, s *Step) {
			if s.Op == OpKeep && s.Why != "it existed before the release took it over" {
				t.Errorf("%s: %s is kept because %q", tc.why, s.Object, s.Why)
			}
		})
		if p.Summary.Waits != p.Summary.Delete {
			t.Errorf("%s: %d waits for %d deletions", tc.why, p.Summary.Waits, p.Summary.Delete)
		}
	}
}

// Drift that can't be corrected blocks all corrections, or is left and reported.
func TestDriftIsCorrectedPartly(t *testing.T) {
	in := shopInput(CorrectDrift)
	in.Predictions["resources//ConfigMap/shop/a"] = Prediction{Refused: &Refusal{Reason: "Invalid", Message: "no"}}
	if ops, p := builtOf(t, in); ops != "a patch, b patch" || !p.Blocked() {
		t.Errorf("%s, blocked %t", ops, p.Blocked())
	}
	in.DriftScope.Partly = true
	ops, p := builtOf(t, in)
	if ops != "a none, b patch" || p.Blocked() || p.Summary.Warnings != 2 {
		t.Errorf("%s, blocked %t, %v", ops, p.Blocked(), p.Problems)
	}
	if objects, why := p.Uncorrected(); len(objects) != 1 || objects[0].Name != "a" || why[0] != noDryRun {
		t.Errorf("left are %v, %q", objects, why)
	}
}

// What is left as it is bears no risk.
func TestDriftThatIsLeftIsNoRisk(t *testing.T) {
	in := shopInput(CorrectDrift)
	in.Options.Force, in.DriftScope.Partly = true, true
	in.Predictions["resources//ConfigMap/shop/a"] = Prediction{Refused: &Refusal{Reason: "Invalid", Immutable: true}}
	ops, p := builtOf(t, in)
	if _, why := p.Uncorrected(); ops != "a none, b patch" || len(why) != 1 || why[0] != wouldReplace {
		t.Errorf("%s, left because %q", ops, why)
	}
	if p.Summary.Risks != (RiskCounts{}) {
		t.Errorf("risks %+v of what is not done", p.Summary.Risks)
	}
}

// Build removes from a step what is to be overlooked.
func TestDriftIsOverlooked(t *testing.T) {
	in := shopInput(CorrectDrift)
	in.DriftScope.Overlook = func(s *Step) Overlooked {
		if s.Object.Name == "a" {
			return Overlooked{All: true}
		}
		return Overlooked{Sent: s.Body, After: s.Before}
	}
	if ops, p := builtOf(t, in); ops != "a none, b none" || len(p.Problems) != 0 {
		t.Errorf("%s, %v", ops, p.Problems)
	}
}

// A prediction for an object that contains unknown values is only an estimate.
func TestWhatHoldsTheUnknownIsEstimated(t *testing.T) {
	in := shopInput(Upgrade)
	in.Estimated = func(body map[string]any) bool { return body["metadata"].(map[string]any)["name"] == "a" }
	_, p := builtOf(t, in)
	bodies := 0
	p.Steps(func(_ StageName, s *Step) {
		if s.Body == nil {
			return
		}
		bodies++
		if want := s.Object.Name == "a"; (s.Fidelity == FidelityEstimated && s.Estimate != "") != want {
			t.Errorf("%s is %s: %q", s.ID, s.Fidelity, s.Estimate)
		}
	})
	if bodies != 2 {
		t.Errorf("%d steps have a body, want 2", bodies)
	}
}

// Records are corrected by a plan that contains nothing else.
func TestCorrectRecords(t *testing.T) {
	record := func(version int, status release.Status) *release.Revision {
		return &release.Revision{Name: "web", Namespace: "shop", Version: version, Info: release.Info{Status: status}}
	}
	for _, tc := range []struct {
		why     string
		history release.History
		want    *Record
	}{
		{"nothing is there", nil, nil},
		{"all is well", release.History{record(1, release.StatusSuperseded), record(2, release.StatusDeployed)}, nil},
		{"the newest is pending", release.History{record(1, release.StatusDeployed), record(2, release.StatusPendingUpgrade)}, &Record{Revision: 2, Status: release.StatusFailed, Description: "told"}},
		{"two are deployed", release.History{record(1, release.StatusDeployed), record(2, release.StatusFailed), record(3, release.StatusDeployed)}, &Record{Supersede: []int{1}}},
		{"the newest has failed", release.History{record(1, release.StatusDeployed), record(2, release.StatusFailed)}, nil},
	} {
		p, open, err := Build(Input{Operation: CorrectRecords, Release: record(1, "").Key(), History: tc.history, Options: Options{Description: "told"}})
		if err != nil {
			t.Fatal(err)
		}
		var steps []*Step
		p.AllSteps(func(_ StageName, s *Step) { steps = append(steps, s) })
		switch {
		case p.Blocked(), len(open.DryRuns) > 0:
			t.Errorf("%s: %v", tc.why, p.Problems)
		case tc.want == nil && len(steps) > 0:
			t.Errorf("%s: %v", tc.why, steps[0])
		case tc.want != nil && (len(steps) != 1 || text(Step{Record: steps[0].Record}) != text(Step{Record: tc.want})):
			t.Errorf("%s: %v", tc.why, steps)
		}
	}
}

// Stamping sets the digests on a copy; the plan itself stays as it is.
func TestStamped(t *testing.T) {
	_, p := builtOf(t, shopInput(Upgrade))
	shown, encoded, err := p.Stamped(Stamp{EffectDigest: "sha256:1"})
	if err != nil || encoded != nil || shown.EffectDigest != "sha256:1" || shown.PlanDigest != "" || p.EffectDigest != "" {
		t.Errorf("%q %q %q, %v", p.EffectDigest, shown.EffectDigest, shown.PlanDigest, err)
	}
	saved, encoded, err := shown.Stamped(Stamp{EffectDigest: "sha256:1", Origin: &Origin{Commit: "1"}, Nonce: []byte("once")})
	if err != nil || saved.PlanDigest != Digest(encoded) || saved.Nonce != nil {
		t.Fatalf("%q, %v", saved.PlanDigest, err)
	}
	back, err := Decode(encoded)
	if err != nil || back.Origin.Commit != "1" || back.PlanDigest != saved.PlanDigest || back.EffectDigest != "sha256:1" || string(back.Nonce) != "once" {
		t.Errorf("%+v, %v", back, err)
	}
}

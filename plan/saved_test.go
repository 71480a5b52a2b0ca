package plan_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// configMap returns a parsed ConfigMap in namespace shop with one key.
func configMap(t testing.TB, name, value string) manifest.Object {
	t.Helper()
	objects, err := manifest.ParseDocument("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "+name+", namespace: shop}\ndata: {key: "+value+"}\n", "web/templates/c.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return objects[0]
}

// live returns the object as the cluster has it, owned by the release.
func live(o manifest.Object) *unstructured.Unstructured {
	doc := o.Doc.DeepCopy()
	doc.SetLabels(map[string]string{manifest.ManagedByLabel: manifest.ManagedByHelm})
	doc.SetAnnotations(map[string]string{manifest.ReleaseNameAnnotation: "web", manifest.ReleaseNamespaceAnnotation: "shop"})
	doc.SetUID("uid")
	doc.SetResourceVersion("1")
	return doc
}

// oneChange is the input of an upgrade that changes ConfigMap/a from 1 to 2.
func oneChange(t testing.TB) plan.Input {
	stored, target := configMap(t, "a", "v1"), configMap(t, "a", "v2")
	return plan.Input{
		Operation: plan.Upgrade, Release: release.Key{Namespace: "shop", Name: "web"}, Cluster: plan.Cluster{UID: "cluster"},
		History:     release.History{{Name: "web", Namespace: "shop", Version: 1, Chart: chartOf("1"), Info: release.Info{Status: release.StatusDeployed}}},
		Stored:      plan.Stored([]plan.Sent{{Revision: 1, Objects: []manifest.Object{stored}}}),
		Target:      &plan.Target{Record: &release.Revision{Name: "web", Namespace: "shop", Version: 2, Chart: chartOf("1"), Labels: map[string]string{"team": "a"}}, Objects: []manifest.Object{target}},
		Live:        map[manifest.ID]plan.Observation{stored.ID: plan.Observed(live(stored))},
		Predictions: map[string]plan.Prediction{},
	}
}

func build(t testing.TB, in plan.Input) *plan.Plan {
	t.Helper()
	p, _, err := plan.Build(in)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestSavedPlanComesBackWhole(t *testing.T) {
	in := oneChange(t)
	in.Secrets = [][]byte{{0xff, 'x'}}
	p := build(t, in)
	data, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	if !plan.IsSaved(data) {
		t.Error("a saved plan is not recognised as one")
	}
	back, err := plan.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := plan.Stale(p, back); len(got) != 0 {
		t.Errorf("reading it back changed it: %q", got)
	}
	if back.Record.Labels["team"] != "a" {
		t.Error("the record's labels are lost")
	}
	if diff := cmp.Diff(in.Secrets, back.Secrets); diff != "" {
		t.Errorf("what templates have read is lost (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	data, err := plan.Encode(build(t, oneChange(t)))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	_, content, _ := strings.Cut(text, `"content":{`)
	content = `{"crds":[null],` + strings.TrimSuffix(content, "}")
	emptyCRD := fmt.Sprintf(`{"kind":"kubectl-release/plan","formatVersion":%q,"sum":"%x","content":%s}`, plan.FormatVersion, sha256.Sum256([]byte(content)), content)
	for name, test := range map[string]struct{ broken, says string }{
		"cut short":                 {text[:len(text)/2], "it was cut short"},
		"without its last byte":     {text[:len(text)-1], "it was cut short"},
		"changed":                   {strings.Replace(text, `"v2"`, `"v3"`, 1), "was changed after it was made"},
		"of another major format":   {strings.Replace(text, `"formatVersion":"1.0"`, `"formatVersion":"2.0"`, 1), "has format 2.0 and this version reads 1.x: make a new plan"},
		"of a format that it isn't": {strings.Replace(text, `"formatVersion":"1.0"`, `"formatVersion":"1.7"`, 1), "was changed after it was made"},
		"with another sum":          {strings.Replace(text, `"sum":"`, `"sum":"0`, 1), "was changed after it was made"},
		"followed by more":          {text + "{}", "not a saved plan"},
		"something else":            {`{"kind":"List"}`, "not a saved plan"},
		"YAML":                      {"replicas: 2\n", "not a saved plan"},
		"empty":                     {``, "not a saved plan"},
		"with an empty CRD":         {emptyCRD, "the saved plan has an empty CRD: it was changed after it was made"},
		"without any content":       {`{"kind":"kubectl-release/plan","formatVersion":"1.0"}`, "was changed after it was made"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.broken == text {
				t.Fatal("the test did not break anything")
			}
			_, err := plan.Decode([]byte(test.broken))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want an error with %q", err, test.says)
			}
		})
	}
}

func TestStale(t *testing.T) {
	reviewed := build(t, oneChange(t))
	for name, test := range map[string]struct {
		change func(*plan.Input)
		stale  string // part of the text; "" means that the plan still holds
	}{
		"nothing moved":           {func(*plan.Input) {}, ""},
		"a new resourceVersion":   {func(in *plan.Input) { liveA(in).SetResourceVersion("99") }, ""},
		"another's label":         {func(in *plan.Input) { l := liveA(in).GetLabels(); l["other"] = "x"; liveA(in).SetLabels(l) }, ""},
		"a new status":            {func(in *plan.Input) { liveA(in).Object["status"] = map[string]any{"phase": "x"} }, ""},
		"the field itself moved":  {func(in *plan.Input) { setKey(in, "v9") }, "ConfigMap/a was changed since the plan was made: data.key v1 → v9"},
		"somebody did it already": {func(in *plan.Input) { setKey(in, "v2") }, "no longer needed"},
		"a namesake":              {func(in *plan.Input) { liveA(in).SetUID("other") }, "created again since"},
		"it was deleted":          {func(in *plan.Input) { in.Live[in.Stored[0].ID] = plan.Observation{} }, "was planned"},
		"a newer revision": {func(in *plan.Input) {
			newer := *in.History[0]
			newer.Version = 2
			in.History = append(in.History, &newer)
		}, "was at revision 1"},
		"a run of it was killed": {func(in *plan.Input) {
			pending := *in.History[0]
			pending.Version, pending.Info.Status = 2, release.StatusPendingUpgrade
			in.History = append(in.History, &pending)
		}, "a run that wrote revision 2 was interrupted: what it did is kept"},
		"another cluster": {func(in *plan.Input) { in.Cluster.UID = "other" }, "another cluster"},
	} {
		t.Run(name, func(t *testing.T) {
			in := oneChange(t)
			test.change(&in)
			got := said(plan.Stale(reviewed, build(t, in)))
			if test.stale == "" && got != "" {
				t.Errorf("the plan is called stale: %s", got)
			}
			if !strings.Contains(got, test.stale) {
				t.Errorf("got %q, want something with %q", got, test.stale)
			}
		})
	}
}

// Only what is done counts: if nothing is done to an object, a namesake is as good as
// the object was.
func TestStaleOverlooksANamesakeThatNeedsNothing(t *testing.T) {
	unchanged := func(uid types.UID) *plan.Plan {
		in := oneChange(t)
		setKey(&in, "v1")
		liveA(&in).SetUID(uid)
		in.Target.Objects = in.Stored[0].Docs
		return build(t, in)
	}
	if got := plan.Stale(unchanged("one"), unchanged("other")); len(got) > 0 {
		t.Errorf("the plan is called stale: %q", got)
	}
}

// An object is deleted through a version that the cluster serves (S15): the one
// that the record names may be gone.
func TestDeleteGoesThroughAServedVersion(t *testing.T) {
	in := oneChange(t)
	in.Target.Objects = nil
	in.Kinds = map[schema.GroupKind]plan.Kind{{Kind: "ConfigMap"}: {Versions: []string{"v2", "v3"}}}
	var deleted string
	build(t, in).Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Op == plan.OpDelete {
			deleted = s.APIVersion
		}
	})
	if deleted != "v2" {
		t.Errorf("it is deleted through %q, want v2", deleted)
	}
}

// An object that is already as wanted is adopted by a patch that the server
// accepts: it says which object is meant and nothing else.
func TestAnAdoptionWithoutChangesIsAPatch(t *testing.T) {
	in := oneChange(t)
	in.Stored, in.History = nil, nil
	id := in.Target.Objects[0].ID
	in.Live = map[manifest.ID]plan.Observation{id: plan.Observed(live(in.Target.Objects[0]))}
	found := false
	build(t, in).Steps(func(_ plan.StageName, s *plan.Step) {
		if s.Object != id {
			return
		}
		found = true
		if s.Op != plan.OpAdopt || string(s.Patch) != `{"metadata":{"uid":"uid"}}` || s.PatchType == "" {
			t.Errorf("%s with patch %s of type %q", s.Op, s.Patch, s.PatchType)
		}
	})
	if !found {
		t.Error("the plan has no step for it")
	}
}

func liveA(in *plan.Input) *unstructured.Unstructured { return in.Live[in.Stored[0].ID].Object }

func setKey(in *plan.Input, value string) {
	liveA(in).Object["data"] = map[string]any{"key": value}
}

func TestBuildGivesTheSameBytesEveryTime(t *testing.T) {
	first, err := plan.Encode(build(t, oneChange(t)))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		again, err := plan.Encode(build(t, oneChange(t)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(first), string(again)); diff != "" {
			t.Fatal(diff)
		}
	}
}

// said returns the differences as people see them.
func said(differences []plan.Difference) string {
	var lines []string
	for _, d := range differences {
		lines = append(lines, d.String())
	}
	return strings.Join(lines, "\n")
}

// A saved rollback that waits for something to go says so when it is gone by now.
func TestARollbackIsStaleWhenWhatItWaitsForIsGone(t *testing.T) {
	in := oneChange(t)
	in.Operation, in.RollbackTo = plan.Rollback, 1
	id := in.Target.Objects[0].ID
	going := in.Live[id].Object.DeepCopy()
	going.SetDeletionTimestamp(&metav1.Time{Time: time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)})
	in.Live[id] = plan.Observed(going)
	waiting := build(t, in)
	in.Live[id] = plan.Observation{}
	if got := said(plan.Stale(waiting, build(t, in))); waiting.Blocked() || !strings.Contains(got, "ConfigMap/a: it was being deleted, and is gone now") {
		t.Errorf("blocked: %v; it says %q", waiting.Blocked(), got)
	}
}

// A saved plan has a limit of entries, which each take many times their size in memory; what can't be read back is not
// saved.
func TestSavedPlansHaveALimitOfEntries(t *testing.T) {
	p, _, err := plan.Build(oneChange(t))
	if err != nil {
		t.Fatal(err)
	}
	content := fmt.Sprintf(`{"plan":{"problems":[%s{}]}}`, strings.Repeat("{},", 2_000_000))
	file := fmt.Sprintf(`{"kind":"kubectl-release/plan","formatVersion":%q,"sum":"%x","content":%s}`, plan.FormatVersion, sha256.Sum256([]byte(content)), content)
	if _, err := plan.Decode([]byte(file)); err == nil || !strings.Contains(err.Error(), "entries in lists and mappings") {
		t.Errorf("error %v", err)
	}
	p.CRDs = []manifest.Object{{Doc: &unstructured.Unstructured{Object: map[string]any{"kind": "CustomResourceDefinition", "spec": make([]any, 4_000_000)}}}}
	if _, err := plan.Encode(p); err == nil || !strings.Contains(err.Error(), "entries in lists and mappings") {
		t.Errorf("error %v", err)
	}
}

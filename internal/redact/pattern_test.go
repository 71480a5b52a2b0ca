package redact

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// sensitivePlan returns a plan that holds "sesame" in several fields; "17" is too short
// to be looked for elsewhere.
func sensitivePlan(patterns ...string) *plan.Plan {
	doc := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "web", "annotations": map[string]any{"shop.example/door": "17"}},
			"data": map[string]any{"phrase": "open sesame", "app.ini": "17", "deep": map[string]any{"a": "17", "b": "x"}},
			"list": []any{map[string]any{"name": "first", "value": "17"}, map[string]any{"containerPort": int64(80), "value": "17"}},
		}}
	}
	step := plan.Step{
		ID: "s", Op: plan.OpPatch, Object: manifest.ID{Kind: "ConfigMap", Namespace: "shop", Name: "web"},
		Body: doc(), Before: doc(), After: doc(), Patch: []byte(`{"data":{"phrase":"open sesame","app.ini":"17"}}`), PatchType: types.MergePatchType,
		Changes: []plan.Change{
			{Path: "data.phrase", From: "open sesame", To: "17"},
			{Path: "data[app.ini]", From: "17", To: "18"},
			{Path: "list", From: []any{map[string]any{"name": "first", "value": "17"}}},
			{Path: `metadata.annotations[shop.example/door]`, From: "17", To: "18"},
		},
	}
	other := step
	other.ID, other.Patch = "o", []byte(`{"data":{"phrase":"17"}}`)
	other.Object = manifest.ID{Kind: "Secret", Namespace: "shop", Name: "other"}
	other.Object.Kind = "Widget"
	other.Changes, other.Body, other.Before, other.After = nil, nil, nil, nil
	return &plan.Plan{Document: plan.Document{
		Release: release.Key{Namespace: "shop", Name: "web"},
		Options: plan.Options{Sensitive: patterns},
		Values:  []plan.Change{{Path: "data.phrase", From: "17", To: "18"}},
		Stages:  []plan.Stage{{Name: plan.StageResources, Waves: []plan.Wave{{Steps: []plan.Step{step, other}}}}},
	}, Bundle: plan.Bundle{Notes: "say: open sesame"}}
}

// TestSensitivePatterns counts what is left of the value 17 in the plan's JSON,
// and whether the phrase that recurs in the notes is masked there.
func TestSensitivePatterns(t *testing.T) {
	const all = 25
	for name, c := range map[string]struct {
		pattern string
		left    int
		phrase  bool
	}{
		"without one everything is shown":           {"", all, true},
		"a field of every object, and of values":    {"data.phrase", all - 4, false},
		"of one object":                             {"ConfigMap/web:data.phrase", all - 1, false},
		"of a kind, whatever the name":              {"configmaps/w*:data.phrase", all - 1, false},
		"of another object":                         {"ConfigMap/api:data.phrase", all, true},
		"of values only":                            {"values:data.phrase", all - 2, true},
		"a key with dots as the plan prints it":     {"data[app.ini]", all - 6, true},
		"a field inside a text is the text":         {"data[app.ini] db.password", all - 6, true},
		"also without brackets":                     {"ConfigMap/web:data.phrase words[0]", all - 1, false},
		"all below a field":                         {"ConfigMap:data", all - 10, false},
		"an item of a list by its name":             {"list[first].value", all - 4, true},
		"an item of a list by its port":             {"list[80]", all - 3, true},
		"every item of a list":                      {"list[*].value", all - 7, true},
		"an annotation whose name has a slash":      {"metadata.annotations[shop.example/door]", all - 5, true},
		"a wildcard reaches beyond the slash":       {"metadata.annotations.shop*", all - 5, true},
		"a JSON patch is masked by its pointer":     {"Widget:data.phrase", all - 1, true},
		"a field that is not there changes nothing": {"data.none.below", all, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := sensitivePlan()
			if c.pattern != "" {
				if err := CheckPattern(c.pattern); err != nil {
					t.Fatal(err)
				}
				p = sensitivePlan(c.pattern)
			}
			redacted := Plan(p)
			left := 0
			redacted.Steps(func(_ plan.StageName, s *plan.Step) { left += count17(t, s) })
			left += count17(t, redacted.Values)
			if left != c.left {
				t.Errorf("17 is there %d times, want %d", left, c.left)
			}
			if got := strings.Contains(redacted.Notes, "open sesame"); got != c.phrase {
				t.Errorf("the notes show the phrase: %v; %s", got, redacted.Notes)
			}
		})
	}
}

// count17 counts 17 and 18 in the JSON of a value, patches decoded.
func count17(t *testing.T, v any) int {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if s, ok := v.(*plan.Step); ok {
		n = strings.Count(string(s.Patch), `"17"`)
	}
	return n + strings.Count(string(raw), `"17"`) + strings.Count(string(raw), `"18"`)
}

// The pattern of a list's item is in the form of the object's fields; the plan shows an item that has
// only a name and a value in a shorter form.
func TestSensitiveItemsThatThePlanShortens(t *testing.T) {
	const container = "spec.template.spec.containers[web]"
	workload := func(pin string) map[string]any {
		return map[string]any{"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": map[string]any{
			"template": map[string]any{"spec": map[string]any{"containers": []any{map[string]any{
				"name": "web",
				"env":  []any{map[string]any{"name": "API", "value": pin}, map[string]any{"name": "OPEN", "value": "x" + pin}},
				"ports": []any{
					map[string]any{"containerPort": int64(53), "protocol": "UDP", "hostIP": pin + "2"},
					map[string]any{"containerPort": int64(53)},
				},
			}}}},
			"volumeClaimTemplates": []any{map[string]any{
				"metadata": map[string]any{"name": "data"}, "spec": map[string]any{"storageClassName": pin + "1"},
			}},
		}}
	}
	emptied := workload("")
	emptied["spec"] = map[string]any{"template": map[string]any{"spec": map[string]any{"containers": []any{
		map[string]any{"name": "web", "env": []any{map[string]any{"name": "OTHER", "value": "9"}}},
	}}}}
	for name, c := range map[string]struct {
		after map[string]any
		// hidden are the paths of the masked changes.
		hidden []string
	}{
		"changed": {workload("4712"), []string{container + ".env[API]", container + ".ports[53/UDP].hostIP", "spec.volumeClaimTemplates[data].spec.storageClassName"}},
		"removed": {emptied, []string{container + ".env[API]", container + ".ports[53/UDP]", "spec.volumeClaimTemplates[data]"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := &plan.Plan{Document: plan.Document{Options: plan.Options{Sensitive: []string{
				container + ".env[API].value", container + ".ports[53/UDP].hostIP", "spec.volumeClaimTemplates[data].spec.storageClassName",
			}}}}
			step := plan.Step{ID: "s", Op: plan.OpPatch, Object: manifest.ID{Group: "apps", Kind: "StatefulSet", Name: "web"}, Before: &unstructured.Unstructured{Object: workload("4711")}}
			for _, change := range fielddiff.Compare(workload("4711"), c.after) {
				step.Changes = append(step.Changes, plan.Change{Path: change.Path, From: change.From, To: change.To})
			}
			p.Stages = []plan.Stage{{Waves: []plan.Wave{{Steps: []plan.Step{step}}}}}
			var hidden []string
			Plan(p).Steps(func(_ plan.StageName, s *plan.Step) {
				for _, change := range s.Changes {
					raw, _ := json.Marshal(change)
					if strings.Contains(string(raw), "(sensitive ") {
						hidden = append(hidden, change.Path)
					}
				}
				if raw, _ := json.Marshal(s.Before); strings.Contains(string(raw), `"4711`) {
					t.Errorf("the object shows them: %s", raw)
				}
			})
			if !slices.Equal(hidden, c.hidden) {
				t.Errorf("%q are hidden, want %q", hidden, c.hidden)
			}
		})
	}
}

func TestCheckSensitive(t *testing.T) {
	for pattern, want := range map[string]string{
		"data.token": "", "ConfigMap/*:data.token": "", "values:auth": "", "data[a:b]": "", "ConfigMap/web:data[app.json] db.password": "", "Deployment:spec.containers[web].env[A].value": "",
		"": "names no field", "ConfigMap:": "names no field", ":data": "names no object", "Config[Map": "",
		"a[b": "",
	} {
		err := CheckPattern(pattern)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", pattern, err, want)
		}
	}
}

// What is hidden must not reach what apply sends.
func TestSensitiveLeavesThePlanAlone(t *testing.T) {
	p := sensitivePlan("data", "list[*].value")
	before, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	Plan(p)
	after, err := json.Marshal(p)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the plan was changed, %v:\n%s\n%s", err, before, after)
	}
}

// A value that was set once is masked where it recurs, although no value changes.
func TestUsersValuesAreSecretsToo(t *testing.T) {
	p := sensitivePlan()
	p.Record = &release.Revision{Config: map[string]any{"auth": map[string]any{"password": "open sesame"}}}
	if got := Plan(p).Notes; strings.Contains(got, "sesame") {
		t.Error(got)
	}
	if got := NewMask(p).Text("it said: open sesame"); strings.Contains(got, "sesame") {
		t.Error(got)
	}
	if got := NewValuesMask(p.Record.Config, nil).Text("it said: open sesame"); strings.Contains(got, "sesame") {
		t.Error(got)
	}
}

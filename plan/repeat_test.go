package plan_test

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/redact"
	"github.com/kubectl-release/kubectl-release/internal/report"
	"github.com/kubectl-release/kubectl-release/plan"
)

// TestPlanIsRepeatable makes the plan of a release of 60 objects that all change, and that of every
// scenario, 10 times: saved and printed, it is the same to the byte, in whatever order the maps of
// its input were filled.
func TestPlanIsRepeatable(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	inputs := map[string]func() (plan.Input, []refusal){"large": func() (plan.Input, []refusal) { return large(t), nil }}
	for _, path := range files {
		s := scenarioIn(t, path)
		setup := s.setup()
		inputs[filepath.Base(path)] = func() (plan.Input, []refusal) { return s.input(setup), setup.Refuse }
	}
	for name, input := range inputs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in, refuse := input()
			first := written(t, in, refuse)
			for range 9 {
				if again := written(t, shuffled(in), refuse); !bytes.Equal(again, first) {
					t.Fatalf("it comes out otherwise the next time:\n%s\n%s", first, again)
				}
			}
		})
	}
}

// written returns a plan as it is saved, followed by how it is printed.
func written(t *testing.T, in plan.Input, refuse []refusal) []byte {
	t.Helper()
	p, err := asked(in, refuse, func([]plan.Permission) plan.Access { return plan.Access{} })
	if err != nil {
		t.Fatal(err)
	}
	out, err := plan.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	b := bytes.NewBuffer(out)
	if err := report.Text(b, &redact.Plan(p).Document, report.TextOptions{Width: 110}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// shuffled returns the same input with all maps refilled in another order.
func shuffled(in plan.Input) plan.Input {
	live := refilled(in.Live)
	for id, o := range live {
		o.Object = reordered(o.Object)
		live[id] = o
	}
	in.Live, in.Kinds, in.Predictions = live, refilled(in.Kinds), nil
	in.Stored = append([]plan.StoredObject(nil), in.Stored...)
	for i := range in.Stored {
		in.Stored[i].Docs = documents(in.Stored[i].Docs)
	}
	if in.Target != nil {
		target := *in.Target
		target.Objects, target.CRDs = documents(target.Objects), documents(target.CRDs)
		target.HookObjects = slices.Clone(target.HookObjects)
		for i, objects := range target.HookObjects {
			target.HookObjects[i] = documents(objects)
		}
		in.Target = &target
	}
	return in
}

func documents(objects []manifest.Object) []manifest.Object {
	out := append([]manifest.Object(nil), objects...)
	for i := range out {
		out[i].Doc = reordered(out[i].Doc)
	}
	return out
}

func reordered(u *unstructured.Unstructured) *unstructured.Unstructured {
	if u == nil {
		return nil
	}
	doc, _ := reorderedValue(u.Object).(map[string]any)
	return &unstructured.Unstructured{Object: doc}
}

func reorderedValue(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := refilled(v)
		for k, e := range out {
			out[k] = reorderedValue(e)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = reorderedValue(e)
		}
		return out
	}
	return v
}

func refilled[K comparable, V any](m map[K]V) map[K]V {
	keys := make([]K, 0, len(m))
	for k := range maps.Keys(m) {
		keys = append(keys, k)
	}
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	out := make(map[K]V)
	for _, k := range keys {
		out[k] = m[k]
	}
	return out
}

// large returns the input of an upgrade of 60 objects: each has drift, a field that changes, one
// that is removed and one that is added, and lists whose items move.
func large(t *testing.T) plan.Input {
	in := oneChange(t)
	var stored, wanted []manifest.Object
	in.Live = map[manifest.ID]plan.Observation{}
	for i := range 20 {
		stored = append(stored, many(t, i, "1.9", "{A: '1', B: '2', C: '3', D: '4'}", "[{name: X}, {name: Y}, {name: Z, value: '1'}]")...)
		wanted = append(wanted, many(t, i, "2.0", "{B: '2', C: '4', E: '5', F: '6'}", "[{name: Z, value: '2'}, {name: X}, {name: V}, {name: W}]")...)
		for _, o := range many(t, i, "hand", "{A: '1', B: drift, C: '3', D: '4', G: '7', H: '8'}", "[{name: X, value: drift}, {name: Y}, {name: Z, value: '1'}, {name: HAND}]") {
			in.Live[o.ID] = plan.Observed(live(o))
		}
	}
	in.Stored = plan.Stored([]plan.Sent{{Revision: 1, Objects: stored}})
	target := *in.Target
	target.Objects = wanted
	in.Target, in.Predictions = &target, nil
	return in
}

func many(t *testing.T, i int, tag, data, env string) []manifest.Object {
	t.Helper()
	text := fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: c%[1]d, namespace: shop, finalizers: [a, b], annotations: %[3]s}
data: %[3]s
---
apiVersion: v1
kind: Secret
metadata: {name: s%[1]d, namespace: shop, labels: {tag: '%[2]s'}}
stringData: %[3]s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d%[1]d, namespace: shop, annotations: %[3]s}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, tag: '%[2]s'}, annotations: %[3]s}
    spec:
      containers:
      - {name: web, image: 'web:%[2]s', env: %[4]s}
      - {name: '%[2]s', image: other, env: %[4]s, resources: {limits: {cpu: 1, memory: 1Gi}}}
`, i, tag, data, env)
	objects, err := manifest.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

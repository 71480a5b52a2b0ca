package patch

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/apitypes"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
)

// generator makes small random documents of a kind: the same names come up
// often, so that documents overlap.
type generator struct{ *rand.Rand }

func (g generator) some(n int) bool { return g.IntN(n) == 0 }

func (g generator) letters() map[string]any {
	m := map[string]any{}
	for _, k := range []string{"a", "b", "c"} {
		if g.some(2) {
			m[k] = fmt.Sprint(g.IntN(2))
		}
	}
	return m
}

func (g generator) env() []any {
	var list []any
	for _, name := range []string{"A", "B", "C"} {
		for g.some(2) && len(list) < 4 {
			list = append(list, map[string]any{"name": name, "value": fmt.Sprint(g.IntN(2))})
		}
	}
	return list
}

func (g generator) ports() []any {
	var list []any
	for _, port := range []int64{53, 80} {
		for _, protocol := range []string{"TCP", "UDP"} {
			if g.some(3) {
				list = append(list, map[string]any{"containerPort": port, "protocol": protocol, "name": fmt.Sprint("p", g.IntN(2))})
			}
		}
	}
	return list
}

func (g generator) containers() []any {
	var list []any
	for _, name := range []string{"web", "side"} {
		if g.some(3) {
			continue
		}
		c := map[string]any{"name": name, "image": fmt.Sprint("i:", g.IntN(2))}
		if env := g.env(); len(env) > 0 {
			c["env"] = env
		}
		if ports := g.ports(); len(ports) > 0 {
			c["ports"] = ports
		}
		if g.some(3) {
			c["args"] = []any{fmt.Sprint(g.IntN(2))}
		}
		list = append(list, c)
	}
	return list
}

func (g generator) deployment() *unstructured.Unstructured {
	spec := map[string]any{"containers": g.containers(), "nodeSelector": g.letters()}
	if g.some(3) {
		spec["hostNetwork"] = g.some(2)
	}
	doc := map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "labels": g.letters()},
		"spec":     map[string]any{"template": map[string]any{"spec": spec}},
	}
	if g.some(2) {
		doc["spec"].(map[string]any)["replicas"] = int64(1 + g.IntN(3))
	}
	return &unstructured.Unstructured{Object: doc}
}

func (g generator) value(depth int) any {
	switch g.IntN(7) {
	case 0:
		return int64(g.IntN(3))
	case 1:
		return fmt.Sprint(g.IntN(3))
	case 2:
		return g.some(2)
	case 3:
		return []any{fmt.Sprint(g.IntN(2)), int64(g.IntN(2))}
	case 4:
		return nil
	}
	if depth == 0 {
		return "leaf"
	}
	m := map[string]any{}
	for _, k := range []string{"a", "b", "c"} {
		if g.some(2) {
			m[k] = g.value(depth - 1)
		}
	}
	return m
}

func (g generator) widget() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget",
		"metadata": map[string]any{"name": "w", "labels": g.letters()},
		"spec":     map[string]any{"a": g.value(2), "b": g.value(2)},
	}}
}

// TestMergeProperties holds for any three documents: what comes out has all of target,
// keeps what only live has, has nothing that was dropped, and merging again yields no
// patch. Agree never says yes if there is a patch.
func TestMergeProperties(t *testing.T) {
	for seed := range uint64(1000) {
		g := generator{rand.New(rand.NewPCG(seed, 1))}
		make := g.deployment
		if seed%3 == 0 {
			make = g.widget
		}
		stored, live, target := make(), make(), make()
		if seed%5 == 0 {
			stored = target.DeepCopy()
		}
		if seed%7 == 0 {
			stored = nil
		}
		checkProperties(t, fmt.Sprint("seed ", seed), stored, live, target)
		if t.Failed() {
			return
		}
	}
}

func checkProperties(t *testing.T, name string, stored, live, target *unstructured.Unstructured) {
	t.Helper()
	p, after := mustMerge(t, stored, live, target)
	root := apitypes.Of(target.GroupVersionKind())
	fail := func(what string) {
		t.Errorf("%s: %s\nstored %s\nlive   %s\ntarget %s\npatch  %s\nafter  %s",
			name, what, text(stored), text(live), text(target), p.Data, text(after))
	}
	if InSync(stored, live, target) && !p.Empty() {
		fail("Agree says that nothing is to be done")
	}
	if !has(after.Object, target.Object, root) {
		fail("target is not all there")
	}
	if lost := lostOf(prepare(live), prepare(after), unite(prepare(stored), prepare(target)), root); lost != "" {
		fail("something that was never ours is lost: " + lost)
	}
	if kept := keptOf(prepare(stored), prepare(target), prepare(after), root); kept != "" {
		fail("something that was dropped is still there: " + kept)
	}
	again, err := ThreeWay(target, after, target)
	if err != nil || !again.Empty() {
		fail(fmt.Sprintf("asking again asks for %s, %v", again.Data, err))
	}
	if !InSync(target, after, target) && unique(after) && unique(target) && !hasNull(target.Object) {
		fail("the documents agree, and Agree does not see it")
	}
}

// has reports whether doc has all that want has, by names and merge keys.
func has(doc, want any, n *apitypes.Node) bool {
	switch w := want.(type) {
	case nil:
		return true
	case map[string]any:
		d, ok := doc.(map[string]any)
		if !ok {
			return apitypes.Zero(want, n)
		}
		for k, v := range w {
			if !has(d[k], v, n.Child(k)) {
				return false
			}
		}
		return true
	case []any:
		d, _ := doc.([]any)
		if !n.Keyed() {
			return apitypes.Equal(doc, want, n) || apitypes.Zero(want, n)
		}
		byID := identities(d, n.MergeKey)
		for id, item := range identities(w, n.MergeKey) {
			if !has(byID[id], item, n.Item()) {
				return false
			}
		}
		return true
	}
	return apitypes.Equal(doc, want, n) || apitypes.Zero(want, n)
}

// lostOf names a map entry or keyed list item of live that nobody mentions and that is gone.
func lostOf(live, after, mentioned any, n *apitypes.Node) string {
	lm, ok := live.(map[string]any)
	if !ok {
		return ""
	}
	am, _ := after.(map[string]any)
	mm, mentions := mentioned.(map[string]any)
	if mentioned != nil && !mentions {
		return ""
	}
	for k, v := range lm {
		m, ours := mm[k]
		if !ours {
			if !apitypes.Equal(v, am[k], n.Child(k)) {
				return k
			}
			continue
		}
		if lost := lostOf(v, am[k], m, n.Child(k)); lost != "" {
			return k + "." + lost
		}
	}
	return ""
}

// unite returns every entry of either map; where they clash, it is a leaf: nothing
// below is claimed to be live's own.
func unite(a, b map[string]any) map[string]any {
	out := map[string]any{}
	for _, k := range jsontree.Keys(a, b) {
		av, inA := a[k]
		bv, inB := b[k]
		am, aMap := av.(map[string]any)
		bm, bMap := bv.(map[string]any)
		switch {
		case inA && !inB:
			out[k] = "leaf"
		case aMap && bMap:
			out[k] = unite(am, bm)
		case bMap && !inA:
			out[k] = bv
		default:
			out[k] = "leaf"
		}
	}
	return out
}

// keptOf names a map entry that stored had, target lacks, and after has.
func keptOf(stored, target, after map[string]any, n *apitypes.Node) string {
	for k, sv := range stored {
		c := n.Child(k)
		tv, wanted := target[k]
		av, there := after[k]
		if _, isBool := sv.(bool); !isBool && apitypes.Zero(sv, c) {
			continue
		}
		if !wanted && there && !apitypes.Zero(av, c) {
			return k
		}
		sm, ok1 := sv.(map[string]any)
		tm, ok2 := tv.(map[string]any)
		am, ok3 := av.(map[string]any)
		if ok1 && ok2 && ok3 {
			if kept := keptOf(sm, tm, am, c); kept != "" {
				return k + "." + kept
			}
		}
	}
	return ""
}

func unique(u *unstructured.Unstructured) bool { return len(DuplicateKeys(u, false)) == 0 }

func hasNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case map[string]any:
		for _, e := range v {
			if hasNull(e) {
				return true
			}
		}
	}
	return false
}

func text(u *unstructured.Unstructured) string {
	if u == nil {
		return "-"
	}
	data, _ := json.Marshal(u.Object)
	return string(data)
}

package jsontree

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// What is shared reads as before, and so does what it is shared with.
func TestShareChangesNoValue(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		v, a, b := tree(random, 4), tree(random, 4), tree(random, 4)
		wantV, wantA, wantB := Copy(v), Copy(a), Copy(b)
		if got := Share(v, a, b); !reflect.DeepEqual(got, wantV) || !reflect.DeepEqual(a, wantA) || !reflect.DeepEqual(b, wantB) {
			t.Fatalf("%v shared with %v and %v is %v", wantV, wantA, wantB, got)
		}
	}
}

func TestShareKeepsEqualPartsOnce(t *testing.T) {
	labels := func() any { return map[string]any{"app": "web", "tier": "front"} }
	first := map[string]any{"name": "a", "labels": labels(), "ports": []any{int64(80)}, "env": map[string]any{"a": nil}}
	other := map[string]any{"name": "b", "labels": labels(), "env": map[string]any{"b": nil}}
	second := map[string]any{"name": "b", "labels": labels(), "ports": []any{int64(80)}, "env": map[string]any{"b": nil}}
	got := Share(second, first, other).(map[string]any)
	for key, with := range map[string]map[string]any{"labels": first, "ports": first, "env": other} {
		if reflect.ValueOf(got[key]).Pointer() != reflect.ValueOf(with[key]).Pointer() {
			t.Errorf("%s is kept twice", key)
		}
	}
	if got["name"] != "b" || first["name"] != "a" {
		t.Errorf("names have become %v and %v", got["name"], first["name"])
	}
}

// tree makes a small document at random, in which equal parts are frequent.
func tree(random *rand.Rand, depth int) any {
	if depth == 0 {
		return []any{nil, "a", "b", int64(1), 1.5, true}[random.IntN(6)]
	}
	switch random.IntN(3) {
	case 0:
		m := map[string]any{}
		for range random.IntN(4) {
			m[[]string{"a", "b", "c"}[random.IntN(3)]] = tree(random, depth-1)
		}
		return m
	case 1:
		list := []any{}
		for range random.IntN(3) {
			list = append(list, tree(random, depth-1))
		}
		return list
	}
	return tree(random, 0)
}

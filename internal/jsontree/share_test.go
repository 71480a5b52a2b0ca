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
		a, b := tree(random, 4), tree(random, 4)
		wantA, wantB := Copy(a), Copy(b)
		if got := Share(a, b); !reflect.DeepEqual(got, wantA) || !reflect.DeepEqual(b, wantB) {
			t.Fatalf("%v shared with %v is %v", wantA, wantB, got)
		}
	}
}

func TestShareKeepsEqualPartsOnce(t *testing.T) {
	labels := func() any { return map[string]any{"app": "web", "tier": "front"} }
	first := map[string]any{"name": "a", "labels": labels(), "ports": []any{int64(80)}}
	second := map[string]any{"name": "b", "labels": labels(), "ports": []any{int64(80)}}
	got := Share(second, first).(map[string]any)
	for _, key := range []string{"labels", "ports"} {
		if reflect.ValueOf(got[key]).Pointer() != reflect.ValueOf(first[key]).Pointer() {
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

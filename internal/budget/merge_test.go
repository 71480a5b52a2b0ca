package budget

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/Masterminds/sprig/v3"
)

// Types that are not tables, which mergo looks into as well.
type (
	named map[string]any
	files map[string][]byte
	point struct{ X, Y int }
)

// Merges have the results of sprig's, whatever is merged.
func TestMergesAreSprigs(t *testing.T) {
	theirs := sprig.TxtFuncMap()
	merged, failed := 0, 0
	for seed := range uint64(3000) {
		for _, name := range []string{"merge", "mustMerge", "mergeOverwrite", "mustMergeOverwrite"} {
			tables := func() []any {
				r := rand.New(rand.NewPCG(seed, 1))
				return []any{table(r, 0), table(r, 0), table(r, 0)}
			}
			got, want := tables(), tables()
			ours := sprig.TxtFuncMap()
			new(Budget).CountMerges(ours)
			result, err := call(ours[name], got)
			wanted, wantErr := call(theirs[name], want)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("seed %d: %s %v: error %v, sprig's %v", seed, name, tables(), err, wantErr)
			}
			if err != nil || wanted == "" {
				failed++ // mergo has merged what it came to first
				continue
			}
			merged++
			if !reflect.DeepEqual(result, wanted) || !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d: %s %v:\n%#v, sprig's\n%#v", seed, name, tables(), result, wanted)
			}
		}
	}
	if merged < 3000 || failed < 10 {
		t.Errorf("%d merges and %d failures show little", merged, failed)
	}
}

// call returns the result of a function, and what it has panicked with as an error.
func call(f any, args []any) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		in[i] = reflect.ValueOf(a)
	}
	out := reflect.ValueOf(f).Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		return nil, out[1].Interface().(error)
	}
	return out[0].Interface(), nil
}

func table(r *rand.Rand, depth int) map[string]any {
	out := map[string]any{}
	for range r.IntN(5) {
		out[string(rune('a'+r.IntN(4)))] = value(r, depth)
	}
	return out
}

func value(r *rand.Rand, depth int) any {
	if depth < 3 && r.IntN(2) == 0 {
		t := table(r, depth+1)
		if r.IntN(4) == 0 {
			return named(t)
		}
		return t
	}
	scalars := []any{nil, "", "x", "y", 0, 1, 2.5, 0.0, true, false, []any{}, []any{1}, []any{"x", nil}, []string{"s"}, map[string]any(nil)}
	if others := r.IntN(40); others == 0 {
		scalars = []any{files{"f": nil}, files{"f": []byte("x"), "g": []byte{}}, map[string]string{"k": ""}, &point{1, 0}, &point{0, 2}, point{1, 2}, []byte("x")}
	}
	return scalars[r.IntN(len(scalars))]
}

// A merge costs what it goes through, not what it refers to.
func TestMergesCostWhatTheyVisit(t *testing.T) {
	large := func() map[string]any {
		t := map[string]any{}
		for i := range 1000 {
			t[fmt.Sprint(i)] = map[string]any{"a": map[string]any{"b": i}}
		}
		return t
	}
	for _, c := range []struct {
		why         string
		merged      func() []any
		least, most int
	}{
		{"the destination lacks the tables", func() []any {
			return []any{map[string]any{"name": "x"}, map[string]any{"Values": large(), "Subcharts": large()}}
		}, 3, 20},
		{"the destination is large", func() []any { return []any{large(), map[string]any{"name": "x"}} }, 2, 20},
		{"both have the tables", func() []any {
			return []any{map[string]any{"Values": large()}, map[string]any{"Values": large()}}
		}, 12_000, 25_000},
	} {
		for _, name := range []string{"merge", "mustMergeOverwrite"} {
			var b Budget
			functions := sprig.TxtFuncMap()
			b.CountMerges(functions)
			if _, err := call(functions[name], c.merged()); err != nil {
				t.Fatal(err)
			}
			if b.Steps < c.least || b.Steps > c.most {
				t.Errorf("%s, %s: %d steps, want %d to %d", c.why, name, b.Steps, c.least, c.most)
			}
		}
	}
}

// Merging tables that contain themselves, or come to while they are merged, ends.
func TestMergesOfThemselves(t *testing.T) {
	itself := func() map[string]any {
		t := map[string]any{}
		t["t"] = t
		return t
	}
	shared := map[string]any{}
	for _, tables := range [][]any{
		{itself(), itself()},
		{map[string]any{"a": shared, "b": shared}, map[string]any{"a": map[string]any{"x": shared}, "b": shared}},
	} {
		functions := sprig.TxtFuncMap()
		new(Budget).CountMerges(functions)
		_, err := call(functions["merge"], tables)
		if !errors.Is(err, errDepth) {
			t.Errorf("error %v", err)
		}
	}
}

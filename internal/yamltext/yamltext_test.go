package yamltext

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// The short way to YAML must give what the long way gives, whenever it gives
// anything; and it must be worth having.
func TestMarshal(t *testing.T) {
	taken, seeds := 0, uint64(30_000)
	for seed := range seeds {
		v := grownValue(rand.New(rand.NewPCG(seed, 2)), 0)
		got, ok := Marshal(v)
		if !ok {
			continue
		}
		taken++
		want, err := yaml.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(strings.TrimSuffix(string(want), "\n"), got); d != "" {
			t.Fatalf("seed %d: %#v\n%s", seed, v, d)
		}
	}
	if taken < int(seeds/4) {
		t.Errorf("only %d of %d values went the short way", taken, seeds)
	}
}

// FuzzMarshal does the same for any text, as key and as value.
func FuzzMarshal(f *testing.F) {
	for _, s := range yamlWords {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, v := range []any{a, map[string]any{a: b}, []any{a, map[string]any{b: []any{a}}}} {
			got, ok := Marshal(v)
			if !ok {
				continue
			}
			want, err := yaml.Marshal(v)
			if err != nil {
				t.Fatalf("%#v: %v", v, err)
			}
			if d := cmp.Diff(strings.TrimSuffix(string(want), "\n"), got); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// FuzzUnmarshalFlat compares the short way of fromYaml with the long one.
func FuzzUnmarshalFlat(f *testing.F) {
	for _, a := range yamlWords {
		f.Add("key: " + a + "\nother: b\n")
		f.Add(a + ": b")
	}
	f.Add("{}\n")
	f.Add("a: b\na: c\n")
	f.Add("a: b\n c: d\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := UnmarshalFlat(text)
		if !ok {
			return
		}
		want := map[string]any{}
		if err := yaml.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("%q: %s", text, d)
		}
	})
}

var yamlWords = []string{
	"a", "b", "key", "app.kubernetes.io/name", "/var/lib", "100m", "1Gi", "8080", "0", "01", "1.5", "1e3", "", " ", "a b", "a: b", "a:b", "a #b", "a#b",
	"yes", "No", "ON", "off", "y", "Y", "n", "true", "True", "null", "Null", "~", "-", "- a", "-a", "a-", "a1", "a2", "a10", "a01", "1a", "2a", "10a", "_x", "A", "z",
	"@a", "a@b", "*", "&a", "!a", "|", "%d", "{", "a{b", "[x]", "a,b", "'", `"`, `\`, "a\nb", "a\n", "\ta", "ü", "😀", "\x01", "\xff", "0x1F", "0o7", "1_000", "12:30:00", "a:", ":a",
	"https://example.com/a?b=c", "=", "<<", "a=b", "a+b", "$(VAR)", "$a", "a;b", "2020-01-02", "1ms", "3s", ".5", "+1", "inf", ".inf", "nan",
	"some words that are longer than the width at which the emitter folds a plain scalar, which is eighty",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"fifty characters and some spaces are not folded at all", "-1", "1.0.0", "1.2.3.4", "1.2.", ".1.2", "v1.2.3", "a/b", "n/a", "no-op", "on-call", "e5", "Infinity", "99999999999",
}

func grownValue(r *rand.Rand, depth int) any {
	words := yamlWords
	if r.IntN(3) > 0 {
		words = words[:10] // mostly plain, or little goes the short way
	}
	switch n := r.IntN(12); {
	case n < 4 && depth < 5:
		m := map[string]any{}
		for range r.IntN(5) {
			m[words[r.IntN(len(words))]] = grownValue(r, depth+1)
		}
		return m
	case n < 6 && depth < 5:
		list := []any{}
		for range r.IntN(4) {
			list = append(list, grownValue(r, depth+1))
		}
		return list
	case n == 6:
		return []any{nil, true, false, 0, -7, int64(1) << 60, 0.1, 1e6, 1e21, -0.5, 1e-7, 123456789.0, 1e15}[r.IntN(13)]
	}
	return words[r.IntN(len(words))]
}

func BenchmarkMarshal(b *testing.B) {
	v := map[string]any{"app": "web", "replicas": 3, "labels": map[string]any{"app.kubernetes.io/name": "web", "tier": "front"}, "ports": []any{80, 443}}
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			_, _ = Marshal(v)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			_, _ = yaml.Marshal(v)
		}
	})
}

func BenchmarkUnmarshalFlat(b *testing.B) {
	const text = "app.kubernetes.io/name: web\napp.kubernetes.io/instance: shop\nhelm.sh/chart: web-1.2.3\n"
	b.Run("here", func(b *testing.B) {
		for b.Loop() {
			_, _ = UnmarshalFlat(text)
		}
	})
	b.Run("library", func(b *testing.B) {
		for b.Loop() {
			_ = yaml.Unmarshal([]byte(text), &map[string]any{})
		}
	})
}

package haystack

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// alike returns that many needles that begin alike, as certificates do.
func alike(count int) []Needle {
	var out []Needle
	for i := range count {
		text := fmt.Sprintf("-----BEGIN CERTIFICATE-----\nMIIC%08x+/%d\n-----END CERTIFICATE-----", uint32(i)*2654435761, i)
		out = append(out, Needle{Text: text, Value: text, Inside: true})
	}
	return out
}

// TestManyNeedlesThatBeginAlike: finding four times as many of them in a text that has them
// all takes four times the steps, not sixteen times.
func TestManyNeedlesThatBeginAlike(t *testing.T) {
	steps := func(count int) (taken, found int) {
		needles := alike(count)
		w := &search{Finder: New(needles)}
		for _, n := range needles {
			before := leastSteps + stepsPerByte*len(n.Text)
			found += len(w.find(n.Text, maxEncodings, false))
			taken += before - w.steps
		}
		return taken, found
	}
	few, found := steps(500)
	if found < 500 {
		t.Fatalf("%d of 500 were found", found)
	}
	many, found := steps(2000)
	if found < 2000 {
		t.Fatalf("%d of 2000 were found", found)
	}
	if t.Logf("%d → %d steps", few, many); float64(many) > 4.6*float64(few) {
		t.Errorf("four times the needles take %.1f times the steps", float64(many)/float64(few))
	}
}

// A text made to look like the beginning of many needles at every other place is searched to
// its end.
func TestManyNeedlesOfWhichNoneIsThere(t *testing.T) {
	var needles []Needle
	for i := range 1 << 13 {
		needles = append(needles, Needle{Text: fmt.Sprintf("-----BEGIN-----BEGIN-----BEGIN %d", i), Inside: true})
	}
	if found := New(needles).Find(strings.Repeat("-----BEGIN", 1<<11)); len(found) > 0 {
		t.Errorf("%d places, want none: %+v", len(found), found[0])
	}
}

// TestAnOrderLosesNothing: with needles that begin alike put in order, the same is found as
// without, whatever the text does to them.
func TestAnOrderLosesNothing(t *testing.T) {
	const pieces = "ab + | \t\n%20&quot;\\n\\\"''é\u2028\x00.0"
	random := rand.New(rand.NewPCG(1, 2))
	text := func(longest int) string {
		var b strings.Builder
		for range random.IntN(longest) {
			at := random.IntN(len(pieces))
			b.WriteString(pieces[at:min(len(pieces), at+1+random.IntN(4))])
		}
		return b.String()
	}
	for range 400 {
		var needles []Needle
		for range manyNeedles + random.IntN(20) {
			needle := "abab" + text(8)
			needles = append(needles, Needle{Text: needle, Value: needle, Inside: random.IntN(2) == 0})
		}
		ordered, plain := New(needles), New(needles)
		plain.orders = nil
		for range 40 {
			n := needles[random.IntN(len(needles))].Text
			in := text(4) + strings.ReplaceAll(n, " ", []string{" ", "\n  ", "\n  | ", "+", "%20"}[random.IntN(5)]) + text(4)
			if got, want := ordered.Find(in), plain.Find(in); !slices.Equal(got, want) {
				t.Fatalf("in %q there is %+v, and with the order %+v", in, want, got)
			}
		}
	}
}

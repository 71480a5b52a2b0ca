package plan_test

import (
	"fmt"
	"testing"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// objects returns the input of an upgrade of n ConfigMaps, each with a new value
// if changed.
func objects(t testing.TB, n int, changed bool) plan.Input {
	in := oneChange(t)
	var stored, wanted []manifest.Object
	in.Live = map[manifest.ID]plan.Observation{}
	for i := range n {
		name, value := fmt.Sprintf("c%d", i), fmt.Sprintf("v%d", i)
		o := configMap(t, name, value)
		stored = append(stored, o)
		in.Live[o.ID] = plan.Observed(live(o))
		if changed {
			o = configMap(t, name, value+"-new")
		}
		wanted = append(wanted, o)
	}
	in.Stored = plan.Stored([]plan.Sent{{Revision: 1, Objects: stored}})
	in.Target = &plan.Target{Record: &release.Revision{Name: "web", Namespace: "shop", Version: 2, Chart: chartOf("1")}, Objects: wanted}
	return in
}

func BenchmarkBuildOfThousandUnchanged(b *testing.B) {
	in := objects(b, 1000, false)
	for b.Loop() {
		build(b, in)
	}
}

func BenchmarkBuildOfThousandChanged(b *testing.B) {
	in := objects(b, 1000, true)
	for b.Loop() {
		build(b, in)
	}
}

// The cost of Build grows linearly with the number of objects. It is counted in
// allocations: time says little on a busy machine (see make bench for that).
func TestBuildIsLinear(t *testing.T) {
	for name, changed := range map[string]bool{"unchanged": false, "changed": true} {
		t.Run(name, func(t *testing.T) {
			few, many := objects(t, 100, changed), objects(t, 1000, changed)
			small := testing.AllocsPerRun(1, func() { build(t, few) })
			large := testing.AllocsPerRun(1, func() { build(t, many) })
			if large > 11*small {
				t.Errorf("Build allocates %.0f times for 100 objects and %.0f times for 1,000", small, large)
			}
			if each := large / 1000; each > maxAllocations[changed] {
				t.Errorf("Build allocates %.0f times for each object, at most %.0f are allowed", each, maxAllocations[changed])
			}
		})
	}
}

// maxAllocations bounds Build's allocations per unchanged (false) or changed (true)
// object; about a third more than were measured.
var maxAllocations = map[bool]float64{false: 25, true: 480}

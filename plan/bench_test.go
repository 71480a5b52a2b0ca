package plan_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// thousand is the input of an upgrade of 1,000 ConfigMaps, with another value
// in each when changed.
func thousand(t testing.TB, changed bool) plan.Input {
	in := oneChange(t)
	var objects, wanted []manifest.Object
	in.Live = map[manifest.ID]plan.Observation{}
	for i := range 1000 {
		name, value := fmt.Sprintf("c%d", i), fmt.Sprintf("v%d", i)
		o := configMap(t, name, value)
		objects = append(objects, o)
		in.Live[o.ID] = plan.Observed(live(o))
		if changed {
			o = configMap(t, name, value+"-new")
		}
		wanted = append(wanted, o)
	}
	in.Stored = plan.Stored([]plan.Sent{{Revision: 1, Objects: objects}})
	in.Target = &plan.Target{Record: &release.Revision{Name: "web", Namespace: "shop", Version: 2, Chart: chartOf("1")}, Objects: wanted}
	return in
}

func BenchmarkBuildOfThousandUnchanged(b *testing.B) {
	in := thousand(b, false)
	for b.Loop() {
		build(b, in)
	}
}

func BenchmarkBuildOfThousandChanged(b *testing.B) {
	in := thousand(b, true)
	for b.Loop() {
		build(b, in)
	}
}

// TestBuildIsQuick holds Build to 50 ms for 1,000 objects, with room for a busy
// machine and the race detector.
func TestBuildIsQuick(t *testing.T) {
	for name, changed := range map[string]bool{"unchanged": false, "changed": true} {
		t.Run(name, func(t *testing.T) {
			in := thousand(t, changed)
			best := time.Hour
			for range 5 {
				began := time.Now()
				build(t, in)
				best = min(best, time.Since(began))
			}
			if best > 500*time.Millisecond {
				t.Errorf("Build of 1,000 objects takes %v", best)
			}
		})
	}
}

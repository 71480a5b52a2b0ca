// Package gcpacing tunes Go's garbage collector for a program that runs for seconds:
// small heaps grow with little collecting, and large ones are kept close to their live
// data. BenchmarkChurn compares it with the defaults.
package gcpacing

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// smallHeap is how large the heap may grow, in bytes, before the collector works harder:
// 1,000 objects are upgraded in it with little collecting, and together with what the
// runtime needs it is less than Helm takes.
const smallHeap = 28 << 20

// tight is whether two fifths of smallHeap are enough, expected what Expect was given, in bytes.
var (
	tight    atomic.Bool
	expected atomic.Int64
)

// A collection begins when the heap has grown by one of these percentages of what the last one
// found alive, and in a large heap after largeGrowth bytes, so the garbage does not grow with the
// live data. Above fullHeap bytes it grows by leastPercent only: together with what else the process
// holds, that is close to the 160 MB that 10,000 objects may take. A large heap must be allowed to grow,
// too: with a soft limit close above it, as there once was, the collector took three quarters of the
// processor time of 4,000 objects, since the limit also counts what the runtime itself needs.
const (
	mostPercent, againPercent, usualPercent, leastPercent = 400, 100, 35, 15

	largeGrowth, fullHeap = 16 << 20, 80 << 20
)

// Start lets small heaps grow without much collecting and keeps large ones close to their live
// data, and has most heaps consist of huge pages. It sets the GC percent of the whole process. It does nothing
// if the environment has GOGC or GOMEMLIMIT.
func Start() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	useHugePages()
	debug.SetGCPercent(mostPercent)
	last := mostPercent
	var p pace
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		if next := p.percent(live[0].Value.Uint64()); next != last {
			debug.SetGCPercent(next)
			last = next
		}
	})
}

// Tighten makes collections begin at two fifths of the size, for a command that reads many objects and
// keeps little of each, so a collection costs little.
func Tighten() { tight.Store(true) }

// Expect lets the heap grow to a size, in bytes, without much collecting, because most of what is
// allocated up to there will stay alive: a collection before that would free little. 0 ends that.
func Expect(heap int64) { expected.Store(heap) }

// Collect collects immediately and returns free memory to the system. It is for a moment when most
// of a large heap has become garbage and as much is about to be allocated again: the pace would let
// both stand side by side.
func Collect() { debug.FreeOSMemory() }

// pace decides when the next collection begins. highest is the largest size, in bytes, to which it has
// let the heap grow.
type pace struct{ highest int64 }

// percent returns the GC percent for a heap with that many live bytes. A heap that was larger before may
// grow to seven tenths of that size again, since the memory that the process takes at its peak stays the
// same; but only by againPercent, because what is alive is overestimated while a collection takes long.
func (p *pace) percent(live uint64) int {
	small := max(smallHeap, expected.Load())
	if tight.Load() {
		small = small * 2 / 5
	}
	alive := int64(max(live, 1))
	until := func(size int64) int64 { return 100 * (size - alive) / alive }
	out := min(max(until(small), min(usualPercent, 100*largeGrowth/alive, until(fullHeap)), leastPercent), mostPercent)
	p.highest = max(p.highest, alive+alive*out/100)
	return int(max(out, min(until(p.highest*7/10), againPercent)))
}

// afterEachCollection calls f after each collection: the finalizer of an unreachable
// object calls it, and leaves another such object for the next one.
func afterEachCollection(f func()) {
	var next func(*[16]byte)
	next = func(*[16]byte) {
		f()
		runtime.SetFinalizer(new([16]byte), next)
	}
	runtime.SetFinalizer(new([16]byte), next)
}

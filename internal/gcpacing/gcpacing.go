// Package gcpacing sets Go's garbage collector up for a program that runs for seconds:
// as little collecting as fits in a small heap, and large heaps kept close to what lives
// in them. BenchmarkChurn measures it beside the defaults.
package gcpacing

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
)

// smallHeap is what the heap may grow to before the collector works harder: 1,000
// objects are upgraded in it with little collecting, and with what the runtime needs
// beside it, it is less than Helm takes.
const smallHeap = 28 << 20

// halved is whether half of it is enough, and expected what Expect was told, in bytes.
var (
	halved   atomic.Bool
	expected atomic.Int64
)

// A collection begins when the heap has grown by so many per cent of what the last one has
// found alive, and a large heap when it has grown by largeGrowth, in bytes, so that what is
// garbage does not grow with what is needed. A large heap must be let grow as well: with a soft
// limit close above it, as there was one, the collector took three quarters of the processor time
// of 4,000 objects, since the limit counts what the runtime itself needs, too.
const (
	mostPercent, usualPercent, leastPercent = 400, 35, 22

	largeGrowth = 16 << 20
)

// Start lets small heaps grow without much collecting and keeps large ones close to what lives
// in them. It sets the GC percent of the whole process, and
// leaves it alone when the environment has GOGC or GOMEMLIMIT.
func Start() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(mostPercent)
	last := mostPercent
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() != metrics.KindUint64 {
			return
		}
		if next := percent(live[0].Value.Uint64()); next != last {
			debug.SetGCPercent(next)
			last = next
		}
	})
}

// Halve has the heap collected from half the size on, for a command that reads many objects
// and keeps little of each, so that a collection costs little.
func Halve() { halved.Store(true) }

// Expect lets the heap grow to a size, in bytes, without much collecting, because most of what is
// allocated up to there is going to live: a collection before that finds little. 0 ends that.
func Expect(heap int64) { expected.Store(heap) }

// Collect collects at once and returns what is free to the system. It is for a moment in which most
// of a large heap has become garbage and as much is about to be allocated again, which the pace
// would let stand side by side.
func Collect() { debug.FreeOSMemory() }

// percent is by how much a heap may grow in which so many bytes live.
func percent(live uint64) int {
	small := max(smallHeap, expected.Load())
	if halved.Load() {
		small /= 2
	}
	alive := int64(max(live, 1))
	toSmall, large := 100*(small-alive)/alive, int64(100*largeGrowth)/alive
	return int(min(max(toSmall, min(usualPercent, large), leastPercent), mostPercent))
}

// afterEachCollection calls f behind each collection: an object that nobody holds
// is found dead by each, and is followed by another one.
func afterEachCollection(f func()) {
	var next func(*[16]byte)
	next = func(*[16]byte) {
		f()
		runtime.SetFinalizer(new([16]byte), next)
	}
	runtime.SetFinalizer(new([16]byte), next)
}

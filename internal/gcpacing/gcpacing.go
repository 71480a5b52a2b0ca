// Package gcpacing sets Go's garbage collector up for a program that runs for seconds:
// as little collecting as fits in a small heap, and large heaps kept close to what lives
// in them. BenchmarkChurn measures it beside the defaults.
package gcpacing

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// softMemory is what the process may use before the garbage collector begins to
// work harder: 1,000 objects are upgraded in it with little collecting, and it is
// less than Helm needs.
const softMemory = 46 << 20

// Start lets small heaps grow without much collecting and keeps large
// ones close to what lives in them: the soft limit is softMemory or, where more
// than that is needed, three quarters above what the last collection has found
// alive. It sets GC percent and memory limit of the whole process, and leaves both alone
// when the environment has GOGC or GOMEMLIMIT.
func Start() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(softMemory)
	afterEachCollection(func() {
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(live)
		if live[0].Value.Kind() == metrics.KindUint64 {
			debug.SetMemoryLimit(max(softMemory, int64(live[0].Value.Uint64()/4*7)))
		}
	})
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

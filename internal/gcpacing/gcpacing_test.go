package gcpacing

import (
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"time"
)

// BenchmarkChurn keeps 10 MB alive, as a plan of a thousand objects does, and makes twenty times as
// much garbage; it reports how much of the processor the collector takes and how large the heap gets,
// with and without Start. Each runs in a process of its own: the settings are the process's.
func BenchmarkChurn(b *testing.B) {
	for _, paced := range []string{"", "paced"} {
		b.Run("paced="+strconv.FormatBool(paced != ""), func(b *testing.B) {
			for b.Loop() {
				command := exec.Command(os.Args[0], "-test.run", "^TestChurn$", "-test.v")
				command.Env = append(os.Environ(), "CHURN="+paced, "CHURNING=1")
				out, err := command.Output()
				if err != nil {
					b.Fatal(err)
				}
				for line := range strings.Lines(string(out)) {
					name, value, found := strings.Cut(strings.TrimSpace(line), "=")
					if number, err := strconv.ParseFloat(value, 64); found && err == nil {
						b.ReportMetric(number, name)
					}
				}
			}
		})
	}
}

// TestChurn is the process that BenchmarkChurn measures. On its own it shows that the percentage
// follows what is alive.
func TestChurn(t *testing.T) {
	if os.Getenv("CHURNING") == "" || os.Getenv("CHURN") != "" {
		Start()
	}
	var alive [][]byte
	for range 10 << 20 / 1024 {
		alive = append(alive, make([]byte, 1024))
	}
	for i := range 200 << 20 / 1024 {
		alive[i%len(alive)] = make([]byte, 1024)
	}
	read := func(name string) metrics.Value {
		sample := []metrics.Sample{{Name: name}}
		metrics.Read(sample)
		return sample[0].Value
	}
	if os.Getenv("CHURNING") != "" {
		t.Logf("\ncollections=%d\nMB=%d", read("/gc/cycles/total:gc-cycles").Uint64(), read("/memory/classes/total:bytes").Uint64()>>20)
		return
	}
	percent := func() uint64 { return read("/gc/gogc:percent").Uint64() }
	// A finalizer sets it, whenever it gets its turn; and on a busy machine the last collection may have
	// counted much of what was allocated meanwhile as alive.
	fits := func(percent uint64) bool { return percent >= usualPercent && percent < mostPercent }
	for tries := 0; !fits(percent()) && tries < 10_000; tries++ {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if now := percent(); !fits(now) {
		t.Errorf("a heap in which 10 MiB live may grow by %d %%", now)
	}
	runtime.KeepAlive(alive)
}

// TestPercent: small heaps grow to smallHeap, larger ones by usualPercent, large ones by largeGrowth
// or to fullHeap, and none by less than leastPercent or more than mostPercent.
func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: mostPercent, 1 << 20: mostPercent, smallHeap / 4: 300, smallHeap / 2: 100, smallHeap: usualPercent, 2 * largeGrowth: usualPercent, 4 * largeGrowth: 25, fullHeap * 17 / 20: 17, fullHeap: leastPercent, 20 * largeGrowth: leastPercent} {
		if got := new(pace).percent(live); got != want {
			t.Errorf("with %d bytes alive: %d %%, want %d", live, got, want)
		}
	}
	Tighten()
	defer tight.Store(false)
	for live, want := range map[uint64]int{0: mostPercent, smallHeap / 10: 300, smallHeap / 5: 100, smallHeap * 2 / 5: usualPercent} {
		if got := new(pace).percent(live); got != want {
			t.Errorf("tight, with %d bytes alive: %d %%, want %d", live, got, want)
		}
	}
}

// TestAHeapMayGrowAgain: after it has been large, a heap of which less is alive is collected at seven
// tenths of that size, or at twice what is alive; and a larger one no later than before.
func TestAHeapMayGrowAgain(t *testing.T) {
	var p pace
	const peak = 64 << 20
	size := func(live uint64) uint64 { return live + live*uint64(p.percent(live))/100 }
	again := size(peak) * 7 / 10
	for live, want := range map[uint64]uint64{peak * 11 / 20: again, peak * 2 / 5: peak * 4 / 5, smallHeap / 4: smallHeap, peak: size(peak)} {
		if got := size(live); got > want || got < want*98/100 {
			t.Errorf("with %d bytes alive after %d, the heap may grow to %d, want %d", live, peak, got, want)
		}
	}
}

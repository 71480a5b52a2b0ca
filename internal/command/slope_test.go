package command

import (
	"encoding/base64"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"
)

// effort is what a command took: bytes and objects that it allocated, and processor time.
type effort struct {
	bytes, objects uint64
	cpu            time.Duration
}

// TestEffortGrowsWithTheObjects: what is done to 4,000 objects takes 4.6 times at most what
// is done to 1,000 of them, in bytes, in allocations and in processor time. Other work on the
// machine makes processor time longer, never shorter: of each line the shortest counts, and
// lines are run again as long as that is too long, and the collector stands still. (Instructions can't be counted on virtual
// machines.) What is quadratic takes sixteen times as much however often it is run.
func TestEffortGrowsWithTheObjects(t *testing.T) {
	const most, rounds = 4.6, 6
	lines := []string{
		"template lots ./lots", "install lots ./lots", "upgrade lots ./lots --set mark=x", "plan lots ./lots --set mark=x",
		"upgrade lots ./lots --set mark=x", "uninstall lots",
	}
	var few, many []effort
	for round := 1; ; round++ {
		few, many = least(few, efforts(t, 1000, lines)), least(many, efforts(t, 4000, lines))
		steep := ""
		for i, line := range lines {
			a, b := few[i], many[i]
			t.Logf("%-34s %4d → %4d MB, %8d → %8d allocations, %.2f → %.2f s", line, a.bytes>>20, b.bytes>>20, a.objects, b.objects, a.cpu.Seconds(), b.cpu.Seconds())
			if float64(b.bytes) > most*float64(a.bytes) || float64(b.objects) > most*float64(a.objects) || float64(b.cpu) > most*float64(a.cpu) {
				steep = line
			}
		}
		switch {
		case steep == "" && round > 1:
			return
		case steep != "" && round == rounds:
			t.Fatalf("%s: four times the objects take more than %.1f times as much", steep, most)
		}
	}
}

// least is of each line the least that it took.
func least(a, b []effort) []effort {
	if a == nil {
		return b
	}
	out := make([]effort, len(a))
	for i := range a {
		out[i] = effort{min(a[i].bytes, b[i].bytes), min(a[i].objects, b[i].objects), min(a[i].cpu, b[i].cpu)}
	}
	return out
}

// efforts runs lines with a chart of as many objects, in one cluster, in this order.
func efforts(t *testing.T, objects int, lines []string) []effort {
	d := atDesk(t)
	d.file("lots/Chart.yaml", "{apiVersion: v2, name: lots, version: 1.0.0}")
	d.file("lots/values.yaml", "mark: \"\"\n")
	for _, kind := range []string{"ConfigMap", "Secret"} { // each document by itself, as umbrella charts have them
		var text strings.Builder
		for i := range objects / 2 {
			value := base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "value-%08x", uint32(i)*2654435761))
			fmt.Fprintf(&text, "---\napiVersion: v1\nkind: %s\nmetadata:\n  name: {{ .Release.Name }}-%d\ndata:\n  mark: {{ .Values.mark | b64enc | quote }}\n  key: %s\n", kind, i, value)
		}
		d.file("lots/templates/"+strings.ToLower(kind)+".yaml", text.String())
	}
	var out []effort
	for _, line := range lines {
		runtime.GC()
		percent := debug.SetGCPercent(-1) // how often the collector runs is a matter of pacing, and of chance
		before := spent()
		d.must(line)
		after := spent()
		debug.SetGCPercent(percent)
		out = append(out, effort{after.bytes - before.bytes, after.objects - before.objects, after.cpu - before.cpu})
	}
	return out
}

// spent is what this process has taken so far.
func spent() effort {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return effort{memory.TotalAlloc, memory.Mallocs, time.Duration(used.Utime.Nano() + used.Stime.Nano())}
}

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

// TestEffortGrowsWithTheObjects: with 4,000 objects, each command takes at most 4.6 times the
// bytes and allocations that it takes with 1,000 of them, and less than half of the sixteen
// times as much processor time that something quadratic takes. The reference is what 1,000 take
// in the same run. Other work on the machine makes processor time longer, more so for the larger
// number, whose caches it shares: the shortest time of each line counts, lines are run
// again if that is too long, and the garbage collector is off. (Instructions can't be counted on
// virtual machines.) What grows a little too fast is for make bench, with 10,000 objects.
func TestEffortGrowsWithTheObjects(t *testing.T) {
	const rounds, quadratic = 4, 16.0
	lines := []string{
		"template lots ./lots", "install lots ./lots", "upgrade lots ./lots --set mark=x", "plan lots ./lots --set mark=x",
		"upgrade lots ./lots --set mark=x", "uninstall lots",
	}
	var few, many []effort
	for round := 1; ; round++ {
		few, many = least(few, efforts(t, 1000, lines)), least(many, efforts(t, 4000, lines))
		steep := ""
		for i, line := range lines {
			if a, b := few[i], many[i]; grows(t, line, a, b) || float64(b.cpu) > quadratic/2*float64(a.cpu) {
				steep = line
			}
		}
		switch {
		case steep == "":
			return
		case round == rounds:
			t.Fatalf("%s: what four times the objects take grows too steeply", steep)
		}
	}
}

// TestMemoryOfOfflinePlansGrowsWithTheObjects: without a cluster no kind is known to discovery,
// which must not lead to a search for each object among all others.
func TestMemoryOfOfflinePlansGrowsWithTheObjects(t *testing.T) {
	lines := []string{"plan lots ./lots --offline --against /dev/null -o html", "plan lots ./lots --offline --against ./lots --set mark=x -o markdown", "template lots ./lots --show-only templates/configmap.yaml"}
	few, many := efforts(t, 1000, lines), efforts(t, 4000, lines)
	for i, line := range lines {
		if grows(t, line, few[i], many[i]) {
			t.Errorf("%s: four times the objects take more than %.1f times as much", line, steepest)
		}
	}
}

// steepest is how many times as much 4,000 objects may take as 1,000.
const steepest = 4.6

// grows reports whether bytes or allocations grow too much.
func grows(t *testing.T, line string, few, many effort) bool {
	t.Helper()
	t.Logf("%-34s %4d → %4d MB, %8d → %8d allocations, %.2f → %.2f s", line, few.bytes>>20, many.bytes>>20, few.objects, many.objects, few.cpu.Seconds(), many.cpu.Seconds())
	return float64(many.bytes) > steepest*float64(few.bytes) || float64(many.objects) > steepest*float64(few.objects)
}

// least returns the least that each line took.
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

// efforts runs lines with a chart of that many objects, in one cluster, in this order.
func efforts(t *testing.T, objects int, lines []string) []effort {
	d := atDesk(t)
	d.file("lots/Chart.yaml", "{apiVersion: v2, name: lots, version: 1.0.0}")
	d.file("lots/values.yaml", "mark: \"\"\n")
	for _, kind := range []string{"ConfigMap", "Secret"} { // separate documents, as in umbrella charts
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

// spent returns what this process has used so far.
func spent() effort {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return effort{memory.TotalAlloc, memory.Mallocs, time.Duration(used.Utime.Nano() + used.Stime.Nano())}
}

package command

import (
	"encoding/base64"
	"fmt"
	"runtime"
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

// TestEffortGrowsWithTheObjects: what is done to 4,000 objects allocates 4.6 times at most
// what is done to 1,000 of them. Processor time, which other work on the machine
// stretches, may be twice that; what is quadratic takes sixteen times as much.
func TestEffortGrowsWithTheObjects(t *testing.T) {
	const most = 4.6
	lines := []string{
		"template lots ./lots", "install lots ./lots", "upgrade lots ./lots --set mark=x", "plan lots ./lots --set mark=x",
		"upgrade lots ./lots --set mark=x", "uninstall lots",
	}
	few, many := efforts(t, 1000, lines), efforts(t, 4000, lines)
	for i, line := range lines {
		a, b := few[i], many[i]
		t.Logf("%-34s %4d → %4d MB, %8d → %8d allocations, %.2f → %.2f s", line, a.bytes>>20, b.bytes>>20, a.objects, b.objects, a.cpu.Seconds(), b.cpu.Seconds())
		if float64(b.bytes) > most*float64(a.bytes) || float64(b.objects) > most*float64(a.objects) || float64(b.cpu) > 2*most*float64(a.cpu) {
			t.Errorf("%s: four times the objects take more than %.1f times as much", line, most)
		}
	}
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
		before := spent()
		d.must(line)
		after := spent()
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

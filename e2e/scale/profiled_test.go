//go:build cluster

package scale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-release/kubectl-release/internal/clustertest"
	"github.com/kubectl-release/kubectl-release/internal/command"
	"github.com/kubectl-release/kubectl-release/internal/gcpacing"
)

// profiledName is the name under which this binary is kubectl-release with profiles: of
// the CPU, of allocations, and of the heap at its peak. profileVariable is the environment
// variable with the prefix of the files' names.
const (
	profiledName    = "profiled"
	profileVariable = "SCALE_PROFILE"
)

// allocated is what a run of the profiled program allocated in total.
type allocated struct{ Bytes, Objects uint64 }

func runProfiled() {
	gcpacing.Start()
	prefix := os.Getenv(profileVariable)
	cpu, err := os.Create(prefix + ".cpu")
	if err == nil {
		err = pprof.StartCPUProfile(cpu)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	heap := watchHeap()
	code := command.Main(context.Background(), nil, os.Args, command.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	pprof.StopCPUProfile()
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	figures, _ := json.Marshal(allocated{memory.TotalAlloc, memory.Mallocs})
	var allocs bytes.Buffer
	_ = pprof.Lookup("allocs").WriteTo(&allocs, 0)
	for suffix, content := range map[string][]byte{".heap": heap(), ".allocs": allocs.Bytes(), ".allocated": figures} {
		if err := os.WriteFile(prefix+suffix, content, 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// watchHeap keeps the profile of the heap at its peak; the function that it returns stops
// that and returns the profile.
func watchHeap() func() []byte {
	var highest uint64
	var profile bytes.Buffer
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		for {
			select {
			case <-end:
				return
			case <-time.After(10 * time.Millisecond):
			}
			if metrics.Read(live); live[0].Value.Uint64() > highest+highest/20 {
				highest = live[0].Value.Uint64()
				profile.Reset()
				_ = pprof.Lookup("heap").WriteTo(&profile, 0)
			}
		}
	}()
	return func() []byte {
		close(end)
		<-ended
		return profile.Bytes()
	}
}

// profiledRun runs the profiled program and returns what it allocated.
func profiledRun(t testing.TB, environment []string, program, prefix string, args ...string) (a allocated) {
	t.Helper()
	u := clustertest.Measure(t, append(environment, profileVariable+"="+prefix), program, args...)
	if u.ExitCode != 0 {
		t.Fatalf("%s: exit code %d\n%s", args, u.ExitCode, u.Stderr)
	}
	text, err := os.ReadFile(prefix + ".allocated")
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%-36s %6.2f s %6.2f s CPU %4d MB, %5d MB in %9d allocations", filepath.Base(prefix), u.Wall.Seconds(), u.CPU.Seconds(), u.MaxRSS/1e6, a.Bytes/1e6, a.Objects)
	return a
}

// BenchmarkProfile runs the operations with 1,000, 4,000 and 10,000 objects against a
// quickServer and leaves the profiles of each in -profiles (make profile).
func BenchmarkProfile(b *testing.B) {
	if *profiles == "" {
		b.Skip("-profiles names no folder")
	}
	if err := os.MkdirAll(*profiles, 0o700); err != nil {
		b.Fatal(err)
	}
	program, chart := asProgram(b, profiledName), generatedChart(b)
	for _, objects := range numbers(b, "1000,4000,10000") {
		_, environment := startQuickServer(b)
		for _, o := range operations {
			name := fmt.Sprintf("%d-%s", objects, strings.NewReplacer(" ", "-", ",", "").Replace(o.name))
			profiledRun(b, environment, program, filepath.Join(*profiles, name), o.arguments(o.ours, chart, "default", objects)...)
		}
	}
}

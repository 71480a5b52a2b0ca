package clustertest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"time"
)

// quietTask is the CPU time of task on the machine on which docs/limits.md was measured,
// with nothing else running.
const quietTask = 200 * time.Millisecond

// Pace returns how many times more CPU time a fixed task takes now than on the machine on
// which docs/limits.md was measured, but at least 1. Limits of CPU time are multiplied by
// it, since what a process is charged grows with what else runs on the core. It takes
// about a second.
func Pace() float64 {
	var longest time.Duration
	for range 3 {
		longest = max(longest, task())
	}
	return max(1, float64(longest)/float64(quietTask))
}

// task does work similar to rendering (small texts, tables, sorting) and returns its CPU time.
func task() time.Duration {
	began := processor()
	for range 27 {
		table := map[string][]byte{}
		for i := range 20_000 {
			key := fmt.Sprint("key ", i%5000)
			table[key] = append(bytes.Clone(table[key]), key...)
		}
		slices.Sort(slices.Collect(maps.Keys(table)))
	}
	return processor() - began
}

// processor returns the CPU time of this process so far.
func processor() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

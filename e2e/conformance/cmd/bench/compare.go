package main

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// sample is one run of a process.
type sample struct {
	wall time.Duration
	peak int64 // bytes
}

func (b *bench) compare(t task) error {
	var helm, ours []sample
	for range b.runs {
		h, err := measure(b.helm, t.args)
		if err != nil {
			return err
		}
		o, err := measure(b.ours, t.args)
		if err != nil {
			return err
		}
		helm, ours = append(helm, h), append(ours, o)
	}
	b.record(t.name, "helm", helm)
	b.record(t.name, "ours", ours)
	h, o := median(helm), median(ours)
	ratio := float64(o.wall) / float64(h.wall)
	fmt.Printf("%-34s %10.1f %10.1f %7.2f %6.2f %10.1f %10.1f\n",
		t.name, ms(h.wall), ms(o.wall), ratio, t.goal, float64(h.peak)/1e6, float64(o.peak)/1e6)
	if ratio > t.goal {
		b.missed = append(b.missed, t.name)
	}
	if o.peak > h.peak {
		b.missed = append(b.missed, t.name+" (memory)")
	}
	return nil
}

func measure(binary string, args []string) (sample, error) {
	cmd := exec.Command(binary, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return sample{}, fmt.Errorf("%s %s: %w: %s", binary, strings.Join(args, " "), err, errs.String())
	}
	s := sample{wall: time.Since(start)}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.peak = usage.Maxrss * 1024 // Linux counts in KiB
	}
	return s, nil
}

// median returns the median of each figure.
func median(samples []sample) sample {
	walls, peaks := make([]time.Duration, 0, len(samples)), make([]int64, 0, len(samples))
	for _, s := range samples {
		walls, peaks = append(walls, s.wall), append(peaks, s.peak)
	}
	slices.Sort(walls)
	slices.Sort(peaks)
	return sample{walls[len(walls)/2], peaks[len(peaks)/2]}
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func (b *bench) record(name, tool string, samples []sample) {
	words := strings.NewReplacer(" ", "-", ",", "").Replace(name)
	for _, s := range samples {
		b.lines = append(b.lines, fmt.Sprintf("Benchmark/%s/%s 1 %d ns/op %d peak-bytes", words, tool, s.wall.Nanoseconds(), s.peak))
	}
}

func (b *bench) write() error {
	return os.WriteFile(b.out, []byte(strings.Join(b.lines, "\n")+"\n"), 0o600)
}

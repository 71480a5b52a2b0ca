// Command phases times the steps of rendering a chart, each as the minimum of
// several runs, and can write a CPU profile. It compares nothing.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

func main() {
	runs := flag.Int("runs", 20, "how often to run")
	profile := flag.String("cpuprofile", "", "file to write a CPU profile to")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err == nil {
			err = pprof.StartCPUProfile(f)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		defer pprof.StopCPUProfile()
	}
	for _, path := range flag.Args() {
		best := map[string]time.Duration{}
		for range *runs {
			if err := once(path, best); err != nil {
				fmt.Fprintln(os.Stderr, "Error:", err)
				return
			}
		}
		fmt.Println(path)
		for _, phase := range []string{"load", "dependencies", "values", "schema", "render", "classify"} {
			fmt.Printf("  %-13s %8.2f ms\n", phase, float64(best[phase].Microseconds())/1000)
		}
	}
}

func once(path string, best map[string]time.Duration) error {
	start := time.Now()
	lap := func(phase string) {
		if d := time.Since(start); best[phase] == 0 || d < best[phase] {
			best[phase] = d
		}
		start = time.Now()
	}
	c, _, err := chartload.Load(path, chartload.Options{})
	if err != nil {
		return err
	}
	lap("load")
	if c, _, err = values.ProcessDependencies(c, nil); err != nil {
		return err
	}
	lap("dependencies")
	info := values.ReleaseInfo{Name: "r", Namespace: "default", Revision: 1, IsInstall: true, Service: "Helm"}
	top, _, err := values.RenderValues(c, nil, info, templating.DefaultCapabilities())
	if err != nil {
		return err
	}
	lap("values")
	table, _ := top["Values"].(map[string]any)
	if err := values.Validate(c, table); err != nil {
		return err
	}
	lap("schema")
	out, err := templating.Render(c, top, templating.Options{})
	if err != nil {
		return err
	}
	lap("render")
	_, err = manifest.Classify(out.Files)
	lap("classify")
	return err
}

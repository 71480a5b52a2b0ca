// Command conformance renders charts with Helm and with us and compares the
// output. See README.md. It changes nothing and uses no cluster.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-release/kubectl-release/e2e/conformance/compare"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

func main() {
	var sides compare.Sides
	charts := flag.String("charts", "", "folder of charts")
	list := flag.String("cases", "", "tab-separated chart and values file (or -), with a header line; default: every chart as it is")
	only := flag.String("only", "", "run the cases whose name contains this")
	show := flag.Int("show", 1, "differences to print for each case")
	flag.StringVar(&sides.Helm, "helm", "helm", "Helm 4.3.1")
	flag.StringVar(&sides.Ours, "ours", "kubectl-release", "our binary")
	flag.StringVar(&sides.KubeVersion, "kube-version", "v1.36.3", "Kubernetes version, for both")
	flag.BoolVar(&sides.Notes, "notes", true, "compare notes too")
	flag.Parse()

	cases, err := readCases(*charts, *list)
	if err == nil {
		err = sides.Check()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
	equal, total := 0, 0
	for _, c := range cases {
		if !strings.Contains(c.Name, *only) {
			continue
		}
		total++
		if runCase(sides, c, *show) {
			equal++
		}
	}
	fmt.Printf("%d of %d cases are equal\n", equal, total)
	if equal < total {
		os.Exit(1)
	}
}

func runCase(sides compare.Sides, c compare.Case, show int) bool {
	helm, ours := sides.Run(context.Background(), c)
	found := compare.Outputs(helm, ours)
	verdict := fmt.Sprintf("%d objects", len(helm[0].Documents))
	if helm[0].Failure != "" {
		verdict = "error on both sides"
	}
	if len(found) > 0 {
		verdict = fmt.Sprintf("%d differences", len(found))
	}
	fmt.Printf("%-5t  %-100s %s\n", len(found) == 0, c.Name, verdict)
	for _, d := range found[:min(len(found), show)] {
		fmt.Println("         ", d)
	}
	return len(found) == 0
}

// readCases reads the list, or makes a case of every chart in the folder if there is none.
func readCases(charts, list string) ([]compare.Case, error) {
	if list == "" {
		return everyChart(charts)
	}
	f, err := os.Open(list)
	if err != nil {
		return nil, fmt.Errorf("read cases: %w", err)
	}
	defer f.Close()
	var cases []compare.Case
	lines := bufio.NewScanner(f)
	for first := true; lines.Scan(); first = false {
		name, file, _ := strings.Cut(lines.Text(), "\t")
		if first || name == "" {
			continue
		}
		c := compare.Case{Name: name, Chart: filepath.Join(charts, name)}
		if file != "-" && file != "" {
			c.Name += " " + filepath.Base(file)
			path := filepath.Join(charts, file)
			c.Args = []string{"-f", path}
			c.Values = values.Sources{Files: []string{path}}
		}
		cases = append(cases, c)
	}
	return cases, lines.Err()
}

func everyChart(charts string) ([]compare.Case, error) {
	entries, err := os.ReadDir(charts)
	if err != nil {
		return nil, fmt.Errorf("read charts: %w", err)
	}
	var cases []compare.Case
	for _, e := range entries {
		path := filepath.Join(charts, e.Name())
		if _, err := os.Stat(filepath.Join(path, "Chart.yaml")); err == nil || strings.HasSuffix(e.Name(), ".tgz") {
			cases = append(cases, compare.Case{Name: e.Name(), Chart: path})
		}
	}
	return cases, nil
}

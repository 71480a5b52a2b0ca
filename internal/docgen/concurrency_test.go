package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"strings"
	"testing"
)

// concurrent are the folders whose code starts goroutines, and what for. CONTRIBUTING.md names them.
var concurrent = map[string]string{
	".":                   "signals, from the start",
	"apply":               "steps of a stage, and waits",
	"chartload":           "values.yaml is parsed while the archive is unpacked",
	"internal/cluster":    "requests",
	"internal/command":    "signals, and the end of output",
	"internal/controller": "passes, leases, watches, events",
	"internal/dependency": "requests for indexes",
	"internal/engine":     "what is asked about a plan at the same time, and rendering beside it",
	"internal/setrun":     "releases of a set",
	"internal/source":     "requests for indexes and versions",
	"releasestore":        "the renewal of a lease",
	"templating":          "files are parsed in parallel",
}

// Goroutines start only in the rooms that CONTRIBUTING.md names; all others are called from one.
func TestGoroutinesStartWhereContributingSays(t *testing.T) {
	contributing, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	productFiles(t, func(name string, text []byte) {
		folder := path.Dir(name)
		if strings.HasPrefix(folder, "e2e") || isForTests(folder) || !startsGoroutine(t, name, text) {
			return
		}
		found[folder] = true
		if concurrent[folder] == "" {
			t.Errorf("%s starts a goroutine", name)
		}
	})
	for folder := range concurrent {
		if !found[folder] {
			t.Errorf("%s starts no goroutines", folder)
		}
		if folder != "." && !strings.Contains(string(contributing), "`"+folder+"`") {
			t.Errorf("CONTRIBUTING.md does not name %s", folder)
		}
	}
}

// isForTests reports whether a folder holds helpers for tests only.
func isForTests(folder string) bool {
	name := path.Base(folder)
	return strings.HasSuffix(name, "test") || strings.HasSuffix(name, "fake") || strings.HasPrefix(folder, "internal/clustertest/")
}

// startsGoroutine reports whether the file has a go statement, or calls Go of an errgroup or a WaitGroup.
func startsGoroutine(t *testing.T, name string, text []byte) bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Go" && len(n.Args) == 1 {
				found = true
			}
		}
		return !found
	})
	return found
}

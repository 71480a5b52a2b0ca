package main

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLimits compares docs/limits.md with the constants: it contains every limit with
// its value.
func TestLimits(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "limits.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(page), "\n## ")
	for _, file := range []string{"chartload/limits.go", "internal/values/limits.go", "templating/limits.go", "internal/budget/limits.go", "internal/manifest/limits.go", "internal/release/entries.go", "releasestore/codec.go", "internal/planfile/planfile.go", "internal/postrender/postrender.go", "internal/flux/build/limits.go"} {
		section := ""
		for _, s := range sections[1:] {
			if strings.Contains(s, "`"+file+"`") {
				section = s
			}
		}
		for name, value := range limitsOf(t, filepath.Join("..", "..", file)) {
			if row := rowOf(section, name); !strings.Contains(row, fmt.Sprintf("| %d |", value)) && !strings.Contains(row, "| "+inUnits(value)+" |") {
				t.Errorf("%s: %s is %d, and docs/limits.md says %q", file, name, value, row)
			}
		}
	}
}

func rowOf(section, name string) string {
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "| "+name+" ") {
			return line
		}
	}
	return ""
}

// limitsOf returns the constants of a file whose names begin with max.
func limitsOf(t *testing.T, file string) map[string]int64 {
	t.Helper()
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	constants := types.NewPackage("limits", "limits")
	for _, d := range tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			spec, ok := s.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				continue
			}
			v, err := types.Eval(files, constants, token.NoPos, types.ExprString(spec.Values[0]))
			if err != nil {
				continue // not a number on its own
			}
			name := spec.Names[0].Name
			constants.Scope().Insert(types.NewConst(token.NoPos, constants, name, v.Type, v.Value))
			if strings.HasPrefix(strings.ToLower(name), "max") {
				found[name], _ = constant.Int64Val(v.Value)
			}
		}
	}
	if len(found) == 0 {
		t.Errorf("%s has no limits", file)
	}
	return found
}

// inUnits formats a number of bytes in whole mebibytes or kibibytes.
func inUnits(n int64) string {
	if n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}

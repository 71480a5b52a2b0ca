package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	hop  = regexp.MustCompile(`(?m)^\| \d+ \| (.*) \| (.*) \| (\S+\.go) \|$`)
	code = regexp.MustCompile("`([^`]+)`")
	// function is a name such as main.run, (*Engine).act or (*cluster.Client).Patch.
	function = regexp.MustCompile(`^(?:\(\*)?(?:([a-z]+)\.)?(?:([A-Za-z]+)\)\.)?([A-Za-z]+)$`)
)

// The paths from main to an API call, and from a chart to a printed plan, go through
// functions that exist, in at most seven files.
func TestArchitectureNamesTheFunctionsThatThereAre(t *testing.T) {
	table, rest, _ := strings.Cut(architecture(t, "From main to an API call"), "\n\nA plan that is only shown")
	walk(t, table, "main.go", 6)
	wiring, below := declared(t, "internal/command", "internal/engine"), declared(t, "internal/cluster", "plan")
	for _, name := range code.FindAllStringSubmatch(rest, -1) {
		if function.MatchString(name[1]) && !wiring.has(name[1]) && (!strings.Contains(name[1], ".") || !below.has(name[1])) {
			t.Errorf("there is no %s", name[1])
		}
	}
	walk(t, architecture(t, "From a chart to a printed plan"), "internal/command/plan.go", 7)
}

// architecture returns a section of ARCHITECTURE.md.
func architecture(t *testing.T, section string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## "+section+"\n")
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// walk follows a table of hops: each begins in a file that an earlier one has reached,
// the first in start, and there are at most so many.
func walk(t *testing.T, table, start string, most int) {
	t.Helper()
	hops := hop.FindAllStringSubmatch(table, -1)
	if len(hops) < 5 || len(hops) > most {
		t.Errorf("%d hops from %s, want 5 to %d", len(hops), start, most)
	}
	reached, before := []string{start}, start
	for _, h := range hops {
		from, to, file := h[1], h[2], h[3]
		for i, name := range code.FindAllStringSubmatch(from, -1) {
			if i == 0 && !declared(t, reached...).has(name[1]) {
				t.Errorf("%s is not in %v", name[1], reached)
			} else if !declared(t, reached...).has(name[1]) && !declared(t, filepath.Dir(before), filepath.Dir(file), filepath.Dir(start), "apply").has(name[1]) {
				t.Errorf("%s is neither in %s's folder nor in %s's", name[1], before, file)
			}
		}
		for i, name := range code.FindAllStringSubmatch(to, -1) {
			if in := declared(t, file); i == 0 && !in.has(name[1]) {
				t.Errorf("%s is not in %s", name[1], file)
			} else if !in.has(name[1]) && !declared(t, filepath.Dir(file)).has(name[1]) {
				t.Errorf("%s is not in %s's folder", name[1], file)
			}
		}
		before, reached = file, append(reached, file)
	}
}

// declarations are the functions and types of some files: plain, as Type.Method,
// and both prefixed with the package's name.
type declarations map[string]bool

func (d declarations) has(name string) bool {
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	return d[name]
}

// declared returns the declarations of files, or of all files in folders.
func declared(t *testing.T, paths ...string) declarations {
	t.Helper()
	found := declarations{}
	for _, path := range paths {
		files := []string{filepath.Join("..", "..", path)}
		if !strings.HasSuffix(path, ".go") {
			var err error
			if files, err = fs.Glob(os.DirFS(files[0]), "*.go"); err != nil {
				t.Fatal(err)
			}
			for i := range files {
				files[i] = filepath.Join("..", "..", path, files[i])
			}
		}
		for _, file := range files {
			found.read(t, file)
		}
	}
	return found
}

func (d declarations) read(t *testing.T, file string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string) { d[name], d[parsed.Name.Name+"."+name] = true, true }
	for _, decl := range parsed.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			add(decl.Name.Name)
			if decl.Recv != nil {
				receiver := decl.Recv.List[0].Type
				if star, ok := receiver.(*ast.StarExpr); ok {
					receiver = star.X
				}
				if name, ok := receiver.(*ast.Ident); ok {
					add(name.Name + "." + decl.Name.Name)
				}
			}
		case *ast.GenDecl:
			for _, s := range decl.Specs {
				if typ, ok := s.(*ast.TypeSpec); ok {
					add(typ.Name.Name)
				}
			}
		}
	}
}

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

// The way from main to an API call goes by functions that there are, in the files
// that are named.
func TestArchitectureNamesTheFunctionsThatThereAre(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## From main to an API call\n")
	section, _, _ = strings.Cut(section, "\n## ")
	table, rest, _ := strings.Cut(section, "\n\nA plan that is only shown")
	before := "main.go"
	hops := hop.FindAllStringSubmatch(table, -1)
	for _, h := range hops {
		from, to, file := h[1], h[2], h[3]
		for i, name := range code.FindAllStringSubmatch(from, -1) {
			if in := declared(t, before); i == 0 && !in.has(name[1]) {
				t.Errorf("%s is not in %s", name[1], before)
			} else if !in.has(name[1]) && !declared(t, filepath.Dir(before)).has(name[1]) && !declared(t, filepath.Dir(file)).has(name[1]) && !declared(t, "apply").has(name[1]) {
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
		before = file
	}
	if len(hops) < 5 {
		t.Errorf("the table has %d hops", len(hops))
	}
	wiring, below := declared(t, "internal/command", "internal/engine"), declared(t, "internal/cluster", "plan")
	for _, name := range code.FindAllStringSubmatch(rest, -1) {
		if function.MatchString(name[1]) && !wiring.has(name[1]) && (!strings.Contains(name[1], ".") || !below.has(name[1])) {
			t.Errorf("there is no %s", name[1])
		}
	}
}

// declarations are the functions and types of some files: plain, as Type.Method,
// and both with the package's name before them.
type declarations map[string]bool

func (d declarations) has(name string) bool {
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	return d[name]
}

// declared reads files, or all files of folders.
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

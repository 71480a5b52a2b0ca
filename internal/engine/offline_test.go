package engine

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// The table of scopes agrees with the types of k8s.io/api for all kinds that
// have a client.
func TestBuiltinScopesAreTheTypes(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/api").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(string(bytes.TrimSpace(out)), "*", "*", "types*.go"))
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]manifest.Scope{} // by folder and kind
	for _, file := range files {
		for kind, scope := range scopesIn(t, file) {
			scopes[filepath.Join(filepath.Base(filepath.Dir(filepath.Dir(file))), kind)] = scope
		}
	}
	checked := 0
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		want, known := scopes[filepath.Join(filepath.Base(filepath.Dir(typ.PkgPath())), gvk.Kind)]
		if !known {
			continue
		}
		checked++
		if got := BuiltinScope(schema.GroupKind{Group: gvk.Group, Kind: gvk.Kind}); got != want {
			t.Errorf("%s: scope %v, want %v", gvk, got, want)
		}
	}
	if checked < 80 {
		t.Errorf("only %d kinds were found", checked)
	}
}

// scopesIn returns the scopes of the kinds in a file for which clients are generated.
func scopesIn(t *testing.T, file string) map[string]manifest.Scope {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	scopes := map[string]manifest.Scope{}
	for _, d := range parsed.Decls {
		types, ok := d.(*ast.GenDecl)
		if !ok || types.Tok != token.TYPE {
			continue
		}
		// Tags are in a separate comment above the type's.
		var tags strings.Builder
		for _, c := range parsed.Comments {
			if c.End() < types.Pos() && c.Pos() > lastBefore(parsed, types) {
				for _, line := range c.List {
					tags.WriteString(line.Text + "\n")
				}
			}
		}
		kind := types.Specs[0].(*ast.TypeSpec).Name.Name
		switch text := tags.String(); {
		case strings.Contains(text, "// +genclient:nonNamespaced\n"):
			scopes[kind] = manifest.ScopeCluster
		case strings.Contains(text, "// +genclient\n"):
			scopes[kind] = manifest.ScopeNamespaced
		}
	}
	return scopes
}

// lastBefore returns where the declaration before d ends.
func lastBefore(file *ast.File, d ast.Decl) token.Pos {
	last := file.Name.End()
	for _, other := range file.Decls {
		if other.End() < d.Pos() {
			last = other.End()
		}
	}
	return last
}

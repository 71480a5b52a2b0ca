package kinds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
)

// spelled lists the files that name kinds by string literals of their own, and why.
var spelled = map[string]string{
	"internal/kinds/":                          "the table",
	"internal/apitypes/defaults.go":            "a default is a value of a field",
	"internal/cluster/owners.go":               "how controllers tell the revisions of pods apart is known there alone",
	"internal/cluster/diagnostics.go":          "it reads events and logs of the pods that owners.go finds",
	"internal/clustertest/":                    "objects for tests",
	"internal/engine/access.go":                "what records are kept in",
	"internal/releaseset/helmfile/template.go": ".Namespace and .Release.Namespace are no kinds",
	"internal/values/render.go":                ".Release.Namespace and .Release.Service are no kinds",
	"releasestore/configmaps.go":               "what records are kept in",
	"releasestore/secrets.go":                  "what records are kept in",
	"testcluster/":                             "another module",
}

// What the program knows about a kind is in the table: other code names kinds by this
// package's variables, so whoever adds one has one place to look at.
func TestKindsAreNamedHereAlone(t *testing.T) {
	names := map[string]bool{}
	for _, k := range All() {
		names[k.Kind], names[k.String()], names[k.Group+"/"+k.Kind], names["v1/"+k.Kind] = true, true, true, true
	}
	needed := map[string]bool{}
	root := os.DirFS("../..")
	err := fs.WalkDir(root, ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		for _, literal := range literals(t, path, text) {
			if !names[literal] {
				continue
			}
			if allowed := reason(path); allowed != "" {
				needed[allowed] = true
			} else {
				t.Errorf("%s says %q: name the kind by a variable of internal/kinds, or put the fact into its table", path, literal)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path := range spelled {
		if !needed[path] {
			t.Errorf("%s names no kind (any more)", path)
		}
	}
}

// reason returns the key of spelled that excuses a file.
func reason(path string) string {
	for key := range spelled {
		if path == key || strings.HasSuffix(key, "/") && strings.HasPrefix(path, key) {
			return key
		}
	}
	return ""
}

func literals(t *testing.T, path string, text []byte) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if s, err := strconv.Unquote(literal.Value); err == nil {
				found = append(found, s)
			}
		}
		return true
	})
	return found
}

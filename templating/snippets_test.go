package templating_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/kubectl-release/kubectl-release/chartload"
	"github.com/kubectl-release/kubectl-release/internal/objecttest"
	"github.com/kubectl-release/kubectl-release/internal/values"
	"github.com/kubectl-release/kubectl-release/templating"
)

// TestSnippets renders each file of testdata/snippets: its first line says why
// it exists, "want" is what templates/x.yaml renders to, "error" a part of the
// error. `go run ./cmd/snippets` in e2e/conformance/ compares them with Helm.
func TestSnippets(t *testing.T) {
	objecttest.Cases(t, "testdata/snippets/*.txtar", 100, runSnippet)
}

func runSnippet(t *testing.T, _ string, archive *txtar.Archive) {
	parts := objecttest.Sections(archive)
	want, expectsText := parts["want"]
	part, expectsError := parts["error"]
	if expectsText == expectsError {
		t.Fatal("a snippet has either want or error")
	}
	out, err := renderParts(t, parts)
	switch {
	case expectsError && err == nil:
		t.Errorf("want the error %q and got:\n%s", part, out)
	case expectsError && !strings.Contains(err.Error(), strings.TrimSpace(part)):
		t.Errorf("want the error %q and got:\n%v", part, err)
	case expectsText && err != nil:
		t.Errorf("%s%v", archive.Comment, err)
	case expectsText:
		if d := cmp.Diff(want, out+"\n"); d != "" {
			t.Errorf("%s%s", archive.Comment, d)
		}
	}
}

// renderParts makes a chart from the parts and returns what templates/x.yaml
// renders to. The newline that txtar adds to a template is removed.
func renderParts(t *testing.T, parts map[string]string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"Chart.yaml": "apiVersion: v2\nname: t\nversion: 1.2.3\n"}
	for name, text := range parts {
		if strings.HasPrefix(name, "templates/") {
			text = strings.TrimSuffix(text, "\n")
		}
		if name != "want" && name != "error" {
			files[name] = text
		}
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return renderFolder(t, dir)
}

func renderFolder(t *testing.T, dir string) (string, error) {
	t.Helper()
	c, _, err := chartload.Load(dir, chartload.Options{})
	if err != nil {
		t.Fatal(err)
	}
	capabilities := templating.DefaultCapabilities()
	if capabilities.KubeVersion, err = templating.ParseKubeVersion("v1.36.3"); err != nil {
		t.Fatal(err)
	}
	info := values.ReleaseInfo{Name: "r", Namespace: "default", Revision: 1, IsInstall: true, Service: "Helm"}
	top, _, err := values.RenderValues(c, nil, info, capabilities)
	if err != nil {
		t.Fatal(err)
	}
	out, err := templating.RenderBriefly(c, top, 5_000_000) // what takes too long shall not take long here
	for _, f := range out.Files {
		if f.Path == "t/templates/x.yaml" {
			return f.Content, err
		}
	}
	return "", err
}

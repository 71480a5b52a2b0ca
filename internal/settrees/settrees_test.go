package settrees

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/kubectl-release/kubectl-release/internal/gittest"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
)

const (
	one = "version: 1\ndefaults: {namespace: shop}\nreleases:\n- {name: web, chart: charts/web}\n"
	two = one + "- {name: db, chart: stable/db}\n- {name: other-db, chart: stable/db}\n- {name: queue, chart: \"oci://example.com/queue\"}\n"
)

// inFolder puts files into a folder that is no repository, and goes there.
func inFolder(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func open(t *testing.T, r Request) (*Trees, error) {
	t.Helper()
	r.Reading = func(string) (setrun.Reading, error) { return setrun.Reading{}, nil }
	return Open(t.Context(), r)
}

func names(s *setrun.Side) (out []string) {
	for _, e := range s.Set.Entries {
		out = append(out, e.Release().Name)
	}
	return out
}

// The head is what is here, the base what another folder has: the files' own, or their whole repository's.
func TestTheBaseIsAnotherFolder(t *testing.T) {
	inFolder(t, map[string]string{
		"sets/a.yaml": two, "sets/charts/web/Chart.yaml": "", "policy.yaml": "deny: []",
		"before/sets/a.yaml": one, "before/sets/charts/web/Chart.yaml": "", "before/policy.yaml": "deny: [delete]",
		"flat/a.yaml": one, "flat/charts/web/Chart.yaml": "",
	})
	for _, dir := range []string{"before", "flat"} {
		trees, err := open(t, Request{Files: []string{"sets/a.yaml"}, BaseDir: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer trees.Close()
		if diff := cmp.Diff([][]string{{"web", "db", "other-db", "queue"}, {"web"}}, [][]string{names(trees.Head), names(trees.Base)}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", dir, diff)
		}
		if !trees.PolicyChanged([]string{"policy.yaml"}) || trees.PolicyChanged([]string{"nowhere.yaml"}) {
			t.Errorf("%s: what has changed of the policies is not seen", dir)
		}
		var charts []string
		for _, c := range trees.Fetched(releaseset.Selector{}) {
			charts = append(charts, c.Name)
		}
		if diff := cmp.Diff([]string{"stable/db", "oci://example.com/queue"}, charts); diff != "" {
			t.Errorf("%s: to be fetched, -want +got:\n%s", dir, diff)
		}
	}
}

// Without a base there is nothing to compare with; a base without files is a set without releases, whose
// temporary folder goes with it.
func TestABaseWithoutFilesIsTemporary(t *testing.T) {
	inFolder(t, map[string]string{"a.yaml": one})
	t.Setenv("TMPDIR", t.TempDir())
	for base, want := range map[string]int{"": 0, os.DevNull: 1} {
		trees, err := open(t, Request{Files: []string{"a.yaml"}, BaseDir: base})
		if err != nil {
			t.Fatal(err)
		}
		if there, _ := os.ReadDir(os.TempDir()); len(there) != want || (trees.Base != nil) != (want == 1) || trees.Base != nil && len(trees.Base.Set.Entries) > 0 {
			t.Errorf("%q: %d temporary folders, base %v", base, len(there), trees.Base)
		}
		trees.Close()
		if there, _ := os.ReadDir(os.TempDir()); len(there) > 0 {
			t.Errorf("%q: %v is left over", base, there)
		}
	}
}

// What declares no release would be a false all-clear.
func TestWhatDeclaresNothingIsRefused(t *testing.T) {
	inFolder(t, map[string]string{"empty.yaml": "", "flux/notes.txt": "", "helmfiles/helmfile.yaml": "releases: []", "before/empty.yaml": one})
	for what, want := range map[string]string{
		"empty.yaml":            "empty.yaml declares no releases",
		"flux":                  "the folder flux declares no HelmRelease or Application",
		"helmfiles":             "name the file in it that declares the releases: " + filepath.Join("helmfiles", "helmfile.yaml"),
		inputfile.StandardInput: "standard input is a releases.yaml, which is read from a file only",
	} {
		_, err := open(t, Request{Files: []string{what}, Input: []byte(one)})
		if got := fmt.Sprint(err); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	trees, err := open(t, Request{Files: []string{"empty.yaml"}, BaseDir: "before"})
	if err != nil {
		t.Fatalf("the change that removes the last release: %v", err)
	}
	trees.Close()
}

// A repository may be named from outside, by its folder.
func TestARepositoryIsNamedFromOutside(t *testing.T) {
	inFolder(t, map[string]string{"fleet/web.yaml": "{apiVersion: argoproj.io/v1alpha1, kind: Application, metadata: {name: web}, spec: {source: {path: ., helm: {}}}}", "other/web.yaml": ""})
	for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a@example.com commit -qm a"} {
		git := exec.Command("git", strings.Fields(args)...)
		git.Dir = "fleet"
		if out, err := git.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
	}
	trees, err := open(t, Request{Files: []string{"fleet"}, Since: "HEAD"})
	if err != nil {
		t.Fatal(err)
	}
	defer trees.Close()
	if diff := cmp.Diff([]string{"web"}, names(trees.Base)); diff != "" {
		t.Error(diff)
	}
	_, err = open(t, Request{Files: []string{"other"}, Since: "HEAD"})
	if got := fmt.Sprint(err); !strings.Contains(got, "compare with HEAD: other is not in a Git repository") {
		t.Error(got)
	}
}

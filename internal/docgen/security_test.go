package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The tests, scenarios and pages that SECURITY.md names as proof of its promises exist.
func TestPromisesOfSecurityHaveTheirTests(t *testing.T) {
	const root = "../.."
	file := filepath.Join(root, ".github", "SECURITY.md")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	tests := testsBelow(t, root)
	named := regexp.MustCompile(`\bTest\w+`).FindAllString(page, -1)
	if len(named) < 10 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, name := range named {
		if !tests[name] {
			t.Errorf("there is no test %s", name)
		}
	}
	for _, name := range regexp.MustCompile(`\bS\d+\b`).FindAllString(page, -1) {
		if matches, _ := filepath.Glob(filepath.Join(root, "e2e/trust/testdata/scenarios", name+"-*.txtar")); len(matches) != 1 {
			t.Errorf("there is no scenario %s", name)
		}
	}
	for _, link := range regexp.MustCompile(`\]\(([^)#]+)`).FindAllStringSubmatch(page, -1) {
		if matches, _ := filepath.Glob(filepath.Join(filepath.Dir(file), link[1]) + "*"); len(matches) == 0 {
			t.Errorf("there is no %s", link[1])
		}
	}
}

// testsBelow returns the names of all tests below root.
func testsBelow(t *testing.T, root string) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range declared.FindAllStringSubmatch(string(source), -1) {
			names[found[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// SECURITY.md names the identity and the issuer that the command of docs/install.md demands, and the
// workflow of that identity exists.
func TestSecurityNamesTheSignersIdentity(t *testing.T) {
	const root = "../.."
	security, err := os.ReadFile(filepath.Join(root, ".github", "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	install, err := os.ReadFile(filepath.Join(root, "docs", "install.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`--certificate-(?:oidc-issuer|identity) (\S+)`).FindAllSubmatch(install, -1)
	if len(found) != 2 {
		t.Fatalf("docs/install.md demands %q", found)
	}
	for _, m := range found {
		if !strings.Contains(string(security), "`"+string(m[1])+"`") {
			t.Errorf("SECURITY.md does not name %s", m[1])
		}
		if _, path, workflow := strings.Cut(string(m[1]), "kubectl-release/kubectl-release/"); workflow {
			path, _, _ = strings.Cut(path, "@")
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(path))); err != nil {
				t.Error(err)
			}
		}
	}
}

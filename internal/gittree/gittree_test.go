package gittree

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shell runs a script in a new folder, which it returns, as somebody who may commit.
func shell(t *testing.T, script string) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": dir, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always",
	} {
		t.Setenv(name, value)
	}
	again(t, dir, script)
	return dir
}

// again runs a script in a folder.
func again(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// In a shallow clone of one branch, the command that the error names makes the commit known that it lacks,
// however the ref is written.
func TestTheFetchThatIsNamedWorks(t *testing.T) {
	dir := shell(t, `git init -q -b main all && cd all
git commit -q --allow-empty -m one && git commit -q --allow-empty -m two && git tag -a -m two v2 && git checkout -q -b change
git commit -q --allow-empty -m three && git commit -q --allow-empty -m four`)
	all := filepath.Join(dir, "all")
	const setting = "fetch more history with fetch-depth: 0 or "
	for ref, want := range map[string]string{
		"main": "main", "origin/main": "main", "refs/heads/main": "main", "refs/remotes/origin/main": "main", "main~1": "main~1",
		"up/stream/main": "main", "refs/remotes/up/stream/main": "main", "v2": "main", "refs/tags/v2": "main", "HASH": "main", "ABBREVIATED": "main",
		"HEAD~1": "change~1", "HEAD^": "change~1", "@~2^{commit}": "change~2", "origin/change~1": "change~1", "@{upstream}~1": "change~1",
	} {
		commit, err := commit(t.Context(), all, want)
		if err != nil {
			t.Fatal(err)
		}
		ref := strings.NewReplacer("HASH", commit, "ABBREVIATED", commit[:9]).Replace(ref)
		t.Run(strings.ReplaceAll(ref, "/", "-"), func(t *testing.T) {
			clone := filepath.Join(t.TempDir(), "clone")
			again(t, dir, "git clone -q --depth 1 --branch change -c remote.up/stream.url=file://$PWD/all -c remote.up.url=file:///nowhere file://$PWD/all "+clone)
			if strings.Contains(ref, "up/stream") {
				again(t, clone, "git config remote.origin.url file:///nowhere")
			}
			_, err := Base(t.Context(), clone, ref, func(string) string { return "" })
			if err == nil || !strings.Contains(err.Error(), setting) {
				t.Fatal(err)
			}
			_, fetch, _ := strings.Cut(err.Error(), setting)
			again(t, clone, fetch)
			if got, err := Base(t.Context(), clone, ref, func(string) string { return "" }); got != commit {
				t.Errorf("after %s the base is %q, want %s: %v", fetch, got, commit, err)
			}
		})
	}
}

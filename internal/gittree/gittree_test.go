package gittree

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/kubectl-release/kubectl-release/internal/gittest"
)

// shell runs a script in a new folder, which it returns, as somebody who may commit.
func shell(t *testing.T, script string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": dir, "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b",
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

// A submodule that git can't check out is named with git's reason, and nothing of it is there to be taken for
// the whole; the others are checked out, whatever language the user has. A run that was cancelled is no such reason.
func TestSubmodulesThatCannotBeCheckedOut(t *testing.T) {
	t.Setenv("LANGUAGE", "de")
	dir := shell(t, `for name in bad good lost; do git init -q -b main $name; (cd $name; echo "* filter=large" > .gitattributes; echo 1 > a; echo 1 > z; git add .; git commit -q -m one); done
git init -q -b main all; cd all
for name in bad good lost; do git submodule --quiet add $PWD/../$name $name; done
git commit -q -m one
git -C bad config filter.large.required true; git -C bad config filter.large.smudge 'test %f != z && test "$LANGUAGE" = en && cat || { : > "$HOME/begun"; sleep 0.2; echo hint >&2; exit 1; }'
git -C lost checkout -q --orphan new; git -C lost commit -q -m new; git -C lost branch -D main; git -C lost update-ref -d refs/remotes/origin/main; git -C lost update-ref -d refs/remotes/origin/HEAD
git -C lost reflog expire --expire=now --all; git -C lost gc -q --prune=now`)
	root, into := filepath.Join(dir, "all"), filepath.Join(dir, "base")
	base, err := Head(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	lacking, err := Checkout(t.Context(), root, base, into)
	if err != nil || len(lacking) != 2 || lacking[0] != "bad: fatal: z: smudge filter large failed" || !strings.HasPrefix(lacking[1], "lost: the clone of this submodule lacks commit ") {
		t.Errorf("%q, %v", lacking, err)
	}
	for name, want := range map[string]int{"bad": 0, "good": 3, "lost": 0} {
		if files, err := os.ReadDir(filepath.Join(into, name)); err != nil || len(files) != want {
			t.Errorf("%s has %v: %v", name, files, err)
		}
	}

	again(t, root, `printf 'gitdir: /nowhere' > good/.git`)
	lacking, err = Checkout(t.Context(), root, base, filepath.Join(dir, "next"))
	if err != nil || len(lacking) != 3 || lacking[1] != "good: fatal: not a git repository: /nowhere" {
		t.Errorf("%q, %v", lacking, err)
	}

	begun := filepath.Join(dir, "begun")
	if err := os.Remove(begun); err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for stopped.Err() == nil {
			if _, err := os.Stat(begun); err == nil {
				stop()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	if lacking, err := Checkout(stopped, root, base, filepath.Join(dir, "stopped")); !errors.Is(err, context.Canceled) {
		t.Errorf("%q, %v", lacking, err)
	}
}

// What git has started, such as a credential helper that hangs, does not keep us waiting: neither once git has been
// killed, nor once it has ended.
func TestGitLeavesSomethingBehind(t *testing.T) {
	for name, test := range map[string]struct {
		script, out string
		fails       bool
	}{
		"killed": {"sleep 600 & echo $! > $PIDS; wait", "", true},
		"ended":  {"sleep 600 & echo $! > $PIDS; echo done", "done", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pids := filepath.Join(dir, "pids")
			if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+test.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
			t.Setenv("PIDS", pids)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			if test.fails {
				go func() {
					for { // until the child is there
						if data, err := os.ReadFile(pids); err == nil && len(data) > 0 {
							stop()
							return
						}
						time.Sleep(time.Millisecond)
					}
				}()
			}
			ended := make(chan struct{})
			var out string
			var err error
			go func() {
				defer close(ended)
				out, err = git(ctx, dir, nil, "version")
			}()
			select {
			case <-ended:
				if out != test.out || (err != nil) != test.fails {
					t.Errorf("it printed %q, error %v", out, err)
				}
			case <-time.After(time.Minute):
				t.Error("it waits for what git has started")
			}
			if data, err := os.ReadFile(pids); err == nil {
				_ = exec.Command("kill", strings.TrimSpace(string(data))).Run()
			}
		})
	}
}

// Package gittree gets another commit's files to compare with: it finds the repository
// and the commit that a branch started from, and writes that commit's files into a
// folder. It runs git's plumbing commands and leaves the repository's index, worktrees
// and configuration as they are.
//
// It knows nothing of charts and releases, and fetches nothing from other machines.
package gittree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Root returns the root of the repository that a path lies in: the nearest folder, from the
// path upwards, that has a .git, with all links resolved. ok is false when there is none.
func Root(path string) (root string, ok bool) {
	dir, err := filepath.Abs(path)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return "", false
	}
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir, true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", false
		}
		dir = above
	}
}

// Head returns the full hash of the commit that is checked out.
func Head(ctx context.Context, root string) (string, error) {
	return commit(ctx, root, "HEAD")
}

// Remotes returns the URLs of the repository's remotes as git uses them, credentials included;
// none if there is no repository.
func Remotes(ctx context.Context, root string) []string {
	text, err := git(ctx, root, nil, "remote", "--verbose")
	if err != nil {
		return nil
	}
	var out []string
	for line := range strings.Lines(text) {
		if _, rest, ok := strings.Cut(line, "\t"); ok {
			url, _, _ := strings.Cut(rest, " (")
			out = append(out, url)
		}
	}
	return out
}

// Branch returns the name of the branch that a ref means, local or remote: "main" for main,
// origin/main, and HEAD where main is checked out; "" for what is not a branch.
func Branch(ctx context.Context, root, ref string) string {
	for _, name := range names(ref) {
		full, err := git(ctx, root, nil, "rev-parse", "--verify", "--quiet", "--symbolic-full-name", "--end-of-options", name)
		if err != nil {
			continue
		}
		if branch, ok := strings.CutPrefix(full, "refs/heads/"); ok {
			return branch
		}
		name, ok := strings.CutPrefix(full, "refs/remotes/")
		_, branch, _ := strings.Cut(name, "/")
		if !ok {
			return ""
		}
		return branch
	}
	return ""
}

// pullRequestRef matches GitHub's ref for the merge commit that it creates for a pull request.
var pullRequestRef = regexp.MustCompile(`^refs/pull/\d+/merge$`)

// Base returns the commit to compare HEAD with: the merge base of ref and HEAD, so what
// was added to ref since is not taken for a change. In a shallow clone of GitHub's merge
// commit for a pull request, which lacks ref, it is that commit's first parent; environ
// looks up GITHUB_SHA and GITHUB_REF, which identify that commit. If the commit is not in
// the clone, the error says what to fetch.
func Base(ctx context.Context, root, ref string, environ func(string) string) (string, error) {
	head, err := Head(ctx, root)
	if err != nil {
		return "", err
	}
	var missing error
	for _, name := range names(ref) {
		base, err := git(ctx, root, nil, "merge-base", "--", name, head)
		if err == nil {
			return base, nil
		}
		if missing == nil {
			missing = err
		}
	}
	if environ("GITHUB_SHA") == head && pullRequestRef.MatchString(environ("GITHUB_REF")) {
		return firstParent(ctx, root, head)
	}
	if shallow, _ := git(ctx, root, nil, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		remotes, _ := git(ctx, root, nil, "remote")
		return "", fmt.Errorf("%s and HEAD have no common commit in this shallow clone: fetch more history with fetch-depth: 0 or %s", ref, unshallow(ref, strings.Fields(remotes)))
	}
	return "", fmt.Errorf("find where HEAD branched off from %s: %w", ref, missing)
}

// names returns the names under which a ref is looked up: in CI, a branch is often known only as the remote's.
func names(ref string) []string {
	return []string{ref, "origin/" + strings.TrimPrefix(ref, "refs/heads/")}
}

// unshallow returns the command that makes a ref known which a shallow clone lacks, whatever branches it was
// made for. What is relative to HEAD, or abbreviated, is in the history that the clone was made for.
func unshallow(ref string, remotes []string) string {
	const fetch = "git fetch --unshallow"
	name := ref[:relative.FindStringIndex(ref)[0]]
	remote, branch := "origin", strings.TrimPrefix(name, "refs/heads/")
	switch {
	case name == "", name == "@", name == "HEAD", abbreviated.MatchString(name):
		return fetch
	case object.MatchString(name):
		return fetch + " origin " + name
	case branch != name:
	case strings.HasPrefix(name, "refs/") && !strings.HasPrefix(name, "refs/remotes/"):
		return fetch + " origin " + name + ":" + name
	default:
		full, longest := strings.TrimPrefix(name, "refs/remotes/"), 0
		for _, r := range remotes {
			if rest, ok := strings.CutPrefix(full, r+"/"); ok && len(r) > longest {
				remote, branch, longest = r, rest, len(r)
			}
		}
	}
	return fmt.Sprintf("%s %s %s:refs/remotes/%s/%s", fetch, remote, branch, remote, branch)
}

var (
	// relative matches what follows a ref's name in a revision, see gitrevisions(7), or its end.
	relative = regexp.MustCompile(`[~^:]|@\{|$`)
	// object matches a commit's full hash: servers send no others.
	object      = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	abbreviated = regexp.MustCompile(`^[0-9a-f]{7,39}$`)
)

// firstParent returns a merge commit's first parent, which a clone of depth 1 names but lacks:
// then it is an error that says what to fetch.
func firstParent(ctx context.Context, root, merge string) (string, error) {
	text, err := git(ctx, root, nil, "cat-file", "commit", merge)
	if err != nil {
		return "", err
	}
	parent := ""
	for line := range strings.SplitSeq(text, "\n") {
		if name, found := strings.CutPrefix(line, "parent "); found {
			parent = name
			break
		}
	}
	if _, err := commit(ctx, root, parent); err != nil {
		return "", fmt.Errorf("commit %s, into which the pull request is merged, is not in this clone: run git fetch --depth=1 origin %s", parent, parent)
	}
	return parent, nil
}

// commit returns the full hash of the commit that a name stands for.
func commit(ctx context.Context, root, name string) (string, error) {
	return git(ctx, root, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
}

// Checkout writes the files of a commit into a folder as the repository's own checkout has them: with
// its line endings and filters, only those of its part of the tree if it is sparse, and with those of
// the submodules that it has. lacking names the submodules of which nothing is written, and why.
func Checkout(ctx context.Context, root, commit, into string) (lacking []string, err error) {
	temporary, err := os.MkdirTemp("", "kubectl-release-index-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	if err := os.MkdirAll(into, 0o700); err != nil {
		return nil, err
	}
	own := []string{"GIT_INDEX_FILE=" + filepath.Join(temporary, "index"), "GIT_WORK_TREE=" + into}
	if _, err := git(ctx, root, own, "read-tree", "-m", "-u", "--no-recurse-submodules", commit); err != nil {
		return nil, fmt.Errorf("check out commit %s: %w", commit, err)
	}
	return submodules(ctx, root, commit, into)
}

// submodules is Checkout for the submodules of a commit.
func submodules(ctx context.Context, root, of, into string) (lacking []string, err error) {
	tree, err := git(ctx, root, nil, "ls-tree", "-r", "-z", of)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(tree, "\x00") {
		about, path, _ := strings.Cut(entry, "\t")
		wanted, isSubmodule := strings.CutPrefix(about, "160000 commit ")
		clone := filepath.Join(root, filepath.FromSlash(path))
		if _, err := os.Lstat(filepath.Join(clone, ".git")); !isSubmodule || err != nil {
			continue // a file, or a submodule that the checkout does not have
		}
		below, err := submodule(ctx, clone, wanted, filepath.Join(into, filepath.FromSlash(path)))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			lacking = append(lacking, path+": "+reason(err))
		}
		for _, text := range below {
			lacking = append(lacking, path+"/"+text)
		}
	}
	return lacking, nil
}

// submodule is Checkout for a submodule's clone. If it fails, the folder is left empty: a part of the files would
// be taken for all of them.
func submodule(ctx context.Context, clone, wanted, into string) (lacking []string, err error) {
	_, err = commit(ctx, clone, wanted)
	if _, silent := errors.AsType[*exec.ExitError](err); silent {
		return nil, fmt.Errorf("the clone of this submodule lacks commit %s: run git fetch origin %s in it", wanted, wanted)
	}
	if err == nil {
		lacking, err = Checkout(ctx, clone, wanted, into)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(into), os.MkdirAll(into, 0o700))
	}
	return lacking, nil
}

// reason returns what git gave up for, without progress, hints, and times.
func reason(err error) string {
	text := err.Error()
	for line := range strings.Lines(text) {
		if at := strings.Index(line, "fatal: "); at >= 0 {
			return strings.TrimSpace(line[at:])
		}
	}
	return text
}

// pipesGrace is how long what git has started, such as a credential helper, may keep git's output open after git
// has ended or was killed.
const pipesGrace = time.Second

// git runs a git command in the repository and returns what it prints. What it gives up for is in English, see
// reason: unlike LC_ALL, LANGUAGE leaves filters their locale.
func git(ctx context.Context, root string, environment []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	cmd.Env, cmd.WaitDelay = append(append(withoutGit(os.Environ()), "LANGUAGE=en"), environment...), pipesGrace
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git is not installed, so the base commit can't be read: pass its files with --base-dir")
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // git has ended well, and all that it printed is there
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return "", errors.New(text)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// withoutGit drops the variables that git sets for hooks: they may name another repository.
func withoutGit(environment []string) []string {
	var out []string
	for _, pair := range environment {
		switch name, _, _ := strings.Cut(pair, "="); name {
		case "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX":
		default:
			out = append(out, pair)
		}
	}
	return out
}

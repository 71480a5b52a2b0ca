// Package gittree brings another commit's files here, to compare with: it finds the
// repository, the commit that a branch has started from, and writes that commit's
// files into a folder. It runs git's plumbing and leaves the repository as it is: its
// index, its worktrees and its configuration.
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
)

// Root is the repository that a path lies in: the nearest folder above it that has a
// .git, with all links resolved. ok is false when there is none.
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

// Head is the commit that is checked out, in full.
func Head(ctx context.Context, root string) (string, error) {
	return commit(ctx, root, "HEAD")
}

// Remotes are the URLs of the repository's remotes as git uses them, credentials included;
// none where there is no repository.
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

// Branch is the name of the branch that a ref means, here or at a remote: "main" of main,
// origin/main, and of HEAD where it is checked out; "" of what is no branch.
func Branch(ctx context.Context, root, ref string) string {
	for _, name := range []string{ref, "origin/" + ref} {
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

// pullRequestRef is what GitHub calls the merge commit that it makes of a pull request.
var pullRequestRef = regexp.MustCompile(`^refs/pull/\d+/merge$`)

// Base is the commit to compare HEAD with: where ref and HEAD have parted, so that
// what has come to ref since is not taken for a change. In a shallow clone of GitHub's
// merge commit of a pull request, which has no ref, it is that commit's first parent;
// environ gives GITHUB_SHA and GITHUB_REF, by which it is known. Errors say what to
// fetch where the commit is not here.
func Base(ctx context.Context, root, ref string, environ func(string) string) (string, error) {
	head, err := Head(ctx, root)
	if err != nil {
		return "", err
	}
	var missing error
	for _, name := range []string{ref, "origin/" + ref} {
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
		return "", fmt.Errorf("%s and HEAD have no common commit in this shallow clone: fetch more of it, with fetch-depth: 0 or git fetch --unshallow origin %s", ref, ref)
	}
	return "", fmt.Errorf("find where HEAD has parted from %s: %w", ref, missing)
}

// firstParent is a merge commit's, which a clone of depth 1 names and does not have.
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
		return "", fmt.Errorf("commit %s, which the pull request is merged into, is not here: git fetch --depth=1 origin %s", parent, parent)
	}
	return parent, nil
}

func commit(ctx context.Context, root, name string) (string, error) {
	return git(ctx, root, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
}

// Checkout writes the files of a commit into a folder, which has to be there, with the
// line ends and filters that the repository's own checkout has.
func Checkout(ctx context.Context, root, commit, into string) error {
	temporary, err := os.MkdirTemp("", "kubectl-release-index-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temporary) }()
	own := []string{"GIT_INDEX_FILE=" + filepath.Join(temporary, "index")}
	if _, err := git(ctx, root, own, "read-tree", commit); err != nil {
		return fmt.Errorf("read commit %s: %w", commit, err)
	}
	if _, err := git(ctx, root, own, "checkout-index", "--all", "--force", "--quiet", "--prefix="+filepath.ToSlash(into)+"/"); err != nil {
		return fmt.Errorf("check out commit %s: %w", commit, err)
	}
	return nil
}

// git runs a command in the repository and gives what it prints.
func git(ctx context.Context, root string, environment []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"-C", root}, args...)...)
	cmd.Env = append(withoutGit(os.Environ()), environment...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("git is not here, which knows the other commit: give its files with --base-dir")
	}
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return "", errors.New(text)
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// withoutGit leaves out what hooks of git set: it would name another repository.
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

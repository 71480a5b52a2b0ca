package command

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/gittree"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
)

// trees are the two versions of a set's files, the head and the base.
type trees struct {
	head, base             *setrun.Side
	files                  []string // relative to the root of the head
	root                   string
	baseName               string
	headCommit, baseCommit string
	temporary              string
	reading                setrun.Reading
}

func (t *trees) sides() []*setrun.Side {
	if t.base == nil {
		return []*setrun.Side{t.head}
	}
	return []*setrun.Side{t.head, t.base}
}

func (t *trees) close() {
	for _, s := range t.sides() {
		s.Close()
	}
	if t.temporary != "" {
		_ = os.RemoveAll(t.temporary) // anything left over is in the system's temporary folder
	}
}

// commit returns the commit that is assumed to be deployed: that of the base or, without a base, of
// the checkout. It is "" if unknown.
func (t *trees) commit(ctx context.Context) string {
	if t.baseCommit != "" || t.base != nil {
		return t.baseCommit
	}
	head, err := gittree.Head(ctx, t.root)
	if err != nil {
		return "" // not a repository
	}
	return head
}

// policyChanged reports whether a policy file differs between the head and the base.
func (t *trees) policyChanged(files []string) bool {
	return t.base != nil && slices.ContainsFunc(files, func(file string) bool {
		name, err := setrun.Within(t.root, file)
		if err != nil {
			return false
		}
		now, err := inputfile.Read(file, inputfile.MaxBytes)
		if err != nil {
			return false
		}
		before, err := releaseset.ReadFile(t.base.Tree, name)
		return err != nil || string(before) != string(now)
	})
}

// openTrees reads the set and its earlier version. input is what standard input (the file "-")
// contains.
func openTrees(ctx context.Context, o *manyFlags, files []string, input []byte, fetch setrun.Fetch) (*trees, error) {
	t := &trees{reading: o.set.reading()}
	t.reading.Offline = o.fetch.offline
	root, inGit, err := rootOf(files[0]) // for "-", the root of the working directory
	if err != nil {
		return nil, err
	}
	t.root = root
	if err := o.flux.add(&t.reading, root); err != nil {
		return nil, err
	}
	if inGit {
		t.reading.Checkout = releaseset.Checkout{Remotes: gittree.Remotes(ctx, root), Branch: gittree.Branch(ctx, root, cmp.Or(o.since, "HEAD"))}
	}
	for _, file := range files {
		if file == inputfile.StandardInput {
			continue
		}
		if _, err := os.Stat(file); err != nil {
			return nil, err
		}
		name, err := setrun.Within(root, file)
		if err != nil {
			return nil, err
		}
		t.files = append(t.files, name)
	}
	head := t.reading
	head.Input = input
	if t.head, err = setrun.Open(root, t.files, head, fetch); err != nil {
		return nil, err
	}
	err = t.openBase(ctx, o, inGit, fetch)
	if err == nil {
		err = t.declaring(files, input)
	}
	if err != nil {
		t.close()
		return nil, err
	}
	t.head.JudgeAbsent(t.base)
	return t, nil
}

// namesInSet returns the names of a set's files in its plan, as openTrees does, but also if they can't be
// read.
func namesInSet(files []string) []string {
	root, _, err := rootOf(files[0])
	var out []string
	for _, file := range files {
		if file == inputfile.StandardInput {
			continue
		}
		name, outside := setrun.Within(root, file)
		if err != nil || outside != nil {
			name = filepath.ToSlash(filepath.Clean(file))
		}
		out = append(out, name)
	}
	return out
}

// rootOf returns the folder that the files of a set must stay within: the Git repository around it,
// else the working directory if the set is in it, else the set's own folder.
func rootOf(file string) (root string, inGit bool, err error) {
	if root, inGit = gittree.Root(filepath.Dir(file)); inGit {
		return root, true, nil
	}
	if root, err = filepath.Abs("."); err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return "", false, err
	}
	if _, err := setrun.Within(root, file); err == nil {
		return root, false, nil
	}
	if root, err = filepath.EvalSymlinks(filepath.Dir(file)); err == nil {
		root, err = filepath.Abs(root)
	}
	return root, false, err
}

// filesIn returns what the files of a set are called in the folder of --base-dir: the same if it has any
// of them, since it is the whole repository then, or else it is the folder of the files.
func filesIn(dir string, files []string) ([]string, error) {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		return err == nil
	}
	if slices.ContainsFunc(files, has) {
		return files, nil
	}
	var out []string
	for _, file := range files {
		name := path.Base(file)
		if slices.Contains(out, name) && has(name) {
			return nil, usage("it has one %s, but several files of that name are planned: name a folder with the whole repository", name)
		}
		out = append(out, name)
	}
	return out, nil
}

func (t *trees) openBase(ctx context.Context, o *manyFlags, inGit bool, fetch setrun.Fetch) (err error) {
	files, earlier := t.files, t.reading
	earlier.Earlier = true
	switch {
	case o.baseDir != "":
		if t.baseName = o.baseDir; o.baseDir == os.DevNull {
			if t.temporary, err = os.MkdirTemp("", "kubectl-release-base-"); err != nil {
				return err
			}
			t.baseName = ""
		} else {
			files, err = filesIn(o.baseDir, files)
		}
		if err == nil {
			t.base, err = setrun.Open(cmp.Or(t.temporary, o.baseDir), files, earlier, fetch)
		}
	case o.since != "" && !inGit:
		return usage("--changed-since %s: %s is not in a Git repository; use --base-dir to name a folder to compare with", o.since, files[0])
	case o.since != "":
		if t.headCommit, err = gittree.Head(ctx, t.root); err != nil {
			return fmt.Errorf("--changed-since %s: %w", o.since, err)
		}
		if t.baseCommit, err = gittree.Base(ctx, t.root, o.since, os.Getenv); err != nil {
			return fmt.Errorf("--changed-since %s: %w", o.since, err)
		}
		const short = 7
		t.baseName = fmt.Sprintf("%s (%s)", o.since, t.baseCommit[:short])
		if t.temporary, err = os.MkdirTemp("", "kubectl-release-base-"); err != nil {
			return err
		}
		var lacking []string
		if lacking, err = gittree.Checkout(ctx, t.root, t.baseCommit, t.temporary); err == nil {
			t.base, err = setrun.Open(t.temporary, files, earlier, fetch)
		}
		for _, what := range lacking {
			t.head.Set.Warnings = append(t.head.Set.Warnings, "in "+t.baseName+": "+what)
		}
	}
	if err != nil {
		return fmt.Errorf("in %s: %w", strings.TrimSpace(cmp.Or(t.baseName, o.since)), err)
	}
	return nil
}

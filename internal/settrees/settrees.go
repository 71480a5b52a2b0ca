// Package settrees opens the files of a set in two versions: the head, as they are in the checkout, and the
// base, from the commit that the head branched off from or from another folder. It finds the folder that
// the files must stay within, and refuses files that declare no releases.
//
// It plans nothing, prints nothing, and gets the flags' values and a way to fetch charts from its caller.
package settrees

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/argv"
	"github.com/kubectl-release/kubectl-release/internal/gittree"
	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/setrun"
)

// Request says which files declare a set, and which earlier version of them there is.
type Request struct {
	// Files are named as on the command line; inputfile.StandardInput stands for Input.
	Files []string
	Input []byte
	// Since is the ref that the head branched off from, and BaseDir a folder with the base, os.DevNull if
	// the base has no files. At most one of them is given; without either, there is no base.
	Since, BaseDir string
	// Reading says how the files are read, given the root of the head.
	Reading func(root string) (setrun.Reading, error)
	Fetch   setrun.Fetch
}

// Trees are the two versions of a set's files, the head and the base.
type Trees struct {
	Head *setrun.Side
	// Base is nil if there is no earlier version to compare with. BaseName is what people call it.
	Base     *setrun.Side
	BaseName string
	// Files are relative to the root of the head.
	Files []string
	// Renamed reports whether a file has another name in the base.
	Renamed bool
	// HeadCommit and BaseCommit are only known if commits are compared.
	HeadCommit, BaseCommit string

	root, temporary string
	reading         setrun.Reading
}

func (t *Trees) sides() []*setrun.Side {
	if t.Base == nil {
		return []*setrun.Side{t.Head}
	}
	return []*setrun.Side{t.Head, t.Base}
}

// Close removes temporary files. Nothing can be read from the trees after it.
func (t *Trees) Close() {
	for _, s := range t.sides() {
		s.Close()
	}
	if t.temporary != "" {
		_ = os.RemoveAll(t.temporary) // anything left over is in the system's temporary folder
	}
}

// Commit returns the commit that is assumed to be deployed: that of the base or, without a base, of
// the checkout. It is "" if unknown.
func (t *Trees) Commit(ctx context.Context) string {
	if t.BaseCommit != "" || t.Base != nil {
		return t.BaseCommit
	}
	head, err := gittree.Head(ctx, t.root)
	if err != nil {
		return "" // not a repository
	}
	return head
}

// Fetched returns the charts of the selected entries, of both sides, that are not in their trees,
// each once.
func (t *Trees) Fetched(selector releaseset.Selector) []releaseset.Chart {
	var out []releaseset.Chart
	for _, s := range t.sides() {
		for _, e := range s.Set.Entries {
			if e.Chart.Path == "" && e.Chart.Name != "" && selector.Selects(e) && !slices.Contains(out, e.Chart) {
				out = append(out, e.Chart)
			}
		}
	}
	return out
}

// PolicyChanged reports whether a policy file differs between the head and the base.
func (t *Trees) PolicyChanged(files []string) bool {
	return t.Base != nil && slices.ContainsFunc(files, func(file string) bool {
		name, err := setrun.Within(t.root, file)
		if err != nil {
			return false
		}
		now, err := inputfile.Read(file, inputfile.MaxBytes)
		if err != nil {
			return false
		}
		before, err := releaseset.ReadFile(t.Base.Tree, name)
		return err != nil || string(before) != string(now)
	})
}

// Open reads a set and its earlier version.
func Open(ctx context.Context, r Request) (*Trees, error) {
	root, inGit, err := rootOf(r.Files[0]) // for standard input, the root of the working directory
	if err != nil {
		return nil, err
	}
	t := &Trees{root: root}
	if t.reading, err = r.Reading(root); err != nil {
		return nil, err
	}
	if inGit {
		t.reading.Checkout = releaseset.Checkout{Remotes: gittree.Remotes(ctx, root), Branch: gittree.Branch(ctx, root, cmp.Or(r.Since, "HEAD"))}
	}
	for _, file := range r.Files {
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
		t.Files = append(t.Files, name)
	}
	head := t.reading
	head.Input = r.Input
	if t.Head, err = setrun.Open(root, t.Files, head, r.Fetch); err != nil {
		return nil, err
	}
	err = t.openBase(ctx, r, inGit)
	if err == nil {
		err = t.declaring(r.Files, r.Input)
	}
	if err != nil {
		t.Close()
		return nil, err
	}
	t.Head.JudgeAbsent(t.Base)
	return t, nil
}

// Names returns the names of a set's files in its plan, as in Trees.Files, but also if they can't be read.
func Names(files []string) []string {
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
	within := filepath.Dir(file)
	if info, err := os.Lstat(file); err == nil && info.IsDir() {
		within = file // it may be the repository itself
	}
	if root, inGit = gittree.Root(within); inGit {
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
			return nil, argv.Usage("it has one %s, but several files of that name are planned: name a folder with the whole repository", name)
		}
		out = append(out, name)
	}
	return out, nil
}

// before returns what the files of the set are called in the base's commit, which is in t.temporary, and warns
// about those that the change renames.
func (t *Trees) before(ctx context.Context) ([]string, error) {
	out := slices.Clone(t.Files)
	for i, name := range out {
		if _, err := os.Stat(filepath.Join(t.temporary, filepath.FromSlash(name))); err == nil {
			continue
		}
		was, err := gittree.Renamed(ctx, t.root, t.BaseCommit, name)
		if err != nil {
			return nil, err
		}
		if was != "" {
			out[i], t.Renamed = was, true
			t.Head.Set.Warnings = append(t.Head.Set.Warnings, fmt.Sprintf("%s is not in %s: it is compared with %s, from which it is renamed", name, t.BaseName, was))
		}
	}
	return out, nil
}

func (t *Trees) openBase(ctx context.Context, r Request, inGit bool) (err error) {
	files, earlier := t.Files, t.reading
	earlier.Earlier = true
	switch {
	case r.BaseDir != "":
		if t.BaseName = r.BaseDir; r.BaseDir == os.DevNull {
			if t.temporary, err = os.MkdirTemp("", "kubectl-release-base-"); err != nil {
				return err
			}
			t.BaseName = ""
		} else {
			files, err = filesIn(r.BaseDir, files)
		}
		if err == nil {
			t.Base, err = setrun.Open(cmp.Or(t.temporary, r.BaseDir), files, earlier, r.Fetch)
		}
	case r.Since != "" && !inGit:
		return argv.Usage("compare with %s: %s is not in a Git repository; use --base-dir to name a folder to compare with", r.Since, r.Files[0])
	case r.Since != "":
		if t.HeadCommit, err = gittree.Head(ctx, t.root); err != nil {
			return fmt.Errorf("compare with %s: %w", r.Since, err)
		}
		if t.BaseCommit, err = gittree.Base(ctx, t.root, r.Since, os.Getenv); err != nil {
			return fmt.Errorf("compare with %s: %w", r.Since, err)
		}
		const short = 7
		t.BaseName = fmt.Sprintf("%s (%s)", r.Since, t.BaseCommit[:short])
		if t.temporary, err = os.MkdirTemp("", "kubectl-release-base-"); err != nil {
			return err
		}
		var lacking []string
		if lacking, err = gittree.Checkout(ctx, t.root, t.BaseCommit, t.temporary); err == nil {
			files, err = t.before(ctx)
		}
		if err == nil {
			t.Base, err = setrun.Open(t.temporary, files, earlier, r.Fetch)
		}
		for _, what := range lacking {
			t.Head.Set.Warnings = append(t.Head.Set.Warnings, "in "+t.BaseName+": "+what)
		}
	}
	if err != nil {
		return fmt.Errorf("in %s: %w", strings.TrimSpace(cmp.Or(t.BaseName, r.Since)), err)
	}
	if t.Base != nil {
		t.Head.Warn(t.Base, t.BaseName)
	}
	return nil
}

package dependency

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/outputfile"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
	"github.com/kubectl-release/kubectl-release/internal/source"
)

// change is a change to a folder.
type change struct {
	// files are the archives that belong in charts/, by name.
	files map[string][]byte
	// removed are the archives that no longer do.
	removed []string
	// lock is the new lock, or nil.
	lock *resolve.Lock
}

// change returns the change that charts/ and the lock need.
func (j *job) change() (change, error) {
	c := change{files: map[string][]byte{}}
	locked, vendored := []resolve.Locked{}, map[string]bool{}
	for _, d := range j.all {
		locked = append(locked, d.locked)
		vendored[d.declared.Name] = vendored[d.declared.Name] || d.ref.Kind == resolve.Vendored
		if d.data == nil {
			continue
		}
		if there, taken := c.files[d.file]; taken && !bytes.Equal(there, d.data) {
			// Another chart with that name and version, from another source.
			mark := cmp.Or(d.declared.Alias, strings.TrimPrefix(source.Digest(d.data), "sha256:")[:8])
			first := d.file
			d.file = strings.TrimSuffix(d.file, ".tgz") + "-" + mark + ".tgz"
			d.warnings = append(d.warnings, chart.Warning{
				Where: chartsFolder + "/" + d.file,
				What:  fmt.Sprintf("it differs from %s, which has the same name and version; one of them is rendered for both, as with Helm", first),
			})
		}
		c.files[d.file] = d.data
	}
	unknown := slices.ContainsFunc(j.all, func(d *chosen) bool { return d.stale })
	for _, a := range j.archives {
		if unknown {
			break // with Check: what would replace them was not fetched
		}
		if _, wanted := c.files[a.file]; !wanted && a.chart != nil && !vendored[a.chart.Name] {
			c.removed = append(c.removed, a.file)
		}
	}
	if j.build {
		return c, nil
	}
	lock, err := resolve.NewLock(j.declared, locked, j.Now)
	if err == nil && !lock.Same(j.lock) {
		c.lock = lock
	}
	return c, err
}

// tell fills in the outcome.
func (j *job) tell(out *Outcome, c change) {
	out.Removed, out.LockChanged = c.removed, c.lock != nil
	out.Changed = out.LockChanged || c.needed(j.folder)
	for _, d := range j.all {
		result := Result{
			Name: d.declared.Name, Version: d.locked.Version, Repository: d.locked.Repository, Digest: d.locked.Digest, File: d.file,
			New: d.stale || d.data != nil && !j.has(d.file, d.data), Origin: d.origin,
		}
		out.Changed = out.Changed || d.stale
		out.Dependencies = append(out.Dependencies, result)
		out.Warnings = append(out.Warnings, d.warnings...)
		if d.data != nil && slices.Contains(j.unpacked, d.declared.Name) {
			out.Warnings = append(out.Warnings, chart.Warning{Where: chartsFolder + "/" + d.declared.Name, What: "it is a folder of the chart that is also in " + d.file + "; both are rendered"})
		}
	}
}

// needed reports whether charts/ changes.
func (c change) needed(f *folder) bool {
	for name, data := range c.files {
		if !f.has(name, data) {
			return true
		}
	}
	return len(c.removed) > 0
}

// write makes the change: first charts/ as a whole, then the lock. If anything goes wrong, both
// stay as they were; a run that is killed between the two leaves a lock whose digests don't match
// charts/. Where charts/ can't be replaced as a whole, it is changed file by file, and what goes wrong then
// leaves a part of the change. swap is outputfile.Swap.
func (f *folder) write(c change, swap func(staged, target string) error) (err error) {
	staged, err := os.MkdirTemp(f.path, unfinished)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staged)) }()
	lock := filepath.Join(staged, f.lockFile)
	if c.lock != nil {
		data, err := c.lock.Bytes()
		if err != nil {
			return err
		}
		if err := outputfile.Write(lock, data, 0o644); err != nil {
			return err
		}
	}
	made, charts := filepath.Join(staged, chartsFolder), filepath.Join(f.path, chartsFolder)
	swapped := c.needed(f)
	if swapped {
		err := f.stage(made, c)
		if err == nil {
			err = swap(made, charts)
		}
		if errors.Is(err, syscall.EXDEV) || errors.Is(err, syscall.EBUSY) {
			// It comes from a lower layer of an overlay file system (a Dockerfile's COPY; see redirect_dir in
			// https://docs.kernel.org/filesystems/overlayfs.html), or is a mount point.
			swapped, err = false, f.writeInto(charts, c)
		}
		if err != nil {
			return fmt.Errorf("write charts/ of %s: %w", f.path, err)
		}
	}
	if c.lock == nil {
		return nil
	}
	if err := os.Rename(lock, filepath.Join(f.path, f.lockFile)); err != nil {
		if swapped {
			err = errors.Join(err, swap(made, charts))
		}
		return fmt.Errorf("write %s of %s: %w", f.lockFile, f.path, err)
	}
	return nil
}

// writeInto changes charts/ where it is: new archives first.
func (f *folder) writeInto(charts string, c change) error {
	for _, name := range slices.Sorted(maps.Keys(c.files)) {
		if f.has(name, c.files[name]) {
			continue
		}
		if err := outputfile.Write(filepath.Join(charts, name), c.files[name], 0o644); err != nil {
			return err
		}
	}
	for _, name := range c.removed {
		if err := os.Remove(filepath.Join(charts, name)); err != nil {
			return err
		}
	}
	return nil
}

// stage creates the new charts/ from what is kept of the old one and the archives.
func (f *folder) stage(made string, c change) error {
	old, mode := filepath.Join(f.path, chartsFolder), fs.FileMode(0o755)
	if info, err := os.Stat(old); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		data, replaced := c.files[e.Name()]
		if slices.Contains(c.removed, e.Name()) || replaced && !f.has(e.Name(), data) {
			continue
		}
		if err := link(filepath.Join(old, e.Name()), filepath.Join(made, e.Name())); err != nil {
			return err
		}
	}
	for name, data := range c.files {
		if f.has(name, data) {
			continue
		}
		if err := outputfile.Write(filepath.Join(made, name), data, 0o644); err != nil {
			return err
		}
	}
	return os.Chmod(made, mode)
}

// link hard-links a file, or every file in a folder; symbolic links are recreated as they are. If
// the file system does not support hard links, it copies.
func link(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		at, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(at, to)
	case info.IsDir():
		return linkFolder(from, to, info)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", from)
	}
	if os.Link(from, to) == nil {
		return nil
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return errors.Join(outputfile.Write(to, data, info.Mode()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

func linkFolder(from, to string, info fs.FileInfo) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := link(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return errors.Join(os.Chmod(to, info.Mode().Perm()), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

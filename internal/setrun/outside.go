package setrun

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/fluxcd/pkg/tar"

	"github.com/kubectl-release/kubectl-release/internal/inputfile"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// outside holds charts and trees that users have named and that are not folders in the tree. An
// archive of a tree is unpacked once, and its files are named below it:
// platform.tgz/charts/web.
type outside struct {
	tree releaseset.Tree
	// places holds paths in the tree, or absolute ones, longest first: the longest match counts.
	places []string

	mu       sync.Mutex
	unpacked map[string]func() (string, error)
	trees    map[string]*inputfile.Tree
	folders  []string
}

func newOutside(tree releaseset.Tree, places []string) *outside {
	slices.SortFunc(places, func(a, b string) int { return len(b) - len(a) })
	return &outside{tree: tree, places: places, unpacked: map[string]func() (string, error){}, trees: map[string]*inputfile.Tree{}}
}

// find returns the path of the file or folder with a name; "" if it is below no named place. Errors: what
// it may not be, as for files of the tree.
func (o *outside) find(name string) (string, error) {
	for _, place := range o.places {
		below, isBelow := strings.CutPrefix(name, strings.TrimSuffix(place, "/")+"/")
		switch {
		case isBelow && (filepath.IsAbs(place) || o.isFile(place)):
			return o.below(place, below)
		case name == place && filepath.IsAbs(place):
			return place, nil
		}
	}
	return "", nil
}

// shared reports whether a name is at or below a place outside of the tree: all versions of the tree
// have the same chart there.
func (o *outside) shared(name string) bool {
	return slices.ContainsFunc(o.places, func(place string) bool {
		return filepath.IsAbs(place) && (name == place || strings.HasPrefix(name, strings.TrimSuffix(place, "/")+"/"))
	})
}

// below is find for a name below an opened place.
func (o *outside) below(place, name string) (string, error) {
	tree, err := o.opened(place)
	if err != nil {
		return "", err
	}
	if _, err := releaseset.Stat(tree, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	dir, err := o.folder(place)
	return filepath.Join(dir, filepath.FromSlash(name)), err
}

// open returns the tree at a place.
func (o *outside) open(place string) (fs.FS, error) {
	if !filepath.IsAbs(place) && !o.isFile(place) {
		return fs.Sub(o.tree, place)
	}
	return o.opened(place)
}

// opened returns the tree in an archive, or at an absolute place.
func (o *outside) opened(place string) (releaseset.Tree, error) {
	dir, err := o.folder(place)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if known := o.trees[place]; known != nil {
		return known, nil
	}
	tree, err := inputfile.OpenTree(dir)
	if err != nil {
		return nil, err
	}
	o.trees[place] = tree
	return tree, nil
}

func (o *outside) isFile(place string) bool {
	info, err := fs.Stat(o.tree, place)
	return err == nil && info.Mode().IsRegular()
}

// folder returns the place itself if it is a folder, or where its archive is unpacked.
func (o *outside) folder(place string) (string, error) {
	if info, err := os.Stat(place); filepath.IsAbs(place) && (err != nil || info.IsDir()) {
		return place, err
	}
	o.mu.Lock()
	once := o.unpacked[place]
	if once == nil {
		once = sync.OnceValues(func() (string, error) { return o.unpack(place) })
		o.unpacked[place] = once
	}
	o.mu.Unlock()
	return once()
}

// maxSourceBytes limits the unpacked size of an archive of a tree, including tar headers and
// padding. source-controller's own artifacts have at most 100 MiB.
const maxSourceBytes = 128 << 20

func (o *outside) unpack(place string) (string, error) {
	into, err := os.MkdirTemp("", "kubectl-release-source-")
	if err != nil {
		return "", err
	}
	o.mu.Lock()
	o.folders = append(o.folders, into)
	o.mu.Unlock()
	f, err := o.file(place)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }()
	if err := untar(f, into); err != nil {
		return "", fmt.Errorf("unpack %s: %w", place, err)
	}
	return into, nil
}

func (o *outside) file(place string) (fs.File, error) {
	if filepath.IsAbs(place) {
		return os.Open(place)
	}
	return o.tree.Open(place)
}

// untar unpacks a gzipped archive with the library of Flux's controllers, as they do: a path that
// leads out of the folder is an error, and symlinks are skipped.
func untar(r io.Reader, into string) error {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return errors.New("it is neither a folder nor a gzipped archive")
	}
	bounded := &io.LimitedReader{R: unzipped, N: maxSourceBytes}
	err = tar.Untar(bounded, into, tar.WithSkipGzip(), tar.WithSkipSymlinks())
	if bounded.N <= 0 {
		return fmt.Errorf("it unpacks to more than %d MiB", maxSourceBytes>>20)
	}
	return err
}

func (o *outside) close() {
	for _, tree := range o.trees {
		_ = tree.Close()
	}
	for _, dir := range o.folders {
		_ = os.RemoveAll(dir)
	}
}

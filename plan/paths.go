package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
)

// paths is a sorted list of field paths that makes many look-ups fast: a CRD may have twenty
// thousand fields.
type paths []string

// pathsOf returns the paths of the changes.
func pathsOf(changes []fielddiff.Change) paths {
	out := make(paths, len(changes))
	for i, c := range changes {
		out[i] = c.Path
	}
	slices.Sort(out)
	return out
}

// touch reports whether one of the paths equals the given path, or is above or below it.
func (p paths) touch(path string) bool {
	for i := range len(path) {
		if path[i] != '.' && path[i] != '[' {
			continue
		}
		if _, above := slices.BinarySearch(p, path[:i]); above {
			return true
		}
	}
	_, at := slices.BinarySearch(p, path)
	return at || p.begin(path+".") || p.begin(path+"[")
}

// begin reports whether one of the paths has the prefix.
func (p paths) begin(prefix string) bool {
	i, _ := slices.BinarySearch(p, prefix)
	return i < len(p) && strings.HasPrefix(p[i], prefix)
}

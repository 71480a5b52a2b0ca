package plan

import (
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
)

// paths are fields that are looked up many times: a CRD may have twenty thousand. They are
// sorted.
type paths []string

// pathsOf are those of the changes.
func pathsOf(changes []fielddiff.Change) paths {
	out := make(paths, len(changes))
	for i, c := range changes {
		out[i] = c.Path
	}
	slices.Sort(out)
	return out
}

// touch reports whether a path lies in, above or at one of them.
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

// begin reports whether one of them begins so.
func (p paths) begin(prefix string) bool {
	i, _ := slices.BinarySearch(p, prefix)
	return i < len(p) && strings.HasPrefix(p[i], prefix)
}

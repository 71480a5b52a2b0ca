package setrun

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// folders are those that hold files of the set and whose names say nothing about it: the trees may be
// anywhere, and some are temporary.
func (p *Planner) folders() []string {
	var out []string
	for _, s := range []*Side{p.Head, p.Base} {
		if s == nil {
			continue
		}
		out = append(out, s.charts.dir)
		s.charts.outside.mu.Lock()
		out = append(out, s.charts.outside.folders...)
		s.charts.outside.mu.Unlock()
	}
	return out
}

// inSet gives the files in a text the names that they have in the set, without the folder, and the folder
// itself the name ".". Relative folders stay, and what only looks like one: a part of a URL or of another path.
func inSet(text string, folders []string) string {
	var quoted []string
	folders = slices.Clone(folders)
	slices.SortFunc(folders, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // one may be in the other
	for _, dir := range folders {
		if dir = filepath.Clean(dir); filepath.IsAbs(dir) && filepath.Dir(dir) != dir {
			quoted = append(quoted, regexp.QuoteMeta(dir))
		}
	}
	if quoted == nil {
		return text
	}
	path := regexp.MustCompile("(^|[\\s\"'`(=,:])(?:" + strings.Join(quoted, "|") + ")(?:[/\\\\]|($|[\\s\"'`),:]))")
	return path.ReplaceAllStringFunc(text, func(found string) string {
		around := path.FindStringSubmatch(found)
		if last := found[len(found)-1]; last == '/' || last == '\\' {
			return around[1]
		}
		return around[1] + "." + around[2]
	})
}

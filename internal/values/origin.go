package values

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Origin is where a value comes from.
type Origin struct {
	// Name is a flag or a file: "--set", "prod.yaml"; "" if the value was not given.
	Name string
	// Line is the line of a file, from 1; 0 for flags, standard input and URLs.
	Line int
}

// Origins returns, for each path, the flag or file that set the value there, the one that counts if
// there are several. Paths are written like that of an UnknownKey. Sources that can't be read are
// skipped, since Merge has reported them. Each is read once for all paths: parsing takes most of the
// time.
func (s Sources) Origins(paths [][]string, read func(name string) ([]byte, error)) []Origin {
	out := make([]Origin, len(paths))
	// held returns the paths, by number, at which a source has the value and none before it had. With gaps, a
	// null in a list is none.
	held := func(table map[string]any, gaps bool) []int {
		var of []int
		for i, path := range paths {
			if out[i].Name == "" && holds(table, path, gaps) {
				of = append(of, i)
			}
		}
		return of
	}
	for _, flag := range []struct {
		name string
		from Sources
	}{
		{"--set-literal", Sources{Literal: s.Literal}},
		{"--set-file", Sources{File: s.File}},
		{"--set-string", Sources{String: s.String}},
		{"--set", Sources{Set: s.Set}},
		{"--set-json", Sources{JSON: s.JSON}},
	} {
		if table, err := flag.from.setAll(map[string]any{}, read); err == nil {
			for _, i := range held(table, true) { // l[1]=x fills l with a null, which keeps what a file has there
				out[i] = Origin{Name: flag.name}
			}
		}
	}
	for _, name := range slices.Backward(s.Files) {
		data, err := read(name)
		if err != nil {
			continue
		}
		table, _, err := Parse(data, name)
		if err != nil {
			continue
		}
		found := held(table, false)
		if name == "-" || strings.Contains(name, "://") || len(found) == 0 {
			for _, i := range found {
				out[i] = Origin{Name: shownSource(name)}
			}
			continue
		}
		of := make([][]string, len(found))
		for n, i := range found {
			of[n] = paths[i]
		}
		for n, line := range lines(data, of) {
			out[found[n]] = Origin{Name: name, Line: line}
		}
	}
	return out
}

// shownSource returns the name of standard input or a URL.
func shownSource(name string) string {
	if name == "-" {
		return "standard input"
	}
	return resolve.Public(name)
}

// holds reports whether a value has something at a path; with gaps, a null in a list is nothing.
func holds(v any, path []string, gaps bool) bool {
	for _, key := range path {
		switch at := v.(type) {
		case map[string]any:
			below, ok := at[key]
			if !ok {
				return false
			}
			v = below
		case []any:
			i, err := strconv.Atoi(strings.Trim(key, "[]"))
			if err != nil || i < 0 || i >= len(at) || gaps && at[i] == nil {
				return false
			}
			v = at[i]
		default:
			return false
		}
	}
	return true
}

// PathText writes a path as --set does: a.b[0].c, with dots in keys escaped.
func PathText(path []string) string {
	var b strings.Builder
	for _, key := range path {
		if strings.HasPrefix(key, "[") {
			b.WriteString(key)
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(strings.ReplaceAll(key, ".", `\.`))
	}
	return b.String()
}

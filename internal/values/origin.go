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

// Origin returns the flag or file that set the value at a path, the one that counts if there are
// several. The path is written like UnknownKeys.Path. Sources that can't be read are skipped, since
// Merge has reported them.
func (s Sources) Origin(path []string, read func(name string) ([]byte, error)) Origin {
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
		if table, err := flag.from.setAll(map[string]any{}, read); err == nil && holds(table, path) {
			return Origin{Name: flag.name}
		}
	}
	for _, name := range slices.Backward(s.Files) {
		data, err := read(name)
		if err != nil {
			continue
		}
		if table, _, err := Parse(data, name); err == nil && holds(table, path) {
			switch {
			case name == "-":
				return Origin{Name: "standard input"}
			case strings.Contains(name, "://"):
				return Origin{Name: resolve.Public(name)}
			}
			return Origin{Name: name, Line: Line(data, path)}
		}
	}
	return Origin{}
}

// holds reports whether a value has something at a path.
func holds(v any, path []string) bool {
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
			if err != nil || i < 0 || i >= len(at) {
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

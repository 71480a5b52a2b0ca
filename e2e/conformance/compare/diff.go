package compare

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Difference is one place where two outputs differ.
type Difference struct {
	Path string
	A, B any
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: %s ≠ %s", d.Path, brief(d.A), brief(d.B))
}

func brief(v any) string {
	text := fmt.Sprintf("%#v", v)
	if s, ok := v.(string); ok {
		text = strconv.Quote(s)
	}
	if len(text) > 160 {
		text = text[:160] + "…"
	}
	return text
}

// differences lists all places where a and b differ, in order.
func differences(path string, a, b any) []Difference {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			return tableDifferences(path, x, y)
		}
	case []any:
		if y, ok := b.([]any); ok {
			return listDifferences(path, x, y)
		}
	default:
		if a == b {
			return nil
		}
	}
	return []Difference{{path, a, b}}
}

func tableDifferences(path string, a, b map[string]any) []Difference {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	names := make([]string, 0, len(keys))
	for k := range keys {
		names = append(names, k)
	}
	slices.Sort(names)
	var out []Difference
	for _, k := range names {
		x, inA := a[k]
		y, inB := b[k]
		if inA != inB {
			out = append(out, Difference{path + "." + k, x, y})
			continue
		}
		out = append(out, differences(path+"."+k, x, y)...)
	}
	return out
}

func listDifferences(path string, a, b []any) []Difference {
	var out []Difference
	for i := range min(len(a), len(b)) {
		out = append(out, differences(path+"["+strconv.Itoa(i)+"]", a[i], b[i])...)
	}
	if len(a) != len(b) {
		out = append(out, Difference{path, fmt.Sprintf("%d items", len(a)), fmt.Sprintf("%d items", len(b))})
	}
	return out
}

// Outputs compares two renderers by two runs of each. What differs between the two
// runs of one renderer is random or depends on the time, and is not compared.
func Outputs(a, b [2]Output) []Difference {
	if a[0].Failure != "" || b[0].Failure != "" {
		if (a[0].Failure == "") == (b[0].Failure == "") {
			return nil
		}
		return []Difference{{"error", a[0].Failure, b[0].Failure}}
	}
	var random []string
	for _, pair := range [][2]Output{a, b} {
		for _, d := range differences("", pair[0].tree(), pair[1].tree()) {
			random = append(random, d.Path)
		}
	}
	var out []Difference
	for _, d := range differences("", a[0].tree(), b[0].tree()) {
		if !slices.ContainsFunc(random, func(r string) bool { return covers(r, d.Path) }) {
			d.Path = readable(d.Path, a[0])
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return lines(a, b)
	}
	return out
}

// lines compares what was printed line by line, except for lines that differ between
// the two runs of one renderer. It returns the first difference.
func lines(a, b [2]Output) []Difference {
	var texts [4][]string
	for i, o := range []Output{a[0], a[1], b[0], b[1]} {
		texts[i] = strings.Split(o.Text, "\n")
		if len(texts[i]) != len(texts[0]) {
			if i == 1 {
				return nil // the number of lines is random
			}
			return []Difference{{"text", fmt.Sprintf("%d lines", len(texts[0])), fmt.Sprintf("%d lines", len(texts[i]))}}
		}
	}
	for i, line := range texts[0] {
		if line == texts[1][i] && texts[2][i] == texts[3][i] && line != texts[2][i] {
			return []Difference{{fmt.Sprintf("text: line %d", i+1), line, texts[2][i]}}
		}
	}
	return nil
}

// covers reports whether path is at or below a random place.
func covers(random, path string) bool {
	return path == random || strings.HasPrefix(path, random+".") || strings.HasPrefix(path, random+"[")
}

// readable replaces the object's index with its name.
func readable(path string, o Output) string {
	rest, ok := strings.CutPrefix(path, ".documents[")
	if !ok {
		return strings.TrimPrefix(path, ".")
	}
	index, rest, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(index)
	if err != nil {
		return path
	}
	return o.name(i) + strings.TrimPrefix(rest, ".object")
}

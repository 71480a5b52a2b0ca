package templating

import (
	"fmt"
	"strings"
)

// unknownTemplate ends the render: no template has that name.
func (s *state) unknownTemplate(name string) {
	e := s.failure(fmt.Sprintf("there is no template %q", name), nil)
	if near := nearest(name, s.names.all()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	panic(e)
}

// missingKey ends a strict render.
func (s *state) missingKey(m map[string]any, name string, c site) {
	s.node = c.node
	e := s.failure(fmt.Sprintf("there is no key %q", name), nil)
	if near := nearest(name, sortedKeys(m)); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	panic(e)
}

// nearest is the candidate that needs the fewest edits to become name, if those
// are few; of equals the first.
func nearest(name string, candidates []string) string {
	best, found := max(len(name)/3, 1)+1, ""
	for _, c := range candidates {
		if strings.EqualFold(c, name) {
			return c
		}
		if diff := len(c) - len(name); diff >= best || -diff >= best {
			continue
		}
		if d := edits(name, c); d < best {
			best, found = d, c
		}
	}
	return found
}

// edits is the Levenshtein distance in bytes.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

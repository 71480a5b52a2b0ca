package report

import "strings"

// shortPath omits the middle of a path that is wider than limit, in whole parts if possible. The
// ends say the most.
func shortPath(path string, limit int) string {
	if limit < 1 || width(path) <= limit {
		return path
	}
	first, rest, _ := strings.Cut(path, ".")
	for rest != "" {
		_, after, found := cutPart(rest)
		if !found {
			break
		}
		rest = after
		if short := first + ".…" + rest; width(short) <= limit {
			return short
		}
	}
	return cutMiddle(path, limit)
}

// cutPart splits off the first part of a path; the rest begins with its separator.
func cutPart(path string) (part, rest string, found bool) {
	depth := 0
	for i, r := range path {
		switch {
		case i > 0 && depth == 0 && (r == '.' || r == '['):
			return path[:i], path[i:], true
		case r == '[':
			depth++
		case r == ']':
			depth--
		}
	}
	return path, "", false
}

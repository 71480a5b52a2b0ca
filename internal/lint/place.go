package lint

import (
	"regexp"
	"strconv"
	"strings"
)

// inChart returns a path in the chart tree without the chart's own name:
// "web/templates/a.yaml" becomes templates/a.yaml.
func inChart(path string) string {
	_, inside, ok := strings.Cut(path, "/")
	if !ok {
		return ""
	}
	return inside
}

var lineNumber = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// placed splits off the line number that a YAML parser puts before its message; 0 without one.
func placed(path, message string) (string, int, string) {
	message = strings.TrimPrefix(strings.TrimSpace(message), "yaml: unmarshal errors:\n")
	m := lineNumber.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return path, 0, message
	}
	line, err := strconv.Atoi(m[1])
	if err != nil {
		return path, 0, message
	}
	return path, line, strings.TrimPrefix(strings.TrimSpace(message), m[0])
}

// keyLine returns the line of a key in YAML text, or 0 unless it occurs there exactly
// once.
func keyLine(text, key string) int {
	found := 0
	n := 0
	for line := range strings.Lines(text) {
		n++
		trimmed := strings.TrimLeft(line, " -")
		if !strings.HasPrefix(trimmed, key+":") && !strings.HasPrefix(trimmed, `"`+key+`":`) {
			continue
		}
		if found > 0 {
			return 0
		}
		found = n
	}
	return found
}

// topKeyLine returns the line of a key at the top level of YAML text, or 0.
func topKeyLine(text, key string) int {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.HasPrefix(line, key+":") {
			return n
		}
	}
	return 0
}

// startLines returns the lines at which documents begin in the text they were split
// from.
func startLines(text string, docs []string) []int {
	lines := make([]int, len(docs))
	at, line := 0, 1
	for i, doc := range docs {
		offset := strings.Index(text[at:], doc)
		if offset < 0 {
			continue
		}
		line += strings.Count(text[at:at+offset], "\n")
		lines[i] = line
		line += strings.Count(doc, "\n")
		at += offset + len(doc)
	}
	return lines
}

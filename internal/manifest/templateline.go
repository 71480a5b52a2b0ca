package manifest

import (
	"regexp"
	"strings"
)

// action matches what a template computes.
var action = regexp.MustCompile(`\{\{.*?\}\}`)

// TemplateLine is the line, from 1, at which the document of an object begins in the text
// of its template: that of its kind. Of several documents of the kind it is that whose
// name fits, else the first. Where a template computes the kind it is 1.
func TemplateLine(template string, id ID) int {
	first, begun := 1, 0
	n := 0
	for line := range strings.Lines(template) {
		n++
		line = strings.TrimSpace(line)
		switch key, value, _ := strings.Cut(line, ":"); {
		case strings.HasPrefix(line, "---"):
			begun = 0
		case key == "kind" && unquoted(value) == id.Kind:
			if begun = n; first == 1 {
				first = n
			}
		case key == "name" && begun > 0:
			if couldBe(unquoted(value), id.Name) {
				return begun
			}
			begun = 0
		}
	}
	return first
}

func unquoted(value string) string { return strings.Trim(strings.TrimSpace(value), `"'`) }

// couldBe says whether a name with actions in it may come out as that name. One that is
// nothing but an action could be anything.
func couldBe(written, name string) bool {
	pattern := "^"
	for i, text := range action.Split(written, -1) {
		if i > 0 {
			pattern += ".*"
		}
		pattern += regexp.QuoteMeta(text)
	}
	fits, err := regexp.MatchString(pattern+"$", name)
	return err == nil && fits
}

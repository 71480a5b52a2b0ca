package manifest

import (
	"regexp"
	"strings"
)

// action matches a template action.
var action = regexp.MustCompile(`\{\{.*?\}\}`)

// TemplateLines knows the lines of a template at which the documents of objects begin.
type TemplateLines struct {
	// first is the first document's line, by kind.
	first map[string]int
	// named are the documents, by kind and by what their names end with.
	named map[namedAs][]writtenName
}

type namedAs struct{ kind, end string }

// writtenName is the name of a document as a template writes it: the parts between its actions.
type writtenName struct {
	line  int
	parts []string
}

// ReadTemplateLines reads the text of a template once for all its objects.
func ReadTemplateLines(template string) TemplateLines {
	t := TemplateLines{first: map[string]int{}, named: map[namedAs][]writtenName{}}
	begun := map[string]int{} // the lines of kinds whose names come next
	n := 0
	for line := range strings.Lines(template) {
		n++
		line = strings.TrimSpace(line)
		switch key, value, _ := strings.Cut(line, ":"); {
		case strings.HasPrefix(line, "---"):
			clear(begun)
		case key == "kind":
			kind := unquoted(value)
			if begun[kind] = n; t.first[kind] == 0 {
				t.first[kind] = n
			}
		case key == "name":
			parts := action.Split(unquoted(value), -1)
			for kind, line := range begun {
				at := namedAs{kind, parts[len(parts)-1]}
				t.named[at] = append(t.named[at], writtenName{line, parts})
			}
			clear(begun)
		}
	}
	return t
}

// Line returns the line, from 1, at which the document of an object begins: that of its
// kind. Of several documents of the kind it is the one whose name fits, else the first.
// Where a template computes the kind, it is 1.
func (t TemplateLines) Line(id ID) int {
	best := 0
	for i := range len(id.Name) + 1 {
		for _, w := range t.named[namedAs{id.Kind, id.Name[i:]}] {
			if w.couldBe(id.Name) {
				if best == 0 || w.line < best {
					best = w.line
				}
				break // they are in the order of their lines
			}
		}
	}
	if best == 0 {
		best = max(t.first[id.Kind], 1)
	}
	return best
}

func unquoted(value string) string { return strings.Trim(strings.TrimSpace(value), `"'`) }

// couldBe reports whether a name with actions in it may render to that name. One that
// is nothing but an action could be anything.
func (w writtenName) couldBe(name string) bool {
	last := len(w.parts) - 1
	if last == 0 {
		return name == w.parts[0]
	}
	name, ok := strings.CutPrefix(name, w.parts[0])
	if !ok {
		return false
	}
	for _, part := range w.parts[1:last] {
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
	return strings.HasSuffix(name, w.parts[last])
}

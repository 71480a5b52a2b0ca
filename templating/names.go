package templating

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template/parse"
)

// template is one named template and the file that defines it.
type template struct {
	name string
	file string
	tree *parse.Tree
}

// unit is one parsed text: its own body, under name, and all templates that it defines.
type unit struct {
	name  string
	trees map[string]*parse.Tree
}

// tplName is the name of a text given to tpl, which can call itself by it (Helm 4.3.1,
// pkg/engine/engine.go, render and tplFun).
const tplName = "gotpl"

// wordsOf counts the words in the actions of a text; the parser makes at least one node of each.
func wordsOf(text string) int {
	words := 0
	_, rest, found := strings.Cut(text, "{{")
	for found {
		var part string
		part, rest, found = strings.Cut(rest, "{{")
		action, _, _ := strings.Cut(part, "}}")
		inWord := false
		for i := range len(action) {
			switch c := action[i]; {
			case c == ' ' || c == '\t' || c == '\n' || c == '\r':
				inWord = false
			case c == '.' || c == '|' || c == '(' || c == ')' || c == ',' || c == '$' || !inWord:
				words++
				inWord = true
			}
		}
	}
	return words
}

// parseUnit parses the text of a file, or of a tpl call. name is what its body is called: as in Helm,
// the text must not define a template of that name unless one of the two is empty. Errors are
// *Error, with the file as their place.
func parseUnit(name, file, text string, functions map[string]any) (*unit, error) {
	if n := strings.Count(text, "{{"); n > maxActions {
		return nil, &Error{File: file, Line: 1, Message: fmt.Sprintf("the file has %d actions; at most %d are allowed", n, maxActions)}
	}
	trees, err := parse.Parse(name, text, "", "", functions)
	if err != nil {
		return nil, parseError(name, file, text, err)
	}
	return &unit{name: name, trees: trees}, nil
}

// names maps template names to templates. The text of tpl gets a layer of its own above the names
// that it sees, so its definitions disappear when it ends.
type names struct {
	below *names
	own   map[string]*template
}

func (n *names) lookup(name string) *template {
	for ; n != nil; n = n.below {
		if t, ok := n.own[name]; ok {
			return t
		}
	}
	return nil
}

// add adds a unit's templates, its body under the name self. An empty body does not replace an
// existing template (text/template, Template.associate).
func (n *names) add(u *unit, self string) {
	for name, tree := range u.trees {
		if name == u.name {
			name = self
		}
		if parse.IsEmptyTree(tree.Root) && n.lookup(name) != nil {
			continue
		}
		n.own[name] = &template{name: name, file: self, tree: tree}
	}
}

// all returns the known names, sorted.
func (n *names) all() []string {
	seen := map[string]bool{}
	for ; n != nil; n = n.below {
		for name := range n.own {
			seen[name] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

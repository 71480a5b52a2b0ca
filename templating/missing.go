package templating

import (
	"fmt"
	"strings"
	"text/template/parse"

	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// nilField ends the render for a field of something missing. The error quotes the path as written
// and, if there is one, suggests a similar key.
func (s *state) nilField(dot any, name string, c site) {
	s.node = c.node
	message := fmt.Sprintf("nothing is set there, so .%s can't be read from it", name)
	if at, ok := before(c.node, name); ok {
		message = fmt.Sprintf("%s is not set (or null), so .%s can't be read from it", at, name)
	}
	e := s.failure(message, nil)
	if table, key := s.gap(dot, c.node); table != nil {
		if near := spelling.Nearest(key, sortedKeys(table)); near != "" {
			e.Hint = fmt.Sprintf("there is no key %q; did you mean %q?", key, near)
		}
	}
	panic(e)
}

// before returns the part of a written path before the field name.
func before(node parse.Node, name string) (string, bool) {
	written := node.String()
	path := strings.TrimPrefix(written, "$")
	i := strings.LastIndex(path, "."+name)
	if i <= 0 || strings.ContainsAny(path[:i], " ()") {
		return "", false
	}
	return written[:len(written)-len(path)+i], true
}

// gap follows a written path again, to explain an error. It returns the table that lacks the next
// key, and that key; nil if no key is missing or the node is not a path.
func (s *state) gap(dot any, node parse.Node) (map[string]any, string) {
	at, path := dot, []string(nil)
	switch n := node.(type) {
	case *parse.FieldNode:
		path = n.Ident
	case *parse.VariableNode:
		at, path = s.variable(n.Ident[0]), n.Ident[1:]
	}
	for _, key := range path {
		table, ok := asTable(at)
		if !ok {
			return nil, ""
		}
		if at, ok = table[key]; !ok {
			return table, key
		}
	}
	return nil, ""
}

func isScalar(v any) bool {
	switch v.(type) {
	case string, bool, int, int64, float64, []any:
		return true
	}
	return false
}

// inWords names the type of a value in YAML's terms.
func inWords(v any) string {
	switch v.(type) {
	case string:
		return "text"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	}
	return "a number"
}

// unset explains which argument of index is missing.
func (s *state) unset(err error) *Error {
	cmd, ok := s.node.(*parse.CommandNode)
	if !ok || len(cmd.Args) < 2 {
		return nil
	}
	switch n := cmd.Args[1].(type) {
	case *parse.FieldNode, *parse.VariableNode:
		return s.failure(fmt.Sprintf("index: %s is not set (or null), so nothing can be read from it", n), err)
	}
	return nil
}

// unknownTemplate ends the render: there is no template with that name.
func (s *state) unknownTemplate(name string) {
	e := s.failure(fmt.Sprintf("there is no template %q", name), nil)
	if near := spelling.Nearest(name, s.names.all()); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	panic(e)
}

// missingKey ends a strict render: the map lacks the key.
func (s *state) missingKey(m map[string]any, name string, c site) {
	s.node = c.node
	e := s.failure(fmt.Sprintf("there is no key %q", name), nil)
	if near := spelling.Nearest(name, sortedKeys(m)); near != "" {
		e.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	panic(e)
}

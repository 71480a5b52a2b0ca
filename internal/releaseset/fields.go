package releaseset

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/spelling"
)

// Decode reads a mapping into a struct, and rejects keys that the struct's yaml tags do
// not name. Errors name the file and the line.
func Decode(file string, node *yaml.Node, into any) error {
	if node.Kind != yaml.MappingNode {
		return at(file, node.Line, "expected a table, found %s", kindOf(node))
	}
	known := keysOf(reflect.TypeOf(into).Elem())
	for i := 0; i < len(node.Content); i += 2 {
		key := node.Content[i]
		if slices.Contains(known, key.Value) || key.Value == "<<" {
			continue
		}
		hint := ""
		if meant := spelling.Nearest(key.Value, known); meant != "" {
			hint = "; did you mean " + meant + "?"
		}
		return at(file, key.Line, "unknown field %q%s", key.Value, hint)
	}
	err := node.Decode(into)
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) {
		return err
	}
	var errs []error
	for _, text := range wrong.Errors {
		e := &FieldError{Place{file, node.Line}, text}
		if _, err := fmt.Sscanf(text, "line %d:", &e.Line); err == nil {
			_, e.What, _ = strings.Cut(text, ": ")
		}
		errs = append(errs, e)
	}
	return errors.Join(errs...)
}

// keysOf returns the keys that a struct's tags name, including those of embedded structs.
func keysOf(t reflect.Type) []string {
	var out []string
	for i := range t.NumField() {
		name, flags, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ",")
		switch {
		case flags == "inline":
			out = append(out, keysOf(t.Field(i).Type)...)
		case name != "" && name != "-":
			out = append(out, name)
		}
	}
	return out
}

func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a table"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return fmt.Sprintf("%q", node.Value)
	case yaml.AliasNode:
		return "an alias"
	case yaml.DocumentNode:
	}
	return "nothing"
}

// KeyNode returns the value of a key of a mapping; nil when there is none.
func KeyNode(mapping *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// replaced returns a copy of a node in whose texts old is replaced.
func replaced(node *yaml.Node, old, with string) *yaml.Node {
	out := *node
	if node.Kind == yaml.ScalarNode {
		out.Value = strings.ReplaceAll(node.Value, old, with)
	}
	out.Content = nil
	for _, child := range node.Content {
		out.Content = append(out.Content, replaced(child, old, with))
	}
	return &out
}

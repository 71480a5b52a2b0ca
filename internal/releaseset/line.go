package releaseset

import (
	"bytes"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/values"
)

// ValueLines decodes a set's file. The returned function says which line of it sets the value at a path in
// the table that begins at a line: an item of a list under the key "values". It is that line if nothing more
// is known, as where the file is a template.
func ValueLines(file []byte) func(begins int, path []string) int {
	var docs []*yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(file))
	for {
		var doc yaml.Node
		if dec.Decode(&doc) != nil { // among others at the end
			break
		}
		docs = append(docs, &doc)
	}
	return func(begins int, path []string) int {
		for _, doc := range docs {
			if line := valueLine(doc, begins, path); line > 0 {
				return line
			}
		}
		return begins
	}
}

// valueLine is ValueLines below a node; 0 if the table is not there.
func valueLine(n *yaml.Node, begins int, path []string) int {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "values" && child.Kind == yaml.SequenceNode {
			for _, item := range child.Content {
				if line := values.LineIn(item, path); item.Kind == yaml.MappingNode && item.Line == begins && line > 0 {
					return line
				}
			}
		}
		if line := valueLine(child, begins, path); line > 0 {
			return line
		}
	}
	return 0
}

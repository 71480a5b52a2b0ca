package values

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"
)

// Line returns the line, from 1, at which a values file sets the value at a path, or the deepest
// part of the path that the file has. A value from an alias or a merge key is at the line of the
// alias or key. Items of lists are given by number ("[0]"), or by a text that is one of their
// fields, such as a name. The last of several documents with the value counts. It returns 0 if the
// file has no part of the path, or is not YAML.
func Line(data []byte, path []string) int { return lines(data, [][]string{path})[0] }

// lines is Line for several paths.
func lines(data []byte, paths [][]string) []int {
	deepest, out := make([]int, len(paths)), make([]int, len(paths))
	dec := yamlv3.NewDecoder(bytes.NewReader(data))
	for range maxYAMLDocuments {
		var doc yamlv3.Node
		if dec.Decode(&doc) != nil {
			break
		}
		if len(doc.Content) == 0 {
			continue
		}
		for i, path := range paths {
			if depth, at := follow(doc.Content[0], path); depth > 0 && depth >= deepest[i] {
				deepest[i], out[i] = depth, at
			}
		}
	}
	return out
}

// LineIn is Line for a node of a file.
func LineIn(n *yamlv3.Node, path []string) int {
	_, line := follow(n, path)
	return line
}

// follow follows a path as far as possible; it returns the number of steps and the line.
func follow(n *yamlv3.Node, path []string) (depth, line int) {
	for ; depth < len(path); depth++ {
		key, next := field(n, path[depth])
		if next == nil {
			break
		}
		n, line = next, key.Line
	}
	return depth, line
}

// field returns the node of a key or an item, and the node of its value. The last of duplicate keys
// counts.
func field(n *yamlv3.Node, key string) (at, below *yamlv3.Node) {
	switch n.Kind {
	case yamlv3.MappingNode:
		for i := len(n.Content) - 2; i >= 0; i -= 2 {
			if n.Content[i].Value == key {
				return n.Content[i], n.Content[i+1]
			}
		}
	case yamlv3.SequenceNode:
		if i, err := strconv.Atoi(strings.Trim(key, "[]")); err == nil && i >= 0 && i < len(n.Content) {
			return n.Content[i], n.Content[i]
		}
		named := func(item *yamlv3.Node) bool {
			return item.Value == key || item.Kind == yamlv3.MappingNode && slices.ContainsFunc(item.Content, func(v *yamlv3.Node) bool { return v.Value == key })
		}
		if i := slices.IndexFunc(n.Content, named); i >= 0 {
			return n.Content[i], n.Content[i]
		}
	case yamlv3.DocumentNode, yamlv3.ScalarNode, yamlv3.AliasNode:
	}
	return nil, nil
}

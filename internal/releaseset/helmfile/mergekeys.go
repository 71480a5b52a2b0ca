package helmfile

import (
	"slices"

	yaml "sigs.k8s.io/yaml/goyaml.v3"
)

// own returns a copy of a node as deep as given, so that it can be changed without changing what
// else uses the same anchors: without aliases and, in mappings, without merge keys.
func own(node *yaml.Node, depth int) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	out := *node
	if node.Kind == yaml.MappingNode {
		out.Content = merged(node)
	}
	out.Content = slices.Clone(out.Content)
	for i, child := range out.Content {
		if depth > 0 {
			out.Content[i] = own(child, depth-1)
		}
	}
	return &out
}

// merged returns the keys and values of a mapping with those that its merge keys add: its own come
// before those of mappings that it merges, and those of the first before those of the next
// (https://yaml.org/type/merge.html). A mapping that merges itself adds nothing.
func merged(mapping *yaml.Node) []*yaml.Node {
	var out []*yaml.Node
	have, seen := map[string]bool{}, map[*yaml.Node]bool{}
	var add func(*yaml.Node)
	add = func(mapping *yaml.Node) {
		if seen[mapping] {
			return
		}
		seen[mapping] = true
		var below, keys []*yaml.Node
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			key, value := mapping.Content[i], mapping.Content[i+1]
			switch {
			case key.Tag == "!!merge":
				below = append(below, mergedInto(value)...)
			case !have[key.Value]:
				keys, out = append(keys, key), append(out, key, value)
			}
		}
		for _, key := range keys { // not before: that a mapping has a key twice is an error
			have[key.Value] = true
		}
		for _, mapping := range below {
			add(mapping)
		}
	}
	add(mapping)
	return out
}

// mergedInto returns the mappings that a merge key names.
func mergedInto(node *yaml.Node) []*yaml.Node {
	switch node.Kind {
	case yaml.AliasNode:
		return []*yaml.Node{node.Alias}
	case yaml.SequenceNode:
		var out []*yaml.Node
		for _, child := range node.Content {
			out = append(out, mergedInto(child)...)
		}
		return out
	case yaml.MappingNode:
		return []*yaml.Node{node}
	case yaml.DocumentNode, yaml.ScalarNode:
	}
	return nil
}

package releaseset

import (
	"errors"

	yaml "sigs.k8s.io/yaml/goyaml.v3"
)

// mostNodes limits the size of an inline table, whose aliases may stand for others.
const mostNodes = 100_000

// Inline returns an inline table as the text of a values file, in which anchors of the set's file
// are not known: what they stand for takes the place of their aliases. It returns an error if that
// is too much, or a table contains itself.
func Inline(table *yaml.Node) ([]byte, error) {
	left := mostNodes
	whole, err := withoutAliases(table, &left)
	if err != nil {
		return nil, err
	}
	return yaml.Marshal(whole)
}

func withoutAliases(n *yaml.Node, left *int) (*yaml.Node, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if *left--; *left < 0 {
		return nil, errors.New("the values are too large, or contain themselves: they have too many aliases")
	}
	out := *n
	out.Anchor, out.Content = "", nil
	if out.Tag == "!!merge" {
		out.Tag = "" // else it would be written: !!merge <<
	}
	for _, child := range n.Content {
		whole, err := withoutAliases(child, left)
		if err != nil {
			return nil, err
		}
		out.Content = append(out.Content, whole)
	}
	return &out, nil
}

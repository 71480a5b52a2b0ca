package redact

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode"

	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/credential"
)

// maxParsed limits the size of texts that are parsed, in bytes.
const maxParsed = 64 << 10

// addText adds the credentials in a text, which may be a command line, a configuration file or, if parse is true, a
// document. A value that is itself named like a credential may be a variable of a script, and a word of letters in
// what is no document a type: these are masked in place only.
func (s *secrets) addText(text string, parse bool) {
	for _, at := range credentialsIn(text) {
		s.add(text[at.From:at.To])
	}
	var parsed []any
	if parse {
		if s.read[text] {
			return
		}
		s.read[text] = true
		parsed = documents(text)
		s.addCredentialsInOrder(parsed)
	}
	for _, at := range settings(text, false) {
		value := text[at.From:at.To]
		isQuoted := strings.ContainsAny(text[at.From-1:at.From], `"'`)
		switch {
		case len(parsed) > 0 && strings.Contains(value, `\`): // escaped: the documents have the value itself
		case len(parsed) == 0 && !isQuoted && isLetters(value), credential.Named(value):
		default:
			s.add(value)
		}
	}
}

// mayHoldCredentials reports whether a text can be a JSON or YAML document with credentials in it. It is called for
// every text of every object, such as the descriptions in CRDs, so it has to be fast.
func mayHoldCredentials(text string) bool {
	return isParsed(text) && looksStructured(text) && mentionsCredential(text)
}

// isParsed reports whether a text is parsed if it mentions a credential and is a secret, or else begins as a document does.
func isParsed(text string) bool {
	return len(text) <= maxParsed && (strings.IndexByte(text, ':') >= 0 || strings.IndexByte(text, '{') >= 0)
}

// looksStructured reports whether a text begins as a document does, after comments.
func looksStructured(text string) bool {
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			text = rest
			continue
		}
		word, _, _ := strings.Cut(line, " ")
		return strings.ContainsAny(word[:1], "{[\"'") || strings.HasSuffix(word, ":") || word == "-" || word == "---"
	}
	return false
}

func mentionsCredential(text string) bool {
	isOther := func(r rune) bool {
		return r != '_' && r != '-' && r != '.' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}
	for word := range strings.FieldsFuncSeq(text, isOther) {
		if word == "auth" || credential.Named(word) {
			return true
		}
	}
	return false
}

// documents parses the JSON or YAML documents in a text, YAML up to the first error. Scalars are as they are written. A
// text that is a scalar is none.
func documents(text string) []any {
	if out, ok := jsonDocuments(text); ok {
		return out
	}
	var out []any
	for decoder := yamlv3.NewDecoder(strings.NewReader(text)); ; {
		var node yamlv3.Node
		if decoder.Decode(&node) != nil {
			return out
		}
		if v := treeOf(&node); isStructure(v) {
			out = append(out, v)
		}
	}
}

// jsonDocuments is documents for JSON. YAML can begin like JSON, with a key in quotes.
func jsonDocuments(text string) (out []any, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	for {
		var v any
		if err := decoder.Decode(&v); err != nil {
			return out, errors.Is(err, io.EOF)
		}
		if isStructure(v) {
			out = append(out, v)
		}
	}
}

func isStructure(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return true
	}
	return false
}

// treeOf returns a node as decoded JSON. Aliases are followed to scalars only, so that the result is no larger than the
// document; whatever else they stand for is in it anyway.
func treeOf(n *yamlv3.Node) any {
	switch n.Kind {
	case yamlv3.DocumentNode:
		return treeOf(n.Content[0])
	case yamlv3.MappingNode:
		fields := make(map[string]any, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			fields[n.Content[i].Value] = treeOf(n.Content[i+1])
		}
		return fields
	case yamlv3.SequenceNode:
		items := make([]any, len(n.Content))
		for i, item := range n.Content {
			items[i] = treeOf(item)
		}
		return items
	case yamlv3.AliasNode:
		if n.Alias.Kind == yamlv3.ScalarNode {
			return treeOf(n.Alias)
		}
	case yamlv3.ScalarNode:
		if tag := n.ShortTag(); tag != "!!null" && tag != "!!bool" {
			return n.Value
		}
	}
	return nil
}

package values

import (
	"fmt"
	"net/url"
	"strings"
)

// noLoader stands for all documents that a schema refers to: nothing is loaded, and they allow anything.
type noLoader struct {
	// anything is a schema that has another one at each place in a document that a $ref leads to.
	anything map[string]any
	// dialect is what the schema is written in.
	dialect string
	// asked are the documents that were not loaded.
	asked []string
}

// Load implements jsonschema.URLLoader.
func (l *noLoader) Load(url string) (any, error) {
	switch {
	case strings.HasPrefix(url, "urn:"):
		return true, nil
	case url == l.dialect:
		return nil, fmt.Errorf("values.schema.json is written in %q ($schema), which is not known: nothing is loaded from there", url)
	}
	l.asked = append(l.asked, url)
	return l.anything, nil
}

// admit makes room for everything outside of a schema that it refers to.
func (l *noLoader) admit(schema any) {
	if top, ok := schema.(map[string]any); ok {
		dialect, _ := top["$schema"].(string)
		l.dialect = strings.TrimSuffix(dialect, "#")
	}
	l.visit(schema)
}

func (l *noLoader) visit(v any) {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			l.place(ref)
		}
		for _, below := range v {
			l.visit(below)
		}
	case []any:
		for _, below := range v {
			l.visit(below)
		}
	}
}

// place puts a schema where a reference to another document leads: "pod.json#/$defs/options".
func (l *noLoader) place(ref string) {
	document, fragment, _ := strings.Cut(ref, "#")
	pointer, err := url.PathUnescape(fragment)
	if document == "" || err != nil || !strings.HasPrefix(pointer, "/") {
		return
	}
	at := l.anything
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next, ok := at[token].(map[string]any)
		if !ok {
			next = map[string]any{}
			at[token] = next
		}
		at = next
	}
}

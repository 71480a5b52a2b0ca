package manifest

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// File is one rendered template: its path in the chart tree and its text.
type File struct {
	Path    string
	Content string
}

// Document is one YAML document of a rendered file.
type Document struct {
	Path string
	Text string
	Head Head
}

// Head is the part of a document that Helm reads to sort it (Helm 4.3.1,
// pkg/release/v1/util/manifest.go, SimpleHead).
type Head struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind,omitempty"`
	Metadata   *Metadata `json:"metadata,omitempty"`
}

// Metadata is the part of an object's metadata that a Head has.
type Metadata struct {
	Name        string            `json:"name"`
	Annotations map[string]string `json:"annotations"`
}

// newHead reads the head of a document and finds keys that are given twice. Errors are
// those of the YAML library: the whole document has to be valid.
func newHead(text string) (Head, []Duplicate, error) {
	if h, ok := plainHead(text); ok {
		return h, nil, nil
	}
	var h Head
	found, err := readHead(text, &h)
	return h, found, err
}

func (h Head) annotation(key string) (string, bool) {
	if h.Metadata == nil {
		return "", false
	}
	v, ok := h.Metadata.Annotations[key]
	return v, ok
}

// Split cuts a YAML stream into its documents the way Helm 4.3.1 does
// (https://github.com/helm/helm/blob/v4.3.1/pkg/release/v1/util/manifest.go, SplitManifests): at "---"
// at the start of a line, including the blanks after it. Whatever else follows on the line belongs to
// the next document ("---apiVersion: v1" is split, too). Empty documents are dropped.
func Split(stream string) []string {
	var docs []string
	for doc := range documents(stream) {
		docs = append(docs, doc)
	}
	return docs
}

// documents yields the documents that Split returns, each with the number of lines before it.
func documents(stream string) iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		line, counted := 0, 0
		// found yields the document that the first size bytes of rest are.
		found := func(rest string, size int) bool {
			doc := strings.TrimLeftFunc(rest[:size], unicode.IsSpace)
			if doc == "" {
				return true
			}
			begin := len(stream) - len(rest) + size - len(doc)
			line += strings.Count(stream[counted:begin], "\n")
			counted = begin
			return yield(doc, line)
		}
		rest := strings.TrimLeftFunc(stream, unicode.IsSpace)
		if after, ok := strings.CutPrefix(rest, separator); ok {
			rest = strings.TrimLeft(after, " \t")
		}
		for {
			end := strings.Index(rest, "\n"+separator)
			if end < 0 {
				found(rest, len(rest))
				return
			}
			if !found(rest, end+1) {
				return
			}
			rest = strings.TrimLeft(rest[end+1+len(separator):], " \t")
		}
	}
}

const separator = "---"

// Text joins documents into the manifest as it is stored and printed: each after a
// separator and the comment that names its template.
func Text(docs []Document) string {
	size := 0
	for _, d := range docs {
		size += len(separator+"\n"+sourceComment+"\n\n") + len(d.Path) + len(d.Text)
	}
	var b strings.Builder
	b.Grow(size)
	for _, d := range docs {
		for _, part := range [...]string{separator, "\n", sourceComment, d.Path, "\n", d.Text, "\n"} {
			b.WriteString(part)
		}
	}
	return b.String()
}

const sourceComment = "# Source: "

// SourceAnnotation carries the template that an object came from through post-renderers, which may drop
// comments. It is Helm 4's.
const SourceAnnotation = "postrenderer.helm.sh/postrender-filename"

// Parse reads a manifest as it is stored. Lists (kind List, RoleList …) are flattened,
// documents with nothing but comments dropped. Namespaces are left as written: see
// Qualify. Errors name the document's template.
//
// A document from which a known object was parsed is not parsed again: two revisions of
// a release have most of theirs in common.
func Parse(text string, known ...Object) ([]Object, error) {
	byText := make(map[string]int, len(known))
	for i, o := range known {
		byText[o.Text] = i
	}
	documents := Split(text)
	objects := make([]Object, 0, len(documents))
	for _, doc := range documents {
		if same, ok := byText[doc]; ok {
			objects = append(objects, known[same])
			continue
		}
		parsed, err := ParseDocument(doc, SourceOf(doc))
		if err != nil {
			return nil, err
		}
		if len(parsed) == 1 {
			parsed[0].Text = doc
		}
		objects = append(objects, parsed...)
	}
	return objects, nil
}

// SourceOf returns the template that a document says it was rendered from, in the
// comment that Text writes; "" when it does not say.
func SourceOf(doc string) string {
	rest, ok := strings.CutPrefix(doc, sourceComment)
	if !ok {
		return ""
	}
	source, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(source)
}

// ParseDocument reads one YAML document. source is the template it came from. A
// document of comments yields no object, a List yields all its items.
func ParseDocument(doc, source string) ([]Object, error) {
	if source == "" {
		source = "manifest"
	}
	if onlyComments(doc) { // a parser would copy it, however long it is
		return nil, nil
	}
	if tree, ok := plainTree(doc); ok {
		return flatten(&unstructured.Unstructured{Object: tree}, source)
	}
	raw, err := yaml.YAMLToJSON([]byte(doc))
	if err != nil {
		return nil, fmt.Errorf("%s: parse YAML: %w", source, err)
	}
	if string(raw) == "null" {
		return nil, nil
	}
	u := &unstructured.Unstructured{}
	if err := unmarshalObject(raw, u); err != nil {
		return nil, fmt.Errorf("%s: not a Kubernetes object: %w", source, inWords(err))
	}
	return flatten(u, source)
}

// onlyComments reports whether every line is blank or a comment.
func onlyComments(doc string) bool {
	for line := range strings.Lines(doc) {
		if line = strings.TrimLeft(line, " "); line != "" && line[0] != '#' && line != "\n" {
			return false
		}
	}
	return true
}

// isList reports whether a kind is one of lists, if it has items.
func isList(kind string) bool { return strings.HasSuffix(kind, listSuffix) }

const listSuffix = "List"

// listItems returns the items of a list; ok is false for other objects. Items that are null are
// none (k8s.io/apimachinery v0.37.2, pkg/apis/meta/v1/unstructured/helpers.go, decodeToList).
func listItems(u *unstructured.Unstructured) (items []any, ok bool) {
	value, there := u.Object["items"]
	items, ok = value.([]any)
	return items, isList(u.GetKind()) && there && (ok || value == nil)
}

// flatten returns the object, or all items if it is a List. Items with neither kind nor apiVersion are of
// the list's (decodeToList, see listItems).
func flatten(u *unstructured.Unstructured, source string) ([]Object, error) {
	items, list := listItems(u)
	if !list {
		o, err := FromDoc(u, source)
		if err != nil {
			return nil, err
		}
		return []Object{o}, nil
	}
	var objects []Object
	for i, item := range items {
		m, ok := item.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: item %d of %s is not an object", source, i, u.GetKind())
		}
		o := &unstructured.Unstructured{Object: m}
		if o.GetKind() == "" && o.GetAPIVersion() == "" {
			o.SetKind(strings.TrimSuffix(u.GetKind(), listSuffix))
			o.SetAPIVersion(u.GetAPIVersion())
		}
		inner, err := flatten(o, source)
		if err != nil {
			return nil, err
		}
		objects = append(objects, inner...)
	}
	return objects, nil
}

// unmarshalObject decodes JSON with whole numbers as int64, as the API machinery does,
// but does not insist on a kind: FromDoc reports what is missing.
func unmarshalObject(raw []byte, into *unstructured.Unstructured) error {
	var m map[string]any
	if err := utiljson.Unmarshal(raw, &m); err != nil {
		return err
	}
	if m == nil {
		return errors.New("empty document")
	}
	into.Object = m
	return nil
}

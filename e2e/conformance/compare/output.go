// Package compare runs two renderers on the same chart and finds out whether their
// outputs mean the same: the same objects and hooks in the same order with the same
// content, the same notes, and an error on both sides or on neither.
//
// It compares parsed YAML and, if that is equal, the printed text. It does not judge
// which side is right.
package compare

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Output is the result of one run of a renderer.
type Output struct {
	Documents []Document
	// Text is exactly what was printed.
	Text  string
	Notes string
	// Failure is the error message; "" if there was no error.
	Failure string
}

// Document is one object that was printed.
type Document struct {
	Source string
	Value  any
}

var (
	separator = regexp.MustCompile(`(?m)^---[ \t]*$`)
	source    = regexp.MustCompile(`(?m)^# Source: (.*)$`)
)

// Printed returns the output of a template command that printed text.
func Printed(text string) Output { return Output{Documents: parse(text), Text: text} }

// parse reads what a template command printed. Text that is not YAML becomes
// a document of its own, so that it is compared as text.
func parse(text string) []Document {
	var docs []Document
	last := ""
	for _, part := range separator.Split("\n"+text, -1) {
		if m := source.FindStringSubmatch(part); m != nil {
			last = m[1]
		}
		if v := value(part); v != nil {
			docs = append(docs, Document{Source: last, Value: v})
		}
	}
	return docs
}

func value(text string) any {
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return strings.TrimSpace(text)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return strings.TrimSpace(text)
	}
	return v
}

// tree returns an output as one value, for comparison. Objects keep their order.
func (o Output) tree() map[string]any {
	docs := make([]any, len(o.Documents))
	for i, d := range o.Documents {
		docs[i] = map[string]any{"source": d.Source, "object": d.Value}
	}
	var lines []any
	for line := range strings.Lines(strings.TrimSpace(o.Notes)) {
		lines = append(lines, strings.TrimRight(line, " \r\n"))
	}
	return map[string]any{"documents": docs, "notes": lines}
}

// name describes the object at an index, for people.
func (o Output) name(i int) string {
	if i >= len(o.Documents) {
		return "no object"
	}
	d := o.Documents[i]
	object, _ := d.Value.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	return fmt.Sprintf("%v/%v (%s)", object["kind"], metadata["name"], d.Source)
}

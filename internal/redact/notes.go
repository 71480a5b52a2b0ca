package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/haystack"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Notes masks a chart's notes. Notes are prose with commands to copy, so only secret values that
// stand alone as words are masked. A value that is also a data key, the value of a label or a
// default of the chart counts as public. A value of sixteen characters or more with digits is not
// a word of prose, and is masked anywhere.
func (m *Mask) Notes(text string) string {
	if m == nil {
		return text
	}
	found := m.find(text)
	if len(found) == 0 {
		return text
	}
	public := m.publicWords()
	var spans []haystack.Span
	for _, s := range found {
		word := text[s.From:s.To]
		open := len(strings.TrimSpace(s.Value)) < minSecret || public[s.Value] || public[word] || !standsAlone(text, s) && !isRandom(s.Value)
		if s.Value == "" || !open { // "" was not searched to its end
			spans = append(spans, s)
		}
	}
	return m.replace(text, spans)
}

// isRandom reports whether a value is too long and mixed to be a word.
func isRandom(value string) bool {
	const shortest = 16
	return len(value) >= shortest && hasDigit(value)
}

// standsAlone reports whether a span is not part of a longer word. A dash, dot or slash joins words
// if there is a word on its other side, too.
func standsAlone(text string, s haystack.Span) bool {
	before, size := utf8.DecodeLastRuneInString(text[:s.From])
	further, _ := utf8.DecodeLastRuneInString(text[:s.From-size])
	after, size := utf8.DecodeRuneInString(text[s.To:])
	beyond, _ := utf8.DecodeRuneInString(text[s.To+size:])
	return !joins(before, further) && !joins(after, beyond)
}

func joins(next, further rune) bool {
	switch next {
	case '-', '.', '/':
		return inWord(further)
	}
	return inWord(next)
}

func inWord(r rune) bool {
	return r != utf8.RuneError && (r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r))
}

// publicWords returns the words that notes may contain, see Notes. Values that the user has set do
// not count, except for short plain words that are the chart's default, too: "admin" tells nothing.
func (m *Mask) publicWords() map[string]bool {
	words := map[string]bool{}
	for _, p := range m.plans {
		p.Steps(func(_ plan.StageName, s *plan.Step) {
			for _, u := range []*unstructured.Unstructured{s.Body, s.Before, s.After} {
				if u != nil {
					addPublic(words, u.Object)
				}
			}
		})
		if p.Record != nil && p.Record.Chart != nil {
			addDefaults(words, p.Record.Chart)
			eachScalar(p.Record.Config, func(text string) {
				if len(text) >= minInside || strings.Trim(text, "abcdefghijklmnopqrstuvwxyz") != "" {
					delete(words, text)
				}
			})
		}
	}
	return words
}

// addPublic adds an object's data keys and the values of its labels and its pods' labels.
func addPublic(words map[string]bool, object map[string]any) {
	for key, value := range object {
		fields, ok := value.(map[string]any)
		switch {
		case !ok:
		case key == "data" || key == "stringData" || key == "binaryData":
			for name := range fields {
				words[name] = true
			}
		case key == "labels" || key == "matchLabels":
			eachScalar(fields, func(text string) { words[text] = true })
		default:
			addPublic(words, fields)
		}
	}
}

func addDefaults(words map[string]bool, c *chart.Chart) {
	eachScalar(c.Values, func(text string) { words[text] = true })
	for _, sub := range c.Dependencies() {
		addDefaults(words, sub)
	}
}

func eachScalar(v any, visit func(string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, value := range v {
			eachScalar(value, visit)
		}
	case []any:
		for _, item := range v {
			eachScalar(item, visit)
		}
	default:
		if text, ok := jsontree.ScalarText(v); ok {
			visit(text)
		}
	}
}

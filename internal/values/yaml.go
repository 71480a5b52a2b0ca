package values

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v2"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// Parse parses the YAML of a values file, which may have several documents that are merged in
// order. Types are as in Helm (4.3.1, pkg/chart/common/values.go, ReadValues, over
// sigs.k8s.io/yaml): YAML 1.1 words are booleans, keys are strings, numbers are float64. source
// names the file in errors and warnings. The result is never nil.
//
// Duplicate keys (the last one counts) and whole numbers that a float64 can't represent are
// warnings. Content that is not a table, nests too deep or grows too large through aliases is an
// error.
func Parse(data []byte, source string) (map[string]any, []chart.Warning, error) {
	out, warnings, err := parseDocuments(data, source)
	if err != nil {
		return nil, nil, fmt.Errorf("parse %s: %w", source, err)
	}
	return out, warnings, nil
}

func parseDocuments(data []byte, source string) (map[string]any, []chart.Warning, error) {
	if err := checkSize(data); err != nil {
		return nil, nil, err
	}
	out := map[string]any{}
	var warnings []chart.Warning
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(slices.Clip(data), '\n')
	}
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	for n := 0; len(data) > 0; n++ {
		doc, rest, err := cutDocument(data)
		if err != nil {
			return nil, nil, err
		}
		if n == maxYAMLDocuments {
			return nil, nil, fmt.Errorf("it has more than %d documents", maxYAMLDocuments)
		}
		table, found, err := parseDocument(doc)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, warningsOf(source, found)...)
		out = Overlay(out, table)
		data = rest
	}
	return out, warnings, nil
}

// cutDocument returns the first document of data, whose lines all end with a line feed, and what comes after
// it; both share data's memory. A separator ends a document, unless the document would be empty, and has
// nothing but a comment behind it (k8s.io/apimachinery 0.37.2, pkg/util/yaml/decoder.go, YAMLReader.Read).
func cutDocument(data []byte) (doc, rest []byte, err error) {
	for end := 0; end < len(data); {
		line, _, _ := bytes.Cut(data[end:], []byte("\n"))
		next := end + len(line) + 1
		if after, separates := bytes.CutPrefix(line, []byte("---")); separates {
			if after = bytes.TrimSpace(after); len(after) > 0 && after[0] != '#' {
				return nil, nil, fmt.Errorf("invalid Yaml document separator: %s", after)
			}
			if end > 0 {
				return data[:end], data[next:], nil
			}
		}
		end = next
	}
	return data, nil, nil
}

// parseDocument returns the table of one document, with warnings.
func parseDocument(doc []byte) (map[string]any, []string, error) {
	raw, warnings, err := decode(doc)
	if err != nil {
		return nil, nil, err
	}
	conv := converter{room: maxExpandedBytes}
	v, err := conv.value(raw)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(conv.warnings)
	warnings = append(warnings, conv.warnings...)
	switch t := v.(type) {
	case nil:
		return nil, warnings, nil
	case map[string]any:
		return t, warnings, nil
	default:
		return nil, nil, fmt.Errorf("the document is not a table of keys and values but %s", kind(v))
	}
}

// decode parses strictly first, which finds duplicate keys, and again leniently if there are any.
func decode(doc []byte) (any, []string, error) {
	var raw any
	err := yaml.UnmarshalStrict(doc, &raw)
	var duplicates *yaml.TypeError
	if !errors.As(err, &duplicates) {
		return raw, nil, unquoted(err)
	}
	raw = nil
	if err := yaml.Unmarshal(doc, &raw); err != nil {
		return nil, nil, unquoted(err)
	}
	// A key that overrides one merged by << is reported as a duplicate, but is not one.
	if bytes.Contains(doc, []byte("<<")) {
		return raw, nil, nil
	}
	var warnings []string
	for _, e := range duplicates.Errors {
		warnings = append(warnings, strings.Replace(e, "already set in map", "is given twice; the last one counts", 1))
	}
	return raw, warnings, nil
}

// quoted matches what errors of the YAML library quote: an anchor, a value, or a table as a key.
var quoted = regexp.MustCompile("(?s)(anchor )'[^']*'|(decode [^ ]+ )`.*`|(map key: ).*")

// unquoted returns an error of the YAML library, or nil, without what it quotes: *, !!int or {{ may be the
// beginning of a password.
func unquoted(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(quoted.ReplaceAllString(err.Error(), "$1$2$3(not shown)"))
}

// CheckYAML checks that data is YAML within the limits, for files that are decoded into structs
// elsewhere. Duplicate keys are warnings.
func CheckYAML(data []byte, source string) ([]chart.Warning, error) {
	if err := checkSize(data); err != nil {
		return nil, err
	}
	raw, found, err := decode(data)
	if err != nil {
		return nil, err
	}
	conv := converter{room: maxExpandedBytes}
	if _, err := conv.value(raw); err != nil {
		return nil, err
	}
	return warningsOf(source, found), nil
}

func checkSize(data []byte) error {
	if len(data) > maxYAMLBytes {
		return fmt.Errorf("its size of %d bytes exceeds the limit of %d", len(data), maxYAMLBytes)
	}
	if manifest.Entries(data) > MaxYAMLEntries {
		return fmt.Errorf("it has more than %d entries", MaxYAMLEntries)
	}
	return nil
}

func warningsOf(source string, found []string) []chart.Warning {
	var out []chart.Warning
	for _, what := range found {
		w := chart.Warning{Where: source, What: what, File: source}
		if at, err := fmt.Sscanf(what, "line %d:", &w.Line); at == 0 || err != nil {
			w.Line = 0
		}
		out = append(out, w)
	}
	return out
}

package values

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/credential"
)

// written matches numbers of digits and at most one point. Nobody expects templates to print other
// forms, such as 1e3 and 0x1F, unchanged.
var written = regexp.MustCompile(`^[-+]?[0-9]+(\.[0-9]+)?$`)

// suspicious finds such numbers without parsing, if they have a point or are too long for 64 bits.
var suspicious = regexp.MustCompile(`[:,\[\s-]\s*[-+]?([0-9]+\.[0-9]+|[0-9]{20,})\s*($|[,\]}#\r\n])`)

// literals warns about numbers in a values file that templates print differently: 1.10 renders as
// 1.1. Parse warns about whole numbers within 64 bits.
func literals(data []byte, source string) []chart.Warning {
	if !suspicious.Match(data) {
		return nil
	}
	var out []chart.Warning
	dec := yamlv3.NewDecoder(bytes.NewReader(data))
	for range maxYAMLDocuments {
		var doc yamlv3.Node
		if err := dec.Decode(&doc); err != nil {
			if !errors.Is(err, io.EOF) {
				return nil
			}
			return out
		}
		eachScalar(&doc, nil, func(n *yamlv3.Node, path []string) {
			if n.Style != 0 || n.ShortTag() != "!!float" && n.ShortTag() != "!!int" {
				return
			}
			if _, err := strconv.ParseUint(strings.TrimLeft(n.Value, "+-"), 10, 64); err == nil {
				return
			}
			if what := changed(path, n.Value); what != "" {
				out = append(out, chart.Warning{Where: fmt.Sprintf("%s: line %d", source, n.Line), What: what, File: source, Line: n.Line})
			}
		})
	}
	return out
}

// eachScalar visits the scalars that are written in a document; aliases are skipped.
func eachScalar(n *yamlv3.Node, path []string, visit func(*yamlv3.Node, []string)) {
	switch n.Kind {
	case yamlv3.DocumentNode:
		for _, e := range n.Content {
			eachScalar(e, path, visit)
		}
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			eachScalar(n.Content[i+1], longer(path, n.Content[i].Value), visit)
		}
	case yamlv3.SequenceNode:
		for i, e := range n.Content {
			eachScalar(e, longer(path, fmt.Sprintf("[%d]", i)), visit)
		}
	case yamlv3.ScalarNode:
		visit(n, path)
	case yamlv3.AliasNode:
	}
}

// changed describes how a template prints a number that it does not print as written; "" for any
// other text.
func changed(path []string, text string) string {
	if !written.MatchString(text) {
		return ""
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return ""
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		if exact(n) {
			return ""
		}
		return inexact(path, text, f)
	}
	if renders := fmt.Sprint(f); renders != strings.TrimPrefix(text, "+") {
		return fmt.Sprintf("%s: %s is a number and renders as %s; quote it to keep it as it is", PathText(path), disclosed(path, text), disclosed(path, renders))
	}
	return ""
}

func inexact(path []string, text string, f float64) string {
	return fmt.Sprintf("%s: %s is too large to be exact as a number and becomes %s; quote it",
		orTop(PathText(path)), disclosed(path, text), disclosed(path, strconv.FormatFloat(f, 'f', 0, 64)))
}

func orTop(path string) string {
	if path == "" {
		return "top level"
	}
	return path
}

// disclosed returns a number for a message, unless the name of its key suggests a secret.
func disclosed(path []string, number string) string {
	if len(path) > 0 && credential.Named(path[len(path)-1]) {
		return "(not shown)"
	}
	return number
}

// setWarnings warns about numbers in --set and --set-json arguments that will change later.
func (s Sources) setWarnings() []chart.Warning {
	var out []chart.Warning
	for _, text := range s.Set {
		if !long.MatchString(text) {
			continue
		}
		table, err := Sources{Set: []string{text}}.setAll(map[string]any{}, nil)
		if err != nil {
			continue
		}
		eachValue(table, nil, func(v any, path []string) {
			if n, ok := v.(int64); ok && !exact(n) {
				out = append(out, chart.Warning{Where: "--set", What: fmt.Sprintf(
					"%s: %s is too large to be exact as a number: once it is read back from the release's record it becomes %s; use --set-string",
					PathText(path), disclosed(path, strconv.FormatInt(n, 10)), disclosed(path, strconv.FormatFloat(float64(n), 'f', 0, 64)))})
			}
		})
	}
	for _, text := range s.JSON {
		table := map[string]any{}
		if doc := strings.TrimSpace(text); strings.HasPrefix(doc, "{") {
			dec := json.NewDecoder(strings.NewReader(doc))
			dec.UseNumber()
			if dec.Decode(&table) != nil {
				continue
			}
		} else {
			slots := maxSetSlots
			if (&setter{input{text: text}, jsonScalars{exact: true}, &slots}).apply(table) != nil {
				continue
			}
		}
		eachValue(table, nil, func(v any, path []string) {
			n, _ := v.(json.Number)
			if what := changed(path, n.String()); what != "" {
				out = append(out, chart.Warning{Where: "--set-json", What: what})
			}
		})
	}
	return out
}

// long matches a number with enough digits to be beyond 2^53.
var long = regexp.MustCompile(`[0-9]{16}`)

func exact(n int64) bool {
	f := float64(n)
	return f < math.MaxInt64 && int64(f) == n
}

func longer(path []string, key string) []string { return append(slices.Clip(path), key) }

func eachValue(v any, path []string, visit func(any, []string)) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			eachValue(v[key], longer(path, key), visit)
		}
	case []any:
		for i, e := range v {
			eachValue(e, longer(path, fmt.Sprintf("[%d]", i)), visit)
		}
	default:
		visit(v, path)
	}
}

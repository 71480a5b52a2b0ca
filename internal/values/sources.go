package values

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Sources holds the values from the command line, each list in the order of the flags. They are
// applied in the order of the fields, and later ones override earlier ones, as in Helm 4.3.1
// (pkg/cli/values/options.go, MergeValues).
type Sources struct {
	Files   []string // -f, --values: names of YAML files
	JSON    []string // --set-json: key=json,… or one {…} document
	Set     []string // --set
	String  []string // --set-string
	File    []string // --set-file: key=name,…
	Literal []string // --set-literal
}

// Merge merges all sources into one table. read returns the content of a file named by Files or
// File; "-" is passed on unchanged. Null values stay in the table: they remove defaults when it is
// coalesced. It warns about duplicate keys and about numbers that will change later.
func (s Sources) Merge(read func(name string) ([]byte, error)) (map[string]any, []chart.Warning, error) {
	out := map[string]any{}
	var warnings []chart.Warning
	for _, name := range s.Files {
		data, err := read(name)
		shown := resolve.Public(name)
		if err != nil {
			return nil, nil, fmt.Errorf("read values file %s: %w", shown, err)
		}
		table, found, err := Parse(data, shown)
		if err != nil {
			return nil, nil, err
		}
		out = Overlay(out, table)
		warnings = append(append(warnings, found...), literals(data, shown)...)
	}
	out, err := s.setAll(out, read)
	if err != nil {
		return nil, nil, err
	}
	return out, append(warnings, s.setWarnings()...), nil
}

func (s Sources) setAll(out map[string]any, read func(string) ([]byte, error)) (map[string]any, error) {
	slots := maxSetSlots
	content := func(name string) (any, error) {
		data, err := read(name)
		if err != nil {
			return nil, err
		}
		return string(data), nil
	}
	for _, text := range s.JSON {
		if doc := strings.TrimSpace(text); strings.HasPrefix(doc, "{") {
			var table map[string]any
			if err := json.Unmarshal([]byte(doc), &table); err != nil {
				return nil, fmt.Errorf("parse --set-json: %w", err)
			}
			out = Overlay(out, table)
			continue
		}
		if err := (&setter{input{text: text}, jsonScalars{}, &slots}).apply(out); err != nil {
			return nil, fmt.Errorf("parse --set-json: %w", err)
		}
	}
	for _, flag := range []struct {
		name    string
		args    []string
		scalars scalarReader
		literal bool
	}{
		{"--set", s.Set, textScalars{typed}, false},
		{"--set-string", s.String, textScalars{untyped}, false},
		{"--set-file", s.File, textScalars{content}, false},
		{"--set-literal", s.Literal, literalScalars{}, true},
	} {
		for _, text := range flag.args {
			in := input{text: text, literal: flag.literal}
			if err := (&setter{in, flag.scalars, &slots}).apply(out); err != nil {
				return nil, fmt.Errorf("parse %s: %w", flag.name, err)
			}
		}
	}
	return out, nil
}

// Set sets the values of a --set argument ("key=value,…") in table, which it changes in place,
// including nested tables. With asText, values stay text, as with --set-string.
func Set(table map[string]any, argument string, asText bool) error {
	slots := maxSetSlots
	convert := typed
	if asText {
		convert = untyped
	}
	return (&setter{input{text: argument}, textScalars{convert}, &slots}).apply(table)
}

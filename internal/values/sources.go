package values

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/resolve"
)

// Sources are the values a user gives on the command line, each list in the
// order of the flags. They apply in the order of the fields, later ones on
// top, as in Helm 4.3.1 (pkg/cli/values/options.go, MergeValues).
type Sources struct {
	Files   []string // -f, --values: names of YAML files
	JSON    []string // --set-json: key=json,… or one {…} document
	Set     []string // --set
	String  []string // --set-string
	File    []string // --set-file: key=name,…
	Literal []string // --set-literal
}

// Merge makes one table of all sources. read returns the content of a file
// named by Files or File; "-" is passed on as it is. Null values stay in the
// table: they take defaults away when it is coalesced. Warnings are of
// duplicate keys and of numbers that do not stay what they are.
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

// Set assigns what an argument of --set says ("key=value,…") to table, which it
// changes, tables within included. With asText values stay text, as those of
// --set-string do.
func Set(table map[string]any, argument string, asText bool) error {
	slots := maxSetSlots
	convert := typed
	if asText {
		convert = untyped
	}
	return (&setter{input{text: argument}, textScalars{convert}, &slots}).apply(table)
}

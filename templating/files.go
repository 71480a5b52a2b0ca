package templating

import (
	"encoding/base64"
	"errors"
	"maps"
	"path"
	"reflect"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/budget"
	"github.com/kubectl-release/kubectl-release/internal/chart"
)

// Files is .Files: the chart's files that are neither templates nor metadata,
// by path. Templates can range over it and call its methods.
type Files map[string][]byte

func newFiles(list []*chart.File) Files {
	files := make(Files, len(list))
	for _, f := range list {
		if f != nil {
			files[f.Name] = f.Data
		}
	}
	return files
}

// GetBytes returns the content of a file, empty when there is none.
func (f Files) GetBytes(name string) []byte {
	if data, ok := f[name]; ok {
		return data
	}
	return []byte{}
}

// Get is GetBytes as a string.
func (f Files) Get(name string) string { return string(f[name]) }

// method returns a method that takes as long as the files are large, as a template calls it, and nil for others.
func (f Files) method(b *budget.Budget, name string) *function {
	var m *function
	switch name {
	case "Glob":
		return f.glob(b)
	case "AsConfig":
		m = newFunction(name, reflect.ValueOf(func() (string, error) { return f.written(b, f.AsConfig) }))
	case "AsSecrets":
		m = newFunction(name, reflect.ValueOf(func() (string, error) { return f.written(b, f.AsSecrets) }))
	case "Lines":
		m = newFunction(name, reflect.ValueOf(f.Lines))
	default:
		return nil
	}
	m.cost = budget.FunctionOf(name, reflect.TypeFor[string]())
	return m
}

// written counts the steps of writing all files and writes them.
func (f Files) written(b *budget.Budget, write func() string) (string, error) {
	size := 0
	for _, data := range f {
		size += len(data)
	}
	if err := b.Step(size / fileBytes); err != nil {
		return "", err
	}
	return write(), nil
}

// glob returns Glob as a template calls it, which returns the files whose path matches; "*" stops at a
// slash, "**" does not. A pattern that can't be parsed matches all, as in Helm 4.3.1
// (pkg/engine/files.go, Glob).
func (f Files) glob(b *budget.Budget) *function {
	return newFunction("Glob", reflect.ValueOf(func(pattern string) (Files, error) {
		g, err := parseGlob(pattern)
		if errors.Is(err, errGlob) {
			return maps.Clone(f), nil
		}
		if err != nil {
			return nil, err
		}
		matched := Files{}
		for name, data := range f {
			m := globbing{path: name, budget: b}
			matches, err := m.match(g)
			if err != nil {
				return nil, err
			}
			if matches {
				matched[name] = data
			}
		}
		return matched, nil
	}))
}

// AsConfig returns the YAML of a ConfigMap's data: file names without folders, and
// contents. Of two files with the same name, the later path wins.
func (f Files) AsConfig() string {
	return f.flatten(func(data []byte) string { return string(data) })
}

// AsSecrets is AsConfig for a Secret: contents in base64.
func (f Files) AsSecrets() string {
	return f.flatten(base64.StdEncoding.EncodeToString)
}

func (f Files) flatten(encode func([]byte) string) string {
	if f == nil {
		return ""
	}
	out := make(map[string]any, len(f))
	for _, name := range sortedKeys(f) {
		out[path.Base(name)] = encode(f[name])
	}
	text, _ := mustToYAML(&budget.Budget{}, out) // count has counted it
	return text
}

// Lines returns the lines of a file, without an empty last one.
func (f Files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}

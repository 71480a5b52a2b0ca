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

// method returns a method that takes as long as the files are large, as a template calls it, and nil for others.
func (f Files) method(e *execution, name string) *function {
	var m *function
	switch name {
	case "Glob":
		return f.glob(&e.Budget)
	case "Get":
		return newFunction(name, reflect.ValueOf(func(file string) (string, error) { return e.fileText(f[file]) }))
	case "Lines":
		m = newFunction(name, reflect.ValueOf(func(file string) ([]string, error) { return e.fileLines(f[file]) }))
	case "AsConfig":
		m = newFunction(name, reflect.ValueOf(func() (string, error) {
			return f.flatten(&e.Budget, func(data []byte) string { return string(data) })
		}))
	case "AsSecrets":
		m = newFunction(name, reflect.ValueOf(func() (string, error) {
			return f.flatten(&e.Budget, base64.StdEncoding.EncodeToString)
		}))
	default:
		return nil
	}
	m.cost = budget.FunctionOf(name, reflect.TypeFor[string]())
	return m
}

// fileText returns the content of a file as a string, which is made and counted once.
func (e *execution) fileText(data []byte) (string, error) {
	if len(data) == 0 {
		return "", nil
	}
	text, ok := e.fileTexts[&data[0]]
	if !ok {
		if err := e.Made(len(data)); err != nil {
			return "", err
		}
		text = string(data)
		e.fileTexts[&data[0]] = text
	}
	return text, nil
}

// fileLines returns the lines of a file, without an empty last one.
func (e *execution) fileLines(data []byte) ([]string, error) {
	text, err := e.fileText(data)
	if err != nil || text == "" {
		return []string{}, err
	}
	if err := e.Read(len(text)); err != nil {
		return nil, err
	}
	if err := e.Room(16 * strings.Count(text, "\n")); err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), nil
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

// flatten returns the YAML of the data of a ConfigMap or Secret: file names without folders, and
// contents. Of two files with the same name, the later path wins.
func (f Files) flatten(b *budget.Budget, encode func([]byte) string) (string, error) {
	if f == nil {
		return "", nil
	}
	size := 0
	for _, data := range f {
		size += len(data)
	}
	if err := b.Step(size / fileBytes); err != nil {
		return "", err
	}
	if err := b.Room(size); err != nil {
		return "", err
	}
	out := make(map[string]any, len(f))
	for _, name := range sortedKeys(f) {
		out[path.Base(name)] = encode(f[name])
	}
	return mustToYAML(b, out)
}

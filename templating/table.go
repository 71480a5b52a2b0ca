package templating

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"
)

// Values is the type of .Values, of "." at the top of a file and of .Template.
// Templates can tell it from a plain map (dig rejects it, typeIs sees it) and
// can call its methods, so it has those of Helm 4.3.1's type
// (https://github.com/helm/helm/blob/v4.3.1/pkg/chart/common/values.go).
type Values map[string]any

// YAML returns v as YAML, with sorted keys. Errors: it holds what YAML can't represent, such as a
// function.
func (v Values) YAML() (string, error) {
	b, err := yaml.Marshal(v)
	return string(b), err
}

// AsMap returns v as a plain map, never nil.
func (v Values) AsMap() map[string]any {
	if len(v) == 0 {
		return map[string]any{}
	}
	return v
}

// Encode writes v as YAML. Errors are those of YAML and of w.
func (v Values) Encode(w io.Writer) error {
	text, err := v.YAML()
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, text)
	return err
}

// Table returns the table at a path of keys joined by dots. The error says which
// key holds none.
func (v Values) Table(path string) (Values, error) {
	at := v
	for _, key := range strings.Split(path, ".") {
		table, ok := asTable(at[key])
		if !ok {
			return Values{}, fmt.Errorf("%q is not a table", key)
		}
		at = table
	}
	return at, nil
}

// PathValue returns the scalar or list at a path of keys joined by dots. Tables
// don't count as values: they and missing keys are errors.
func (v Values) PathValue(path string) (any, error) {
	if path == "" {
		return nil, errors.New("the path of a value can't be empty")
	}
	table, key := v, path
	if i := strings.LastIndex(path, "."); i >= 0 {
		var err error
		if table, err = v.Table(path[:i]); err != nil {
			return nil, err
		}
		key = path[i+1:]
	}
	value, ok := table[key]
	if _, isMap := value.(map[string]any); !ok || isMap {
		return nil, fmt.Errorf("%q is not a value", key)
	}
	return value, nil
}

func asTable(v any) (Values, bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case Values:
		return v, true
	}
	return nil, false
}

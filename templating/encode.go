package templating

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/budget"
	"github.com/kubectl-release/kubectl-release/internal/yamltext"
)

// encodingFunctions are Helm's encoders and decoders. Encoders without "must" return "" for a value
// that can't be encoded (TOML: the error's message); decoders return the message under the key
// Error, or as the only item of a list. Results are those of Helm 4.3.1
// (https://github.com/helm/helm/blob/v4.3.1/pkg/engine/funcs.go), including the messages of YAML and
// JSON, because charts test for them.
func encodingFunctions(b *budget.Budget) map[string]any {
	return map[string]any{
		"toYaml":        func(v any) string { out, _ := mustToYAML(b, v); return out },
		"mustToYaml":    func(v any) (string, error) { return mustToYAML(b, v) },
		"toYamlPretty":  toYAMLPretty,
		"fromYaml":      func(text string) map[string]any { return fromYAML(b, text) },
		"fromYamlArray": func(text string) []any { return decodeList(text, unmarshalYAML) },
		"toJson":        func(v any) string { out, _ := toJSON(v); return out },
		"mustToJson":    toJSON,
		"fromJson":      func(text string) map[string]any { return decodeTable(text, json.Unmarshal) },
		"fromJsonArray": func(text string) []any { return decodeList(text, json.Unmarshal) },
		"toToml":        toTOML,
		"mustToToml":    encodeTOML,
		"fromToml":      func(text string) map[string]any { return decodeTable(text, toml.Unmarshal) },
	}
}

func unmarshalYAML(data []byte, into any) error { return yaml.Unmarshal(data, into) }

// fromYAML and mustToYAML count what they leave to the library. If that would be too much, the render ends with
// whatever comes next.
func fromYAML(b *budget.Budget, text string) map[string]any {
	if table, ok := yamltext.UnmarshalFlat(text); ok {
		return table
	}
	if b.ReadSlowly(text) != nil {
		return map[string]any{}
	}
	return decodeTable(text, unmarshalYAML)
}

func mustToYAML(b *budget.Budget, v any) (string, error) {
	if table, is := v.(Values); is {
		v = map[string]any(table)
	}
	if text, ok := yamltext.Marshal(v); ok {
		return text, nil
	}
	if err := b.WriteSlowly(v); err != nil {
		return "", err
	}
	data, err := yaml.Marshal(v)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

func toYAMLPretty(v any) string {
	var b bytes.Buffer
	enc := yamlv3.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(v); err != nil {
		return ""
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func toJSON(v any) (string, error) {
	data, err := json.Marshal(v)
	return string(data), err
}

func toTOML(v any) string {
	text, err := encodeTOML(v)
	if err != nil {
		return err.Error()
	}
	return text
}

func encodeTOML(v any) (string, error) {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(v); err != nil {
		return "", err
	}
	return b.String(), nil
}

func decodeTable(text string, decode func([]byte, any) error) map[string]any {
	m := map[string]any{}
	if err := decode([]byte(text), &m); err != nil {
		if m == nil {
			m = map[string]any{}
		}
		m["Error"] = err.Error()
	}
	return m
}

func decodeList(text string, decode func([]byte, any) error) []any {
	list := []any{}
	if err := decode([]byte(text), &list); err != nil {
		return []any{err.Error()}
	}
	return list
}

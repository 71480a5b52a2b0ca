package helmfile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"text/template"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// data returns what templates see; e is nil where there is no release.
func (s *state) data(environment string, e *releaseset.Entry) map[string]any {
	out := map[string]any{
		"Values": s.values, "StateValues": s.values, "Namespace": s.fields.Namespace,
		"Environment": map[string]any{"Name": environment, "Values": s.values, "KubeContext": s.kubeContext},
	}
	if e != nil {
		out["Release"] = map[string]any{"Name": e.Name, "Namespace": e.Namespace, "Labels": e.Labels, "Chart": e.Chart.Path + e.Chart.Name, "KubeContext": e.Cluster}
	}
	return out
}

// functions returns the functions of helmfile that read, and those that are refused. Paths are relative to
// the file.
func (r *reader) functions(dir string) template.FuncMap {
	out := template.FuncMap{}
	for _, name := range []string{"exec", "envExec", "fetchSecretValue", "expandSecretRefs", "tpl", "include", "readDirEntries"} {
		out[name] = func(...any) (string, error) {
			return "", fmt.Errorf("%s is not supported: templates run no programs and fetch nothing here", name)
		}
	}
	variable := func(name string) (string, error) {
		value, allowed := r.options.Variables[name]
		if !allowed {
			return "", fmt.Errorf("reading the environment variable %s is not allowed: pass --env %s to allow it", name, name)
		}
		return value, nil
	}
	out["env"] = variable
	out["requiredEnv"] = func(name string) (string, error) {
		value, err := variable(name)
		if err == nil && value == "" {
			err = fmt.Errorf("the environment variable %s is not set", name)
		}
		return value, err
	}
	out["required"] = func(why string, value any) (any, error) {
		if value == nil || value == "" {
			return nil, errors.New(why)
		}
		return value, nil
	}
	out["toYaml"] = func(value any) (string, error) {
		if err := r.bounded.check(r.bounded.budget.WriteSlowly(value)); err != nil {
			return "", err
		}
		text, err := yaml.Marshal(value)
		return string(text), err
	}
	out["fromYaml"] = func(text string) (map[string]any, error) {
		if err := r.bounded.check(r.bounded.budget.ReadSlowly(text)); err != nil {
			return nil, err
		}
		table, _, err := values.Parse([]byte(text), "fromYaml")
		return table, err
	}
	out["get"], out["getOrNil"] = get, func(at string, table map[string]any) (any, error) { return get(at, nil, table) }
	out["readFile"] = func(name string) (string, error) {
		at, err := releaseset.Join(dir, name)
		if err != nil {
			return "", err
		}
		data, err := releaseset.ReadFile(r.tree, at)
		return string(data), err
	}
	is := func(wanted bool) func(string) (bool, error) {
		return func(name string) (bool, error) {
			at, err := releaseset.Join(dir, name)
			if err != nil {
				return false, err
			}
			info, err := fs.Stat(r.tree, at)
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			return err == nil && info.IsDir() == wanted, err
		}
	}
	out["isFile"], out["isDir"] = is(false), is(true)
	out["readDir"] = func(name string) ([]string, error) { return r.list(dir, name) }
	return out
}

// list returns the files of a folder, as paths from the template's own folder.
func (r *reader) list(dir, name string) ([]string, error) {
	at, err := releaseset.Join(dir, name)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(r.tree, at)
	var out []string
	for _, e := range entries {
		if !e.IsDir() {
			out = append(out, path.Join(name, e.Name()))
		}
	}
	return out, err
}

// get is helmfile's get "a.b" default table; without a default, the value has to exist.
func get(at string, args ...any) (any, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, errors.New(`get takes a path, a default and a table: get "a.b" "x" .Values`)
	}
	v := args[len(args)-1]
	for key := range strings.SplitSeq(at, ".") {
		table, _ := v.(map[string]any)
		below, found := table[key]
		if !found {
			if len(args) == 2 {
				return args[0], nil
			}
			return nil, fmt.Errorf("there is no value %s", at)
		}
		v = below
	}
	return v, nil
}

// stateValues merges a file or a table into the state's values. missing is the missingFileHandler.
func (r *reader) stateValues(s *state, name string, node *yaml.Node, missing string) error {
	var sources values.Sources
	inline := map[string][]byte{}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind == yaml.ScalarNode {
		layers, err := r.file(s, node.Value, s.data(r.options.Environment, nil), missing)
		if err != nil {
			return refusal(name, node.Line, err)
		}
		for i, v := range layers {
			if v.File == "" {
				v.File = fmt.Sprintf("%s (%d)", node.Value, i)
				inline[v.File] = v.Inline
			}
			sources.Files = append(sources.Files, v.File)
		}
	} else {
		text, err := releaseset.Inline(node)
		if err == nil {
			err = refused(text)
		}
		if err != nil {
			return refusal(name, node.Line, err)
		}
		at := releaseset.Place{File: name, Line: node.Line}.String()
		inline[at], sources.Files = text, []string{at}
	}
	const sofar = "the values before"
	before, err := yaml.Marshal(s.values)
	if err != nil {
		return err
	}
	inline[sofar], sources.Files = before, slices.Insert(sources.Files, 0, sofar)
	merged, _, err := sources.Merge(func(file string) ([]byte, error) {
		if text, ok := inline[file]; ok {
			return text, nil
		}
		text, err := releaseset.ReadFile(r.tree, file)
		if optional(missing) && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return text, err
	})
	if err != nil {
		return refusal(name, node.Line, err)
	}
	s.values = merged
	return nil
}

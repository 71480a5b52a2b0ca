// Package helmfile reads a subset of helmfile's files (https://helmfile.readthedocs.io,
// v1) into the model of package releaseset: what most of them use. A field is read, or
// warned about because it means nothing here, or refused with its line; none is
// silently ignored. What is refused can be resolved by helmfile itself: helmfile build.
//
// It runs no program, reads no file outside of the tree, and sees only those
// environment variables that it is given.
package helmfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// Options say how a file is read.
type Options struct {
	// Environment is helmfile's --environment; "" is default.
	Environment string
	// Variables are the environment variables that templates may read.
	Variables map[string]string
}

// defaultEnvironment is helmfile's.
const defaultEnvironment = "default"

// Read reads a helmfile of a tree. Errors name the file and line, and say how to go on:
// *releaseset.UndeclaredError for an environment that the file does not have.
func Read(tree releaseset.Tree, name string, o Options) (*releaseset.Set, error) {
	named := o.Environment != ""
	if !named {
		o.Environment = defaultEnvironment
	}
	return (&reader{tree: tree, options: o, named: named}).set(name)
}

// reader reads a helmfile and those that it names.
type reader struct {
	tree    releaseset.Tree
	options Options
	// named reports whether an environment was given.
	named   bool
	bounded bounded
	// open are the files being read, the outermost first.
	open []string
	// files and bytes are what has been read, files as often as they are included.
	files, bytes int
}

// Limits on what is read: a base that is included twice by each of a few that include each other is read a
// million times.
const (
	maxFiles = 5_000
	maxBytes = 64 << 20
)

// state is what the parts of a file add up to.
type state struct {
	file, dir    string
	fields       fields
	values       map[string]any
	environments map[string]bool
	// kubeContext is that of the chosen environment.
	kubeContext string
	warnings    []string
}

func newState(name string) *state {
	return &state{file: name, dir: path.Dir(name), values: map[string]any{}, environments: map[string]bool{}}
}

func (r *reader) set(name string) (*releaseset.Set, error) {
	if data, err := releaseset.ReadFile(r.tree, name); err == nil && built.Match(data) {
		return r.built(name, string(data))
	}
	s := newState(name)
	err := r.read(s, name)
	if len(s.environments) > 0 && !s.environments[r.options.Environment] && r.options.Environment != defaultEnvironment {
		// What comes after the environments may fail because of that. helmfile 1.7.4 stops there (load in
		// pkg/app/desired_state_file_loader.go).
		err = errors.Join(undeclared(name, r.options.Environment, s.environments), err)
	}
	if err != nil {
		return nil, err
	}
	set, err := r.releases(s)
	if err != nil {
		return nil, err
	}
	for _, nested := range s.fields.Helmfiles {
		if err := r.nested(set, s, nested); err != nil {
			return nil, err
		}
	}
	set.Warnings = append(s.warnings, set.Warnings...)
	return set, set.Join()
}

// undeclared returns an error for an environment that a file lacks.
func undeclared[T any](file, environment string, declared map[string]T) error {
	return &releaseset.UndeclaredError{What: fmt.Sprintf("%s: there is no environment %q: it has %s", file, environment, strings.Join(slices.Sorted(maps.Keys(declared)), ", "))}
}

var separator = regexp.MustCompile(`(?m)^---[ \t]*(?:#.*)?$`)

// read reads the parts of a file, each with the values of the previous ones.
func (r *reader) read(s *state, name string) error {
	if slices.Contains(r.open, name) {
		return fmt.Errorf("%s: it includes itself, via %s", name, strings.Join(r.open, ", "))
	}
	r.open = append(r.open, name)
	defer func() { r.open = r.open[:len(r.open)-1] }()
	data, err := releaseset.ReadFile(r.tree, name)
	if err != nil {
		return err
	}
	r.files, r.bytes = r.files+1, r.bytes+len(data)
	if r.files > maxFiles || r.bytes > maxBytes {
		return fmt.Errorf("%s: more than %d files or %d MiB are included, counting each as often as it is", name, maxFiles, maxBytes>>20)
	}
	return eachPart(string(data), func(part string) error { return r.part(s, name, part) })
}

// eachPart calls do for each part of a file, with its lines where they are in the file.
func eachPart(text string, do func(string) error) error {
	line := 0
	for _, part := range separator.Split(text, -1) {
		if err := do(strings.Repeat("\n", line) + part); err != nil {
			return err
		}
		line += strings.Count(part, "\n")
	}
	return nil
}

func (r *reader) part(s *state, name, text string) error {
	if strings.Contains(text, "{{") || strings.HasSuffix(name, ".gotmpl") {
		var err error
		if text, err = r.render(name, text, s.data(r.options.Environment, nil)); err != nil {
			return err
		}
	}
	return r.document(s, name, text)
}

// document adds a part whose own templates are rendered.
func (r *reader) document(s *state, name, text string) error {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return nil
	}
	if err := another(name, root.Content[0]); err != nil {
		return err
	}
	warnings, err := checked(name, root.Content[0], groupOf(root.Content[0]))
	if err != nil {
		return err
	}
	s.warnings = append(s.warnings, warnings...)
	var f fields
	if err := root.Content[0].Decode(&f); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f.place(name)
	if err := r.resolve(s, &f); err != nil {
		return err
	}
	for env := range f.Environments { // what fails from here on does not fail because this one is missing
		s.environments[env] = true
	}
	for _, base := range f.Bases {
		at, err := s.path(base)
		if err != nil {
			return refusal(name, root.Content[0].Line, err)
		}
		if err := r.read(s, at); err != nil {
			return err
		}
	}
	return r.merge(s, name, f)
}

// merge adds a part: its values override earlier ones, and those of the chosen environment come last.
func (r *reader) merge(s *state, name string, f fields) error {
	for i := range f.Values {
		if err := r.stateValues(s, name, &f.Values[i], first(f.MissingFile, s.fields.MissingFile)); err != nil {
			return err
		}
	}
	for env, node := range f.Environments {
		s.environments[env] = true
		if env != r.options.Environment || node.Tag == "!!null" {
			continue
		}
		warnings, err := checked(name, &node, environmentFields)
		if err != nil {
			return err
		}
		s.warnings = append(s.warnings, warnings...)
		var e environment
		if err := releaseset.Decode(name, &node, &e); err != nil {
			return err
		}
		for i := range e.Values {
			if err := r.stateValues(s, name, &e.Values[i], e.MissingFile); err != nil {
				return err
			}
		}
		s.kubeContext = first(e.KubeContext, s.kubeContext)
	}
	s.fields.add(f)
	return nil
}

// nested adds the releases of another helmfile.
func (r *reader) nested(set *releaseset.Set, s *state, node yaml.Node) error {
	n := nested{}
	if node.Kind == yaml.ScalarNode {
		n.Path = node.Value
	} else if err := releaseset.Decode(s.file, &node, &n); err != nil {
		return err
	}
	at, err := s.path(n.Path)
	if err != nil {
		return refusal(s.file, node.Line, err)
	}
	files, err := r.glob(at)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("there is no helmfile %s", at)
	}
	if err != nil {
		return refusal(s.file, node.Line, err)
	}
	selector, err := releaseset.ParseSelector(n.Selectors)
	if err != nil {
		return refusal(s.file, node.Line, err)
	}
	for _, file := range files {
		r.open = append(r.open, s.file)
		other, err := r.set(file)
		r.open = r.open[:len(r.open)-1]
		if undeclared := (*releaseset.UndeclaredError)(nil); errors.As(err, &undeclared) { // as in helmfile 1.7.4 (UndefinedEnvError in pkg/app/app.go)
			set.Warnings = append(set.Warnings, undeclared.What+"; its releases are left out")
			continue
		}
		if err != nil {
			return err
		}
		other.Entries = slices.DeleteFunc(other.Entries, func(e releaseset.Entry) bool { return !selector.Selects(e) })
		if err := set.Join(other); err != nil {
			return err
		}
	}
	return nil
}

// path returns where a path in a file leads; remote ones are an error.
func (s *state) path(name string) (string, error) {
	if strings.Contains(name, "::") || strings.Contains(name, "://") {
		return "", errors.New(name + " is remote, and nothing is fetched here")
	}
	return releaseset.Join(s.dir, name)
}

// glob returns the files that match a pattern, sorted; for a path without wildcards
// that path, whether it exists or not.
func (r *reader) glob(pattern string) ([]string, error) {
	if !strings.ContainsAny(pattern, "*?[") {
		return []string{pattern}, nil
	}
	return fs.Glob(r.tree, pattern)
}

// wayOut ends every refusal.
const wayOut = "; resolve it in a trusted job: helmfile build --embed-values > set.yaml"

func refusal(file string, line int, why error) error {
	if field := (*releaseset.FieldError)(nil); errors.As(why, &field) {
		return why
	}
	return &releaseset.FieldError{Place: releaseset.Place{File: file, Line: line}, What: why.Error() + wayOut}
}

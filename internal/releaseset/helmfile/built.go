package helmfile

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// built matches what helmfile build prints, and nothing else has: the values that it has used. It prints
// a document for each helmfile that it has read, also for those that another one names (PrintState in
// pkg/app/app.go, and HelmState in pkg/state/state.go, of helmfile 1.7.4).
var built = regexp.MustCompile(`(?m)^renderedvalues:`)

// source matches the comment that begins each document of helmfile build: the absolute path of the helmfile
// (PrintState).
var source = regexp.MustCompile(`(?m)^#  Source: (.+?)\r?$`)

// built returns the releases of what helmfile build has printed. Its documents have nothing in common, and
// what looks like a template in them is a value or unused. The last one is of the helmfile beside which the
// output is: those that it names come before it (visitStatesWithContext in pkg/app/app.go).
func (r *reader) built(name, text string) (*releaseset.Set, error) {
	set, beside := &releaseset.Set{}, ""
	if all := source.FindAllStringSubmatch(text, -1); all != nil {
		beside = sourceDir(all[len(all)-1][1])
	}
	err := eachPart(text, func(part string) error {
		s := newState(name)
		if err := s.move(part, beside); err != nil {
			return err
		}
		if err := r.document(s, name, part); err != nil {
			return err
		}
		one, err := r.releases(s)
		if err != nil {
			return err
		}
		one.Warnings = append(s.warnings, one.Warnings...)
		return set.Join(one)
	})
	return set, err
}

// groupOf says what happens to the fields of a part.
func groupOf(part *yaml.Node) group {
	if releaseset.KeyNode(part, "renderedvalues") != nil {
		return builtFields
	}
	return topFields
}

// sourceDir returns the folder of a helmfile, with slashes whatever the system that helmfile has run on.
func sourceDir(file string) string { return path.Dir(strings.ReplaceAll(file, `\`, "/")) }

// move lets the paths of a document begin at the folder of its helmfile. beside is that of the helmfile beside
// which the output is.
func (s *state) move(part, beside string) error {
	at := source.FindStringSubmatchIndex(part)
	if at == nil {
		return nil
	}
	file := part[at[2]:at[3]]
	from, err := filepath.Rel(beside, sourceDir(file))
	if err == nil {
		s.dir, err = releaseset.Join(s.dir, filepath.ToSlash(from))
	}
	if err != nil {
		return &releaseset.FieldError{
			Place: releaseset.Place{File: s.file, Line: 1 + strings.Count(part[:at[0]], "\n")},
			What:  fmt.Sprintf("the folder of %s is unknown: %v; save what helmfile build prints beside the helmfile", file, err),
		}
	}
	return nil
}

// resolve drops what helmfile build leaves in its output although it has used it: the values are merged,
// and other helmfiles are documents of their own. Of the environments, the kubeContext is all that is still
// needed.
func (r *reader) resolve(s *state, f *fields) error {
	if f.Rendered.Kind == 0 {
		return nil
	}
	var err error
	elsewhere := func(release yaml.Node) bool { return releaseset.KeyNode(&release, "kubeContext") == nil }
	if f.KubeContext == "" && slices.ContainsFunc(f.Releases, elsewhere) {
		s.kubeContext, err = r.contextOf(s.file, f.Environments)
	}
	f.Bases, f.Environments, f.Helmfiles = nil, nil, nil
	f.Values = []yaml.Node{f.Rendered}
	return err
}

// contextOf returns the kubeContext of the environment that the output of helmfile build is for. The output
// does not say which one that is, so it has to be named if they differ.
func (r *reader) contextOf(file string, environments map[string]yaml.Node) (string, error) {
	contexts := map[string]string{defaultEnvironment: ""} // which need not be declared
	for name, node := range environments {
		contexts[name] = ""
		if context := releaseset.KeyNode(&node, "kubeContext"); context != nil {
			contexts[name] = context.Value
		}
	}
	context, declared := contexts[r.options.Environment]
	if r.named && declared {
		return context, nil
	}
	for _, other := range contexts {
		switch {
		case other == contexts[defaultEnvironment]:
		case r.named:
			return "", undeclared(file, r.options.Environment, contexts)
		default:
			return "", fmt.Errorf("%s: its environments have different clusters (kubeContext), and it does not say which of them it was built for: name that with --environment", file)
		}
	}
	return contexts[defaultEnvironment], nil
}

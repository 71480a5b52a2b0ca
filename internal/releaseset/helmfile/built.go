package helmfile

import (
	"regexp"

	yaml "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// built matches what helmfile build prints, and nothing else has: the values that it has used. It prints
// a document for each helmfile that it has read, also for those that another one names (PrintState in
// pkg/app/app.go, and HelmState in pkg/state/state.go, of helmfile 1.7.4).
var built = regexp.MustCompile(`(?m)^renderedvalues:`)

// built returns the releases of what helmfile build has printed. Its documents have nothing in common, and
// what looks like a template in them is a value or unused.
func (r *reader) built(name, text string) (*releaseset.Set, error) {
	set := &releaseset.Set{}
	err := eachPart(text, func(part string) error {
		s := newState(name)
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
	if key(part, "renderedvalues") != nil {
		return builtFields
	}
	return topFields
}

// resolve drops what helmfile build leaves in its output although it has used it: the values are merged,
// and other helmfiles are documents of their own.
func (f *fields) resolve() {
	if f.Rendered.Kind != 0 {
		f.Bases, f.Environments, f.Helmfiles = nil, nil, nil
		f.Values = []yaml.Node{f.Rendered}
	}
}

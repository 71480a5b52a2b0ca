// Package substitution is the postBuild of Flux's Kustomizations: it replaces
// variables in the text of objects with fluxcd/pkg/envsubst, the code that
// kustomize-controller runs.
//
// It fetches nothing: ConfigMaps and Secrets come from a Lookup.
package substitution

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"github.com/fluxcd/pkg/envsubst/parse"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// switchedOff is the label or annotation that, with the value "disabled", leaves
// an object as it is.
const switchedOff = flux.KustomizeGroup + "/substitute"

const (
	// maxText is the largest size of one object's text, in bytes.
	maxText = 4 << 20
	// maxEscapes limits how often $$ may occur in a text, times its size: the parser
	// copies the text at each.
	maxEscapes = 1 << 32
	// maxResult is the largest size, in bytes, of the values that are put into one text.
	maxResult = 32 << 20
)

var nameOf = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// Variables are the variables of a Kustomization.
type Variables struct {
	// Values by name, without line feeds.
	Values map[string]string
	// Unknown are the objects of substituteFrom whose content is not known. A
	// variable that is nowhere else may be in them.
	Unknown []flux.Reference
	// Defaults says that such a variable has its default where one is given.
	Defaults bool
	// Strict refuses variables that are not set. Always substitutes even when
	// there are no variables.
	Strict, Always bool
}

// Lookup returns all data of a ConfigMap or Secret in the Kustomization's
// namespace. known is false for content that exists, or may exist, and can't be read.
type Lookup func(kind, name string) (data map[string]string, found, known bool)

// Of returns the variables of a Kustomization: those of substituteFrom in order,
// then substitute. A missing object that is not optional is an error, and so is an
// invalid name.
func Of(k *flux.Kustomization, lookup Lookup) (Variables, error) {
	out := Variables{Values: map[string]string{}}
	post := k.Spec.PostBuild
	if post == nil {
		return out, nil
	}
	out.Always = post.SubstituteStrategy == "Always"
	for _, ref := range post.SubstituteFrom {
		data, found, known := lookup(ref.Kind, ref.Name)
		switch {
		case !known:
			out.Unknown = append(out.Unknown, flux.Reference{Kind: ref.Kind, Name: ref.Name, Namespace: k.Metadata.Namespace})
		case !found && !ref.Optional:
			return out, fmt.Errorf("substitute from '%s/%s': not found", ref.Kind, ref.Name)
		}
		out.add(data)
	}
	out.add(post.Substitute)
	for name := range out.Values {
		if !nameOf.MatchString(name) {
			return out, fmt.Errorf("'%s' var name is invalid, must match '%s'", name, nameOf)
		}
	}
	return out, nil
}

func (v *Variables) add(data map[string]string) {
	for name, value := range data {
		v.Values[name] = strings.ReplaceAll(value, "\n", "")
	}
}

// Object returns the object with its variables replaced, or the object itself if
// there are no variables or substitution is disabled for it. unknown reports whether
// it has a variable that may be in an unknown object.
func (v Variables) Object(object map[string]any) (out map[string]any, unknown bool, err error) {
	if len(v.Values) == 0 && len(v.Unknown) == 0 && !v.Always || disabled(object) {
		return object, false, nil
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return nil, false, err
	}
	replaced, unknown, err := v.Text(string(text))
	if err != nil {
		return nil, false, fmt.Errorf("variable substitution failed: %w", err)
	}
	if err := yaml.Unmarshal([]byte(replaced), &out); err != nil {
		return nil, false, fmt.Errorf("after variable substitution: %w", err)
	}
	return out, unknown, nil
}

// Text replaces the variables in a text: ${v}, with the Bash operators that envsubst
// knows; $$ is a dollar sign, and $v without braces stays. A variable that is not set
// is empty, or an error with Strict; one that may be in an unknown object becomes a
// marker, or with Defaults its default, and unknown is true. A text with invalid syntax,
// or beyond the limits, is an error.
func (v Variables) Text(text string) (out string, unknown bool, err error) {
	if len(text) > maxText || strings.Count(text, "$$")*len(text) > maxEscapes {
		return "", false, fmt.Errorf("the text is too large: %d bytes", len(text))
	}
	var defaulted []bool
	if v.Defaults && len(v.Unknown) > 0 {
		tree, err := parse.Parse(text)
		if err != nil {
			return text, false, err
		}
		defaulted = defaults(nil, tree.Root)
	}
	size, asked := 0, -1
	out, err = envsubst.Eval(text, func(name string) (string, bool) {
		value, ok := v.Values[name]
		asked++
		if !ok && len(v.Unknown) > 0 {
			unknown = true
			if asked < len(defaulted) && defaulted[asked] {
				return "", false
			}
			value, ok = fmt.Sprintf("(unknown %s %s)", v.Unknown[len(v.Unknown)-1], name), true
		}
		if size += len(value); size > maxResult {
			return "", false
		}
		return value, ok || !v.Strict
	})
	return out, unknown, err
}

// defaults adds for each variable below a node, in the order in which they are looked up (fluxcd/pkg
// envsubst v1.8.0, template.go, evalFunc: those in an argument first), whether it has a default.
func defaults(have []bool, node parse.Node) []bool {
	switch node := node.(type) {
	case *parse.ListNode:
		for _, below := range node.Nodes {
			have = defaults(have, below)
		}
	case *parse.FuncNode:
		for _, argument := range node.Args {
			have = defaults(have, argument)
		}
		have = append(have, slices.Contains(defaulting, node.Name))
	}
	return have
}

// defaulting are the operators after which a default follows (template.go, isDefaultOp).
var defaulting = []string{"-", "+", "=", "?", ":-", ":+", ":=", ":?"}

func disabled(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		if values, _ := metadata[field].(map[string]any); values[switchedOff] == "disabled" {
			return true
		}
	}
	return false
}

// Package substitution is the postBuild of Flux's Kustomizations: variables in
// the text of objects, in the grammar of fluxcd/pkg/envsubst, which is the code
// that kustomize-controller runs.
//
// It fetches nothing: ConfigMaps and Secrets come from a lookup.
package substitution

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// switchedOff is the label or annotation of objects that are left as they are,
// with the value "disabled".
const switchedOff = flux.KustomizeGroup + "/substitute"

const (
	// maxText is the size of one object's text.
	maxText = 4 << 20
	// maxEscapes bounds how often $$ may stand in a text, times its size: the parser
	// copies the text at each.
	maxEscapes = 1 << 32
	// maxResult is the size of what one object's text may become.
	maxResult = 32 << 20
)

var nameOf = regexp.MustCompile(`^[_[:alpha:]][_[:alpha:][:digit:]]*$`)

// Variables are those of a Kustomization.
type Variables struct {
	// Values by name, without line feeds.
	Values map[string]string
	// Unknown are the objects of substituteFrom whose content is not known. A
	// variable that is in no other may be in them.
	Unknown []string
	// Strict refuses variables that are not there. Always substitutes even when
	// there are no variables.
	Strict, Always bool
}

// Lookup gives all data of a ConfigMap or Secret of the Kustomization's
// namespace. known is false for content that exists, or may, and can't be read.
type Lookup func(kind, name string) (data map[string]string, found, known bool)

// Of gathers the variables of a Kustomization: those of substituteFrom in order,
// then substitute. Errors: an object that is missing and not optional, and a name
// that is none.
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
			out.Unknown = append(out.Unknown, flux.Reference{Kind: ref.Kind, Name: ref.Name, Namespace: k.Metadata.Namespace}.String())
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

// Object is the object with its variables replaced, itself when there are none
// to replace or it is switched off.
func (v Variables) Object(object map[string]any) (map[string]any, error) {
	if len(v.Values) == 0 && len(v.Unknown) == 0 && !v.Always || disabled(object) {
		return object, nil
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return nil, err
	}
	replaced, err := v.Text(string(text))
	if err != nil {
		return nil, fmt.Errorf("variable substitution failed: %w", err)
	}
	var out map[string]any
	if err := yaml.Unmarshal([]byte(replaced), &out); err != nil {
		return nil, fmt.Errorf("after variable substitution: %w", err)
	}
	return out, nil
}

// Text replaces the variables of a text: ${v}, with the operators of bash that
// envsubst knows; $$ is a dollar sign, and $v without braces stays. What is not
// there is empty, or an error with Strict; what may be in an object that is not
// known is a marker. Errors: a text that is no such grammar, or beyond the limits.
func (v Variables) Text(text string) (string, error) {
	if len(text) > maxText || strings.Count(text, "$$")*len(text) > maxEscapes {
		return "", fmt.Errorf("the text is too large: %d bytes", len(text))
	}
	size := 0
	return envsubst.Eval(text, func(name string) (string, bool) {
		value, ok := v.Values[name]
		if !ok && len(v.Unknown) > 0 {
			value, ok = fmt.Sprintf("(unknown %s %s)", v.Unknown[len(v.Unknown)-1], name), true
		}
		if size += len(value); size > maxResult {
			return "", false
		}
		return value, ok || !v.Strict
	})
}

func disabled(object map[string]any) bool {
	metadata, _ := object["metadata"].(map[string]any)
	for _, field := range []string{"labels", "annotations"} {
		if values, _ := metadata[field].(map[string]any); values[switchedOff] == "disabled" {
			return true
		}
	}
	return false
}

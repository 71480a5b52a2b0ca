// Package composition composes the values of a HelmRelease as helm-controller
// does, including its quirks with targetPath, and says what has no effect, what
// was skipped and what is not known.
//
// It fetches nothing: ConfigMaps and Secrets come from a Lookup.
package composition

import (
	"encoding/json"
	"fmt"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/values"
)

// Found is how much is known about what a reference names.
type Found int

const (
	// Missing is an object or a key that is not there.
	Missing Found = iota
	// Known is content that is available.
	Known
	// Unknown is content that exists, or may exist, and can't be read: a Secret that
	// is encrypted, created in the cluster, or forbidden.
	Unknown
)

// Lookup returns the content of a key of a ConfigMap or Secret in the
// HelmRelease's own namespace. The object is always in the cluster that Flux
// runs in.
type Lookup func(ref flux.ValuesReference) (data []byte, found Found)

// Composed are the values of a HelmRelease.
type Composed struct {
	// Values are the result. Where a targetPath's content is not known there is a
	// marker, see Marker.
	Values map[string]any
	// Unknown are the references whose content is not known. When there are any,
	// Values are an estimate and their digest says nothing.
	Unknown []flux.ValuesReference
	// Skipped are the optional references that were not found.
	Skipped []flux.ValuesReference
	// Notes are sentences about what has no effect.
	Notes []string
	// Secrets are the contents of Secrets, and the values in them.
	Secrets [][]byte
}

// Error is a reference that can't be resolved; helm-controller shows it as
// ValuesError and tries again.
type Error struct {
	Reference flux.ValuesReference
	Namespace string
	Err       error
}

// Error names the reference as helm-controller does.
func (e *Error) Error() string {
	kind := e.Reference.Kind
	if e.Reference.Optional {
		kind = "optional " + kind
	}
	return fmt.Sprintf("could not resolve %s chart values reference '%s/%s' with key '%s': %s",
		kind, e.Namespace, e.Reference.Name, e.Reference.Key(), e.Err)
}

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Marker returns the text that stands for content that is not known. It is the same
// on both sides of a comparison, so it makes no difference.
func Marker(namespace string, r flux.ValuesReference) string {
	return fmt.Sprintf(unknownPrefix+"%s/%s/%s %s)", r.Kind, namespace, r.Name, r.Key())
}

// unknownPrefix begins a marker, also those of package substitution.
const unknownPrefix = "(unknown "

// Marked reports whether a text contains a marker.
func Marked(text string) bool { return strings.Contains(text, unknownPrefix) }

// Compose merges valuesFrom in order and spec.values on top (fluxcd/pkg
// chartutil.ChartValuesFromReferences). A reference with a targetPath sets one
// value instead: spec.values are merged before it is set, and once more at the
// end, so in most places they win over it. As the first of valuesFrom it changes
// the nested maps of spec.values themselves and wins.
//
// Errors are of type *Error: a reference that is missing and not optional, and
// content that is not a map or can't be set.
func Compose(hr *flux.HelmRelease, lookup Lookup) (*Composed, error) {
	out := &Composed{}
	inline := hr.InlineValues()
	result := map[string]any{}
	var assigned []assignment
	for i, ref := range hr.Spec.ValuesFrom {
		fail := func(err error) error {
			return &Error{Reference: ref, Namespace: hr.Metadata.Namespace, Err: err}
		}
		data, found := lookup(ref)
		switch {
		case found == Missing && ref.Optional:
			out.Skipped = append(out.Skipped, ref)
			continue
		case found == Missing:
			return nil, fail(ErrNotFound)
		case found == Unknown:
			out.Unknown = append(out.Unknown, ref)
		case ref.Kind == kinds.Secret.Kind:
			out.Secrets = append(out.Secrets, SecretTexts(data)...)
		}
		if ref.TargetPath == "" {
			if found == Unknown {
				continue
			}
			table, err := read(data)
			if err != nil {
				return nil, fail(unquoted(ref, err, "it is not YAML, or not a map"))
			}
			result = values.Overlay(result, table)
			continue
		}
		result = values.Overlay(result, inline)
		a := assignment{entry: i, path: ref.TargetPath, value: string(data), literal: ref.Literal}
		if found == Unknown {
			a.value, a.literal = Marker(hr.Metadata.Namespace, ref), true
		}
		if err := a.apply(result); err != nil {
			return nil, fail(unquoted(ref, err, "it can't be set at "+ref.TargetPath))
		}
		assigned = append(assigned, a)
	}
	out.Values = values.Overlay(result, inline)
	for _, a := range assigned {
		out.Notes = append(out.Notes, a.lost(out.Values, hr.InlineValues())...)
	}
	return out, nil
}

// unquoted returns err, or for a Secret, whose content an error may quote, only what is wrong.
func unquoted(ref flux.ValuesReference, err error, wrong string) error {
	if ref.Kind != kinds.Secret.Kind {
		return err
	}
	return fmt.Errorf("%s (the error is not shown, because it may quote the Secret)", wrong)
}

// ErrNotFound is the reason of an Error for a missing object or key.
var ErrNotFound = fmt.Errorf("object or key not found")

// read reads a values file as Helm's ReadValues does: one document, with numbers
// as they are written.
func read(data []byte) (map[string]any, error) {
	if _, err := values.CheckYAML(data, "values"); err != nil {
		return nil, err
	}
	var out map[string]any
	err := sigsyaml.Unmarshal(data, &out, func(d *json.Decoder) *json.Decoder {
		d.UseNumber()
		return d
	})
	if err != nil {
		return nil, fmt.Errorf("%s", strings.TrimPrefix(err.Error(), "error unmarshaling JSON: "))
	}
	return out, nil
}

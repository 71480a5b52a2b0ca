package repository

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// proven returns the digest of the values, as far as it is known: what is unknown in next is what
// live has. Values with unknown content are those that were attempted last if their digest without
// that content is the same, or if nothing else differs from the values of the live HelmRelease.
func (m *Managed) proven(next, live *flux.HelmRelease, lookup releaseset.Lookup) (sum string, notes []string) {
	if len(m.unknown) == 0 {
		return m.values, nil
	}
	attempted := live.Status.LastAttemptedConfigDigest
	if m.values == attempted {
		return attempted, []string{"the values are unchanged, according to the digest in the HelmRelease's status"}
	}
	is, before := &Managed{in: m.in, hr: next}, &Managed{in: &Repository{}, hr: live}
	is.compose(lookup)
	if is.err == nil && len(is.unknown) == 0 {
		return is.values, nil
	}
	before.compose(lookup)
	same := is.err == nil && before.err == nil && before.values == is.values && slices.Equal(before.unknown, is.unknown)
	if same && live.Status.LastAttemptedGeneration == live.Metadata.Generation {
		return attempted, nil
	}
	return "", nil
}

// over gives next the generation, annotations and status that it has once it replaces live.
func (m *Managed) over(next, live *flux.HelmRelease) {
	next.Metadata.Generation, next.Metadata.Annotations, next.Status = live.Metadata.Generation, live.Metadata.Annotations, live.Status
	if !reflect.DeepEqual(next.Spec.Defaulted(), live.Spec.Defaulted()) {
		next.Metadata.Generation++
	}
}

// filled returns the HelmRelease with what the live one has where parts of it are not known.
func (m *Managed) filled(live *flux.HelmRelease) *flux.HelmRelease {
	if len(m.sealed) == 0 {
		return m.hr
	}
	object := maps.Clone(m.hr.Object)
	object["spec"] = fill(m.hr.Object["spec"], live.Object["spec"])
	out, err := flux.DecodeHelmRelease(object)
	if err != nil {
		return m.hr // it holds something else in the live one
	}
	out.Metadata = m.hr.Metadata
	return out
}

// markers match what stands for something that is not known.
var markers = regexp.MustCompile(`\(unknown [^()]*\)|` + regexp.QuoteMeta(concealed))

// fill returns a copy of a value in which texts with markers are those of the live one, if these
// could be the same.
func fill(value, live any) any {
	switch value := value.(type) {
	case map[string]any:
		out, live := map[string]any{}, asMap(live)
		for key, below := range value {
			out[key] = fill(below, live[key])
		}
		return out
	case []any:
		out := slices.Clone(value)
		items, _ := live.([]any)
		for i := range min(len(out), len(items)) {
			out[i] = fill(out[i], items[i])
		}
		return out
	case string:
		if live != nil && markers.MatchString(value) && fits(markers.Split(value, -1), live) {
			return live
		}
	}
	return value
}

func asMap(v any) map[string]any {
	out, _ := v.(map[string]any)
	return out
}

// fits reports whether a live value could be a text of these parts with something between them. A
// text without any could be everything.
func fits(parts []string, live any) bool {
	text, isText := live.(string)
	if strings.Join(parts, "") == "" {
		return true
	}
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	pattern, err := regexp.Compile(`(?s)^` + strings.Join(parts, ".*") + `$`)
	return isText && err == nil && pattern.MatchString(text)
}

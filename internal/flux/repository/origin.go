package repository

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// origin is an object that something in a HelmRelease comes from which is not known without a cluster.
type origin struct {
	// Name is such as "what is encrypted in Secret apps/web".
	Name string
	// Of is what is not known because of it, as in Managed.Unknown.
	Of string
	// Use is which key values get, and where; "" for variables.
	Use string
	// Has is what the repository has instead: ciphertext, or what the object is created from; "" for nothing.
	Has string
}

// origins returns those of a HelmRelease, in the order in which they count.
func (r *Repository) origins(hr *flux.HelmRelease, p placed) (out []origin) {
	if sealed(p.object) {
		called := "what is encrypted in HelmRelease " + hr.String()
		out = append(out, origin{Name: called, Of: called, Has: asText(ciphertexts(nil, p.object["spec"]))})
	}
	variables, namespace := slices.Clone(p.unknown), hr.Metadata.Namespace
	for _, ref := range hr.Spec.ValuesFrom {
		texts, how := r.data(ref.Kind, namespace, ref.Name)
		if how == there && !encrypted(texts[ref.Key()]) {
			known, _ := r.find("", ref.Kind, namespace, ref.Name)
			variables = union(variables, known.unknown)
			continue
		}
		o := r.origin(ref.Kind, namespace, ref.Name, ref.Key())
		o.Use = asText([]any{ref.Key(), ref.TargetPath, ref.Literal})
		out = append(out, o)
	}
	for _, called := range variables {
		kind, of, _ := strings.Cut(called, " ")
		namespace, name, _ := strings.Cut(of, "/")
		out = append(out, r.origin(kind, namespace, name, ""))
	}
	return out
}

// origin returns that of a key of a ConfigMap or Secret, "" for all keys.
func (r *Repository) origin(kind, namespace, name, key string) origin {
	ref := flux.Reference{Kind: kind, Namespace: namespace, Name: name}
	called := nameOf(ref)
	if p, ok := r.find("", kind, namespace, name); ok {
		texts := content(p.object)
		maps.DeleteFunc(texts, func(of, text string) bool { return !encrypted(text) || key != "" && of != key })
		return origin{Name: "what is encrypted in " + called, Of: called, Has: asText(texts)}
	}
	if p, ok := r.maker(kind, namespace, name); ok {
		ref.Kind, _ = p.object["kind"].(string)
		return origin{Name: nameOf(ref), Of: called, Has: asText(p.object["spec"])}
	}
	return origin{Name: called, Of: called}
}

// ciphertexts adds what SOPS has encrypted in a value.
func ciphertexts(to []string, v any) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			to = ciphertexts(to, v[key])
		}
	case []any:
		for _, below := range v {
			to = ciphertexts(to, below)
		}
	case string:
		if encrypted(v) {
			to = append(to, v)
		}
	}
	return to
}

// asText returns a value as JSON.
func asText(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// assumedSame is the note about an object that is not known.
func assumedSame(name string) string {
	return name + " is not known: it is assumed to be the same before and after"
}

// compared adds notes about the origins that are not those of before, which are not assumed to be the same.
func (m *Managed) compared(v *releaseset.Verdict, before *Managed) {
	for _, o := range m.origins {
		if i := slices.Index(v.Notes, assumedSame(o.Of)); i >= 0 && !slices.ContainsFunc(before.origins, o.same) {
			v.Notes[i] = o.Of + " is not known: what it changes is not in the plan"
		}
	}
	v.Notes = append(v.Notes, m.changed(before)...)
}

// changed returns sentences about the origins that are not those of before, each once.
func (m *Managed) changed(before *Managed) (out []string) {
	called := func(name string) func(origin) bool { return func(o origin) bool { return o.Name == name } }
	for _, is := range m.origins {
		switch {
		case !slices.ContainsFunc(before.origins, called(is.Name)):
			out = union(out, []string{is.Name + " counts from now on"})
		case !slices.ContainsFunc(before.origins, is.same):
			out = union(out, []string{is.Name + " changes"})
		}
	}
	for _, was := range before.origins {
		if !slices.ContainsFunc(m.origins, called(was.Name)) {
			out = union(out, []string{was.Name + " no longer counts"})
		}
	}
	return out
}

// same reports whether the repository has the same of two origins.
func (o origin) same(other origin) bool { return o.Name == other.Name && o.Has == other.Has }

// replaces reports whether the repository has something else than base of what is not known: what the
// cluster has of it is the former content.
func (m *Managed) replaces(base releaseset.Manager) bool {
	before, ok := base.(*Managed)
	return ok && slices.ContainsFunc(m.origins, func(o origin) bool { return o.Has != "" && !slices.ContainsFunc(before.origins, o.same) })
}

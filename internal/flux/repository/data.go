package repository

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// presence is how much of a ConfigMap or Secret is known.
type presence int

const (
	// elsewhere is an object that the repository does not have.
	elsewhere presence = iota
	// there is an object whose keys are known.
	there
	// hidden is one that is created in the cluster, or can't be read.
	hidden
)

// ciphertext is in every value that SOPS has encrypted, and in files with such values.
const ciphertext = "ENC[AES256_GCM,"

// encrypted reports whether SOPS has encrypted a text, or part of it.
func encrypted(text string) bool { return strings.Contains(text, ciphertext) }

// sealed reports whether SOPS has encrypted an object, or part of it.
func sealed(object map[string]any) bool { return object["sops"] != nil }

// concealed stands for what SOPS has encrypted in a HelmRelease itself.
const concealed = "(encrypted)"

// Estimated implements releaseset.Manager. It decodes the data of Secrets.
func (m *Managed) Estimated(object map[string]any) bool {
	for _, text := range content(object) {
		if composition.Marked(text) || strings.Contains(text, concealed) {
			return true
		}
	}
	return holds(object)
}

// holds reports whether any text in an object contains a marker.
func holds(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, below := range v {
			if holds(below) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, holds)
	case string:
		return composition.Marked(v) || strings.Contains(v, concealed)
	}
	return false
}

// marked returns a copy of a value with markers instead of what is encrypted.
func marked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, below := range v {
			out[key] = marked(below)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, below := range v {
			out[i] = marked(below)
		}
		return out
	case string:
		if encrypted(v) {
			return concealed
		}
	}
	return v
}

// makers are the kinds of objects from which a Secret of the same name is created in
// the cluster.
var makers = []struct{ group, kind string }{
	{"external-secrets.io", "ExternalSecret"},
	{"bitnami.com", "SealedSecret"},
	{"secrets.hashicorp.com", "VaultStaticSecret"},
	{"onepassword.com", "OnePasswordItem"},
}

// data returns the content of a ConfigMap or Secret in the repository.
func (r *Repository) data(kind, namespace, name string) (map[string]string, presence) {
	if p, ok := r.find("", kind, namespace, name); ok {
		return content(p.object), there
	}
	if _, made := r.maker(kind, namespace, name); made {
		return nil, hidden
	}
	return nil, elsewhere
}

// maker returns the object from which a Secret of that name is created in the cluster.
func (r *Repository) maker(kind, namespace, name string) (placed, bool) {
	for _, m := range makers {
		if p, made := r.find(m.group, m.kind, namespace, name); made && kind == kinds.Secret.Kind {
			return p, true
		}
	}
	return placed{}, false
}

// content returns the texts of a ConfigMap or Secret by key. What SOPS has encrypted is
// there as ciphertext.
func content(object map[string]any) map[string]string {
	out := map[string]string{}
	fields, _ := object["data"].(map[string]any)
	for key, value := range fields {
		text, _ := value.(string)
		if decoded, err := base64.StdEncoding.DecodeString(text); err == nil && object["kind"] == kinds.Secret.Kind {
			text = string(decoded)
		}
		out[key] = text
	}
	if plain, _ := object["stringData"].(map[string]any); object["kind"] == kinds.Secret.Kind {
		for key, value := range plain {
			out[key], _ = value.(string)
		}
	}
	return out
}

// values returns a lookup of what valuesFrom names: in the repository, and if that does not
// have it, in the cluster. Without a cluster, a missing object may still exist there. within
// gets what is in texts of the repository as variables: contents of Secrets, and the objects whose content is not known.
func (r *Repository) values(hr *flux.HelmRelease, live releaseset.Lookup, within *composed) composition.Lookup {
	return func(ref flux.ValuesReference) ([]byte, composition.Found) {
		texts, how := r.data(ref.Kind, hr.Metadata.Namespace, ref.Name)
		known := how == there && !encrypted(texts[ref.Key()])
		if live != nil && !known {
			if object, err := live("v1", ref.Kind, hr.Metadata.Namespace, ref.Name); err == nil && object != nil {
				texts, how, known = content(object), there, true
			} else if err != nil {
				how = hidden
			}
		}
		text, keyed := texts[ref.Key()]
		p, _ := r.find("", ref.Kind, hr.Metadata.Namespace, ref.Name)
		within.secrets = joined(within.secrets, p.secrets)
		if known && composition.Marked(text) {
			within.unknown = union(within.unknown, p.unknown)
		}
		switch {
		case how == elsewhere && live == nil && !ref.Optional, how == hidden, keyed && !known:
			return nil, composition.Unknown
		case !keyed:
			return nil, composition.Missing
		}
		return []byte(text), composition.Known
	}
}

package repository

import (
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// variables looks up what a Kustomization substitutes.
type variables struct {
	in        *Repository
	namespace string
	// unknown are the objects whose content what was found depends on and is not known.
	unknown []string
	// secrets are the contents of Secrets, also of those that went into ConfigMaps.
	secrets [][]byte
}

// lookup is a substitution.Lookup. An object that the repository does not have, or has encrypted,
// may be in the cluster.
func (v *variables) lookup(kind, name string) (texts map[string]string, found, known bool) {
	p, _ := v.in.find("", kind, v.namespace, name)
	texts, how := v.in.data(kind, v.namespace, name)
	known = how == there && !slices.ContainsFunc(slices.Collect(maps.Values(texts)), encrypted)
	if !known && v.in.live != nil {
		switch object, err := v.in.live("v1", kind, v.namespace, name); {
		case err == nil && object != nil:
			p, texts, known = placed{}, content(object), true
		case err == nil && how == elsewhere:
			return nil, false, true
		}
	}
	if !known {
		return nil, how != elsewhere, false
	}
	v.unknown = union(v.unknown, p.unknown)
	secrets := slices.Clip(p.secrets)
	if kind == kinds.Secret.Kind {
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			secrets = append(secrets, []byte(strings.ReplaceAll(texts[key], "\n", "")))
		}
	}
	v.secrets = joined(v.secrets, secrets)
	return texts, true, true
}

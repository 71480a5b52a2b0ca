package repository

import (
	"encoding/base64"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/composition"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// presence is how much of a ConfigMap or Secret the repository knows.
type presence int

const (
	// elsewhere is an object that the repository does not have.
	elsewhere presence = iota
	// there is an object with its content.
	there
	// hidden is one that is encrypted with SOPS, or made in the cluster.
	hidden
)

// makers are the kinds of objects that a Secret of their name is made from in the
// cluster.
var makers = []struct{ group, kind string }{
	{"external-secrets.io", "ExternalSecret"},
	{"bitnami.com", "SealedSecret"},
	{"secrets.hashicorp.com", "VaultStaticSecret"},
	{"onepassword.com", "OnePasswordItem"},
}

// data is the content of a ConfigMap or Secret of the repository.
func (r *Repository) data(kind, namespace, name string) (map[string]string, presence) {
	p, ok := r.find("", kind, namespace, name)
	if !ok {
		for _, m := range makers {
			if _, made := r.find(m.group, m.kind, namespace, name); made && kind == kinds.Secret.Kind {
				return nil, hidden
			}
		}
		return nil, elsewhere
	}
	if p.object["sops"] != nil {
		return nil, hidden
	}
	out := map[string]string{}
	fields, _ := p.object["data"].(map[string]any)
	for key, value := range fields {
		text, _ := value.(string)
		if kind == kinds.Secret.Kind {
			decoded, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return nil, hidden
			}
			text = string(decoded)
		}
		out[key] = text
	}
	if plain, _ := p.object["stringData"].(map[string]any); kind == kinds.Secret.Kind {
		for key, value := range plain {
			out[key], _ = value.(string)
		}
	}
	return out, there
}

// values looks up what valuesFrom names. What the repository does not have is
// skipped where it is optional, and not known otherwise: it may be in the
// cluster.
func (r *Repository) values(hr *flux.HelmRelease) composition.Lookup {
	optional := map[string]bool{}
	for _, ref := range hr.Spec.ValuesFrom {
		optional[ref.Kind+"/"+ref.Name] = ref.Optional
	}
	return func(kind, name, key string) ([]byte, composition.Found) {
		content, how := r.data(kind, hr.Metadata.Namespace, name)
		switch {
		case how == hidden, how == elsewhere && !optional[kind+"/"+name]:
			return nil, composition.Unknown
		case how == elsewhere:
			return nil, composition.Missing
		}
		text, ok := content[key]
		if !ok {
			return nil, composition.Missing
		}
		return []byte(text), composition.Known
	}
}

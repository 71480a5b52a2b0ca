package report

import (
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// NewRecordMask knows the secrets of a stored revision: of the objects and
// hooks in its manifest, and of its values. It is for the revision's own
// description, in which Helm, too, quotes what the API server has said.
// Documents that can't be read hide nothing.
func NewRecordMask(r *release.Revision) *Mask {
	found := newSecrets()
	public := []string{r.Name, r.Namespace}
	texts := []string{r.Manifest}
	for _, h := range r.Hooks {
		texts = append(texts, h.Manifest)
	}
	for _, text := range texts {
		for _, doc := range manifest.Split(text) {
			objects, err := manifest.ParseDocument(doc, "")
			if err != nil {
				continue
			}
			for _, o := range objects {
				collectObject(o.Doc.Object, isSecret(o.ID), found)
				public = append(public, o.String())
			}
		}
	}
	found.addCredentials(r.Config)
	found.exempt(public)
	return &Mask{newMasker(found, r.Key().String())}
}

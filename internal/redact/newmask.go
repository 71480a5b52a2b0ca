package redact

import (
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// NewMask makes a mask from the secrets in a plan and in others. The function Plan says what counts
// as a secret.
func NewMask(p *plan.Plan, others ...*plan.Plan) *Mask {
	found := newSecrets()
	var public []string
	plans := append([]*plan.Plan{p}, others...)
	for _, one := range plans {
		collect(one, found)
		collectSensitive(one, found)
		if one.Record != nil {
			found.addCredentials(one.Record.Config)
		}
		for _, value := range one.Secrets {
			found.add(string(value))
		}
		public = append(public, names(one)...)
	}
	found.exempt(public)
	m := newMask(found, p.Release.String())
	m.plans = plans
	return m
}

// NewValuesMask makes a mask from the values that are named like credentials, and from further
// secrets. Values are a table or a list of tables; what is part of one of the names, such as the chart's, is
// not masked. It is for output before there is a plan.
func NewValuesMask(values any, names []string, secrets ...[]byte) *Mask {
	found := newSecrets()
	found.addCredentials(values)
	for _, secret := range secrets {
		found.add(string(secret))
	}
	found.exempt(names)
	return newMask(found, "")
}

// NewRecordMask makes a mask from the secrets in a stored revision: in its manifest, its hooks and
// its values. It is for the revision's description, in which Helm, too, quotes answers of the API
// server. Documents that can't be parsed contribute no secrets.
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
				collectObject(o.Doc.Object, o.IsSecret(), found)
				public = append(public, o.String())
			}
		}
	}
	found.addCredentials(r.Config)
	found.exempt(public)
	return newMask(found, r.Key().String())
}

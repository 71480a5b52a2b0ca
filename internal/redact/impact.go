package redact

import (
	"slices"

	"github.com/kubectl-release/kubectl-release/plan"
)

// impact masks a plan's impact. Names of objects stay, as everywhere.
func (m *Mask) impact(i plan.Impact) plan.Impact {
	i.Images = slices.Clone(i.Images)
	for at := range i.Images {
		i.Images[at].From, i.Images[at].To = m.Text(i.Images[at].From), m.Text(i.Images[at].To)
	}
	i.Limits = slices.Clone(i.Limits)
	for at := range i.Limits {
		l := &i.Limits[at]
		l.Container, l.From, l.To = m.Text(l.Container), m.Text(l.From), m.Text(l.To)
	}
	i.Access = slices.Clone(i.Access)
	for at := range i.Access {
		a := &i.Access[at]
		a.Gained, a.Lost = m.grants(a.Gained), m.grants(a.Lost)
		a.Role, a.Subjects, a.Removed = m.Text(a.Role), m.Texts(a.Subjects), m.Texts(a.Removed)
	}
	i.Volumes = slices.Clone(i.Volumes)
	for at := range i.Volumes {
		v := &i.Volumes[at]
		v.Claims, v.From, v.To = m.Texts(v.Claims), m.Text(v.From), m.Text(v.To)
	}
	i.CRDs = slices.Clone(i.CRDs)
	for at := range i.CRDs {
		i.CRDs[at].Tightens, i.CRDs[at].Drops = m.Texts(i.CRDs[at].Tightens), m.Texts(i.CRDs[at].Drops)
	}
	return i
}

func (m *Mask) reviews(reviews []plan.Review) []plan.Review {
	out := slices.Clone(reviews)
	for i := range out {
		out[i].Asked = slices.Clone(out[i].Asked)
		for j := range out[i].Asked {
			out[i].Asked[j].Why = m.Text(out[i].Asked[j].Why)
		}
	}
	return out
}

func (m *Mask) grants(grants []plan.Grant) []plan.Grant {
	out := slices.Clone(grants)
	for i, g := range out {
		out[i] = plan.Grant{Verbs: m.Texts(g.Verbs), Resources: m.Texts(g.Resources), Names: m.Texts(g.Names)}
	}
	return out
}

// Texts replaces every secret value in the texts by its token.
func (m *Mask) Texts(texts []string) []string {
	out := slices.Clone(texts)
	for i := range out {
		out[i] = m.Text(out[i])
	}
	return out
}

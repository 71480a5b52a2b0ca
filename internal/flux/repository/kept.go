package repository

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// held returns the verdict about a HelmRelease that kustomize-controller does not apply, nil if it
// does, or if that makes no difference. next is the HelmRelease as it is planned, before the one that
// there is, nil for none, and there is what that has in the cluster (see flux.Metadata.Unapplied).
func (m *Managed) held(next *flux.HelmRelease, before *Managed, there string) *releaseset.Verdict {
	why := cmp.Or(m.hr.Metadata.Unapplied(), there)
	if why == "" && before != nil {
		why = m.hr.Metadata.OnlyCreated()
	}
	does := "apply the change to it"
	switch {
	case why == "", before != nil && reflect.DeepEqual(next.Spec.Defaulted(), before.hr.Spec.Defaulted()):
		return nil
	case before == nil:
		does = "create it"
	}
	out := m.idle(decision.Nothing, fmt.Sprintf("the HelmRelease has %s: kustomize-controller does not %s", why, does))
	return &out
}

// Inactive implements releaseset.Manager.
func (m *Managed) Inactive() string {
	why := cmp.Or(m.hr.Metadata.Unapplied(), m.hr.Metadata.OnlyCreated())
	switch {
	case m.hr.Spec.Suspend:
		return m.String() + " is suspended"
	case m.owner != nil && m.owner.Spec.Suspend:
		return applier(m.owner) + " is suspended"
	case why != "":
		return fmt.Sprintf("%s has %s: kustomize-controller does not apply the change to it", m, why)
	}
	return ""
}

// uncertain returns the verdict about next, unknown if it depends on what is deployed, which may not be
// m, its base: kustomize-controller does not apply that, or does not keep it up to date. v is the verdict
// if m is deployed, and anew if nothing is.
func (m *Managed) uncertain(next *Managed, v, anew releaseset.Verdict) releaseset.Verdict {
	out, why, otherwise := v, m.hr.Metadata.Unapplied(), anew.Action
	installs, updated := anew.Action == string(decision.Install), next.hr.Metadata.OnlyCreated() == ""
	switch {
	case why != "" && installs:
		out, out.Anew = anew, true
		if updated {
			otherwise = "install or upgrade"
		}
	case why == "" && installs && updated && v.Action == string(decision.Nothing):
		why, otherwise = m.hr.Metadata.OnlyCreated(), string(decision.Upgrade)
	}
	if why == "" || anew.Action == v.Action {
		return v
	}
	out.Notes[0] = fmt.Sprintf("the HelmRelease has %s in the base, so what is deployed may differ from that: %s if it does not (%s), else %s", why, v.Action, v.Notes[0], otherwise)
	out.Action, out.Then, out.Plans, out.Compares = string(decision.Unknown), nil, true, false
	return out
}

// unapplied returns warnings about Kustomizations and sources that are not applied as they are planned.
func (r *Repository) unapplied() (out []string) {
	for _, p := range r.objects {
		if g := group(p.object); g != flux.KustomizeGroup && g != flux.SourceGroup {
			continue
		}
		has, err := flux.DecodeMetadata(p.object)
		if why := cmp.Or(has.Unapplied(), has.OnlyCreated()); err == nil && why != "" {
			out = append(out, fmt.Sprintf("%v %s/%s has %s: kustomize-controller does not apply changes to it, but it is planned as the repository has it", p.object["kind"], has.Namespace, has.Name, why))
		}
	}
	return out
}

// kept returns the verdict about a HelmRelease that has left the repository if an object, itself or a
// Kustomization that has left with it, is not deleted; nil if it is. The object in the cluster counts,
// and without one has, the metadata in the repository: it is what the cluster has unless it
// keeps the object from being applied.
func kept(object flux.Reference, has flux.Metadata, live releaseset.Lookup) *releaseset.Verdict {
	known := false
	if live != nil {
		if found, err := live(object.APIVersion, object.Kind, object.Namespace, object.Name); err == nil && found != nil {
			if now, err := flux.DecodeMetadata(found); err == nil {
				has, known = now, true
			}
		}
	}
	why := has.Undeleted()
	switch {
	case why == "":
		return nil
	case known || has.Unapplied() == "":
		out := idle(decision.Nothing, fmt.Sprintf("left running: %s leaves the repository, but is not deleted, since it has %s", nameOf(object), why))
		return &out
	}
	out := idle(decision.Unknown, fmt.Sprintf("%s has %s in the repository, which is not applied because of that: it is deleted unless it has that in the cluster, too", nameOf(object), why))
	return &out
}

package repository

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/flux/decision"
	"github.com/kubectl-release/kubectl-release/internal/flux/options"
	"github.com/kubectl-release/kubectl-release/internal/releaseset"
)

// maxDepth limits the length of a chain of Kustomizations that apply one another.
const maxDepth = 50

// Removed returns what happens to the release when the HelmRelease is removed from the
// repository. Its Kustomization counts as it is by then, or, if that is gone, the one that
// applied it: a Kustomization that can't be built deletes nothing. live reads the labels and
// annotations that objects have in the cluster, nil without one.
func (m *Managed) Removed(by map[string]releaseset.Applier, live releaseset.Lookup) releaseset.Verdict {
	if m.remote() != nil {
		live = nil
	}
	out, o := m.removed(by, live), options.Uninstall(m.hr)
	out.Options = &o
	return out
}

func (m *Managed) removed(by map[string]releaseset.Applier, live releaseset.Lookup) releaseset.Verdict {
	// gone are the Kustomizations that leave, too, the one of the HelmRelease first, and last is the
	// one that stays.
	var gone []*flux.Kustomization
	last := m.owner
	for ; last != nil && len(gone) < maxDepth; last = m.in.ownerOf(last) {
		if _, stays := by[applier(last)]; stays {
			break
		}
		gone = append(gone, last)
	}
	owner, name, unknown := m.owner, applier(last), undecided(m.String(), m.without, fieldSuspend)
	now := by[name]
	switch remote := now.Fetches(m.in.appliers[name]); {
	case now.Broken != "":
		return idle(decision.Unknown, now.Broken+": whether it has the HelmRelease is not known, and nothing changes until it can be built")
	case remote != "":
		return idle(decision.Unknown, fmt.Sprintf("%s has %s, which is not fetched: whether the HelmRelease is in it is not known", cmp.Or(name, "the folder where Flux begins"), remote))
	case last == nil:
	case len(gone) == 0:
		changed := *owner
		changed.Spec.Suspend, changed.Spec.Prune = now.Suspended, now.Prunes
		owner = &changed
	case now.Suspended || !now.Prunes:
		return idle(decision.Nothing, fmt.Sprintf("left running: %s leaves the repository, and %s, which applied it, is suspended or does not prune", applier(gone[len(gone)-1]), name))
	}
	unknown = append(unknown, undecided(name, now.Unknown, fieldSuspend, fieldPrune)...)
	for i := len(gone) - 1; i >= 0; i-- {
		k := flux.Reference{APIVersion: flux.KustomizeGroup + "/v1", Kind: flux.KindKustomization, Namespace: gone[i].Metadata.Namespace, Name: gone[i].Metadata.Name}
		if v := kept(k, gone[i].Metadata, live); v != nil {
			return *v
		}
		if i > 0 && !gone[i].DeletesApplied() {
			return idle(decision.Nothing, fmt.Sprintf("left running: %s leaves the repository, and %s, which applied it, leaves it as it is when it is deleted", applier(gone[i-1]), applier(gone[i])))
		}
		unknown = append(unknown, undecided(applier(gone[i]), m.in.appliers[applier(gone[i])].Unknown, deciding(gone[i])...)...)
	}
	d := decision.Removed(m.hr, owner, len(gone) > 0)
	hr := flux.Reference{APIVersion: apiVersion, Kind: flux.KindHelmRelease, Namespace: m.hr.Metadata.Namespace, Name: m.hr.Metadata.Name}
	if v := kept(hr, m.hr.Metadata, live); v != nil && d.Action == decision.Uninstall {
		return *v
	}
	if len(unknown) > 0 && d.Action == decision.Uninstall {
		return idle(decision.Unknown, "whether the release is uninstalled is not known: it depends on "+strings.Join(unknown, ", "))
	}
	return releaseset.Verdict{Action: string(d.Action), Notes: d.Because, Plans: d.Action == decision.Uninstall}
}

// Moved returns that the release is uninstalled: helm-controller uninstalls what it has deployed before it
// installs a release with another name, namespace or storage namespace (see decision.Next).
func (m *Managed) Moved(releaseset.Manager) releaseset.Verdict {
	return releaseset.Verdict{Action: string(decision.Uninstall), Plans: true, Notes: []string{m.String() + " moves to another release: this one is uninstalled with all its objects"}}
}

func idle(a decision.Action, why string) releaseset.Verdict {
	return releaseset.Verdict{Action: string(a), Notes: []string{why}}
}

// applier returns the name of a Kustomization among the appliers of the set; nil, and one without a name, stand
// for the folder where Flux begins.
func applier(k *flux.Kustomization) string {
	if k == nil || k.Metadata.Name == "" {
		return ""
	}
	return flux.KindKustomization + " " + k.String()
}

// onlyNamed returns a Kustomization of which nothing but its name can be read.
func onlyNamed(object map[string]any) *flux.Kustomization {
	metadata, out := asMap(object["metadata"]), &flux.Kustomization{}
	out.Metadata.Namespace, _ = metadata["namespace"].(string)
	out.Metadata.Name, _ = metadata["name"].(string)
	return out
}

// ownerOf returns the Kustomization that applies another one, nil if there is none or it
// applies itself.
func (r *Repository) ownerOf(k *flux.Kustomization) *flux.Kustomization {
	p, ok := r.find(flux.KustomizeGroup, flux.KindKustomization, k.Metadata.Namespace, k.Metadata.Name)
	if !ok || p.owner == nil || p.owner.String() == k.String() {
		return nil
	}
	return p.owner
}

// broken records that what a Kustomization applies is not known; it ignores nil,
// and one without a name.
func (r *Repository) broken(k *flux.Kustomization, why string) {
	if applier(k) == "" {
		return
	}
	a := r.appliers[applier(k)]
	a.Broken = applier(k) + " " + why
	r.appliers[applier(k)] = a
}

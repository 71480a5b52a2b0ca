package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-release/kubectl-release/internal/escape"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/plan"
)

// impact returns the plan's impact, one line each for pods, images, network, access, volumes and CRDs.
func impact(p *plan.Document, v view, names namer) []note {
	w := impactWriter{view: v, names: names}
	var notes []note
	for _, n := range []note{
		{label: "restarts", items: w.restarts(p.Impact)},
		{lines: true, label: "rollout", items: w.rollouts(p.Impact.Rollouts)},
		{label: "took", items: w.earlier(p.Impact.Runs)},
		{label: "images", items: w.images(p.Impact.Images)},
		{label: "limits", items: w.limits(p.Impact.Limits)},
		{lines: true, label: "traffic", items: w.traffic(p.Impact.NetworkPolicies)},
		{lines: true, label: "access", items: w.access(p.Impact.Access)},
		{lines: true, label: "volumes", items: w.volumes(p.Impact.Volumes)},
		{lines: true, label: "CRDs", items: w.crds(p.Impact.CRDs)},
		{lines: true, label: "hooks", items: w.hooks(p.Impact.Hooks)},
	} {
		if len(n.items) > 0 {
			notes = append(notes, n)
		}
	}
	return notes
}

type impactWriter struct {
	view  view
	names namer
}

// limit returns the number of things to name, 0 (no limit) in the full output.
func (w impactWriter) limit(n int) int {
	if w.view.full {
		return 0
	}
	return n
}

// restarts returns items such as "3 Deployments (6 pods)" and "what operators run for 1 Prometheus".
func (impactWriter) restarts(impact plan.Impact) []string {
	var out []string
	for _, r := range impact.Restarts {
		text := CountOfKind(r.Objects, r.Kind)
		if r.Pods > 0 {
			text += " (" + Count(int(r.Pods), "pod", "pods") + ")"
		}
		out = append(out, text)
	}
	if operated := operated(impact.Images); len(operated) > 0 {
		out = append(out, "what operators run for "+strings.Join(operated, " and "))
	}
	return out
}

// operated counts, by kind, the custom resources whose images change. Only their operators know
// which pods they have.
func operated(images []plan.ImageChange) []string {
	objects := map[string]map[manifest.ID]bool{}
	for _, i := range images {
		for _, id := range i.Objects {
			if _, builtin := kinds.Scope(id.GroupKind()); builtin || i.From == "" || i.To == "" {
				continue
			}
			if objects[id.Kind] == nil {
				objects[id.Kind] = map[manifest.ID]bool{}
			}
			objects[id.Kind][id] = true
		}
	}
	var out []string
	for _, kind := range slices.Sorted(maps.Keys(objects)) {
		out = append(out, CountOfKind(len(objects[kind]), kind))
	}
	return out
}

// images returns items such as "controller v1.13.5 → v1.15.1".
func (impactWriter) images(images []plan.ImageChange) []string {
	var out []string
	for _, i := range images {
		switch {
		case i.From == "":
			out = append(out, "new "+shortImage(i.To))
		case i.To == "":
			out = append(out, "no longer "+shortImage(i.From))
		default:
			out = append(out, imagePair(i.From, i.To))
		}
	}
	return out
}

// limits returns items such as "redis: memory none → 192Mi", one item for each limit of a container.
func (impactWriter) limits(changes []plan.LimitChange) []string {
	var out []string
	for _, c := range changes {
		out = append(out, escape.Line(fmt.Sprintf("%s: %s %s → %s", c.Container, c.Resource, cmp.Or(c.From, "none"), c.To)))
	}
	return out
}

// imagePair names the repository only once if it stays the same.
func imagePair(from, to string) string {
	repository, was := cutImage(from)
	other, is := cutImage(to)
	if repository != other {
		return shortImage(from) + " → " + shortImage(to)
	}
	was, is = withoutDigest(was, is), withoutDigest(is, was)
	return escape.Line(repository[strings.LastIndexByte(repository, '/')+1:]+" ") + cutMiddle(escape.Line(was), 40) + " → " + cutMiddle(escape.Line(is), 40)
}

// shortImage returns an image without its digest if it has a tag.
func shortImage(image string) string {
	repository, version := cutImage(image)
	tag, _, _ := strings.Cut(version, "@")
	switch {
	case tag != "":
		repository += ":" + tag
	case version != "":
		repository += version
	}
	return cutMiddle(escape.Line(repository), 70)
}

// cutImage splits "host:5000/a/b:1@sha256:c" into "host:5000/a/b" and "1@sha256:c".
func cutImage(image string) (repository, version string) {
	name, digest, pinned := strings.Cut(image, "@")
	if at := strings.LastIndexByte(name, ':'); at > strings.LastIndexByte(name, '/') {
		name, version = name[:at], name[at+1:]
	}
	if pinned {
		version += "@" + digest
	}
	return name, version
}

// withoutDigest removes the digest of a version whose tag differs from the other one's.
func withoutDigest(version, other string) string {
	tag, _, _ := strings.Cut(version, "@")
	otherTag, _, _ := strings.Cut(other, "@")
	if tag != "" && tag != otherTag {
		return tag
	}
	return version
}

// traffic returns items such as "6 NetworkPolicies are new: web, db".
func (w impactWriter) traffic(changes []plan.ObjectChange) []string {
	var out []string
	for _, of := range []struct {
		change    plan.ChangeKind
		one, many string
	}{
		{plan.Created, "NetworkPolicy is new", "NetworkPolicies are new"},
		{plan.Changed, "NetworkPolicy changes", "NetworkPolicies change"},
		{plan.Deleted, "NetworkPolicy is removed", "NetworkPolicies are removed"},
	} {
		var found []string
		for _, c := range changes {
			if c.Change == of.change {
				found = append(found, w.unqualified(c.Object))
			}
		}
		if len(found) > 0 {
			out = append(out, Count(len(found), of.one, of.many)+": "+list(found, w.limit(6)))
		}
	}
	return out
}

// unqualified returns an object's name without its kind.
func (w impactWriter) unqualified(id manifest.ID) string {
	_, name, _ := strings.Cut(w.names.name(id), "/")
	return name
}

// volumes lists the volumes and claims by what happens to them.
func (w impactWriter) volumes(changes []plan.VolumeChange) []string {
	var out []string
	for _, fate := range []plan.VolumeFate{plan.VolumeDeleted, plan.VolumeKept, plan.VolumeReused, plan.VolumeResized, plan.VolumeCreated} {
		var found []string
		for _, c := range changes {
			if c.Fate == fate {
				found = append(found, w.volume(c)...)
			}
		}
		if len(found) > 0 {
			out = append(out, fmt.Sprintf("%d %s: %s", len(found), fateText(fate), list(found, w.limit(6))))
		}
	}
	return out
}

func fateText(fate plan.VolumeFate) string {
	switch fate {
	case plan.VolumeDeleted:
		return "DELETED with the data"
	case plan.VolumeKept:
		return "kept until deleted by hand"
	case plan.VolumeReused:
		return "used again, with the data in them"
	case plan.VolumeCreated:
		return "new"
	case plan.VolumeResized:
		return "resized"
	}
	return escape.Line(string(fate))
}

// volume returns the names of the claims, or else of the object, that a change affects, with sizes.
func (w impactWriter) volume(c plan.VolumeChange) []string {
	found := slices.Clone(c.Claims)
	if len(found) == 0 {
		found = []string{w.names.name(c.Object)}
	}
	size := cmp.Or(c.To, c.From)
	if c.Fate == plan.VolumeResized {
		size = c.From + " → " + c.To
	}
	for i := range found {
		if found[i] = escape.Line(found[i]); size != "" && c.Fate != plan.VolumeDeleted {
			found[i] += " (" + escape.Line(size) + ")"
		}
	}
	return found
}

// crds lists the CRDs that are written or deleted; a warning names those that stay.
func (w impactWriter) crds(changes []plan.CRDChange) []string {
	var created, changed, deleted, stricter, dropping []string
	fields := 0
	for _, c := range changes {
		name, _, _ := strings.Cut(w.unqualified(c.Object), ".")
		switch c.Change {
		case plan.Created:
			created = append(created, name)
		case plan.Deleted:
			deleted = append(deleted, name)
		case plan.Changed:
			changed = append(changed, name)
			fields += c.Fields
			if len(c.Tightens) > 0 {
				stricter = append(stricter, name)
			}
			if len(c.Drops) > 0 {
				dropping = append(dropping, name)
			}
		case plan.Left:
		}
	}
	var out []string
	add := func(what string, found []string) {
		if len(found) > 0 {
			out = append(out, what+": "+list(found, w.limit(4)))
		}
	}
	add(fmt.Sprintf("%d new", len(created)), created)
	add(fmt.Sprintf("%d changed in %s", len(changed), Count(fields, "field", "fields")), changed)
	add("stricter validation", stricter)
	add("fields or versions dropped", dropping)
	add(fmt.Sprintf("%d deleted", len(deleted)), deleted)
	return out
}

// hooks lists the hooks that no longer run; the others are shown where they run.
func (w impactWriter) hooks(h plan.HookChanges) []string {
	var removed []string
	for _, id := range h.Removed {
		removed = append(removed, w.names.name(id))
	}
	if len(removed) == 0 {
		return nil
	}
	return []string{"no longer run: " + list(removed, w.limit(6))}
}

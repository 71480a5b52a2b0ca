package plan

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// HookChanges counts how the hooks that run differ from those of the last deployed revision. A hook
// for two events is counted twice.
type HookChanges struct {
	New     int `json:"new,omitempty"`
	Changed int `json:"changed,omitempty"`
	// Same counts the hooks that are as before, except for labels.
	Same int `json:"same,omitempty"`
	// Removed lists the hooks that would have run but are no longer in the chart.
	Removed []manifest.ID `json:"removed,omitempty"`
}

// hookKey identifies a hook: one that runs for two events counts as two.
type hookKey struct {
	event manifest.Event
	id    manifest.ID
}

// lastHook is a hook of the last deployed revision; ran says that it has run to its end, for whichever event.
type lastHook struct {
	manifest.Object
	ran bool
}

// compareHook notes the differences between the hook and the same hook in the last deployed
// revision. Hooks are not resources, so no other comparison covers them.
func (b *builder) compareHook(step *Step) {
	if op := b.in.Operation; op != Upgrade && op != Rollback {
		return
	}
	before, known := b.lastHooks()[hookKey{step.Hook.Event, step.Object}]
	if !known {
		step.Hook.Since = HookNew
		return
	}
	for _, c := range fielddiff.Compare(before.Doc.Object, step.Body.Object) {
		change := Change{Path: c.Path, From: c.From, To: c.To, Sensitive: secretField(step.Object, c.Path)}
		change.Cause, change.Detail = b.intent(change)
		step.Changes = append(step.Changes, change)
	}
	if slices.ContainsFunc(step.Changes, func(c Change) bool { return !c.OfLabel() }) {
		step.Hook.Since = HookChanged
		return
	}
	step.Hook.Since = HookSame
}

// countHook counts how a hook that runs differs from the one of the last deployed revision.
func (b *builder) countHook(step *Step) {
	switch step.Hook.Since {
	case HookNew:
		b.plan.Impact.Hooks.New++
	case HookChanged:
		b.plan.Impact.Hooks.Changed++
	case HookSame:
		b.plan.Impact.Hooks.Same++
	}
}

// lastHooks returns the hooks of the last deployed revision, or of the first attempt if none was
// deployed. A hook that can't be parsed is not among them and so counts as new.
func (b *builder) lastHooks() map[hookKey]lastHook {
	if b.deployed != nil {
		return b.deployed
	}
	b.deployed = map[hookKey]lastHook{}
	sources := Sources(b.in.History)
	if len(sources) == 0 {
		return b.deployed
	}
	for _, h := range sources[0].Hooks {
		for _, o := range b.hookObjects(h) {
			for _, event := range h.Events {
				b.deployed[hookKey{event, o.ID}] = lastHook{o, h.LastRun.Phase == release.PhaseSucceeded}
			}
		}
	}
	return b.deployed
}

// hookObjects returns the objects in a stored hook's manifest, with namespaces.
func (b *builder) hookObjects(h release.Hook) []manifest.Object {
	objects, err := h.Objects()
	if err != nil {
		return nil
	}
	return manifest.Qualify(objects, b.in.Release.Namespace, func(gvk schema.GroupVersionKind) manifest.Scope {
		return b.in.Kinds[gvk.GroupKind()].Scope
	})
}

// removedHooks notes the hooks of an event that the last deployed revision had and the target no
// longer has.
func (b *builder) removedHooks(event manifest.Event, runs []Step) {
	if op := b.in.Operation; op != Upgrade && op != Rollback {
		return
	}
	removed := &b.plan.Impact.Hooks.Removed
	for key := range b.lastHooks() {
		runs := slices.ContainsFunc(runs, func(s Step) bool { return s.Object == key.id })
		if key.event == event && !runs && !b.wants(key.id) && !slices.Contains(*removed, key.id) {
			*removed = append(*removed, key.id)
		}
	}
	slices.SortFunc(*removed, manifest.ID.Compare)
}

// OfLabel reports whether the change is to a label of the object or of its pod template. A drifted
// label does not count, as changing it back undoes a manual edit, and neither do labels on which access or the
// admission of pods depends.
func (c Change) OfLabel() bool {
	parts := jsontree.Fields(c.Path)
	n := len(parts)
	return n >= 3 && parts[n-3] == "metadata" && parts[n-2] == "labels" && c.Cause != CauseDrift &&
		!strings.HasPrefix(parts[n-1], aggregateTo) && !strings.HasPrefix(parts[n-1], podSecurity)
}

// LabelsOnly reports whether the step changes labels of its object and nothing else.
func (s *Step) LabelsOnly() bool {
	return s.Op == OpPatch && len(s.Changes) > 0 && !slices.ContainsFunc(s.Changes, func(c Change) bool {
		return !c.OfLabel() || !within(c.Path, "metadata")
	})
}

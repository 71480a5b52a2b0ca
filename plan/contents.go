package plan

import (
	"github.com/kubectl-release/kubectl-release/internal/kinds"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// lostWith says which objects of the target, or that the release's records, would be deleted along with
// the CRD or the namespace that a step deletes; "" if none would. The new revision would list them, and they
// would count as unchanged. An uninstall has no target, since nothing of the release is to stay.
func (b *builder) lostWith(deletion *Step) string {
	id := deletion.Object
	if b.in.Target == nil {
		return ""
	}
	var inside func(manifest.ID) bool
	switch d, defines := kinds.Define(deletion.Before); {
	case defines:
		inside = func(o manifest.ID) bool { return o.GroupKind() == d.GroupKind }
	case id.GroupKind() != kinds.Namespace:
		return ""
	case b.holdsRecords(id):
		return "deleting it also deletes the records of this release"
	default:
		inside = func(o manifest.ID) bool { return o.Namespace == id.Name }
	}
	var lost []manifest.ID
	for _, o := range b.in.Target.Objects {
		if inside(o.ID) {
			lost = append(lost, o.ID)
		}
	}
	if len(lost) == 0 {
		return ""
	}
	return "deleting it also deletes what the release still has: " + SummarizeObjects(lost)
}

// holdsRecords reports whether the object is the namespace that the release's records are in.
func (b *builder) holdsRecords(id manifest.ID) bool {
	return b.in.Records.Resource != "" && id == NamespaceID(b.in.Records.Namespace)
}

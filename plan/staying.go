package plan

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/managedfields"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// warnStaying warns about fields that the chart drops and that a server-side apply leaves in the live object,
// since another field manager owns them, too (sigs.k8s.io/structured-merge-diff v6.4.2, merge/update.go, prune).
func (b *builder) warnStaying(step *Step, o manifest.Object, stored StoredObject) {
	if !b.in.Options.ServerSide || step.Op != OpPatch && step.Op != OpAdopt || step.After == nil {
		return
	}
	var fields, managers []string
	for _, d := range stored.Docs {
		sent := b.asSent(d.Doc, o.Doc).Object
		dropped := removed(fielddiff.Compare(sent, o.Doc.Object))
		if len(dropped) == 0 {
			continue
		}
		gone := removed(fielddiff.Compare(sent, step.After.Object))
		for _, path := range dropped {
			if gone.touch(path) || slices.Contains(fields, path) {
				continue
			}
			if owner := b.otherOwner(step, path); owner != "" {
				fields, managers = append(fields, path), with(managers, owner)
			}
		}
	}
	if len(fields) == 0 {
		return
	}
	b.problems(Problem{
		Kind: ProblemConflict, Step: step.ID, Object: step.Object, Fields: fields,
		What: fieldList(fields) + " dropped by the chart and left in the cluster: also owned by " + strings.Join(managers, ", "),
		Do:   "drop it there, too, or remove it by hand",
	})
}

// removed returns the paths of the fields that are there no more.
func removed(changes []fielddiff.Change) paths {
	return pathsOf(slices.DeleteFunc(changes, func(c fielddiff.Change) bool { return c.To != nil }))
}

// otherOwner returns the field manager that keeps a field in the live object when the release drops it; "" if there
// is none. A controller that writes a subresource is none: the chart leaves replicas to it, as it should.
func (b *builder) otherOwner(step *Step, path string) string {
	live := b.live(step.Object)
	others := slices.DeleteFunc(b.others(step, live.Managers), func(e metav1.ManagedFieldsEntry) bool {
		return e.Subresource != "" && !managedfields.IsKubectl(e)
	})
	return managedfields.LastWriter(others, live.content(), path).Manager
}

// others returns the entries of managedFields whose fields are not the release's own in a server-side apply. Only plain
// updates are taken over: what another manager has applied stays with it, even where that is Helm's, before a controller
// took the release over (k8s.io/client-go v0.36.3, util/csaupgrade/upgrade.go; so it is with helm-controller 1.6.3).
func (b *builder) others(step *Step, entries []metav1.ManagedFieldsEntry) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(slices.Clone(entries), func(e metav1.ManagedFieldsEntry) bool {
		updates := e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
		return e.Manager == b.fieldManager() || updates && slices.Contains(step.MigrateOwnership, e.Manager)
	})
}

// fieldManager returns the field manager that owns what is applied.
func (b *builder) fieldManager() string { return cmp.Or(b.in.Options.FieldManager, FieldManager) }

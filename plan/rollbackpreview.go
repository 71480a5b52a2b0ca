package plan

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// RollbackPreview is the rollback of an atomic operation as far as it is known beforehand. If it is
// needed, it is planned again from the live state at that time.
type RollbackPreview struct {
	// To is the revision whose manifest is restored, the last successful one; 0
	// means that this is an install, which is uninstalled.
	To int `json:"to"`
	// KeepHistory says that such an uninstall keeps the records: the release
	// had been uninstalled before, with its history kept.
	KeepHistory bool `json:"keepHistory,omitempty"`

	// Delete, Patch and Create count the objects that the rollback deletes,
	// changes back and creates again, Recreate those that it deletes and
	// creates, and Hooks the hooks that it runs.
	Delete   int `json:"delete"`
	Patch    int `json:"patch"`
	Create   int `json:"create"`
	Recreate int `json:"recreate"`
	Hooks    int `json:"hooks"`

	// Lasting are the effects that the rollback does not undo.
	Lasting []Lasting `json:"lasting,omitempty"`
}

// Lasting is an effect of a step that no rollback undoes, or something else that it does not restore.
type Lasting struct {
	// Step is the ID of the step; "" if nothing that this plan does is the reason.
	Step   string      `json:"step"`
	Object manifest.ID `json:"object"`
	// What is one sentence about the object.
	What string `json:"what"`
}

// rollbackPreview derives the rollback from the plan's steps. Only an install is undone by an
// uninstall: what an upgrade finds may be in use even if no revision has succeeded, such as one whose
// wait timed out. Helm, too, leaves it then (3.22.0 and 4.3.1, pkg/action/upgrade.go, failRelease).
func (b *builder) rollbackPreview() *RollbackPreview {
	installed := b.in.History.SinceUninstall()
	r := &RollbackPreview{KeepHistory: len(installed) < len(b.in.History)}
	good := installed.LastSuccessful()
	switch {
	case good != nil:
		r.To, r.KeepHistory = good.Version, false
	case b.in.Operation != Install:
		return nil
	}
	restores := b.objectsOf(good)
	brings := manifest.DefinedKinds(restores)
	unserved := map[manifest.ID]string{}
	for _, o := range restores {
		if why := b.unservedThen(o, brings); why != "" {
			unserved[o.ID] = why
		}
	}
	b.plan.Steps(func(stage StageName, s *Step) {
		var restored *unstructured.Unstructured
		if good != nil {
			stored, _ := b.storedObject(s.Object)
			restored = stored.in(good.Version).Doc
		}
		what, stays := b.lasting(stage, s, restored != nil), oneWay(s, restored)
		resource := b.resource(stage, s)
		switch why, known := unserved[s.Object]; {
		case known && resource && !s.Writes(): // it follows below, as it is no effect of the step
			return
		case known && resource:
			what = notRestored + why
			delete(unserved, s.Object)
		case stays != "":
			what = cmp.Or(what, "it stays as this plan leaves it: "+stays)
		case resource && s.Op == OpCreate && b.differs(restored, s.Body):
			r.Patch++
		case resource:
			r.count(s, restored != nil)
		}
		if what != "" {
			r.Lasting = append(r.Lasting, Lasting{Step: s.ID, Object: s.Object, What: what})
		}
	})
	for _, o := range restores {
		if why, left := unserved[o.ID]; left {
			r.Lasting = append(r.Lasting, Lasting{Object: o.ID, What: notRestored + why})
		}
	}
	r.hooksBack(b, brings)
	return r
}

// notRestored begins what the preview says of an object that the restored revision has and the cluster does not serve.
const notRestored = "it is not restored: "

// objectsOf returns the resources that a stored revision, which may be nil, has sent.
func (b *builder) objectsOf(r *release.Revision) []manifest.Object {
	if r == nil {
		return nil
	}
	var objects []manifest.Object
	for _, s := range b.in.Stored {
		if o := s.in(r.Version); o.Doc != nil {
			objects = append(objects, o)
		}
	}
	return objects
}

// differs reports whether the document of the restored revision is another than what was sent for the same object.
// Either may be nil: nothing is sent in place of an object that is being deleted.
func (b *builder) differs(restored, sent *unstructured.Unstructured) bool {
	return restored != nil && sent != nil && len(fielddiff.Compare(b.sent(restored).Object, sent.Object)) > 0
}

// oneWay says why an object that the step changes can't be changed back to the document of the restored
// revision, which may be nil: a claim has grown, for example. It returns "" if it can.
func oneWay(s *Step, restored *unstructured.Unstructured) string {
	if !s.Writes() || s.removes() {
		return ""
	}
	var why []string
	for _, field := range immutable.Predict(s.outcome(), restored) {
		why = append(why, field.Why)
	}
	return strings.Join(why, ", ")
}

// hooksBack counts the hooks that the rollback runs, each item of a List. Those that the cluster does not serve
// it leaves out.
func (r *RollbackPreview) hooksBack(b *builder, brings map[schema.GroupKind]manifest.DefinedKind) {
	for _, h := range b.in.HooksBack() {
		for _, o := range b.hookObjects(h) {
			why := b.unservedThen(o, brings)
			if why == "" {
				r.Hooks++
				continue
			}
			left := Lasting{Object: o.ID, What: "the hook does not run: " + why}
			if !slices.Contains(r.Lasting, left) { // a hook of two events
				r.Lasting = append(r.Lasting, left)
			}
		}
	}
}

// count counts the effect of the rollback on one resource; restored says that the restored revision
// has it. Namespaces, CRDs and hooks are not rolled back.
func (r *RollbackPreview) count(s *Step, restored bool) {
	switch {
	case s.Op == OpDelete && restored:
		r.Create++
	case s.Op == OpKeep && restored: // it is adopted again
		r.Patch++
	case s.Op == OpDelete, s.Op == OpKeep:
	case !restored && !staysOnUninstall(s):
		r.Delete++
	case !restored, s.Op == OpNone, s.Op == OpCreate:
	case s.Op == OpRecreate:
		r.Recreate++
	default:
		r.Patch++
	}
}

// dropped is what lasts of a StatefulSet that is scaled down, if its claims go.
const dropped = "the data of the volumes that it drops does not come back"

// resource reports whether a step is about a resource of the release, as which its own namespace may come first.
func (b *builder) resource(stage StageName, s *Step) bool {
	return stage == StageResources || stage == StageNamespace && b.wants(s.Object)
}

// lasting says what a rollback does not undo of a step; "" if it undoes everything.
func (b *builder) lasting(stage StageName, s *Step, restored bool) string {
	switch {
	case s.MakesRoom() && s.Hook.Foreign:
		return "it is deleted, and is not created again"
	case s.Op == OpRun && s.Object.RunsToItsEnd():
		return "what it has done stays done"
	case s.InPlace() && losesData(s):
		return dropped
	case s.Op == OpRun && !s.Hook.Deletes(manifest.HookSucceeded):
		return "it stays: hooks are not rolled back"
	case stage == StageNamespace && (!b.wants(s.Object) || staysOnUninstall(s)):
		return "the namespace stays"
	case stage == StageCRDs && s.Writes():
		return "the CRD stays as this plan leaves it"
	case stage != StageResources:
		return ""
	case s.removes() && losesData(s) && (restored || s.Op == OpRecreate):
		return "it is created again without the data that it held"
	case !s.removes() && losesData(s):
		return dropped
	case restored, s.Op == OpDelete, s.Op == OpKeep:
		return ""
	case staysOnUninstall(s):
		return "it stays: its helm.sh/resource-policy is keep"
	case s.Before != nil && b.stored[s.Object] == nil:
		return "it existed before this release took it over, and the rollback deletes it"
	}
	return ""
}

// staysOnUninstall reports whether the object will have the keep policy after the step.
func staysOnUninstall(s *Step) bool {
	doc := cmp.Or(s.Body, s.Before)
	return doc != nil && hasKeepPolicy(doc)
}

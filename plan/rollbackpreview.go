package plan

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/jsontree"
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

// rollbackPreview compares what the revision that is restored has with what is there after this plan, whether
// this plan writes it or a failed run before it has. Only an install is undone by an uninstall: what an upgrade
// finds may be in use even if no revision has succeeded, such as one whose wait timed out. Helm, too, leaves it
// then (3.22.0 and 4.3.1, pkg/action/upgrade.go, failRelease).
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
	objects := b.objectsOf(good)
	brings := manifest.DefinedKinds(objects)
	at := make(map[manifest.ID]int, len(objects))
	for i, o := range objects {
		at[o.ID] = i
	}
	last, settled := b.lastSteps(at), make([]bool, len(objects))
	b.plan.Steps(func(stage StageName, s *Step) {
		i, restored := at[s.Object]
		what := Lasting{Step: s.ID, Object: s.Object, What: b.lasting(stage, s, restored)}
		switch {
		case !b.resource(stage, s):
		case restored:
			settled[i] = true
			if left := r.restore(b, objects[i], last[i], brings); left.What != "" {
				what = left
			}
		case s.Op != OpDelete && s.Op != OpKeep && !staysOnUninstall(s):
			r.Delete++
		}
		r.lasts(what)
	})
	for i, o := range objects {
		if !settled[i] {
			r.lasts(r.restore(b, o, last[i], brings))
		}
	}
	r.hooksBack(b, brings)
	return r
}

func (r *RollbackPreview) lasts(l Lasting) {
	if l.What != "" {
		r.Lasting = append(r.Lasting, l)
	}
}

// lastSteps returns for each of the objects, of which at has the indexes, the step that decides what is there after
// this plan, if nothing fails; nil if there is none.
func (b *builder) lastSteps(at map[manifest.ID]int) []*Step {
	last := make([]*Step, len(at))
	b.plan.Steps(func(_ StageName, s *Step) {
		i, known := at[s.Object]
		switch {
		case !known, s.Op == OpWait, s.Op == OpRecord, s.When == WhenFailed:
		case s.leaves() && last[i] != nil: // it is a hook from now on, which has run
		default:
			last[i] = s
		}
	})
	return last
}

// restore counts what the rollback does to an object of the revision that it restores, and returns why it does not
// restore it; What is "" if it does. s is the object's last step, nil if there is none: then it is gone already.
func (r *RollbackPreview) restore(b *builder, o manifest.Object, s *Step, brings map[schema.GroupKind]manifest.DefinedKind) Lasting {
	left, as := Lasting{Object: o.ID}, "it is"
	if s != nil && !s.leaves() {
		left.Step, as = s.ID, "this plan leaves it"
	}
	unserved := b.unservedThen(o, brings)
	switch {
	case unserved != "":
		left.What = "it is not restored: " + unserved
	case s == nil, s.Op == OpDelete:
		r.Create++
	case !b.changesBack(o, s):
	case s.Op == OpRecreate: // what this plan replaces, its rollback may replace, see Input.Recreated
		r.Recreate++
	default:
		if why := oneWay(s.result(), o.Doc); why != "" {
			left.What = "it stays as " + as + ": " + why
		} else {
			r.Patch++
		}
	}
	return left
}

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

// changesBack reports whether the rollback changes what a step leaves of an object to get back to the document o. It
// does not where the plan wants the same document, and so has done all that sending it does.
func (b *builder) changesBack(o manifest.Object, s *Step) bool {
	stored, _ := b.storedObject(o.ID)
	sent, live := stored.Docs[stored.Attempts:], s.result()
	i, wanted := b.targets[o.ID]
	if wanted && b.in.Target.Objects[i].Doc == o.Doc { // of what does not change there is one in memory
		return false
	}
	o.Doc = owned(o.Doc, b.in.Release)
	if wanted {
		target := b.in.Target.Objects[i]
		if jsontree.Same(b.sent(target.Doc).Object, b.sent(o.Doc).Object) {
			return false
		}
		if s.Writes() {
			sent = append([]manifest.Object{target}, sent...) // first, as it is the one that differs most often
		}
	}
	return live == nil || !b.agree(o, StoredObject{Docs: sent}, inVersion(live, o.Doc.GetAPIVersion()))
}

// inVersion returns the object in another API version of its kind, as far as nothing but the version differs.
func inVersion(doc *unstructured.Unstructured, apiVersion string) *unstructured.Unstructured {
	if doc.GetAPIVersion() == apiVersion {
		return doc
	}
	out := manifest.Sharing(doc)
	out.SetAPIVersion(apiVersion)
	return out
}

// oneWay says why an object can't be changed back to the document of the restored revision: a claim has grown, for
// example. It returns "" if it can.
func oneWay(live, restored *unstructured.Unstructured) string {
	var why []string
	for _, field := range immutable.Predict(live, restored) {
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

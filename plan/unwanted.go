package plan

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
)

// unwantedStep decides what happens to an object that earlier revisions sent and that is not in the
// target. ok is false if no step is needed.
func (b *builder) unwantedStep(s StoredObject, becomesHook bool) (step Step, ok bool) {
	o := s.Latest()
	live := b.live(s.ID)
	if live.Unreadable == "" && live.Object == nil {
		b.warnGone(s.ID)
		return Step{}, false
	}
	step = Step{
		ID: stepID(StageResources, s.ID), Op: OpDelete, Object: s.ID, APIVersion: apiVersion(o.Group, b.version(o)),
		Source: o.Source, Fidelity: FidelityExact, Before: live.Object,
	}
	if live.Unreadable != "" {
		step.Fidelity, step.Why = FidelityUnknown, "its live state could not be read"
		b.unread(&step, "it has to be removed and can't be read: ", live.Unreadable, "ask for permission to get and delete it, or retry when the API is back", "get", "delete")
		return step, true
	}
	if step.Why = b.stays(s, becomesHook); step.Why != "" {
		if step.Why == foreign(live.Object, b.in.Release) {
			b.warn(s.ID, "it is left alone: "+step.Why, "delete it by hand if it is no longer needed")
		}
		step.Op = OpKeep
		return step, true
	}
	step.Expect = Expect{UID: live.Object.GetUID(), ResourceVersion: live.Object.GetResourceVersion()}
	step.Cascade, step.Why = b.in.Options.Cascade, "the chart no longer renders it"
	switch {
	case b.in.Operation == Uninstall:
		step.Why = "the release is uninstalled"
	case s.leftover():
		step.Why = fmt.Sprintf("the failed revision %d left it behind", s.Revision)
	}
	if becomesHook { // Helm deletes whatever has that name after the pre-hooks; a hook that runs later would find it gone
		step.Expect, step.Why = Expect{}, "it is a hook from now on, and Helm deletes the resource"
	}
	if lost := b.lostWith(&step); lost != "" &&
		b.forbid(&step, ProblemConflict, lost, "keep it in the chart, or annotate it in the cluster with helm.sh/resource-policy: keep") {
		return step, true
	}
	b.checkCustomResources(s.ID)
	if live.Object.GetDeletionTimestamp() != nil {
		step.Why = "it is already being deleted"
		if f := live.Object.GetFinalizers(); len(f) > 0 {
			b.warn(s.ID, terminating(live.Object), "nothing happens until these are cleared")
		}
	}
	return step, true
}

// stays says why a live object that is not in the target is not deleted; "" if it is.
func (b *builder) stays(s StoredObject, becomesHook bool) string {
	o, live := s.Latest(), b.live(s.ID).Object
	switch {
	case becomesHook && b.leftOut[s.ID] && b.lastRuns[s.ID] == nil:
		return "its hook is left out"
	case becomesHook && (!b.in.Options.AsHelm || !b.runsBefore(s.ID)):
		return "it is a hook from now on"
	case b.inCRDsFolder(s.ID):
		return "crds/ has it from now on"
	case b.keeps(o, live, s.leftover()):
		return "helm.sh/resource-policy is keep"
	case foreign(live, b.in.Release) != "":
		return foreign(live, b.in.Release)
	case b.in.Spare.Has(s.ID, live):
		return "it existed before the release took it over"
	}
	return ""
}

// inCRDsFolder reports whether a CRD is in crds/ of the target's chart, whose objects are never deleted.
// The chart may have had it among its templates before; deleting it then would take all of its custom
// resources along, as it does with Helm.
func (b *builder) inCRDsFolder(id manifest.ID) bool {
	if !id.IsCRD() || b.in.Target == nil || b.in.Operation == Uninstall {
		return false
	}
	if b.inFolder == nil { // the target's CRDs are none for a rollback and with --skip-crds
		b.inFolder = map[manifest.ID]bool{}
		objects := slices.Clone(b.in.Target.CRDs)
		if c := b.in.Target.Record.Chart; c != nil {
			parsed, _ := manifest.ParseCRDs(c.CRDs()) // what can't be parsed was reported, or is not needed
			objects = append(objects, parsed...)
		}
		for _, o := range objects {
			b.inFolder[o.ID] = true
		}
	}
	return b.inFolder[id]
}

// runsBefore reports whether the object is a hook that runs before the resources and not also after
// them.
func (b *builder) runsBefore(id manifest.ID) bool {
	pre, post, _ := moments(b.in.Operation)
	objects, before := b.in.HookObjects(), false
	for i, h := range b.in.Hooks() {
		if contains(id, objects[i]) {
			if h.On(post) {
				return false
			}
			before = before || h.On(pre)
		}
	}
	return before
}

// Spare selects objects that an uninstall or a rollback keeps because they are older than the
// release, or than the revision that is undone.
type Spare struct {
	// Objects are always kept.
	Objects map[manifest.ID]bool
	// Before keeps the objects that were created before this time, by the API server's clock; zero
	// keeps none.
	Before metav1.Time
	// Among limits Before to these objects; nil means all.
	Among map[manifest.ID]bool
}

// Has reports whether an object is kept; live is its live state, or nil.
func (s Spare) Has(id manifest.ID, live *unstructured.Unstructured) bool {
	if s.Objects[id] {
		return true
	}
	if s.Among != nil && !s.Among[id] {
		return false
	}
	return s.older(live)
}

// older reports whether a live object was created before the time Before.
func (s Spare) older(live *unstructured.Unstructured) bool {
	if s.Before.IsZero() || live == nil {
		return false
	}
	created := live.GetCreationTimestamp()
	return created.Before(&s.Before)
}

// keeps reports whether the resource policy keeps an object: an upgrade follows the live
// annotation, an uninstall the stored one (Helm 4.3.1, pkg/kube/client.go, update, and
// pkg/action/resource_policy.go). For leftovers of failed attempts the live one always counts.
func (b *builder) keeps(o manifest.Object, live *unstructured.Unstructured, leftover bool) bool {
	doc := live
	if b.in.Operation == Uninstall && !leftover {
		doc = o.Doc
	}
	return hasKeepPolicy(doc)
}

func hasKeepPolicy(doc *unstructured.Unstructured) bool {
	return strings.EqualFold(strings.TrimSpace(manifest.Annotation(doc, manifest.ResourcePolicyAnnotation)), manifest.ResourcePolicyKeep)
}

package plan

import (
	"cmp"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/fielddiff"
	"github.com/kubectl-release/kubectl-release/internal/immutable"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// OnFailure is what runs after a step of the plan's stages has failed, or a
// signal or time limit has stopped the run. It is planned in advance, so
// nothing is deleted or recorded that the plan did not list.
type OnFailure struct {
	// Stages run in this order: what the run has created is deleted (if the
	// option cleanupOnFail is set), then the revision gets its final status.
	Stages []Stage `json:"stages,omitempty"`
	// Rollback previews the rollback of an atomic operation, which follows the stages. It is nil for
	// an operation that is not atomic, and for one other than an install if no revision has
	// succeeded: nothing is rolled back then.
	Rollback *RollbackPreview `json:"rollback,omitempty"`
}

// StageCleanup deletes what a failed run has created.
const StageCleanup StageName = "clean up"

// onFailure plans what happens if the run fails. All other stages must be planned when it is
// called.
func (b *builder) onFailure() {
	last := b.in.History.Last()
	if b.in.Operation == Uninstall && (last == nil || last.Info.Status == release.StatusUninstalled) {
		return // there is no release, or it stays uninstalled
	}
	if b.in.Against != nil || b.in.Operation == CorrectDrift || b.in.Operation == CorrectRecords {
		return // a comparison is not run, and corrections write no revision
	}
	f := &OnFailure{}
	if b.in.Options.CleanupOnFail {
		f.add(StageCleanup, b.uninstallWaves(b.cleanup()))
	}
	f.add(StageRecord, oneByOne([]Step{b.failedRecord()}))
	if b.in.Options.Atomic {
		f.Rollback = b.rollbackPreview()
	}
	b.plan.OnFailure = f
}

func (f *OnFailure) add(name StageName, waves []Wave) {
	if len(waves) > 0 {
		f.Stages = append(f.Stages, Stage{Name: name, Waves: waves})
	}
}

// cleanup returns the steps that delete the resources that the run has created. The release's
// namespace and CRDs stay, as in Helm 4.3.1 (pkg/action/upgrade.go, failRelease): others may
// already use them.
func (b *builder) cleanup() []Step {
	var steps []Step
	b.plan.Steps(func(stage StageName, s *Step) {
		if stage != StageResources || s.Op != OpCreate {
			return
		}
		steps = append(steps, Step{
			ID: stepID(StageCleanup, s.Object), Op: OpDelete, Object: s.Object, APIVersion: s.APIVersion, Source: s.Source,
			Of: s.ID, When: WhenSucceeded, Cascade: b.in.Options.Cascade, Fidelity: FidelityExact, Why: "--cleanup-on-fail, if this run created it",
		})
	})
	return steps
}

// failedRecord returns the step that gives the revision its final status. If tests fail, their
// outcome is recorded and the release keeps its status.
func (b *builder) failedRecord() Step {
	if b.in.Operation == Test {
		r := b.in.Target.Record
		return b.recordStep("failed", Record{Revision: r.Version, Status: r.Info.Status, Description: r.Info.Description}, "keep the outcome of the tests")
	}
	r := Record{Revision: b.plan.ToRevision, Status: release.StatusFailed, Prune: b.prunedOnFailure()}
	why := fmt.Sprintf("revision %d failed", r.Revision)
	if n := len(r.Prune); n > 0 {
		why += fmt.Sprintf(", %d older failed ones removed", n)
	}
	return b.recordStep("failed", r, why)
}

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

// Lasting is an effect of a step that no rollback undoes.
type Lasting struct {
	// Step is the ID of the step.
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
	r.Hooks = b.hooksBack(good)
	b.plan.Steps(func(stage StageName, s *Step) {
		var restored *unstructured.Unstructured
		if good != nil {
			stored, _ := b.storedObject(s.Object)
			restored = stored.in(good.Version)
		}
		what, stays := b.lasting(stage, s, restored != nil), oneWay(s, restored)
		resource := b.resource(stage, s)
		switch {
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
	return r
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

// hooksBack counts the hooks that the rollback runs, each item of a List: those of the restored revision
// or, if the release is uninstalled, the delete hooks.
func (b *builder) hooksBack(good *release.Revision) int {
	if b.in.Options.NoHooks {
		return 0
	}
	hooks, events := b.in.Target.Record.Hooks, []manifest.Event{manifest.PreDelete, manifest.PostDelete}
	if good != nil {
		hooks, events = good.Hooks, []manifest.Event{manifest.PreRollback, manifest.PostRollback}
	}
	n := 0
	for _, h := range hooks {
		for _, event := range events {
			if h.On(event) {
				n += len(b.hookObjects(h))
			}
		}
	}
	return n
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

// RollbackOptions returns the options of the rollback: those of the failed plan, except that it waits
// until what it restores is ready, or what it deletes is gone, has no overall timeout and is not subject
// to policies: what was allowed may be undone. That is why it deletes and creates only what the failed
// run has deleted and created, see Input.Recreated.
func (p *Document) RollbackOptions() Options {
	o := p.Options
	o.Atomic, o.CleanupOnFail, o.Description, o.OverallTimeout, o.Policy = false, false, "", 0, Policy{}
	o.Labels = nil
	o.Wait, o.Force = true, false
	o.KeepHistory = p.OnFailure.Rollback.KeepHistory
	return o
}

// mentionUndone adds to the description of a rollback's record the objects whose changes the
// rollback undoes, which are all objects that the plan writes, and those that it leaves as they are.
func (b *builder) mentionUndone(r *Record) {
	if !b.in.Undoing {
		return
	}
	_, all := b.plan.SplitByCompletion(nil)
	written := len(all) - len(b.plan.NotUndone)
	if written > 0 {
		r.Description += "; undone: " + SummarizeObjects(all[:written])
	}
	if left := all[written:]; len(left) > 0 {
		r.Description += "; not undone: " + SummarizeObjects(left)
	}
}

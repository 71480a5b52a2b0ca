package plan

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Op is the operation of a step.
type Op string

const (
	// OpCreate creates an object that does not exist.
	OpCreate Op = "create"
	// OpPatch sends a three-way patch or a server-side apply.
	OpPatch Op = "patch"
	// OpReplace overwrites the object (PUT).
	OpReplace Op = "replace"
	// OpRecreate deletes the object, waits until it is gone, and creates it.
	OpRecreate Op = "recreate"
	// OpDelete deletes the object.
	OpDelete Op = "delete"
	// OpKeep leaves the object in the cluster, no longer part of the release.
	OpKeep Op = "keep"
	// OpAdopt patches an object that was not in the release before.
	OpAdopt Op = "adopt"
	// OpRun creates a hook's object and waits until it has finished.
	OpRun Op = "run"
	// OpWait watches an object until it is ready.
	OpWait Op = "wait"
	// OpRecord writes release records.
	OpRecord Op = "record"
	// OpNone does nothing; it is counted, not printed.
	OpNone Op = "none"
)

// Writes reports whether the step changes an object of the release. Hooks don't count: what they
// leave behind, and what their delete policies remove, is not part of the release.
func (s *Step) Writes() bool {
	switch s.Op {
	case OpCreate, OpPatch, OpReplace, OpRecreate, OpDelete, OpAdopt:
		return !s.HookDeletion()
	case OpKeep, OpRun, OpWait, OpRecord, OpNone:
		return false
	}
	return false
}

// Fidelity says how a step's After is known.
type Fidelity string

const (
	// FidelityExact means that After is the API server's answer to a dry run, or needs none.
	FidelityExact Fidelity = "exact"
	// FidelityEstimated means that After was computed locally; Step.Estimate says why.
	FidelityEstimated Fidelity = "estimated"
	// FidelityUnknown means that After is not known.
	FidelityUnknown Fidelity = "unknown"
)

// Step is one thing that apply does.
type Step struct {
	// ID is stable across runs of the same plan: "resources/apps/Deployment/shop/web".
	ID string `json:"id"`
	Op Op     `json:"op"`
	// When says after which outcome of the step Of this one runs, even if the stage has failed by
	// then; if it is empty, the step runs when its wave is reached. Of is the ID of the step whose
	// object this one deletes, or whose object has to be gone before this one creates its own: when
	// that step has created the object, its UID is known by then. Behind lists the IDs of deletions
	// whose objects have to be gone before this step writes another one.
	When   When     `json:"when,omitempty"`
	Of     string   `json:"of,omitempty"`
	Behind []string `json:"behind,omitempty"`

	Object manifest.ID `json:"object,omitzero"`
	// APIVersion is the API version that requests use.
	APIVersion string `json:"apiVersion,omitempty"`
	// Source is the template that rendered the object, Place the file and line where it is.
	Source string `json:"source,omitempty"`
	Place  Place  `json:"place,omitzero"`

	// Body is what create, replace, recreate, run and server-side apply send,
	// Patch what a client-side patch sends.
	Body      *unstructured.Unstructured `json:"body,omitempty"`
	Patch     []byte                     `json:"patch,omitempty"`
	PatchType types.PatchType            `json:"patchType,omitempty"`
	// MigrateOwnership lists field managers whose client-side fields this server-side apply takes
	// over first, so that fields that the chart has dropped are removed. Those of a Secret's stringData
	// are taken over in the same manner, however they were written.
	MigrateOwnership []string `json:"handOver,omitempty"`
	// Clears lists live fields that the chart does not set and that conflict with those it sets:
	// other members of a union that the API server defaulted or somebody set by hand, such as
	// "spec.strategy.rollingUpdate" with the type Recreate. This server-side apply takes them over
	// first, so that they are removed.
	Clears []string `json:"clears,omitempty"`
	// Empties lists JSON pointers to maps and lists that the chart has emptied: their content is
	// removed first, since the apply alone would set them to null.
	Empties []string `json:"empties,omitempty"`
	// Unserved lists versions of the object's kind that the cluster does not serve and in which field managers
	// have written the object. What they own is put into the version of this server-side apply first: the API
	// server refuses every apply otherwise.
	Unserved []string `json:"unserved,omitempty"`
	// ForcesDrift says that this server-side apply reverts fields that were changed by hand with kubectl:
	// it is forced despite the conflicts.
	ForcesDrift bool   `json:"drift,omitempty"`
	Expect      Expect `json:"expect,omitzero"`
	// Cascade is the deletion propagation policy of a delete or recreate:
	// background, foreground or orphan; empty means background.
	Cascade string `json:"cascade,omitempty"`

	// Before and After are the object before and after the step, absent if it does not exist.
	Before *unstructured.Unstructured `json:"before,omitempty"`
	After  *unstructured.Unstructured `json:"after,omitempty"`

	Changes  []Change `json:"changes,omitempty"`
	Fidelity Fidelity `json:"fidelity,omitempty"`
	Estimate string   `json:"estimate,omitempty"`
	Why      string   `json:"why"`
	// Risk is the most severe risk of the step; empty if it has none.
	Risk Risk `json:"risk,omitempty"`

	Hook   *HookRun `json:"hook,omitempty"`
	Record *Record  `json:"record,omitempty"`
}

// When names an outcome of another step.
type When string

const (
	// WhenSucceeded is after the other step has succeeded.
	WhenSucceeded When = "succeeded"
	// WhenFailed is after the other step has started and failed.
	WhenFailed When = "failed"
	// WhenAlways is after the other step has started, however it ended.
	WhenAlways When = "always"
)

// TakesOver reports whether another write precedes this server-side apply, to make it possible, or remove what
// the chart has dropped.
func (s *Step) TakesOver() bool {
	return len(s.MigrateOwnership)+len(s.Clears)+len(s.Empties)+len(s.Unserved) > 0
}

// Expect is the precondition of a step. An empty UID with Absent false means
// that nothing is known.
type Expect struct {
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Absent          bool      `json:"absent,omitempty"`
}

// HookRun describes the hook of a step that runs one, and of the deletions that belong to it.
type HookRun struct {
	Event          manifest.Event    `json:"event"`
	Weight         int               `json:"weight"`
	DeletePolicies []manifest.Policy `json:"deletePolicies,omitempty"`
	LogPolicies    []manifest.Policy `json:"logPolicies,omitempty"`
	// Index is the hook's index in the record's list of hooks.
	Index int `json:"index"`
	// WasResource says that the object was a resource of the release until now, or is one that is
	// created again after the hook.
	WasResource bool `json:"resource,omitempty"`
	// Underway says that an interrupted run has already started the hook, so it is only waited for.
	Underway bool `json:"underway,omitempty"`
	// Foreign says that the object that is deleted before the hook runs is not known to belong to
	// the release.
	Foreign bool `json:"foreign,omitempty"`
	// Since says how the hook differs from the one in the last deployed revision; the step's
	// changes list the differences, unless the step is InPlace: then they are those to the live
	// object. It is empty if there is none to compare with.
	Since HookSince `json:"since,omitempty"`
	// Runs says how long the hook's last runs took, the newest first, as far as they were recorded.
	Runs []release.Run `json:"runs,omitempty"`
}

// HookSince says how a hook differs from the same one in an earlier revision.
type HookSince string

const (
	// HookNew means that there was no such hook for this event.
	HookNew HookSince = "new"
	// HookChanged means that the hook differs in more than labels.
	HookChanged HookSince = "changed"
	// HookSame means that the hook is as before, except for labels.
	HookSame HookSince = "same"
)

// InPlace reports whether the step runs a hook that was a resource until now and
// stays the same object, which is patched to match the hook. Objects that run to
// completion are deleted and created instead.
func (s *Step) InPlace() bool {
	return s.Op == OpRun && s.convertedInPlace()
}

// alters reports whether the step changes an object that is, or was until now, a resource of the
// release.
func (s *Step) alters() bool { return s.Writes() || s.InPlace() }

func (s *Step) convertedInPlace() bool {
	return s.Hook != nil && s.Hook.WasResource && !s.Object.RunsToItsEnd()
}

// HookDeletion reports whether the step deletes an object for a hook: before its run or because of
// its delete policy.
func (s *Step) HookDeletion() bool { return s.Op == OpDelete && s.Hook != nil }

// MakesRoom reports whether the step is a HookDeletion before the hook's run, of an object that has
// the hook's name: Before, or what the step Of has left behind.
func (s *Step) MakesRoom() bool { return s.HookDeletion() && s.When == "" }

// Deletes reports whether the hook's delete policies include p.
func (h HookRun) Deletes(p manifest.Policy) bool {
	return manifest.Hook{DeletePolicies: h.DeletePolicies}.Deletes(p)
}

// Record is what a record step writes: the new status of one revision, and of older ones.
type Record struct {
	// Revision is the revision that gets the status; 0 if only older ones are written.
	Revision    int            `json:"revision"`
	Status      release.Status `json:"status"`
	Description string         `json:"description"`
	// Supersede lists the revisions that become superseded, Prune those whose
	// records are removed, oldest first.
	Supersede []int `json:"supersede,omitempty"`
	Prune     []int `json:"prune,omitempty"`
	// Descriptions are those of superseded revisions that do not keep theirs, and of failed ones whose
	// description is not FailDescription, by revision.
	Descriptions map[int]string `json:"descriptions,omitempty"`
	// Fail lists revisions that an interrupted run left pending; they become failed, with
	// FailDescription as their description.
	Fail            []int  `json:"fail,omitempty"`
	FailDescription string `json:"failDescription,omitempty"`
}

// Cause says where a change comes from.
type Cause string

const (
	CauseChart   Cause = "chart"
	CauseValues  Cause = "values"
	CauseDrift   Cause = "drift"
	CauseAdopted Cause = "adopted"
	CauseServer  Cause = "server default"
)

// Change is a change to one field of an object, or to one key of the values.
type Change struct {
	Path string `json:"path"`
	// From and To are the values before and after, absent where the field is absent.
	From  any   `json:"from,omitempty"`
	To    any   `json:"to,omitempty"`
	Cause Cause `json:"cause,omitempty"`
	// Detail explains the cause: the key of the values, or who wrote a drifted
	// field and how long ago ("kubectl-edit 3h ago").
	Detail string `json:"detail,omitempty"`
	// Manager is the field manager that last wrote a drifted field, and At when it did, according
	// to the object's managedFields.
	Manager string    `json:"manager,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Sensitive marks values that are never printed.
	Sensitive bool `json:"sensitive,omitempty"`
	// Place is the line of the file that sets the value, for one of the user's values.
	Place Place `json:"place,omitzero"`
}

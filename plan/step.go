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
	// OpCreate creates an object that is not there.
	OpCreate Op = "create"
	// OpPatch sends a three-way patch or a server-side apply.
	OpPatch Op = "patch"
	// OpReplace overwrites the object (PUT).
	OpReplace Op = "replace"
	// OpRecreate deletes the object, waits until it is gone, and creates it.
	OpRecreate Op = "recreate"
	// OpDelete deletes the object.
	OpDelete Op = "delete"
	// OpKeep leaves the object in the cluster, disowned.
	OpKeep Op = "keep"
	// OpAdopt patches an object that was not in the release before.
	OpAdopt Op = "adopt"
	// OpRun creates a hook's object and watches it to its end.
	OpRun Op = "run"
	// OpWait watches an object until it is ready.
	OpWait Op = "wait"
	// OpRecord writes release records.
	OpRecord Op = "record"
	// OpNone does nothing; it is counted, not printed.
	OpNone Op = "none"
)

// Writes reports whether the step changes an object of the release. Hooks do not count: what
// they leave, and what their delete policies remove, is not part of the release.
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
	// FidelityExact is the API server's own answer to a dry run, or needs none.
	FidelityExact Fidelity = "exact"
	// FidelityEstimated is merged locally; Step.Estimate says why.
	FidelityEstimated Fidelity = "estimated"
	// FidelityUnknown is not known at all.
	FidelityUnknown Fidelity = "unknown"
)

// Step is one thing that apply does.
type Step struct {
	// ID is stable across runs of the same plan: "resources/apps/Deployment/shop/web".
	ID string `json:"id"`
	Op Op     `json:"op"`
	// Of is the ID of the step whose object this one deletes: its UID is known when
	// that step has created it. When says after which end of that step this one
	// runs, even if its stage has failed by then; "" runs when its wave is reached.
	When When   `json:"when,omitempty"`
	Of   string `json:"of,omitempty"`

	Object manifest.ID `json:"object,omitzero"`
	// APIVersion is the one that requests use.
	APIVersion string `json:"apiVersion,omitempty"`
	// Source is the template that rendered the object, Place where it stands.
	Source string `json:"source,omitempty"`
	Place  Place  `json:"place,omitzero"`

	// Body is what create, replace, recreate, run and server-side apply send,
	// Patch what a client-side patch sends.
	Body      *unstructured.Unstructured `json:"body,omitempty"`
	Patch     []byte                     `json:"patch,omitempty"`
	PatchType types.PatchType            `json:"patchType,omitempty"`
	// MigrateOwnership are field managers whose client-side fields this server-side apply first
	// takes over, so that fields which the chart has dropped are removed.
	MigrateOwnership []string `json:"handOver,omitempty"`
	// Clears are live fields that contradict what the chart says and do not belong to it: other
	// members of a union, which the API server has defaulted or somebody has set by hand
	// ("spec.strategy.rollingUpdate" beside the type Recreate). This server-side apply takes them
	// over first, so that they are removed.
	Clears []string `json:"clears,omitempty"`
	// Empties are JSON pointers to maps and lists that the chart has emptied: their content is
	// removed first, since the apply alone would set them to null.
	Empties []string `json:"empties,omitempty"`
	// Drift says that this server-side apply takes back fields which were changed by hand
	// with kubectl: it is forced in spite of the conflicts.
	Drift  bool   `json:"drift,omitempty"`
	Expect Expect `json:"expect,omitzero"`
	// Cascade is the deletion propagation of a delete or recreate: background,
	// foreground or orphan; "" is background.
	Cascade string `json:"cascade,omitempty"`

	// Before and After are the object around the step, nil when it is absent.
	Before *unstructured.Unstructured `json:"before,omitempty"`
	After  *unstructured.Unstructured `json:"after,omitempty"`

	Changes  []Change `json:"changes,omitempty"`
	Fidelity Fidelity `json:"fidelity,omitempty"`
	Estimate string   `json:"estimate,omitempty"`
	Why      string   `json:"why"`
	// Risk is the gravest of the step's Risks, "" when it has none.
	Risk Risk `json:"risk,omitempty"`

	Hook   *HookRun `json:"hook,omitempty"`
	Record *Record  `json:"record,omitempty"`
}

// When names an end of another step.
type When string

const (
	// WhenSucceeded is after the other step has ended well.
	WhenSucceeded When = "succeeded"
	// WhenFailed is after the other step has begun and failed.
	WhenFailed When = "failed"
	// WhenAlways is after the other step has begun, however it ended.
	WhenAlways When = "always"
)

// TakesOver reports whether a write comes before this server-side apply, so that what
// the chart has dropped goes.
func (s *Step) TakesOver() bool { return len(s.MigrateOwnership)+len(s.Clears)+len(s.Empties) > 0 }

// Expect is the precondition of a step. UID "" with Absent false means
// that nothing is known.
type Expect struct {
	UID             types.UID `json:"uid,omitempty"`
	ResourceVersion string    `json:"resourceVersion,omitempty"`
	Absent          bool      `json:"absent,omitempty"`
}

// HookRun describes the hook of a run step, and of the deletions that go with it.
type HookRun struct {
	Event          manifest.Event    `json:"event"`
	Weight         int               `json:"weight"`
	DeletePolicies []manifest.Policy `json:"deletePolicies,omitempty"`
	LogPolicies    []manifest.Policy `json:"logPolicies,omitempty"`
	// Index is the hook's place in the record's list of hooks.
	Index int `json:"index"`
	// WasResource says that the object was a resource of the release until now.
	WasResource bool `json:"resource,omitempty"`
	// Underway says of the run that an interrupted one has started it: it is waited for.
	Underway bool `json:"underway,omitempty"`
	// Foreign says of a deletion before the run that the object is not known to be
	// the release's.
	Foreign bool `json:"foreign,omitempty"`
	// Since says of the run how the hook differs from that of the last revision that
	// was deployed, which the step's Changes list; "" where there is none to compare.
	Since HookSince `json:"since,omitempty"`
	// Runs are how long the last runs of it took, the newest first, as far as they were recorded.
	Runs []release.Run `json:"runs,omitempty"`
}

// HookSince is how a hook differs from the same one of an earlier revision.
type HookSince string

const (
	// HookNew: there was no such hook for this event.
	HookNew HookSince = "new"
	// HookChanged: it differs in more than labels.
	HookChanged HookSince = "changed"
	// HookSame: it is as before, but for labels.
	HookSame HookSince = "same"
)

// InPlace says of a hook that was a resource until now whether it stays the same
// object, which is brought to what the hook says. What runs to its end is deleted
// and created instead.
func (s *Step) InPlace() bool {
	return s.Op == OpRun && s.convertedInPlace()
}

func (s *Step) convertedInPlace() bool {
	return s.Hook != nil && s.Hook.WasResource && !s.Object.RunsToItsEnd()
}

// HookDeletion says of a deletion whether a hook's delete policy demands it.
func (s *Step) HookDeletion() bool { return s.Op == OpDelete && s.Hook != nil }

// MakesRoom says of a HookDeletion whether it comes before the hook's run, because
// its object is in the hook's place: Before, or what the step Of has left.
func (s *Step) MakesRoom() bool { return s.HookDeletion() && s.When == "" }

// Deletes reports whether the hook's object is deleted at the policy's moment.
func (h HookRun) Deletes(p manifest.Policy) bool {
	return manifest.Hook{DeletePolicies: h.DeletePolicies}.Deletes(p)
}

// Record is the content of a record step: the new status of one revision, and those of older
// ones.
type Record struct {
	// Revision is the one that gets the Status; 0 for none, when only older ones are written.
	Revision    int            `json:"revision"`
	Status      release.Status `json:"status"`
	Description string         `json:"description"`
	// Supersede are revisions that become superseded, Prune those whose
	// records are removed, oldest first.
	Supersede []int `json:"supersede,omitempty"`
	Prune     []int `json:"prune,omitempty"`
	// Fail are revisions that an interrupted run left pending; they become failed, with
	// FailDescription.
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

// Change is one field of an object, or one key of the values, that changes.
type Change struct {
	Path string `json:"path"`
	// From and To are nil where the field is absent.
	From  any   `json:"from,omitempty"`
	To    any   `json:"to,omitempty"`
	Cause Cause `json:"cause,omitempty"`
	// Detail goes with the cause: the values key, or who wrote a drifted field
	// and how long ago that was: "kubectl-edit 3h ago".
	Detail string `json:"detail,omitempty"`
	// Manager is the field manager that wrote a drifted field last, and At is when, by the
	// object's managedFields.
	Manager string    `json:"manager,omitempty"`
	At      time.Time `json:"at,omitzero"`
	// Sensitive marks values that are never printed.
	Sensitive bool `json:"sensitive,omitempty"`
	// Place is, for one of the user's values, the line of the file that sets it.
	Place Place `json:"place,omitzero"`
}

package plan

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Input is everything that Build looks at. Gathering it is the caller's job.
type Input struct {
	Operation Operation
	Release   release.Key
	Options   Options
	// Now is the time that ages are computed from; if it is zero, plans contain no ages.
	Now         time.Time
	ToolVersion string
	// Invocation is how the program was called, for the commands in hints.
	Invocation  invocation.Invocation
	KubeVersion string
	Cluster     Cluster

	// History holds every stored revision of the release that can be read, Corrupt the others.
	History release.History
	Corrupt []CorruptRecord
	// Stored is what those revisions sent: see the function Stored.
	Stored []StoredObject
	// StoredHookObjects are the objects of the newest stored revision's hooks, as in
	// Target.HookObjects: uninstall runs them, and an interrupted run may have left them. They are only
	// needed if there is no target, or that revision is pending.
	StoredHookObjects [][]manifest.Object
	// Target is the desired state; nil for Uninstall and CorrectRecords.
	Target *Target
	// RollbackTo is the revision that a rollback restores.
	RollbackTo int
	// DriftScope limits which drift is corrected.
	DriftScope DriftScope
	// Spare selects objects of the release that an uninstall or a rollback keeps.
	Spare Spare
	// Estimated reports whether the body of a step contains placeholders for values that are not
	// known yet, which make a dry run of it inexact. nil means that none does.
	Estimated func(body map[string]any) bool

	// Resume says that the target is the newest revision, which an interrupted run left pending
	// (see Resumable), and that the rest of that run is planned.
	Resume bool
	// Undoing says that this plan undoes a failed run, whose revision may still be pending. It goes
	// as far as permissions allow, without checking them beforehand, and its record says what was
	// undone. What the API server refuses to change back stays as it is: see Document.NotUndone.
	Undoing bool
	// Recreated are the objects that the failed run was to delete and create, with the UIDs that they had
	// before: what it has replaced may be replaced once more to undo it.
	Recreated map[manifest.ID]types.UID

	// ReadOnly plans without dry runs and without checking permissions, for users who may
	// only read.
	ReadOnly bool
	// Applier is the user who is going to apply the plan, if that is not the one who plans. Access
	// is then about that user, and all permissions are asked about, since dry runs show only those
	// of the caller.
	Applier string

	// Live is the observed state, by ID. An object whose ID is missing was not observed.
	Live map[manifest.ID]Observation
	// Kinds is what discovery knows about the kinds in Stored and Target.
	Kinds map[schema.GroupKind]Kind
	// Predictions are the answers to dry runs, by step ID. The first Build has
	// none; Questions.DryRuns lists what to ask.
	Predictions map[string]Prediction
	// CustomResources holds those of each CRD that a Build would delete or recreate.
	CustomResources map[manifest.ID]CustomResources
	// Quotas are the ResourceQuotas of the namespaces in the first Build's
	// Questions.QuotaNamespaces, as far as they may be listed; nil if they were not asked for.
	Quotas []*unstructured.Unstructured
	// Claims holds the sorted names of the PersistentVolumeClaims in the namespaces of
	// Questions.ClaimNamespaces. A namespace in which they can't be listed has no entry, not even
	// an empty list.
	Claims map[string][]string
	// Values are the changes to the user's values and to the chart's defaults since the last
	// revision; the Cause of the latter is CauseChart.
	Values []Change
	// Pending describes the run of the newest revision if that is recorded as pending.
	Pending Pending
	// RecordSize is the encoded size of the target's record in bytes, and
	// MaxRecordSize the most that the store accepts; 0 means no limit.
	RecordSize    int
	MaxRecordSize int
	// RecordParts are the largest parts of a record that leaves less than RecordReserve to that limit.
	RecordParts []release.PartSize
	// Against is set if Live does not come from the cluster but from something
	// else: see Unmoved. Only installs, upgrades and uninstalls support it.
	Against *Against
	// Access is the API server's answer about Questions.Permissions.
	Access Access
	// Records says where release records are kept. LockName is the name of
	// the Lease that locks the release, "" if there is none.
	Records  Records
	LockName string
	// Secrets are the values that templates have read from Secrets in the cluster.
	Secrets [][]byte
	// Warnings come from gathering: a deprecated chart, values that no template reads.
	Warnings []Problem
}

// Target is the desired state of a release.
type Target struct {
	// Record is the revision to store: chart, values, manifest, hooks, notes.
	Record *release.Revision
	// Objects and HookObjects are the record's, parsed and with namespaces.
	// HookObjects[i] are those of Record.Hooks[i]: one, the items of a List, or none if the hook
	// can't be parsed and is not run.
	Objects     []manifest.Object
	HookObjects [][]manifest.Object
	// CRDs are those of crds/ folders; they are not in the record.
	CRDs []manifest.Object
	// Chart identifies the chart in the plan.
	Chart ChartRef
	// Source is where the chart was fetched from, or nil.
	Source *ChartSource
	// Lock is the lock of the chart's dependencies, or nil.
	Lock *ChartLock
}

// Pending says whose run a pending revision belongs to. The caller has the
// clock, so the age is text here.
type Pending struct {
	// Holder is the holder of the release's lock, "" if the lock is free.
	Holder string
	// Ours is true if this tool wrote the pending revision, so it is safe to go
	// on once the lock is free. For another tool's run, nothing says whether it
	// is still alive.
	Ours bool
	// Unlocked is true if this tool wrote the pending revision but no lock
	// says whether its run is still at work: there was none, or Leases can't
	// be read.
	Unlocked bool
	// Age is how long ago the revision became pending, such as "3m".
	Age string
}

// Kind is what discovery knows about a group and kind.
type Kind struct {
	Scope manifest.Scope
	// Versions are the versions that the cluster serves, the preferred one first; empty if the kind
	// is unknown.
	Versions []string
	// Resource is the kind's name in requests, such as "deployments"; "" if it is not known.
	Resource string
	// Unavailable says why discovery of the group failed; "" if it did not.
	Unavailable string
}

// Observation is the live state of one object.
type Observation struct {
	// Object is nil if the object does not exist.
	Object *unstructured.Unstructured
	// Managers are the object's managedFields, which Object itself need not have.
	Managers []metav1.ManagedFieldsEntry
	// Unreadable says why the object could not be read (forbidden, API unavailable).
	Unreadable string
}

// Observed returns the observation of an existing object.
func Observed(live *unstructured.Unstructured) Observation {
	return Observation{Object: live, Managers: live.GetManagedFields()}
}

// content returns the object's content, nil if it does not exist.
func (o Observation) content() map[string]any {
	if o.Object == nil {
		return nil
	}
	return o.Object.Object
}

// CustomResources says how many custom resources of a CRD exist.
type CustomResources struct {
	// Own belong to the release, Others do not.
	Own, Others int
	// Uncounted says why they could not be counted; "" if they were.
	Uncounted string
}

// CorruptRecord is a stored record that can't be read, but is not the newest.
type CorruptRecord struct {
	// Revision is 0 if the record does not say which one it is.
	Revision int
	// Why names the object that holds it, and the reason.
	Why string
}

// Records says in which kind of object release records are kept ("Secret" and "secrets") and where.
// If Resource is empty, they are not in the cluster. Names maps revisions, including the one to be
// written, to the names of their records.
type Records struct {
	Kind      string
	Resource  string
	Namespace string
	Names     map[int]string
}

// Prediction is the API server's answer to a dry run.
type Prediction struct {
	// After is the object as the server would store it; nil on refusal.
	After *unstructured.Unstructured
	// Refused is the refusal, nil otherwise.
	Refused *Refusal
	// Estimated says why the server could not predict the outcome; "" if it could.
	Estimated string
	// NeedsForce says that the apply has to be forced because fields of the object were changed by hand.
	NeedsForce bool
	// Warnings are the API server's warnings in the dry run, such as those about deprecated versions
	// and about fields that it does not know and drops, each once.
	Warnings []string
}

// Refusal is an error with which the API server refused a dry run.
type Refusal struct {
	// Reason is the API's machine-readable reason ("Invalid", "Forbidden" …).
	Reason  string
	Message string
	// Fields are the paths the server complained about.
	Fields []string
	// Immutable says that the refusal is about fields that can't be changed.
	Immutable bool
	// Managers are the other field managers in a server-side apply conflict.
	Managers []string
}

// StoredObject is one object as earlier revisions sent it.
type StoredObject struct {
	manifest.ID
	// Docs are the object's documents: those of failed attempts before the last
	// successful revision, then that revision's, then those of every later attempt.
	Docs []manifest.Object
	// Attempts is the number of Docs that come from those failed attempts before the last
	// successful revision.
	Attempts int
	// Revision is the newest revision that has the object, Revisions all
	// those that the Docs come from.
	Revision  int
	Revisions []int
}

// Latest returns the newest document of the object.
func (s StoredObject) Latest() manifest.Object { return s.Docs[len(s.Docs)-1] }

// in returns the object as a revision sent it, the last one if it sent several; its Doc is nil if it sent none. The
// first of the Docs may have been dropped, see ownedDocs.
func (s StoredObject) in(revision int) manifest.Object {
	dropped := len(s.Revisions) - len(s.Docs)
	for i, doc := range slices.Backward(s.Docs) {
		if s.Revisions[dropped+i] == revision {
			return doc
		}
	}
	return manifest.Object{}
}

// Age formats a duration for people: "40s", "3m", "2h", "5d". A negative one,
// from clocks that disagree, becomes "0s".
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(max(d, 0).Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	default:
		return fmt.Sprintf("%dd", int(d.Hours()/24))
	}
}

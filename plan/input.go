package plan

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-release/kubectl-release/internal/invocation"
	"github.com/kubectl-release/kubectl-release/internal/manifest"
	"github.com/kubectl-release/kubectl-release/internal/release"
)

// Input is everything that Build looks at. Gathering it is the caller's work.
type Input struct {
	Operation Operation
	Release   release.Key
	Options   Options
	// Now is the time from which ages are counted; when it is zero, plans contain no ages.
	Now         time.Time
	ToolVersion string
	// Invocation is how the program was called, for the commands in hints.
	Invocation  invocation.Invocation
	KubeVersion string
	Cluster     Cluster

	// History holds every stored revision of the release.
	History release.History
	// Stored is what those revisions sent: see Stored.
	Stored []StoredObject
	// StoredHookObjects are the newest stored revision's hooks, parsed and with
	// namespaces; uninstall runs them.
	StoredHookObjects []manifest.Object
	// Target is the desired state; nil for uninstall and for correcting records.
	Target *Target
	// RollbackTo is the revision a rollback restores.
	RollbackTo int
	// Drift says what of drift is corrected.
	Drift Drift
	// Spare selects objects of the release that an uninstall or a rollback keeps.
	Spare Spare
	// Estimated reports whether the body of a step contains placeholders for values that are
	// not known yet, so that a dry run of it is not exact. nil means that none does.
	Estimated func(body map[string]any) bool

	// Resume says that the target is the newest revision, which an interrupted run has
	// left pending, see Resumable: what is left of that run is planned.
	Resume bool
	// Undoing says that this plan undoes a run that has failed and whose revision may be
	// pending. It goes as far as permissions allow, without checking them beforehand, and its
	// record says what was undone.
	Undoing bool

	// ReadOnly plans without dry runs and without checking permissions, for users who may
	// only read.
	ReadOnly bool
	// Judged is the user who is going to apply the plan, when that is not the one who plans.
	// Access is about that user then, and all permissions are asked for, since dry runs show
	// only one's own.
	Judged string

	// Live is the observed state, by ID. An ID that is missing was not observed.
	Live map[manifest.ID]Observation
	// Kinds is what discovery knows of the kinds in Stored and Target.
	Kinds map[schema.GroupKind]Kind
	// Predictions are the answers to dry runs, by step ID. The first Build has
	// none; Questions.DryRuns lists what to ask.
	Predictions map[string]Prediction
	// CustomResources is how many custom resources, besides those of the release,
	// there are of each CRD that the first Build would delete.
	CustomResources map[manifest.ID]int
	// Quotas are the ResourceQuotas of the namespaces in Questions.QuotaNamespaces of the first
	// Build, as far as they may be listed; nil when they were not asked for.
	Quotas []*unstructured.Unstructured
	// Claims are the names of the volume claims in the namespaces of
	// Questions.ClaimNamespaces, sorted; of namespaces in which they can't be listed
	// there is nothing, not even an empty list.
	Claims map[string][]string
	// Values are the changes of the user's values and of the chart's defaults since the
	// last revision; the Cause of a default is CauseChart.
	Values []Change
	// Pending describes an operation that is recorded as pending.
	Pending Pending
	// RecordSize is the encoded size of the target's record in bytes, and
	// MaxRecordSize what the store takes; 0 when there is no limit.
	RecordSize    int
	MaxRecordSize int
	// RecordParts are the largest parts of a record that is larger than that.
	RecordParts []release.PartSize
	// Against is set when Live is not the cluster's but made of something else:
	// see Unmoved. Installs, upgrades and uninstalls know it.
	Against *Against
	// Access is the API server's answer about Questions.Permissions.
	Access Access
	// Records says where release records are kept, LockName the Lease that
	// locks the release, "" when there is none.
	Records  Records
	LockName string
	// Secrets are what templates have read from Secrets of the cluster.
	Secrets [][]byte
	// Warnings come from gathering: a deprecated chart, values that no template reads.
	Warnings []Problem
}

// Target is the desired state of a release.
type Target struct {
	// Record is the revision to store: chart, values, manifest, hooks, notes.
	Record *release.Revision
	// Objects and HookObjects are the record's, parsed and with namespaces.
	// HookObjects[i] belongs to Record.Hooks[i].
	Objects     []manifest.Object
	HookObjects []manifest.Object
	// CRDs come from crds/ folders; they are not in the record.
	CRDs []manifest.Object
	// Chart is what the plan shows of the chart.
	Chart ChartRef
	// Source is where the chart was fetched from, or nil.
	Source *ChartSource
	// Lock is that of the chart's dependencies, or nil.
	Lock *ChartLock
}

// Pending says whose a pending revision is. The clock is the caller's: ages are
// words here.
type Pending struct {
	// Holder is the holder of the release's lock, "" when it is free.
	Holder string
	// Ours is true when this tool wrote the pending revision: it is safe to go
	// on once the lock is free. Another tool's run can't be told dead or alive.
	Ours bool
	// Unlocked is true when this tool wrote it and its lock can't tell whether
	// its run is still at work: there was none, or Leases can't be read.
	Unlocked bool
	// Age is how long ago the revision became pending, such as "3m".
	Age string
}

// Kind is a group and kind as discovery knows it.
type Kind struct {
	Scope manifest.Scope
	// Versions the cluster serves, preferred first; empty: the kind is unknown.
	Versions []string
	// Resource is its name in requests, "deployments"; "" when it is not known.
	Resource string
	// Unavailable says why discovery of the group failed, "" when it did not.
	Unavailable string
}

// Observation is the live state of one object.
type Observation struct {
	// Object is nil when the object is not there.
	Object *unstructured.Unstructured
	// Managers are the object's managedFields, which Object itself need not have.
	Managers []metav1.ManagedFieldsEntry
	// Unreadable says why nothing is known (forbidden, API unavailable).
	Unreadable string
}

// Observed is the observation of an object that is there.
func Observed(live *unstructured.Unstructured) Observation {
	return Observation{Object: live, Managers: live.GetManagedFields()}
}

// Records says what release records are kept in: "Secret" and "secrets", and where.
// Without a Resource they are not in the cluster. Names are those of the revisions'
// records, the one to be written included.
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
	// Estimated is set when the server could not say; the text says why.
	Estimated string
	// Drift says that the apply has to be forced, because fields of the object were
	// changed by hand.
	Drift bool
}

// Refusal is the API server's no to a dry run.
type Refusal struct {
	// Reason is the API's machine-readable reason ("Invalid", "Forbidden" …).
	Reason  string
	Message string
	// Fields are the paths the server complained about.
	Fields []string
	// Immutable says that the refusal is about fields which can't be changed.
	Immutable bool
	// Managers are the other field managers of a server-side-apply conflict.
	Managers []string
}

// StoredObject is one object as earlier revisions sent it.
type StoredObject struct {
	manifest.ID
	// Docs are the object's documents: those of failed attempts before the last
	// successful revision, then that revision's, then those of every later attempt.
	Docs []manifest.Object
	// Attempts is how many of the Docs are of the first sort.
	Attempts int
	// Revision is the newest revision that has the object, Revisions all that
	// the Docs are of.
	Revision  int
	Revisions []int
}

// Latest is the newest document of the object.
func (s StoredObject) Latest() manifest.Object { return s.Docs[len(s.Docs)-1] }

// Age is a duration for people: "40s", "3m", "2h", "5d". Negative ones, of
// clocks that disagree, are "0s".
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

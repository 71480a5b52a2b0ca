package releaseset

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Manager is the object of a controller that deploys an entry, such as a Flux
// HelmRelease, instead of somebody at a command line.
type Manager interface {
	// String returns "HelmRelease apps/web".
	String() string
	// Applier returns what applies the object, by its name in Set.Appliers; "" when nothing is known
	// to.
	Applier() string
	// Err returns why the entry can't be planned, nil when it can.
	Err() error
	// Inactive returns why the controller does not do what the object is declared as, such as that it is suspended; ""
	// if it does.
	Inactive() string
	// Unknown returns the objects that values come from and whose content is not known,
	// such as "Secret apps/database".
	Unknown() []string
	// Estimated reports whether an object contains a marker for something unknown.
	Estimated(object map[string]any) bool
	// Secrets returns contents of Secrets that values, and what the chart is called, come from.
	Secrets() [][]byte
	// InCluster returns the manager's entry with what it does not know read from the cluster:
	// values, and whatever else comes from there.
	InCluster(e Entry, lookup Lookup) Entry
	// Writer returns how the controller writes the release.
	Writer() Writer
	// ChartValues returns the files that replace the chart's own values.
	ChartValues() ChartValues
	// Version returns the version that the templates of a chart see, "" for its own. from is
	// where the chart was fetched, nil when nothing was.
	Version(of *chart.Metadata, from *plan.ChartSource) (string, error)
	// Sum returns a text that stands for everything besides chart and values that the release depends
	// on.
	Sum() string
	// Rewrite changes what the chart rendered.
	Rewrite(manifest string) (string, error)
	// Next returns what the controller does when base, nil for nothing, is what it has
	// deployed from the chart was; is is the chart now. rewritten says that the charts'
	// files differ.
	Next(base Manager, is, was *chart.Metadata, rewritten bool) Verdict
	// Live is Next by what is in the cluster: the object with its status, nil when there
	// is none, and the records. Errors are those of the lookup, and of an object that
	// can't be read.
	Live(found Live, is *chart.Metadata, rewritten bool) (Verdict, error)
	// EachCommit returns why the controller takes each commit of the repository for a new version of the chart, and
	// upgrades the release; "" if it does not.
	EachCommit() string
	// Overlook returns a function that says what the controller leaves alone of a step that corrects
	// drift, nil for nothing.
	Overlook() (func(*plan.Step) plan.Overlooked, error)
	// Removed returns what the controller does when the object is gone; by are the
	// appliers that the set has by then, and live reads the cluster, nil without one.
	Removed(by map[string]Applier, live Lookup) Verdict
	// Moved returns what the controller does about this release when the object, as to is, deploys another
	// one in the same cluster.
	Moved(to Manager) Verdict
}

// Applier applies the objects of managers, such as a Flux Kustomization: it decides what
// happens to an object that leaves its files.
type Applier struct {
	// Suspended appliers do nothing; those that prune delete what has left.
	Suspended, Prunes bool
	// Unknown are the fields that decide what is deleted and are not known. It counts as deleting, then.
	Unknown []string
	// Broken is why it is unknown what it applies, "" when it is known.
	Broken string
	// Remote is what is left out of it because it is remote and not fetched.
	Remote []string
	// By is the name of what applies it.
	By string
	// Spec is what it is declared as, in the types of decoded JSON.
	Spec any
}

// Fetches returns something remote that the applier has and another version of it has not, "" for nothing.
func (a Applier) Fetches(other Applier) string {
	for _, name := range a.Remote {
		if !slices.Contains(other.Remote, name) {
			return name
		}
	}
	return ""
}

// ChartValues are files of values that are merged in order.
type ChartValues struct {
	Files []string
	// InChart says that they are files of the chart, not of the tree.
	InChart bool
	// IgnoreMissing skips files that do not exist.
	IgnoreMissing bool
}

// Writer is how a controller writes a release.
type Writer struct {
	// Storage is the namespace of the records; "" for a controller that keeps none.
	Storage string
	// FieldManager is the controller's own.
	FieldManager string
	// Labels are put on the objects of the chart's crds/, which Rewrite does not see.
	Labels map[string]string
	// ServiceAccount is the one that the controller impersonates, in the namespace of
	// its object; "" for none.
	ServiceAccount types.NamespacedName
	// Kubeconfig is that of the cluster that the release is in; nil means the cluster
	// of the controller's object.
	Kubeconfig []byte
	// Elsewhere says why that cluster is unknown, "" when it is known.
	Elsewhere string
}

// Lookup returns an object of a cluster, nil when it does not exist.
type Lookup func(apiVersion, kind, namespace, name string) (map[string]any, error)

// Live is what a cluster has of a release.
type Live struct {
	Lookup  Lookup
	Records []*release.Revision
	// Unreadable is why the records can't be read.
	Unreadable error
	// Drift is the plan that reverts what differs from the newest record; nil when
	// nobody has looked.
	Drift *plan.Document
	// Base is the object in the tree's base, nil for none.
	Base Manager
	// Commit is the commit of the tree that is assumed to be deployed, "" when it is unknown.
	Commit string
	// Change says that the tree differs from that one, and will be another commit.
	Change bool
}

// Verdict is what a controller does about an entry.
type Verdict struct {
	// Action is "upgrade", "nothing", "wait" and the like; Then are those that follow.
	Action string   `json:"action"`
	Then   []string `json:"then,omitempty"`
	// Notes are sentences about it, the main one first.
	Notes []string `json:"notes,omitempty"`
	// Plans says that the objects of the release may change, so there is something to
	// plan.
	Plans bool `json:"-"`
	// Compares says that the verdict depends on Live.Drift, which has not been looked at.
	Compares bool `json:"-"`
	// Anew says that the base may not be deployed: the plan is that of an install.
	Anew bool `json:"-"`
	// OldChart says that the chart remains the one that was deployed, whatever its
	// files are now.
	OldChart bool `json:"-"`
	// Version is the one that the chart's templates see, "" for its own.
	Version string `json:"-"`
	// Leaves is the release that the action uninstalls before it makes another one, with its
	// records in the namespace LeavesIn and the options LeavesBy; nil when it makes none.
	Leaves   *release.Key `json:"-"`
	LeavesIn string       `json:"-"`
	LeavesBy Options      `json:"-"`
	// Options are those of the action, nil when they are the entry's.
	Options *Options `json:"-"`
}

// Text returns all actions, such as "uninstall, then install".
func (v *Verdict) Text() string {
	return strings.Join(append([]string{v.Action}, v.Then...), ", then ")
}

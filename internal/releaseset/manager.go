package releaseset

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
	"github.com/kubectl-release/kubectl-release/plan"
)

// Manager is the object of a controller that deploys an entry, such as a HelmRelease
// of Flux's, in the place of somebody at a command line.
type Manager interface {
	// String is "HelmRelease apps/web".
	String() string
	// Err is why the entry can't be planned, nil when it can.
	Err() error
	// Unknown are the objects that values come from and whose content is not known,
	// "Secret apps/database".
	Unknown() []string
	// Estimated says whether an object holds a marker of what is not known.
	Estimated(object map[string]any) bool
	// Secrets are contents of Secrets that values come from.
	Secrets() [][]byte
	// InCluster is the manager with what it does not know of its values read from the
	// cluster, and these values.
	InCluster(lookup Lookup) (Manager, []Value)
	// Writer is how the controller writes the release.
	Writer() Writer
	// ChartValues are files that replace the values of the chart itself.
	ChartValues() ChartValues
	// Version is the version that the templates of a chart see, "" for its own. from is where
	// it was fetched, nil where nothing was.
	Version(of *chart.Metadata, from *plan.ChartSource) (string, error)
	// Sum stands for all that the release depends on besides chart and values.
	Sum() string
	// Rewrite changes what the chart renders.
	Rewrite(manifest string) (string, error)
	// Next is what the controller does where base, nil for nothing, is what it has
	// deployed, of the chart was. rewritten says that the charts' files differ.
	Next(base Manager, is, was *chart.Metadata, rewritten bool) Verdict
	// Live is Next by what is in the cluster: the object with its status, nil when there
	// is none, and the records. Errors are those of the lookup, and of an object that
	// can't be read.
	Live(found Live, is *chart.Metadata, rewritten bool) (Verdict, error)
	// Overlook is what of a step that corrects drift the controller leaves alone.
	Overlook(s *plan.Step) plan.Overlooked
	// Removed is what it does when the object is gone, and by is what the set has by then
	// that applied it.
	Removed(by map[string]Applier) Verdict
}

// Applier is what applies the objects of managers, such as a Kustomization of Flux's: what
// becomes of an object that leaves its files.
type Applier struct {
	// Suspended appliers do nothing; those that prune delete what has left.
	Suspended, Prunes bool
	// Broken is why nobody knows what it applies, "" where that is known.
	Broken string
}

// ChartValues are files of values that are merged in order.
type ChartValues struct {
	Files []string
	// InChart says that they are files of the chart, not of the tree.
	InChart bool
	// IgnoreMissing passes over those that are not there.
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
	// Kubeconfig is that of the cluster that the release is in; nil is the one of the
	// controller's object.
	Kubeconfig []byte
	// Elsewhere says why nobody knows that cluster, "" where it is known.
	Elsewhere string
}

// Lookup gives an object of a cluster, nil when it is not there.
type Lookup func(apiVersion, kind, namespace, name string) (map[string]any, error)

// Live is what a cluster has of a release.
type Live struct {
	Lookup  Lookup
	Records []*release.Revision
	// Unreadable is why the records can't be read.
	Unreadable error
	// Drift is the plan that takes back what differs from the newest record; nil when
	// nobody has looked.
	Drift *plan.Document
	// Commit is that of the tree which is taken to be deployed, "" where nobody knows.
	Commit string
}

// Verdict is what a controller does about an entry.
type Verdict struct {
	// Action is "upgrade", "nothing", "wait" and their like; Then are those that follow.
	Action string   `json:"action"`
	Then   []string `json:"then,omitempty"`
	// Notes are sentences about it, the main one first.
	Notes []string `json:"notes,omitempty"`
	// Plans says that the objects of the release may change, so that there is
	// something to plan.
	Plans bool `json:"-"`
	// Compares says that it depends on Live.Drift, which has not been looked at.
	Compares bool `json:"-"`
	// OldChart says that the chart stays the one that was deployed, whatever its files
	// are now.
	OldChart bool `json:"-"`
	// Version is the one that the chart's templates see, "" for its own.
	Version string `json:"-"`
	// Leaves is the release that the action uninstalls before it makes another one, with
	// its records in the namespace LeavesIn, by the options LeavesBy; nil where it makes none.
	Leaves   *release.Key `json:"-"`
	LeavesIn string       `json:"-"`
	LeavesBy Options      `json:"-"`
	// Options are those of the action, nil where they are the entry's.
	Options *Options `json:"-"`
}

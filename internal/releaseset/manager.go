package releaseset

import (
	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/release"
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
	// ChartValues are files of the tree that replace the values of the chart itself.
	ChartValues() (files []string, ignoreMissing bool)
	// Sum stands for all that the release depends on besides chart and values.
	Sum() string
	// Rewrite changes what the chart renders.
	Rewrite(manifest string) (string, error)
	// Next is what the controller does where base, nil for nothing, is what it has
	// deployed, of the chart was. rewritten says that the charts' files differ.
	Next(base Manager, is, was *chart.Metadata, rewritten bool) Verdict
	// Storage is where the controller keeps the release's records.
	Storage() release.Key
	// Live is Next by what is in the cluster: the object with its status, nil when there
	// is none, and the records. lookup gives other objects of the cluster, nil for those
	// that are not there. Errors are those of lookup, and of an object that can't be read.
	Live(lookup Lookup, records []*release.Revision, is *chart.Metadata, rewritten bool) (Verdict, error)
	// Removed is what it does when the object is gone.
	Removed() Verdict
}

// Lookup gives an object of a cluster, nil when it is not there.
type Lookup func(apiVersion, kind, namespace, name string) (map[string]any, error)

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
	// OldChart says that the chart stays the one that was deployed, whatever its files
	// are now.
	OldChart bool `json:"-"`
}

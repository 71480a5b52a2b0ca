// Package reconcile makes passes over HelmReleases, as helm-controller does: gather
// (chart, values, records, live objects), decide (internal/flux/decision), act
// (internal/engine), and say what to write into the status and which events to send. A
// pass that finds everything in sync writes nothing.
//
// It decides nothing itself, watches nothing, and neither writes HelmReleases nor
// fetches charts: a controller does, and calls it.
package reconcile

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-release/kubectl-release/internal/chart"
	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// Reconciler makes passes. It is safe for concurrent use, on one HelmRelease at a time.
type Reconciler struct {
	// Local reads objects of the cluster that the HelmReleases are in: ConfigMaps and
	// Secrets with values and kubeconfigs, dependencies, ServiceAccounts.
	Local Reader
	// Connect returns the cluster that a release goes to; see NewConnector.
	Connect Connector
	Now     func() time.Time
	// Holder is who holds the lock of a release during a pass, as it is shown to users. Each pass has an
	// identity of its own, since two HelmReleases may name the same release.
	Holder      string
	ToolVersion string

	// NoCrossNamespaceRefs forbids charts whose source is in another namespace.
	NoCrossNamespaceRefs bool
	// NoExternalArtifacts forbids charts from ExternalArtifacts.
	NoExternalArtifacts bool
	// DefaultServiceAccount is impersonated where a HelmRelease names none; "" means nobody.
	DefaultServiceAccount string
	// Compatible removes the differences from helm-controller that docs/controller.md lists as
	// such: in conditions, history, records and objects.
	Compatible bool
	// Gate checks plans of installs and upgrades before they are applied or end a wait; nil lets all
	// of them pass.
	Gate Gate
	// MayHold reports whether Gate may hold plans of the HelmRelease; nil means that it may.
	MayHold func(hr *flux.HelmRelease) bool
	// Rendered, if set, is called with the size of a plan's manifest in bytes once the plan is
	// made.
	Rendered func(hr *flux.HelmRelease, bytes int)
	// DependencyInterval is how long to wait for dependencies and sources; 0 means 30 s.
	DependencyInterval time.Duration
}

// Reader reads objects. A *cluster.Client is one, and so is anything that answers from
// a cache. Errors are those of apimachinery's api/errors; for an object that does not
// exist, IsNotFound holds.
type Reader interface {
	Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error)
}

// Sources is what the controller has at hand: the chart, and what has not changed.
type Sources struct {
	// Source is the object that hr.ChartSource() names, with its status; nil when it
	// can't be read, for the reason Err. The controller creates the source that a chart
	// template asks for.
	Source *flux.Source
	Err    error
	// Chart loads the artifact of Source, checked against its digest. It is called when
	// the chart is to be rendered and in each pass for an OCIRepository, an ExternalArtifact or
	// a HelmChart whose status has another name or version than its Chart.yaml: cache charts by
	// their digests. ErrArtifactGone says that the artifact does not
	// exist (yet). The chart is not changed.
	Chart func(ctx context.Context) (*chart.Chart, error)
	// Room, if set, waits until there is memory for comparing a manifest of so many bytes with live
	// objects; Chart does so for its chart. The only error is that of ctx.
	Room func(ctx context.Context, manifest int) error
	// Hook, if set, is called when the pass starts a hook, Waiting, if set, when it has sent everything
	// and only waits for that to become ready, and Waited, if set, once it does anything else. Each may
	// be called more than once: a rollback follows the upgrade that has failed.
	Hook, Waiting, Waited func()
	// RecordsUnchanged says that no record of the release has been written since a pass
	// that ended in sync, with the status that the HelmRelease has: they are then not read
	// unless there is something to do, or drift to look for. Without drift detection such a pass
	// sends no requests but those of Local.
	RecordsUnchanged bool
}

// Outcome is the result of a pass.
type Outcome struct {
	// Status is the new status, complete. Changed says whether it differs from the
	// HelmRelease's: only then is it to be written.
	Status  flux.HelmReleaseStatus
	Changed bool
	// Events are to be sent in this order. Those that Report was given are not among them.
	Events []Event
	// After is when to make the next pass. With Again it is soon, after a pause that grows as
	// after errors; with neither of them nor an error, when something changes. The controller
	// adds jitter to After, unless it is Fixed.
	After time.Duration
	Fixed bool
	Again bool
	// Released says that the finalizer of a HelmRelease that is being deleted may be removed.
	Released bool
}

// Report is called by a pass while it acts: the status is to be written before the pass
// goes on, and the events are to be sent. An error ends the pass. A pass that has
// nothing to do does not call it.
type Report func(ctx context.Context, status flux.HelmReleaseStatus, events []Event) error

// Event is an event about a HelmRelease. It contains no secrets.
type Event struct {
	// Warning says that its type is Warning; otherwise it is Normal.
	Warning bool
	// Trace says that it is only a Kubernetes event, of which notification-controller is not told, as
	// with helm-controller's events about the sources that it makes.
	Trace bool
	// Reason is helm-controller's, such as "UpgradeSucceeded".
	Reason  string
	Message string
	// Metadata are the annotations of helm-controller's events:
	// helm.toolkit.fluxcd.io/revision, token, app-version, oci-digest.
	Metadata map[string]string
}

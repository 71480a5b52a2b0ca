// Package reconcile makes passes over HelmReleases, as helm-controller does: gather
// (chart, values, records, live objects), decide (internal/flux/decision), act
// (internal/engine), and say what is to be written into the status and which events are
// to be told. A pass that finds all in sync writes nothing.
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
	"github.com/kubectl-release/kubectl-release/releasestore"
)

// Reconciler makes passes. It is safe for concurrent use, on one HelmRelease at a time.
type Reconciler struct {
	// Local are the objects of the cluster that HelmReleases are in: ConfigMaps and
	// Secrets of values and kubeconfigs, dependencies, ServiceAccounts.
	Local Reader
	// Connect gives the cluster that a release goes to; see NewConnector.
	Connect Connector
	Now     func() time.Time
	// Identity tells holders of locks apart.
	Identity    releasestore.Identity
	ToolVersion string

	// NoCrossNamespaceRefs forbids charts whose source is in another namespace.
	NoCrossNamespaceRefs bool
	// DefaultServiceAccount is impersonated where a HelmRelease names none; "" is nobody.
	DefaultServiceAccount string
	// Compatible takes away the differences from helm-controller that docs/controller.md lists as
	// such: in conditions, history, records and objects.
	Compatible bool
	// Review judges plans of installs and upgrades before they are applied; nil lets all
	// pass.
	Review Reviewer
	// Reviews reports whether Review may hold plans of the HelmRelease; nil is that it may.
	Reviews func(hr *flux.HelmRelease) bool
	// Rendered hears, where it is set, how many bytes the manifest of a plan has, once the plan
	// is made.
	Rendered func(hr *flux.HelmRelease, bytes int)
	// DependencyInterval is how long to wait for dependencies and sources; 0 is 30 s.
	DependencyInterval time.Duration
}

// Reader reads objects. A *cluster.Client is one, and so is what answers from a cache.
// Errors are those of apimachinery's api/errors; an object that is not there is one for
// which IsNotFound holds.
type Reader interface {
	Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (*unstructured.Unstructured, error)
}

// Sources is what the controller has at hand of the chart, and of what has not changed.
type Sources struct {
	// Source is the object that hr.ChartSource() names, with its status; nil when it
	// can't be read, for the reason Err. What a chart template asks for is made by the
	// controller.
	Source *flux.Source
	Err    error
	// Chart loads the artifact of Source, checked against its digest. It is called when
	// the chart is to be rendered, and for an OCIRepository or ExternalArtifact at each
	// pass: keep charts by their digests. ErrArtifactGone says that it is not there (yet).
	// The chart is not changed.
	Chart func(ctx context.Context) (*chart.Chart, error)
	// Hook is called, where it is set, when the pass begins with a hook, and Waiting once it
	// has sent what it has to send and waits until that is ready. Hook may be called more
	// than once.
	Hook, Waiting func()
	// RecordsUnchanged says that no record of the release has been written since a pass
	// that ended in sync, with the status that the HelmRelease has: they are not read then
	// unless there is something to do. Without drift detection such a pass sends no request
	// but those of Local.
	RecordsUnchanged bool
}

// Outcome is what a pass has come to.
type Outcome struct {
	// Status is the new one, whole. Changed says whether it differs from the HelmRelease's:
	// only then is it to be written.
	Status  flux.HelmReleaseStatus
	Changed bool
	// Events are to be told in this order. Those that Report was given are not among them.
	Events []Event
	// After is when to make the next pass. With Again it is soon, after a pause that grows as
	// behind errors; with neither nor an error, when something changes. Jitter is the
	// controller's.
	After time.Duration
	Again bool
	// Released says of a HelmRelease that is being deleted that its finalizer may go.
	Released bool
}

// Report hears of a pass while it acts: the status is to be written before it goes on,
// the events are to be told. An error ends the pass. It is not called by a pass that has
// nothing to do.
type Report func(ctx context.Context, status flux.HelmReleaseStatus, events []Event) error

// Event is what is told of a HelmRelease. It holds no secrets.
type Event struct {
	// Warning says that it is one; else it is normal.
	Warning bool
	// Reason is helm-controller's word, such as "UpgradeSucceeded".
	Reason  string
	Message string
	// Metadata are the annotations of helm-controller's events:
	// helm.toolkit.fluxcd.io/revision, token, app-version, oci-digest.
	Metadata map[string]string
}

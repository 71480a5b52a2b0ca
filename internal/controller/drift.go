package controller

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// driftWatch watches the metadata of the objects that HelmReleases with drift detection have
// created, by the kinds in their inventories. A pass need not look for drift if the objects are as
// the last pass left them, and a change by somebody else causes a pass soon. Changes of status are
// ignored.
type driftWatch struct {
	sums
	cache cache.Cache
	live  client.Reader
	// changed receives HelmReleases whose objects have changed.
	changed chan event.GenericEvent
	// wanted reports whether a change of its objects is a reason for a pass over a HelmRelease.
	wanted func(key client.ObjectKey, last time.Time) bool

	metrics *metrics
	log     logr.Logger
	// begin queues the kinds whose watch is to start.
	begin workqueue.TypedRateLimitingInterface[schema.GroupVersionKind]
	// kinds are the kinds that have been asked for.
	kindsMu sync.Mutex
	kinds   map[schema.GroupVersionKind]*kindWatch

	// last is when drift was last dealt with; asked are the HelmReleases for which a pass has been
	// requested but has not begun.
	lastMu sync.Mutex
	last   map[client.ObjectKey]time.Time
	asked  map[client.ObjectKey]bool
}

// maxChanged is how many HelmReleases may wait in driftWatch.changed.
const maxChanged = 1000

func newDriftWatch(m manager.Manager, config *rest.Config, o Options, metrics *metrics, wanted func(client.ObjectKey, time.Time) bool) (*driftWatch, error) {
	d := &driftWatch{
		sums: sums{digests: map[client.ObjectKey]fingerprint{}}, live: m.GetAPIReader(), wanted: wanted, metrics: metrics, log: m.GetLogger(),
		changed: make(chan event.GenericEvent, maxChanged), kinds: map[schema.GroupVersionKind]*kindWatch{}, last: map[client.ObjectKey]time.Time{}, asked: map[client.ObjectKey]bool{},
		begin: workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[schema.GroupVersionKind](o.MinRetryDelay, o.MaxRetryDelay)),
	}
	if err := d.open(config, cache.Options{HTTPClient: m.GetHTTPClient(), Scheme: m.GetScheme(), Mapper: m.GetRESTMapper()}); err != nil {
		return nil, err
	}
	return d, errors.Join(m.Add(d.cache), m.Add(d))
}

// open creates the cache of objects that HelmReleases have created.
func (d *driftWatch) open(config *rest.Config, o cache.Options) error {
	origin, err := labels.NewRequirement(flux.OriginName, selection.Exists, nil)
	if err != nil {
		return err
	}
	o.DefaultLabelSelector, o.DefaultTransform, o.NewInformer = labels.NewSelector().Add(*origin), state, d.informer
	d.cache, err = cache.New(config, o)
	return err
}

// stateAnnotation holds a hash of all that matters about an object in the cache.
const stateAnnotation = "state"

// conditionsOfV1 and metricsOfV1 are annotations in which autoscaling/v1 has the status of a
// HorizontalPodAutoscaler (k8s.io/kubernetes/pkg/apis/autoscaling/annotations.go).
const (
	conditionsOfV1 = "autoscaling.alpha.kubernetes.io/conditions"
	metricsOfV1    = "autoscaling.alpha.kubernetes.io/current-metrics"
)

// state reduces an object to what tells which HelmRelease it belongs to and whether it has changed.
func state(in any) (any, error) {
	o, ok := in.(*metav1.PartialObjectMetadata)
	if !ok {
		return in, nil
	}
	delete(o.Annotations, conditionsOfV1)
	delete(o.Annotations, metricsOfV1)
	if len(o.Annotations) == 0 { // an empty table has another hash than none
		o.Annotations = nil
	}
	text, err := json.Marshal([]any{o.UID, version(o), o.Labels, o.Annotations, o.DeletionTimestamp})
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	o.ObjectMeta = metav1.ObjectMeta{
		Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion,
		Labels:      map[string]string{flux.OriginName: o.Labels[flux.OriginName], flux.OriginNamespace: o.Labels[flux.OriginNamespace]},
		Annotations: map[string]string{stateAnnotation: string(sum[:])},
	}
	return o, nil
}

// version returns what changes with each write of an object except those of its status: its generation.
// Kinds such as HorizontalPodAutoscaler, Service and ResourceQuota have none. Once the status of such an
// object has been written, what its managedFields say about other writes stands in: each of these sets the
// time of an entry, to the second, or takes fields from some (managedFieldsUpdater in
// k8s.io/apimachinery/pkg/util/managedfields/internal). Until then it is the resource version.
func version(o *metav1.PartialObjectMetadata) any {
	if o.Generation > 0 {
		return o.Generation
	}
	others := slices.DeleteFunc(slices.Clone(o.ManagedFields), func(e metav1.ManagedFieldsEntry) bool { return e.Subresource == "status" })
	if len(others) == 0 || len(others) == len(o.ManagedFields) {
		return o.ResourceVersion
	}
	return others
}

// watchesAllOf reports whether all kinds of the HelmRelease's objects are watched. It queues those that are
// not, to be watched as soon as possible.
func (d *driftWatch) watchesAllOf(hr *flux.HelmRelease) bool {
	kinds, ok := inventoryKinds(hr)
	for _, k := range kinds {
		ok = d.watched(k) && ok
	}
	return ok
}

// inventoryKinds returns the kinds of the HelmRelease's objects; ok is false if its inventory does
// not tell all of them.
func inventoryKinds(hr *flux.HelmRelease) (kinds []schema.GroupVersionKind, ok bool) {
	if hr.Status.Inventory == nil {
		return nil, false
	}
	seen := map[schema.GroupVersionKind]bool{}
	for _, entry := range hr.Status.Inventory.Entries {
		parts := strings.Split(entry.ID, "_") // neither groups nor kinds contain an underscore
		if len(parts) < 4 {
			return kinds, false
		}
		k := schema.GroupVersionKind{Group: parts[len(parts)-2], Version: entry.Version, Kind: parts[len(parts)-1]}
		if !seen[k] {
			seen[k] = true
			kinds = append(kinds, k)
		}
	}
	return kinds, true
}

// recordChange records a change of an object of the kind: added or deleted, or the same object before and
// after. If tell is set and its state has changed, it requests a pass. Objects whose kind is watched in two
// API versions are seen twice, by each watch as an element of its own: the same one twice would count as none.
func (d *driftWatch) recordChange(k schema.GroupVersionKind, tell bool, objects ...any) {
	var key client.ObjectKey
	states := map[string]bool{}
	for _, o := range objects {
		m, ok := o.(*metav1.PartialObjectMetadata)
		if !ok {
			return
		}
		key = client.ObjectKey{Namespace: m.Labels[flux.OriginNamespace], Name: m.Labels[flux.OriginName]}
		is := m.Annotations[stateAnnotation]
		d.toggle(key, k.String()+" "+is)
		states[is] = true
	}
	if tell && len(states) == len(objects) {
		d.ask(key)
	}
}

// ask requests a pass over a HelmRelease whose objects have changed, or may have.
func (d *driftWatch) ask(key client.ObjectKey) {
	d.lastMu.Lock()
	last := d.last[key]
	d.lastMu.Unlock()
	if !d.wanted(key, last) {
		return
	}
	d.lastMu.Lock()
	d.asked[key] = true
	d.lastMu.Unlock()
	o := &metav1.PartialObjectMetadata{}
	o.Namespace, o.Name = key.Namespace, key.Name
	select {
	case d.changed <- event.GenericEvent{Object: o}:
	default: // too many at a time: a pass that is under way repeats, see passRequested, or the next regular one sees it
	}
}

// passBegan records that a pass over the HelmRelease begins, which will see all changes so far.
func (d *driftWatch) passBegan(key client.ObjectKey) {
	d.lastMu.Lock()
	defer d.lastMu.Unlock()
	delete(d.asked, key)
}

// passRequested reports whether a pass has been requested since the last one began.
func (d *driftWatch) passRequested(key client.ObjectKey) bool {
	d.lastMu.Lock()
	defer d.lastMu.Unlock()
	return d.asked[key]
}

// driftHandled records that drift was reported or corrected. Until the interval is over, drift causes no
// further pass, because somebody else may cause it again each time.
func (d *driftWatch) driftHandled(key client.ObjectKey, at time.Time) {
	d.lastMu.Lock()
	defer d.lastMu.Unlock()
	d.last[key] = at
}

func (d *driftWatch) forget(key client.ObjectKey) {
	d.lastMu.Lock()
	delete(d.last, key)
	delete(d.asked, key)
	d.lastMu.Unlock()
	d.kindsMu.Lock()
	defer d.kindsMu.Unlock()
	for _, w := range d.kinds {
		delete(w.awaited, key)
	}
}

// watched reports whether a change of its objects is a reason for a pass over the HelmRelease.
func (r *reconciler) watched(key client.ObjectKey, last time.Time) bool {
	o := &helmRelease{}
	if r.client.Get(context.Background(), key, o) != nil { // from the cache
		return false
	}
	hr, err := decoded(o)
	return err == nil && hr.DriftMode() != "" && !hr.Spec.Suspend && r.now().Sub(last) >= hr.Spec.Interval.Duration
}

// driftPause is how long a pass is delayed, so changes that come together cause only one.
const driftPause = 2 * time.Second

// afterAWhile enqueues a HelmRelease whose objects have changed, after driftPause.
var afterAWhile = handler.Funcs{
	GenericFunc: func(_ context.Context, e event.GenericEvent, q workqueue.TypedRateLimitingInterface[ctrl.Request]) {
		q.AddAfter(ctrl.Request{NamespacedName: client.ObjectKeyFromObject(e.Object)}, driftPause)
	},
}

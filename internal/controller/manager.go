package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrl "sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubectl-release/kubectl-release/internal/flux"
	"github.com/kubectl-release/kubectl-release/internal/kinds"
)

// Run watches and reconciles HelmReleases until ctx ends and the passes in progress
// have ended. It returns a *HeldError if helm-controller is running, and an error if
// the cluster can't be reached, has no HelmRelease CRD, or the lease is lost.
func Run(ctx context.Context, config *rest.Config, o Options, log logr.Logger) error {
	config = rest.CopyConfig(config)
	config.QPS, config.Burst, config.UserAgent = o.QPS, o.Burst, "kubectl-release-controller"
	config.WarningHandler = rest.NoWarnings{} // there is one for each finalizer, whose name is Flux's
	m, err := newManager(ctx, config, o, log)
	if err != nil {
		return err
	}
	r, err := newReconciler(m, config, o)
	if err != nil {
		return err
	}
	if err := index(ctx, m.GetFieldIndexer()); err != nil {
		return err
	}
	if err := r.watch(m); err != nil {
		return err
	}
	synced := func(request *http.Request) error {
		if !m.GetCache().WaitForCacheSync(request.Context()) {
			return fmt.Errorf("the caches are not synced yet")
		}
		return nil
	}
	if err := m.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return err
	}
	if err := m.AddReadyzCheck("readyz", synced); err != nil {
		return err
	}
	end := r.events.start(ctx)
	err = m.Start(ctx)
	if held := (*HeldError)(nil); ctx.Err() == nil && !errors.As(err, &held) {
		return err // without its lease, a process ends immediately
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
	defer cancel()
	end(ctx)
	return err
}

func newManager(ctx context.Context, config *rest.Config, o Options, log logr.Logger) (manager.Manager, error) {
	scheme := runtime.NewScheme()
	if err := clientscheme.AddToScheme(scheme); err != nil {
		return nil, err
	}
	addTypes(scheme)
	watched := cache.ByObject{}
	if o.WatchSelector != "" {
		selector, err := labels.Parse(o.WatchSelector)
		if err != nil {
			return nil, fmt.Errorf("--watch-label-selector: %w", err)
		}
		watched.Label = selector
	}
	options := manager.Options{
		Scheme: scheme, Logger: log,
		Cache: cache.Options{
			DefaultTransform: slim,
			ByObject:         map[client.Object]cache.ByObject{&helmRelease{}: watched},
		},
		Metrics: metricsserver.Options{BindAddress: o.MetricsAddress}, HealthProbeBindAddress: o.HealthAddress,
		PprofBindAddress: o.PprofAddress, GracefulShutdownTimeout: &o.GracefulShutdown,
		LeaderElection: o.Leader.Enable, LeaderElectionReleaseOnCancel: o.Leader.ReleaseOnCancel,
		LeaseDuration: &o.Leader.LeaseDuration, RenewDeadline: &o.Leader.RenewDeadline, RetryPeriod: &o.Leader.RetryPeriod,
	}
	if !o.WatchAllNamespaces {
		options.Cache.DefaultNamespaces = map[string]cache.Config{o.Namespace: {}}
	}
	if !o.Leader.Enable {
		return manager.New(config, options)
	}
	lease, seen, err := lock(ctx, config, o, log, time.Now)
	if err != nil {
		return nil, err
	}
	options.LeaderElectionResourceLockInterface = lease
	options.LeaderElectionID = leaseName(o.WatchSelector) // names it in metrics
	m, err := manager.New(config, options)
	if err != nil {
		return nil, err
	}
	return m, m.Add(seen)
}

func newReconciler(m manager.Manager, config *rest.Config, o Options) (*reconciler, error) {
	counted, err := newMetrics(ctrlmetrics.Registry)
	if err != nil {
		return nil, err
	}
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	core, err := corev1client.NewForConfigAndClient(config, m.GetHTTPClient())
	if err != nil {
		return nil, err
	}
	told := &events{
		// Flux uses the events of the core group, with annotations.
		records: &eventWriter{events: core, correlator: record.NewEventCorrelatorWithOptions(record.CorrelatorOptions{}), queue: make(chan *corev1.Event, maxWaiting), log: m.GetLogger()},
		address: o.EventsAddress, host: host, now: time.Now,
		client: &http.Client{Timeout: 15 * time.Second}, log: m.GetLogger(), queue: make(chan notification, maxWaiting),
	}
	memory := newBudget(o.Memory, counted.rendering)
	r := &reconciler{
		client: m.GetClient(), live: m.GetAPIReader(), charts: newCharts(newDownloads(o.HTTPRetry, memory.takeToLoad)),
		records: &recordDigests{sums{digests: map[client.ObjectKey]fingerprint{}}}, synced: &syncDigests{digests: map[client.ObjectKey]stateDigest{}},
		tries:  workqueue.NewTypedItemExponentialFailureRateLimiter[client.ObjectKey](o.MinRetryDelay, o.MaxRetryDelay),
		wrote:  &writes{versions: map[client.ObjectKey]string{}},
		events: told, metrics: counted, memory: memory, options: o, now: time.Now,
	}
	if r.passes, err = newPasser(r, config, o); err != nil {
		return nil, err
	}
	r.detached = newDetached(r)
	if err := m.Add(r.detached); err != nil {
		return nil, err
	}
	if r.drift, err = newDriftWatch(m, config, o, counted, r.watched); err != nil {
		return nil, err
	}
	if o.AutomaticShards {
		if err := r.share(m, config, o); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// watch sets up what is watched, and which HelmReleases a change enqueues.
func (r *reconciler) watch(m manager.Manager) error {
	selector, err := labels.Parse(r.options.ConfigsSelector)
	if err != nil {
		return fmt.Errorf("--watch-configs-label-selector: %w", err)
	}
	b := builder.ControllerManagedBy(m).Named("helmrelease").
		WithOptions(controller.TypedOptions[ctrl.Request]{
			MaxConcurrentReconciles: r.options.Concurrent, NeedLeaderElection: new(r.detached.NeedLeaderElection()),
			RateLimiter: errorPauses{workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](
				r.options.MinRetryDelay, r.options.MaxRetryDelay), r.detached},
		}).
		For(&helmRelease{}, builder.WithPredicates(asked)).
		Watches(&helmRelease{}, r.whoever(byDependency, flux.KindHelmRelease), builder.WithPredicates(released))
	b = b.WatchesRawSource(source.Channel(r.drift.changed, afterAWhile))
	if r.shards != nil {
		b = b.WatchesRawSource(source.Channel(r.gained, &handler.EnqueueRequestForObject{}))
	}
	for _, kind := range []string{kinds.Secret.Kind, kinds.ConfigMap.Kind} {
		b = b.Watches(metadataOf(kind), r.whoever(byValues, kind), builder.WithPredicates(labelled(selector)))
	}
	c, err := b.Watches(metadataOf(kinds.Secret.Kind), r.records.recordEvents()).
		WatchesRawSource(source.Channel(r.detached.ended, &handler.EnqueueRequestForObject{})).Build(r.detached)
	if err != nil {
		return err
	}
	return r.watchSources(m, c)
}

// watchSources sets up the watches of the kinds of sources, now or once the cluster has them.
func (r *reconciler) watchSources(m manager.Manager, c controller.Controller) error {
	type watched struct {
		object  client.Object
		changed predicate.Predicate
	}
	of := map[string]watched{
		flux.KindHelmChart:     {&object[helmChartKind]{}, artifact[helmChartKind]()},
		flux.KindOCIRepository: {&object[ociRepositoryKind]{}, artifact[ociRepositoryKind]()},
	}
	if r.options.ExternalArtifacts {
		of[flux.KindExternalArtifact] = watched{&object[externalArtifactKind]{}, artifact[externalArtifactKind]()}
	}
	late := &lateKinds{mapper: m.GetRESTMapper(), pause: latePause, log: m.GetLogger(), watch: func(kind string) error {
		return c.Watch(source.Kind(m.GetCache(), of[kind].object, r.whoever(bySource, kind), of[kind].changed))
	}}
	for kind := range of {
		if err := late.add(kind); err != nil {
			return err
		}
	}
	return m.Add(late)
}

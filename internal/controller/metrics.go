package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// metrics are those that controller-runtime lacks: the GitOps Toolkit's (gotk), under
// the same names, and our own.
type metrics struct {
	duration  *prometheus.HistogramVec
	unread    prometheus.Counter
	taken     prometheus.Gauge
	unwatched *prometheus.GaugeVec
}

// newMetrics registers the metrics beside controller-runtime's.
func newMetrics(registry prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		// Names and buckets as in fluxcd/pkg runtime/metrics.
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "gotk_reconcile_duration_seconds", Help: "The duration in seconds of a GitOps Toolkit resource reconciliation.",
			Buckets: prometheus.ExponentialBucketsRange(10e-3, 1800, 10),
		}, []string{"kind", "name", "namespace"}),
		unread: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kubectl_release_unchanged_passes_total", Help: "Passes that ended without a request, because nothing had changed.",
		}),
		taken: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kubectl_release_rendering_bytes", Help: "Estimated memory, out of --memory-budget, that passes use at present.",
		}),
		unwatched: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubectl_release_unwatched_kinds", Help: "1 for each kind whose drift is checked only at the interval, because it can't be watched.",
		}, []string{"group", "kind"}),
	}
	for _, c := range []prometheus.Collector{m.duration, m.unread, m.taken, m.unwatched} {
		if err := registry.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *metrics) passed(key client.ObjectKey, took time.Duration) {
	m.duration.WithLabelValues(flux.KindHelmRelease, key.Name, key.Namespace).Observe(took.Seconds())
}

func (m *metrics) skipped() { m.unread.Inc() }

func (m *metrics) rendering(bytes int64) { m.taken.Add(float64(bytes)) }

// watches records whether objects of a kind are watched for drift.
func (m *metrics) watches(k schema.GroupKind, yes bool) {
	if yes {
		m.unwatched.DeleteLabelValues(k.Group, k.Kind)
		return
	}
	m.unwatched.WithLabelValues(k.Group, k.Kind).Set(1)
}

func (m *metrics) forget(key client.ObjectKey) {
	m.duration.DeleteLabelValues(flux.KindHelmRelease, key.Name, key.Namespace)
}

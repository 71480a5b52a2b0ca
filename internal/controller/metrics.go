package controller

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-release/kubectl-release/internal/flux"
)

// metrics are those that controller-runtime does not have: gotk's by gotk's names, and
// our own.
type metrics struct {
	duration *prometheus.HistogramVec
	unread   prometheus.Counter
	taken    prometheus.Gauge
}

// newMetrics registers them beside controller-runtime's.
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
			Name: "kubectl_release_rendering_bytes", Help: "Memory that passes which render are taken to use at present, of --memory-budget.",
		}),
	}
	for _, c := range []prometheus.Collector{m.duration, m.unread, m.taken} {
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

func (m *metrics) forget(key client.ObjectKey) {
	m.duration.DeleteLabelValues(flux.KindHelmRelease, key.Name, key.Namespace)
}

package refunds

import (
	"context"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/persistence/readmodel"
)

// metrics are the Prometheus metrics of refunds. The backlog is read from the database at each scrape, so every node
// shows the backlog of all nodes; failed counts only what this node has seen.
type metrics struct {
	read                *readmodel.Model
	failed              prometheus.Counter
	open, stuck, oldest *prometheus.Desc
}

// newMetrics makes the metrics.
func newMetrics(read *readmodel.Model) *metrics {
	describe := func(name, help string) *prometheus.Desc { return prometheus.NewDesc("boxoffice_"+name, help, nil, nil) }
	return &metrics{
		read: read,
		failed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "boxoffice_refunds_failed_total", Help: "Attempts to send money back that the provider failed or declined.",
		}),
		open:   describe("refunds_open", "Refunds whose money has not arrived, of all nodes."),
		stuck:  describe("refunds_stuck", "Of those, the ones whose last attempt failed or that need a person."),
		oldest: describe("refunds_oldest_seconds", "Age of the oldest refund whose money has not arrived."),
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(ch chan<- *prometheus.Desc) {
	m.failed.Describe(ch)
	ch <- m.open
	ch <- m.stuck
	ch <- m.oldest
}

// Collect implements prometheus.Collector. While the database does not answer, the backlog is NaN,
// because 0 would look as if all money had arrived.
func (m *metrics) Collect(ch chan<- prometheus.Metric) {
	m.failed.Collect(ch)
	open, stuck, oldest := math.NaN(), math.NaN(), math.NaN()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if b, err := m.read.RefundBacklog(ctx); err == nil {
		open, stuck, oldest = float64(b.Open), float64(b.Stuck), b.Oldest
	}
	ch <- prometheus.MustNewConstMetric(m.open, prometheus.GaugeValue, open)
	ch <- prometheus.MustNewConstMetric(m.stuck, prometheus.GaugeValue, stuck)
	ch <- prometheus.MustNewConstMetric(m.oldest, prometheus.GaugeValue, oldest)
}

// Metrics returns the metrics of refunds, for the registry.
func (h *Handlers) Metrics() prometheus.Collector { return h.metrics }

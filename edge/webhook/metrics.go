package webhook

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/persistence/deliveries"
)

// metrics are a deliverer's Prometheus metrics. All but waiting are about this node alone.
type metrics struct {
	attempts  map[string]prometheus.Counter // by outcome
	exhausted prometheus.Counter
	seconds   prometheus.Histogram
	lag       prometheus.Histogram
	// waiting is how many deliveries of all nodes have still to be sent, when Deliverer.count last counted.
	waiting atomic.Int64
	all     []prometheus.Collector
}

// newMetrics makes a deliverer's metrics, and puts them all into all. It does not register them.
func newMetrics() *metrics {
	attempts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "boxoffice_webhook_attempts_total", Help: "Attempts to deliver, by outcome.",
	}, []string{"outcome"})
	m := &metrics{
		attempts:  map[string]prometheus.Counter{},
		exhausted: prometheus.NewCounter(prometheus.CounterOpts{Name: "boxoffice_webhook_exhausted_total", Help: "Deliveries that used up their attempts."}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "boxoffice_webhook_attempt_seconds", Help: "Time from an attempt's beginning to its answer.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "boxoffice_webhook_lag_seconds", Help: "Time from a fact to the success of its first attempt.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800},
		}),
	}
	for _, o := range outcomes {
		m.attempts[o] = attempts.WithLabelValues(o)
	}
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "boxoffice_webhook_pending", Help: "Deliveries that are to be sent, now or later, by any node; some seconds old.",
	}, func() float64 { return float64(m.waiting.Load()) })
	m.all = []prometheus.Collector{attempts, m.exhausted, m.seconds, m.lag, waiting}
	return m
}

// countAttempt counts an attempt with its answer and its result. It measures the lag only of a first attempt
// that succeeds, because later attempts wait on purpose. A test delivery has no fact, and so no lag.
func (m *metrics) countAttempt(a *deliveries.Attempt, what answer, r *deliveries.Result) {
	m.attempts[what.outcome].Inc()
	m.seconds.Observe(what.latency.Seconds())
	switch {
	case r.Status == deliveries.Exhausted:
		m.exhausted.Inc()
	case r.Status == deliveries.Succeeded && a.Number == 1 && a.Payload != nil:
		m.lag.Observe(max(0, r.At.Sub(a.At)).Seconds())
	}
}

// Describe and Collect make the Deliverer a prometheus.Collector.
func (d *Deliverer) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(d, ch) }

// Collect sends the deliverer's metrics.
func (d *Deliverer) Collect(ch chan<- prometheus.Metric) {
	for _, c := range d.metrics.all {
		c.Collect(ch)
	}
}

// countEvery is how often waiting deliveries are counted.
const countEvery = 15 * time.Second

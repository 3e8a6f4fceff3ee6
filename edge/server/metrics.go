package server

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/engine"
)

// metrics are the edge's metrics. Looking a counter up by its labels takes a lock and a hash, so those that every
// request needs are looked up once: refusals here, and an operation's own in observersOf when the table is
// registered.
type metrics struct {
	seconds   *prometheus.HistogramVec
	responses *prometheus.CounterVec
	// refusals has every code of engine.CodeTable and is never changed after newMetrics, so it needs no lock.
	refusals map[engine.Code]prometheus.Counter
	// panics counts handlers that panicked; each was answered with 500.
	panics      prometheus.Counter
	inFlight    prometheus.Gauge
	connections prometheus.Gauge
	turnedAway  prometheus.Counter
}

// newMetrics makes the edge's metrics and registers them.
func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "boxoffice_http_request_seconds", Help: "Time from a request's headers to its answer.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
		}, []string{"operation"}),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boxoffice_http_responses_total", Help: "Answers by operation and class of status.",
		}, []string{"operation", "class"}),
		refusals: map[engine.Code]prometheus.Counter{},
		panics: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "boxoffice_http_panics_total", Help: "Handlers that panicked.",
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boxoffice_http_in_flight", Help: "Requests being answered.",
		}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "boxoffice_http_connections", Help: "Open connections.",
		}),
		turnedAway: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "boxoffice_http_connections_refused_total", Help: "Connections beyond a limit.",
		}),
	}
	codes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "boxoffice_http_errors_total", Help: "Error answers by code.",
	}, []string{"code"})
	for code := range engine.CodeTable {
		m.refusals[code] = codes.WithLabelValues(string(code))
	}
	reg.MustRegister(m.seconds, m.responses, codes, m.panics, m.inFlight, m.connections, m.turnedAway)
	return m
}

// countRefusal counts an error answer.
func (m *metrics) countRefusal(code engine.Code) { m.refusals[code].Inc() }

// observers are one operation's metrics. Requests that match no operation share those named "none".
type observers struct {
	seconds prometheus.Observer
	classes [6]prometheus.Counter // by the first digit of the status
}

// observersOf looks up the metrics of the operation with an id. Classes 0 and 1 stay nil: no answer of ours has
// such a status.
func (m *metrics) observersOf(id string) *observers {
	o := &observers{seconds: m.seconds.WithLabelValues(id)}
	for class := range o.classes {
		if class >= 2 {
			o.classes[class] = m.responses.WithLabelValues(id, strconv.Itoa(class)+"xx")
		}
	}
	return o
}

// observeAnswer counts an answer with a status, which took some seconds since the request's headers.
func (o *observers) observeAnswer(status int, seconds float64) {
	o.seconds.Observe(seconds)
	if class := status / 100; class >= 2 && class < len(o.classes) {
		o.classes[class].Inc()
	}
}

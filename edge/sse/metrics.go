package sse

import "github.com/prometheus/client_golang/prometheus"

// metrics are the hub's Prometheus metrics.
type metrics struct {
	viewers, topics                         prometheus.Gauge
	frames, bytes, resyncs, cutOff, refused prometheus.Counter
}

// newMetrics makes the hub's metrics and registers them.
func newMetrics(reg prometheus.Registerer) *metrics {
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		reg.MustRegister(g)
		return g
	}
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		reg.MustRegister(c)
		return c
	}
	return &metrics{
		viewers: gauge("boxoffice_sse_viewers", "Open live streams."),
		topics:  gauge("boxoffice_sse_topics", "Topics with viewers."),
		frames:  counter("boxoffice_sse_frames_total", "Frames made, each for all viewers of a topic."),
		bytes:   counter("boxoffice_sse_bytes_total", "Bytes written to viewers."),
		resyncs: counter("boxoffice_sse_resyncs_total", "Viewers that fell behind and were sent a snapshot."),
		cutOff:  counter("boxoffice_sse_cut_off_total", "Viewers cut off because they took nothing."),
		refused: counter("boxoffice_sse_refused_total", "Streams refused."),
	}
}

package node

import (
	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/persistence/follower"
	"boxoffice/persistence/panics"
)

// digesters are the parts of the node's followers that apply facts and set aside those that cannot
// be applied.
type digesters struct {
	readModel, publicFacts, mail, attendees *follower.Digester
	relay                                   *follower.Digester // nil without Kafka
}

// all returns the digesters that this node has.
func (d *digesters) all() []*follower.Digester {
	list := []*follower.Digester{d.readModel, d.publicFacts, d.mail, d.attendees}
	if d.relay != nil {
		list = append(list, d.relay)
	}
	return list
}

var (
	asidesDesc = prometheus.NewDesc("boxoffice_follower_set_aside_total",
		"Facts that a follower on this node could not digest and set aside.", []string{"follower"}, nil)
	waitingDesc = prometheus.NewDesc("boxoffice_follower_set_aside",
		"Facts that are set aside, 10,000 at most; 0 on nodes where the follower does not run.", []string{"follower"}, nil)
	panicsDesc = prometheus.NewDesc("boxoffice_job_panics_total",
		"Background jobs that panicked and went on.", []string{"job"}, nil)
)

// Describe implements prometheus.Collector.
func (d *digesters) Describe(out chan<- *prometheus.Desc) { out <- asidesDesc; out <- waitingDesc }

// Collect implements prometheus.Collector. It reads the counts of all digesters.
func (d *digesters) Collect(out chan<- prometheus.Metric) {
	for _, one := range d.all() {
		out <- prometheus.MustNewConstMetric(asidesDesc, prometheus.CounterValue, float64(one.Asides()), one.Name())
		out <- prometheus.MustNewConstMetric(waitingDesc, prometheus.GaugeValue, float64(one.Waiting()), one.Name())
	}
}

// jobPanics exports how often background jobs have panicked.
type jobPanics struct{}

// Describe implements prometheus.Collector.
func (jobPanics) Describe(out chan<- *prometheus.Desc) { out <- panicsDesc }

// Collect implements prometheus.Collector. A job that never panicked has no row. If no job has,
// there is one row named none, so that the metric always exists and an alert can rely on it.
func (jobPanics) Collect(out chan<- prometheus.Metric) {
	counts := panics.Counts()
	if len(counts) == 0 {
		counts["none"] = 0
	}
	for job, n := range counts {
		out <- prometheus.MustNewConstMetric(panicsDesc, prometheus.CounterValue, float64(n), job)
	}
}

package node

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"boxoffice/persistence/journal"
)

// newCommits makes the histogram of the time that batches of the journal take to commit.
func newCommits() prometheus.Histogram {
	return prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: "boxoffice_journal_commit_seconds", Help: "Time from when a batch is formed until it is known to be durable.",
		Buckets: []float64{.0005, .001, .002, .004, .008, .015, .03, .06, .125, .25, .5, 1, 2, 5, 10},
	})
}

// standing exports the node's state as metrics, which it reads again at each scrape. The figures about the cluster
// come from one census, so they fit each other.
type standing struct{ n *Node }

// Describe implements prometheus.Collector.
func (s standing) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, out) }

// Collect implements prometheus.Collector. It reads the node's state.
func (s standing) Collect(out chan<- prometheus.Metric) {
	tell := func(kind prometheus.ValueType, name, help string, value float64) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc("boxoffice_"+name, help, nil, nil), kind, value)
	}
	gauge := func(name, help string, value float64) { tell(prometheus.GaugeValue, name, help, value) }
	counter := func(name, help string, value int64) { tell(prometheus.CounterValue, name, help, float64(value)) }
	build := prometheus.NewDesc("boxoffice_build_info", "1, for the build that it names.", nil, prometheus.Labels{"version": Version})
	out <- prometheus.MustNewConstMetric(build, prometheus.GaugeValue, 1)

	ready := 0.0
	if s.n.Ready() == nil {
		ready = 1
	}
	gauge("ready", "1 when /readyz says so.", ready)
	gauge("disk_free_bytes", "Room left where the data directory is.", float64(s.n.disk.Room().Free))
	full := 0.0
	if s.n.disk.Full() {
		full = 1
	}
	gauge("disk_full", "1 while nothing is written because a private Postgres needs what room is left.", full)
	gauge("journal_waiting_seconds", "How long the oldest batch in flight has waited for its commit.", s.n.journal.Waiting().Seconds())
	gauge("journal_unindexed_seconds", "How long ago the last commit was that loading an actor finds by index; 1 or less in order.", s.n.journal.Unindexed().Seconds())
	gauge("readmodel_delay_seconds", "From a commit to when the read model had it, of the last it applied; 0 on nodes where it does not run.", s.n.reading.delay())

	s.collectShards(out)

	c := s.n.cluster.Census()
	gauge("members", "Nodes on this node's list.", float64(c.Members))
	gauge("links_up", "Links to other nodes that are up.", float64(c.Links))
	gauge("links_relayed", "Of these, links that a third node relays, because the other one cannot be reached straight.", float64(c.Relayed))
	counter("links_refused_total", "Links from others that were refused.", c.Strangers)
	gauge("actors", "Activations on this node.", float64(c.Actors))
	counter("activations_total", "Activations made.", c.Activated)
	gauge("mailbox_commands", "Commands that actors have and have not finished.", float64(c.Commands))
	gauge("mailbox_commands_max", "Of those, the most at one actor.", float64(c.Deepest))
	gauge("tells_adrift", "Messages between actors that wait because one is moving.", float64(c.Adrift))
	gauge("events_followed", "Events of other nodes that are shown here.", float64(c.Followed))
}

var (
	shardUpDesc      = prometheus.NewDesc("boxoffice_journal_shard_up", "1 while this database of the journal answers; the events of the others go on when it is 0.", []string{"shard"}, nil)
	shardWaitingDesc = prometheus.NewDesc("boxoffice_journal_shard_waiting_seconds", "How long the oldest batch in flight to this database of the journal has waited for its commit.", []string{"shard"}, nil)
)

// collectShards exports the state of each database of the journal. A journal in one database is
// exported as shard 0.
func (s standing) collectShards(out chan<- prometheus.Metric) {
	for i, state := range s.n.journal.States() {
		up := 1.0
		if state.Err != nil {
			up = 0
		}
		shard := strconv.Itoa(i)
		out <- prometheus.MustNewConstMetric(shardUpDesc, prometheus.GaugeValue, up, shard)
		out <- prometheus.MustNewConstMetric(shardWaitingDesc, prometheus.GaugeValue, state.Waiting.Seconds(), shard)
	}
}

// metrics registers the metrics of the process, of the engine and of the areas, and returns the
// registry.
func (n *Node) metrics() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), n.mailQueue, n.deliverer, n.commits, n.areas.Refunds.Metrics(), n.areas.Rooms, standing{n})
	gauge := func(name, help string, f func() float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "boxoffice", Name: name, Help: help}, f))
	}
	count := func(name, help string, labels prometheus.Labels, f func() int64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "boxoffice", Name: name, Help: help, ConstLabels: labels},
			func() float64 { return float64(f()) }))
	}
	counter := func(name, help string, f func(journal.Stats) int64) {
		count(name, help, nil, func() int64 { return f(n.journal.Stats()) })
	}
	gauge("journal_backlog", "Entries that wait for a commit.", func() float64 { return float64(n.journal.Backlog()) })
	gauge("readmodel_lag", "Batches that the read model has not applied; 0 on nodes where it does not run.", n.reading.lag)
	gauge("heap_room_lacking", "1 while the heap has no room for a rush; it is made when no orders come.", n.room.Lacking)
	n.factsMetrics(r)
	counter("journal_batches_total", "Batches committed.", func(s journal.Stats) int64 { return s.Batches })
	counter("journal_facts_total", "Facts committed.", func(s journal.Stats) int64 { return s.Facts })
	counter("journal_retries_total", "Batches sent again after an unknown outcome.", func(s journal.Stats) int64 { return s.Retries })
	counter("journal_fenced_total", "Entries refused by the claim fence.", func(s journal.Stats) int64 { return s.Fences })
	count("requests_unlogged_total", "Requests of API keys that the request log has dropped: its queue or the disk was full, or a batch failed.", nil, n.requests.Dropped)
	const commands = "Commands that requests to this node have brought, by whether it carried them out itself."
	count("commands_total", commands, prometheus.Labels{"where": "here"}, func() int64 { return n.cluster.Stats().Here })
	count("commands_total", commands, prometheus.Labels{"where": "there"}, func() int64 { return n.cluster.Stats().There })
	count("actors_fenced_total", "Activations that ended because another one has claimed their stream, or a stream that their facts depend on.", nil,
		func() int64 { return n.cluster.Stats().Fenced })
	count("snapshots_unfounded_total", "Snapshots that the journal contradicts; their actors were loaded from earlier ones, or from all facts.", nil,
		func() int64 { return n.cluster.Stats().Unfounded })
	return r
}

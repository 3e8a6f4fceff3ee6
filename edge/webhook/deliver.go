package webhook

import (
	"context"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"boxoffice/edge/secrets"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/panics"
)

const (
	maxEndpoints = 512                   // most endpoints that one node serves at once
	claimMax     = 128                   // most endpoints that one statement claims
	lookEvery    = time.Second           // how often the loop looks at the queues without being woken
	pace         = 20 * time.Millisecond // least time between two looks, so that one statement handles all that comes in between
	tableTime    = 10 * time.Second      // most time for one statement
	stopGrace    = 2 * time.Second       // how long attempts may go on when the node stops
)

// Config says what a Deliverer works with.
type Config struct {
	Store   *deliveries.Store
	Secrets *secrets.Master
	Targets *Targets
	Node    string // holds the leases; only one process at a time may use the name
	Log     *slog.Logger

	Now      func() time.Time // the clock by which attempts are due and dated; nil: time.Now
	Roots    *x509.CertPool   // nil: the system's
	Resolver *net.Resolver    // nil: the system's
}

// Deliverer sends what waits in the queues of endpoints (docs/rules.md, Webhooks). Each node has
// one; cmd makes it, and Stop waits for its goroutines.
//
// One loop records the results of attempts, claims endpoints with deliveries that are due, and loads a page of
// deliveries for each (persistence/deliveries). Each claimed endpoint has a goroutine, which makes a few
// attempts at the same time. So an endpoint that hangs occupies only its own few connections, and memory
// holds one page for each claimed endpoint, however many deliveries wait. Leases make sure that only one node
// serves an endpoint at a time.
//
// First attempts of one aggregate's facts are made one after another in their order, whatever their
// results. A failed attempt is due again after a pause (ladder.go). If the process is killed before
// the result of an attempt is recorded, the attempt is made again: at least once. A River job,
// which is part of the transaction that puts something into a queue, calls Wake; without it the
// loop looks once a second.
type Deliverer struct {
	cfg     Config
	http    *http.Transport
	metrics *metrics
	woken   chan struct{} // holds one signal
	sent    chan sent     // has room for every claimed endpoint, so sending to it never blocks
	ctx     context.Context
	cancel  context.CancelFunc // ends attempts under way
	stop    chan struct{}      // closed: no more attempts are begun
	done    chan struct{}      // closed when the loop has ended

	// Only the loop may use the fields below.
	serving int                           // how many endpoints are claimed
	results map[int64][]deliveries.Result // results to be recorded, by endpoint
	counted time.Time                     // when count last counted
}

// sent holds the results of a page whose attempts have ended. An attempt that was not made has no result, and
// stays due.
type sent struct {
	endpoint int64
	results  []deliveries.Result
}

// Start makes a Deliverer and starts its loop. The caller must call Stop.
func Start(cfg Config) *Deliverer {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	d := &Deliverer{
		cfg: cfg, http: newTransport(cfg.Targets, cfg.Roots, cfg.Resolver), metrics: newMetrics(),
		woken: make(chan struct{}, 1), sent: make(chan sent, maxEndpoints), stop: make(chan struct{}), done: make(chan struct{}),
		results: map[int64][]deliveries.Result{},
	}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	go d.run()
	return d
}

// Wake makes the loop look at the queues soon. It never blocks.
func (d *Deliverer) Wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// Stop lets no more attempts begin, gives those in progress two seconds, or less if ctx ends earlier, and then
// breaks them off. It records the results and returns when all goroutines have ended. The node that claims the
// endpoint next repeats an attempt that was broken off. Stop may be called only once.
func (d *Deliverer) Stop(ctx context.Context) error {
	close(d.stop)
	grace := time.AfterFunc(stopGrace, d.cancel)
	defer grace.Stop()
	defer context.AfterFunc(ctx, d.cancel)()
	<-d.done
	d.cancel()
	d.http.CloseIdleConnections()
	return nil
}

// run is the deliverer's loop until Stop. No other goroutine of the deliverer reads or writes the tables.
func (d *Deliverer) run() {
	defer close(d.done)
	mine := false // whether the leases of an earlier process with this node's name have been freed
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		began := time.Now()
		// A process that was killed left its leases behind. Its successor with the same
		// name need not wait until they end.
		if !mine {
			mine = d.tryTables("free what was claimed", func(ctx context.Context) error { return d.cfg.Store.FreeAll(ctx, d.cfg.Node) })
		}
		panics.Do(d.cfg.Log, "delivery of webhooks", func() {
			if mine && d.recordResults() {
				d.serveEndpoints()
				d.count()
			}
		})
		// The loop leaves the tables alone for at least as long as this round of it took.
		if !d.restUntil(began.Add(max(pace, 2*time.Since(began))), look.C) {
			break
		}
	}
	// Stop has been called. The pages in progress begin no more attempts, and each still sends its results, so
	// this loop ends.
	for d.serving > len(d.results) {
		d.takeResults(<-d.sent)
	}
	d.recordResults()
}

// restUntil waits for a signal, a result or the next regular look, and in any case until the given time, so that
// everything that comes in between is handled together. It returns false once the deliverer stops.
func (d *Deliverer) restUntil(until time.Time, look <-chan time.Time) bool {
	select {
	case <-d.woken:
	case s := <-d.sent:
		d.takeResults(s)
	case <-look:
	case <-d.stop:
		return false
	}
	wait := time.NewTimer(time.Until(until))
	defer wait.Stop()
	for {
		select {
		case s := <-d.sent:
			d.takeResults(s)
		case <-wait.C:
			return true
		case <-d.stop:
			return false
		}
	}
}

// takeResults keeps the results of a page until recordResults writes them. The endpoint
// stays claimed until then, so it has at most one page at a time.
func (d *Deliverer) takeResults(s sent) { d.results[s.endpoint] = s.results }

// recordResults writes the results that have come, and ends the leases of their endpoints. It returns false if
// that fails. Then the caller must claim nothing more, and the next look writes the results.
func (d *Deliverer) recordResults() bool {
	if len(d.results) == 0 {
		return true
	}
	ok := d.tryTables("record what was sent", func(ctx context.Context) error { return d.cfg.Store.Record(ctx, d.cfg.Node, d.results) })
	if ok {
		d.serving -= len(d.results)
		clear(d.results)
	}
	return ok
}

// serveEndpoints claims endpoints with deliveries that are due, loads one page for each, and starts a goroutine
// for each page, which sends it. It claims until the node serves maxEndpoints or no endpoint is left. If the
// tables cannot be read, it stops; what was claimed by then is free again when its lease ends.
func (d *Deliverer) serveEndpoints() {
	now := d.cfg.Now()
	for d.serving < maxEndpoints {
		limit := min(claimMax, maxEndpoints-d.serving)
		var claimed []int64
		var pages []*deliveries.Page
		if !d.tryTables("claim endpoints", func(ctx context.Context) (err error) {
			if claimed, err = d.cfg.Store.Claim(ctx, d.cfg.Node, now, limit); err != nil || len(claimed) == 0 {
				return err
			}
			pages, err = d.cfg.Store.Load(ctx, claimed, now)
			return err
		}) {
			return // the claimed endpoints are free again when their leases end
		}
		d.serving += len(claimed)
		for _, p := range pages {
			go func() {
				var results []deliveries.Result // stays empty if the page panics; then the page is sent again
				panics.Do(d.cfg.Log, "page of webhooks", func() { results = d.sendPage(p) })
				d.sent <- sent{p.Endpoint, results}
			}()
		}
		d.giveBack(claimed, pages)
		if len(claimed) < limit {
			return
		}
	}
}

// giveBack gives empty results to the claimed endpoints for which no page was loaded, because nothing was due
// for them any more. recordResults then ends their leases.
func (d *Deliverer) giveBack(claimed []int64, pages []*deliveries.Page) {
	loaded := make(map[int64]bool, len(pages))
	for _, p := range pages {
		loaded[p.Endpoint] = true
	}
	for _, id := range claimed {
		if !loaded[id] {
			d.results[id] = nil
		}
	}
}

// count measures how much waits in all queues, for the metrics. The number need not be exact, so it is counted only
// once in countEvery.
func (d *Deliverer) count() {
	if time.Since(d.counted) < countEvery {
		return
	}
	d.counted = time.Now()
	d.tryTables("count what waits", func(ctx context.Context) error {
		n, err := d.cfg.Store.Waiting(ctx)
		if err == nil {
			d.metrics.waiting.Store(n)
		}
		return err
	})
}

// tryTables runs a statement on the tables and reports whether it succeeded. what completes
// "webhooks wait to ..." in the log. A statement that failed is tried again with the next
// look.
func (d *Deliverer) tryTables(what string, do func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), tableTime)
	defer cancel()
	err := do(ctx)
	if err != nil && !errors.Is(err, context.Canceled) {
		d.cfg.Log.LogAttrs(ctx, slog.LevelWarn, "webhooks wait", slog.String("to", what), slog.Any("error", err))
	}
	return err == nil
}

package mailqueue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"

	"boxoffice/persistence/outreach"
)

// A rush makes thousands of mails, and so does a broadcast. They wait in Postgres, and a few workers send them
// while the sale goes on. River hands out at most orderWorkers order mails in each orderPause, and bulkWorkers
// bulk mails in each bulkPause. While the node is busy, each of these workers sends only one mail in busyPause.
const (
	promptWorkers = 4
	orderWorkers  = 16
	orderPause    = 40 * time.Millisecond
	bulkWorkers   = 8
	bulkPause     = 100 * time.Millisecond
	busyPause     = time.Second
	attemptTime   = 30 * time.Second // how long one attempt to send a mail may take
	unknownPause  = 15 * time.Second // after which a mail of a later release is offered to a node again
	unknownLife   = 24 * time.Hour   // how long such a mail waits for a node that can write it
)

// pauses are the pauses between the attempts to send a mail, each varied by up to a tenth so that
// mails that failed together don't all come back together. The first pauses are short, for a server
// that restarts or greylists; the last are long, for one that is down for hours. When the mail's
// life is over, no more attempts are made.
var pauses = []time.Duration{
	5 * time.Second, 15 * time.Second, time.Minute, 3 * time.Minute, 10 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 8 * time.Hour, 8 * time.Hour,
}

// ErrUndeliverable is wrapped by the error of a Send if no further attempt could bring the mail to
// its reader. The worker then gives the mail up at once.
var ErrUndeliverable = errors.New("mailqueue: undeliverable")

// Send writes a mail and sends it. If there is nothing to say any more, for example because the
// order has changed since, it sends nothing and returns false without an error. Its errors are
// stored and logged, so they must not contain addresses.
type Send func(ctx context.Context, l *Mail) (sent bool, err error)

// Register adds the workers and the queues of this package to the configuration of a River client,
// which the node starts and stops.
func (o *Queue) Register(workers *river.Workers, queues map[string]river.QueueConfig, send Send) {
	river.AddWorker(workers, &sender{Queue: o, send: send})
	river.AddWorker(workers, &changer{Queue: o})
	river.AddWorker(workers, &pager{Queue: o})
	river.AddWorker(workers, &announcer{Queue: o})
	river.AddWorker(workers, &broadcaster{Queue: o})
	queues[promptQueue] = river.QueueConfig{MaxWorkers: promptWorkers}
	queues[orderQueue] = river.QueueConfig{MaxWorkers: orderWorkers, FetchCooldown: orderPause}
	queues[bulkQueue] = river.QueueConfig{MaxWorkers: bulkWorkers, FetchCooldown: bulkPause}
}

// Reclaim makes the jobs of a killed client available again. Otherwise they would count as running
// until River's own rescue, which comes much later. The client must not be running, or its jobs
// would run twice.
func (o *Queue) Reclaim(ctx context.Context, client string) error {
	const reclaim = `
UPDATE river_job SET state = 'available', scheduled_at = now()
WHERE state = 'running' AND queue = ANY($1) AND attempted_by[cardinality(attempted_by)] = $2`
	if _, err := o.pool.Exec(ctx, reclaim, queueNames, client); err != nil {
		return fmt.Errorf("mailqueue: reclaim jobs: %w", err)
	}
	return nil
}

// sender works the jobs that send one mail.
type sender struct {
	river.WorkerDefaults[Mail]
	*Queue
	send Send
}

// Timeout bounds one attempt, so that a mail server that never answers keeps no worker.
func (*sender) Timeout(*river.Job[Mail]) time.Duration { return attemptTime }

// NextRetry returns when a mail whose attempt failed is tried again: after the pause of the
// attempt, give or take a tenth.
func (*sender) NextRetry(job *river.Job[Mail]) time.Time {
	p := pauseAfter(job)
	return time.Now().Add(p - p/10 + rand.N(p/5)) //nolint:gosec // no secret
}

// pauseAfter returns about how long to wait after an attempt. The last pause also stands for all
// later attempts.
func pauseAfter(job *river.Job[Mail]) time.Duration { return pauses[min(job.Attempt, len(pauses))-1] }

// Work makes one attempt to write and send a mail, and decides what happens to the mail afterwards: done, put
// off (a cap holds it up, or this release does not know its template), repeated after a failure, or given up
// (undeliverable, or its life is over or would be before the next attempt). While the node is busy, mails of
// the queues other than promptQueue wait a moment first.
func (c *sender) Work(ctx context.Context, job *river.Job[Mail]) error {
	l := &job.Args
	terms, known := table[l.Template]
	if !known {
		return c.leaveMail(ctx, job)
	}
	// A mail's life begins when it may be sent, which can be long after it was queued.
	l.Queued = job.CreatedAt
	l.end = time.UnixMilli(max(job.CreatedAt.UnixMilli(), l.NotBefore)).Add(terms.life)
	if time.Now().After(l.end) { // the process that had the mail before died, or no worker ran
		return c.dropMail(ctx, job, errors.New("too late"))
	}
	// Only mails for which nobody waits at a screen slow down while the node is busy.
	if terms.queue != promptQueue && c.busy() {
		select {
		case <-time.After(busyPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	sent, err := c.send(ctx, l)
	// A mail that a cap holds up has not failed. It is put off until its moment.
	if w, ok := errors.AsType[*capped](err); ok {
		c.capped.WithLabelValues(string(l.Template)).Inc()
		c.log.LogAttrs(ctx, slog.LevelInfo, "mail capped", append(attrs(job, err), slog.Duration("wait", w.wait))...)
		return river.JobSnooze(w.wait)
	}
	switch {
	case err == nil:
		if sent {
			c.sent.WithLabelValues(string(l.Template)).Inc()
		}
		return nil
	// A mail is also given up if its next attempt could come after the end of its life; a pause
	// may be a tenth longer than pauseAfter says.
	case errors.Is(err, ErrUndeliverable), time.Now().Add(pauseAfter(job) * 11 / 10).After(l.end):
		return c.dropMail(ctx, job, err)
	}
	// River repeats a job whose Work returns an error, at NextRetry.
	c.deferred.WithLabelValues(string(l.Template)).Inc()
	c.log.LogAttrs(ctx, slog.LevelInfo, "mail deferred", attrs(job, err)...)
	return err
}

// leaveMail puts off a mail with a template that this node doesn't know, and drops it after unknownLife. A node
// of a later release has queued it. While nodes of both releases run side by side, either may get the job, and
// only the later one can write the mail.
func (c *sender) leaveMail(ctx context.Context, job *river.Job[Mail]) error {
	if time.Since(job.CreatedAt) > unknownLife { // the later release was taken back
		return c.dropMail(ctx, job, fmt.Errorf("%w: no mail %q", ErrUndeliverable, job.Args.Template))
	}
	return river.JobSnooze(unknownPause)
}

// dropMail gives a mail up for good, counts it and logs why. A broadcast must learn of it, because it counts as
// sent only when no recipient waits any more; if that cannot be noted, the mail stays for another attempt.
func (c *sender) dropMail(ctx context.Context, job *river.Job[Mail], err error) error {
	if id, parsed := uuid.Parse(job.Args.Broadcast); parsed == nil {
		if err := c.outreach.NoteRecipient(ctx, id, job.Args.To, outreach.Dropped); err != nil {
			return err
		}
	}
	c.dead.WithLabelValues(string(job.Args.Template)).Inc()
	c.log.LogAttrs(ctx, slog.LevelWarn, "mail dropped", attrs(job, err)...)
	return river.JobCancel(err)
}

// attrs names a mail in the log. The attributes contain neither its address nor its text, because
// logs must not hold personal data.
func attrs(job *river.Job[Mail], err error) []slog.Attr {
	return []slog.Attr{
		slog.String("mail", string(job.Args.Template)), slog.String("message_id", job.Args.ID),
		slog.Int("attempt", job.Attempt), slog.Any("error", err),
	}
}

// makeMetrics makes the counters of sent, deferred, capped and failed mails, and the gauge of
// waiting mails. The gauge counts the table when it is read, or uses a recent count.
func (o *Queue) makeMetrics() {
	counter := func(name, help string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "boxoffice", Name: name, Help: help}, []string{"kind"})
	}
	o.sent = counter("mail_sent_total", "Mails that were delivered to the server.")
	o.deferred = counter("mail_deferred_total", "Attempts to deliver a mail that are repeated.")
	o.capped = counter("mail_capped_total", "Mails that nobody paid for and that wait, because too many go to their address or come from their organization.")
	o.dead = counter("mail_failed_total", "Mails that were given up.")
	o.queued = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: "boxoffice", Name: "mail_queued", Help: "Mails that are not delivered yet, of all nodes.",
	}, func() float64 {
		now, err := o.count(context.Background())
		if err != nil {
			return math.NaN()
		}
		return float64(now.all)
	})
}

// Describe and Collect make the Queue a prometheus.Collector.
func (o *Queue) Describe(ch chan<- *prometheus.Desc) {
	for _, c := range []prometheus.Collector{o.sent, o.deferred, o.capped, o.dead, o.queued} {
		c.Describe(ch)
	}
}

// Collect sends the queue's metrics.
func (o *Queue) Collect(ch chan<- prometheus.Metric) {
	for _, c := range []prometheus.Collector{o.sent, o.deferred, o.capped, o.dead, o.queued} {
		c.Collect(ch)
	}
}

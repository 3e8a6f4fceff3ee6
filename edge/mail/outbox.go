package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"boxoffice/engine"
)

const (
	queueMax = 1_000            // messages that are queued, being sent, or waiting for another attempt
	workers  = 2                // messages being sent at once
	sendTime = 30 * time.Second // of one attempt
)

// delays are the pauses before the second and later attempts. A message that
// fails after the last is dropped.
var delays = []time.Duration{time.Second, 10 * time.Second, time.Minute, 5 * time.Minute}

// Outbox sends messages behind the caller's back: at most a thousand at a time,
// each in up to five attempts. It is the node's; Stop ends it.
type Outbox struct {
	sender Sender
	log    *slog.Logger
	base   context.Context // of every attempt
	cancel context.CancelFunc

	ready   chan *letter  // has room for every letter there can be: sending to it never blocks
	drained chan struct{} // closed when the outbox is stopping and has no letter left
	workers sync.WaitGroup

	mu       sync.Mutex
	letters  int                     // that are not done
	waiting  map[*letter]*time.Timer // those that wait for another attempt
	stopping bool

	sent, failed *prometheus.CounterVec
	queued       prometheus.GaugeFunc
}

// letter is a message on its way.
type letter struct {
	Message
	attempts int
}

// NewOutbox starts an outbox that sends through a sender.
func NewOutbox(sender Sender, log *slog.Logger) *Outbox {
	o := &Outbox{
		sender: sender, log: log, ready: make(chan *letter, queueMax), drained: make(chan struct{}),
		waiting: map[*letter]*time.Timer{},
		sent: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boxoffice_mail_sent_total", Help: "Mails that were delivered to the server.",
		}, []string{"kind"}),
		failed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "boxoffice_mail_failed_total", Help: "Mails that were dropped.",
		}, []string{"kind"}),
	}
	o.queued = prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "boxoffice_mail_queued", Help: "Mails that are not delivered yet.",
	}, func() float64 { return float64(o.pending()) })
	o.base, o.cancel = context.WithCancel(context.Background())
	for range workers {
		o.workers.Go(o.work)
	}
	return o
}

// Describe and Collect make the outbox a prometheus.Collector.
func (o *Outbox) Describe(ch chan<- *prometheus.Desc) { prometheus.DescribeByCollect(o, ch) }

// Collect sends the outbox's numbers.
func (o *Outbox) Collect(ch chan<- prometheus.Metric) {
	o.sent.Collect(ch)
	o.failed.Collect(ch)
	o.queued.Collect(ch)
}

func (o *Outbox) pending() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.letters
}

// Queue takes a message, which is sent soon. It never blocks: a full outbox
// refuses with OVERLOADED, one that stops with UNAVAILABLE.
func (o *Outbox) Queue(m Message) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.stopping:
		return engine.Refuse(engine.Unavailable, nil)
	case o.letters >= queueMax:
		return engine.Refuse(engine.Overloaded, nil)
	}
	o.letters++
	o.ready <- &letter{Message: m}
	return nil
}

func (o *Outbox) work() {
	for {
		select {
		case l := <-o.ready:
			o.deliver(l)
		case <-o.drained:
			return
		case <-o.base.Done():
			return
		}
	}
}

// deliver makes one attempt.
func (o *Outbox) deliver(l *letter) {
	ctx, cancel := context.WithTimeout(o.base, sendTime)
	defer cancel()
	l.attempts++
	err := o.sender.Send(ctx, l.Message)
	if err == nil {
		o.sent.WithLabelValues(l.Kind).Inc()
		o.done()
		return
	}
	f, ok := errors.AsType[*Failure](err)
	permanent := ok && f.Permanent
	if !permanent && o.again(l) {
		o.log.LogAttrs(o.base, slog.LevelInfo, "mail deferred", l.attrs(err)...)
		return
	}
	o.failed.WithLabelValues(l.Kind).Inc()
	o.log.LogAttrs(o.base, slog.LevelWarn, "mail dropped", l.attrs(err)...)
	o.done()
}

// attrs name the letter in the log. Only a Failure's words are fit for it.
func (l *letter) attrs(err error) []slog.Attr {
	reason := "sender failed"
	if f, ok := errors.AsType[*Failure](err); ok {
		reason = f.Error()
	}
	return []slog.Attr{slog.String("kind", l.Kind), slog.String("message_id", l.ID), slog.Int("attempts", l.attempts), slog.String("reason", reason)}
}

// again lets the letter wait for another attempt, unless it had all or the
// outbox stops.
func (o *Outbox) again(l *letter) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stopping || l.attempts > len(delays) {
		return false
	}
	o.waiting[l] = time.AfterFunc(delays[l.attempts-1], func() { o.resume(l) })
	return true
}

// resume ends the letter's waiting. The timer and Stop may both come; the second
// finds it gone.
func (o *Outbox) resume(l *letter) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.waiting[l]; ok {
		delete(o.waiting, l)
		o.ready <- l
	}
}

// done takes a letter off the count.
func (o *Outbox) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.letters--
	if o.stopping && o.letters == 0 {
		close(o.drained)
	}
}

// Stop takes no more messages, makes one last attempt for each that it has, and
// returns when its goroutines have ended. When ctx ends first, the rest is
// dropped, which is an error. It is called once.
func (o *Outbox) Stop(ctx context.Context) error {
	defer o.cancel()
	o.mu.Lock()
	o.stopping = true
	if o.letters == 0 {
		close(o.drained)
	}
	for l, timer := range o.waiting {
		timer.Stop()
		delete(o.waiting, l)
		o.ready <- l
	}
	o.mu.Unlock()

	select {
	case <-o.drained:
		o.workers.Wait()
		return nil
	case <-ctx.Done():
		n := o.pending()
		o.cancel()
		o.workers.Wait()
		return fmt.Errorf("stop mail: %d messages were dropped: %w", n, ctx.Err())
	}
}

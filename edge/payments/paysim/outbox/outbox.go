// Package outbox sends webhooks. It sends each one when it is due, and sends it again until it is answered with
// 200 or has been tried maxTries times. One dispatcher waits for the webhook that is due next, and hands it to
// one of a few workers.
package outbox

import (
	"container/heap"
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	maxWaiting = 100_000          // how many webhooks may wait; further ones are dropped, and counted
	maxTries   = 5                // as Paystack tries in the first quarter of an hour; its hourly tries after that are left out
	workers    = 16               // webhooks that are sent at a time
	timeout    = 30 * time.Second // longest time of one try
)

// Stats counts webhooks. Sent and Failed count tries. Dropped counts the webhooks that are not sent, or not sent
// again, because a mode drops them or too many wait.
type Stats struct {
	Waiting int64 `json:"waiting"`
	Sent    int64 `json:"sent"`
	Failed  int64 `json:"failed"`
	Dropped int64 `json:"dropped"`
}

// Webhook makes the request of one webhook. It is called for each try, when the request is about to be sent.
type Webhook func(context.Context) (*http.Request, error)

// delivery is one webhook to send.
type delivery struct {
	due   time.Time
	of    Webhook
	tries int // how many tries have failed
}

// Outbox has the webhooks that wait. Make it with New.
type Outbox struct {
	retry  time.Duration // pause after a failed try
	log    *slog.Logger
	client *http.Client
	cancel context.CancelFunc
	wake   chan struct{} // gets a signal when the first webhook of the queue may have changed; holds one signal

	mu      sync.Mutex
	queue   queue
	running sync.WaitGroup

	sent, failed, dropped atomic.Int64
}

// New makes an empty outbox. After a failed try it waits for the duration retry before the next one. It sends
// nothing before Start.
func New(retry time.Duration, log *slog.Logger) *Outbox {
	return &Outbox{
		retry:  retry,
		log:    log,
		cancel: func() {},
		wake:   make(chan struct{}, 1),
		client: &http.Client{
			Timeout:       timeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: workers, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Start starts the goroutines that send. Close ends them.
func (o *Outbox) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	due := make(chan *delivery)
	o.running.Go(func() { o.handOut(ctx, due) })
	for range workers {
		o.running.Go(func() {
			for d := range due {
				o.deliverWebhook(ctx, d)
			}
		})
	}
}

// Close drops what waits, and returns when nothing is being sent any more.
func (o *Outbox) Close() {
	o.cancel()
	o.running.Wait()
	o.client.CloseIdleConnections()
}

// Stats returns the counts so far.
func (o *Outbox) Stats() Stats {
	o.mu.Lock()
	waiting := len(o.queue)
	o.mu.Unlock()
	return Stats{int64(waiting), o.sent.Load(), o.failed.Load(), o.dropped.Load()}
}

// Drop counts a webhook that is never sent.
func (o *Outbox) Drop() { o.dropped.Add(1) }

// Push queues a webhook to be sent when it is due, or drops it if too many wait.
func (o *Outbox) Push(due time.Time, w Webhook) { o.push(delivery{due: due, of: w}) }

// push queues a delivery, or drops it if too many wait.
func (o *Outbox) push(d delivery) {
	o.mu.Lock()
	if len(o.queue) >= maxWaiting {
		o.mu.Unlock()
		o.dropped.Add(1)
		return
	}
	heap.Push(&o.queue, &d)
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// handOut hands deliveries to the workers when they are due, until ctx ends.
func (o *Outbox) handOut(ctx context.Context, due chan<- *delivery) {
	defer close(due)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		d, wait := o.pop()
		if d != nil {
			select {
			case due <- d:
				continue
			case <-ctx.Done():
				return
			}
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-o.wake:
		case <-ctx.Done():
			return
		}
	}
}

// pop takes the first delivery if it is due. Otherwise it returns how long to wait before pop is called again.
func (o *Outbox) pop() (*delivery, time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.queue) == 0 {
		return nil, time.Hour
	}
	if wait := time.Until(o.queue[0].due); wait > 0 {
		return nil, wait
	}
	first := o.queue[0]
	heap.Pop(&o.queue)
	return first, 0
}

// deliverWebhook sends one webhook. If it is not answered with 200, it is queued again, unless this was its
// last try or ctx has ended.
func (o *Outbox) deliverWebhook(ctx context.Context, d *delivery) {
	if o.sendOnce(ctx, d) {
		o.sent.Add(1)
		return
	}
	o.failed.Add(1)
	again := *d
	again.tries++
	if again.tries < maxTries && ctx.Err() == nil {
		again.due = time.Now().Add(o.retry)
		o.push(again)
	}
}

// sendOnce makes and sends a webhook, and reports whether it was answered 200.
func (o *Outbox) sendOnce(ctx context.Context, d *delivery) bool {
	req, err := d.of(ctx)
	if err != nil {
		o.log.Error("payment simulator: make webhook", slog.Any("error", err))
		return false
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	// Reading to the end lets the connection be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode == http.StatusOK
}

// queue is a heap by due time.
type queue []*delivery

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push appends an element, as container/heap demands.
func (q *queue) Push(x any) {
	*q = append(*q, x.(*delivery)) //nolint:errcheck // Outbox.push is the one caller
}

// Pop removes the last element, as container/heap demands.
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}

package paysim

import (
	"bytes"
	"container/heap"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/edge/payments/paysim/faults"
)

const (
	maxWebhooks    = 100_000 // waiting; beyond that new ones are dropped, and counted
	webhookTries   = 5       // as live in its first quarter of an hour; the hourly tail is left out
	webhookWorkers = 16
	webhookTimeout = 30 * time.Second
)

// WebhookStats counts webhooks. Sent and Failed count tries, Dropped the events
// that were never sent, by mode or for want of room.
type WebhookStats struct {
	Waiting int64 `json:"waiting"`
	Sent    int64 `json:"sent"`
	Failed  int64 `json:"failed"`
	Dropped int64 `json:"dropped"`
}

// delivery is one webhook to send; its body is made when it is sent.
type delivery struct {
	due     time.Time
	event   string
	of      *transaction
	refund  *refund // nil for a charge
	status  string  // of the refund or the dispute
	dispute bool    // it is about the transaction's dispute
	tries   int
	badsig  bool
}

// hooks sends webhooks. The dispatcher waits for the next that is due and
// hands it to a worker.
type hooks struct {
	sim    *Sim
	client *http.Client
	cancel context.CancelFunc
	wake   chan struct{} // the queue's head may have changed; holds one

	mu      sync.Mutex // taken after Sim.mu where both are
	queue   queue
	running sync.WaitGroup

	sent, failed, dropped atomic.Int64
}

func newHooks(s *Sim) *hooks {
	return &hooks{
		sim:    s,
		cancel: func() {},
		wake:   make(chan struct{}, 1),
		client: &http.Client{
			Timeout:       webhookTimeout,
			Transport:     &http.Transport{MaxIdleConnsPerHost: webhookWorkers, IdleConnTimeout: 30 * time.Second},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// target is where a transaction's webhooks go; "" for nowhere.
func (h *hooks) target(t *transaction) string {
	switch t.provider {
	case nowpayments, mollie:
		return t.hook
	case flutterwave:
		return h.sim.cfg.FlutterwaveURL
	case stripe:
		return h.sim.cfg.StripeURL
	case paypal:
		return h.sim.cfg.PayPalURL
	}
	return h.sim.cfg.WebhookURL
}

func (h *hooks) start() {
	ctx, cancel := context.WithCancel(context.Background())
	h.cancel = cancel
	due := make(chan *delivery)
	h.running.Go(func() { h.dispatch(ctx, due) })
	for range webhookWorkers {
		h.running.Go(func() {
			for d := range due {
				h.deliver(ctx, d)
			}
		})
	}
}

func (h *hooks) close() {
	h.cancel()
	h.running.Wait()
	h.client.CloseIdleConnections()
}

func (h *hooks) stats() WebhookStats {
	h.mu.Lock()
	waiting := len(h.queue)
	h.mu.Unlock()
	return WebhookStats{int64(waiting), h.sent.Load(), h.failed.Load(), h.dropped.Load()}
}

// announceCharge announces a payment, as a webhook that arrives after the duration in. As at the real
// providers, failures and abandoned checkouts are not announced.
func (h *hooks) announceCharge(t *transaction, m faults.Modes, in time.Duration) {
	switch t.provider {
	case nowpayments: // each status is told
		h.announce(m, in, delivery{event: "confirming", of: t, status: "confirming"})
		h.announce(m, in, delivery{event: "settled", of: t})
	case flutterwave:
		h.announce(m, in, delivery{event: "charge.completed", of: t})
	case stripe:
		h.announce(m, in, delivery{event: "checkout.session.completed", of: t})
	case mollie:
		h.announce(m, in, delivery{event: "payment", of: t})
	case paypal:
		h.announce(m, in, delivery{event: "PAYMENT.CAPTURE.COMPLETED", of: t})
	default:
		h.announce(m, in, delivery{event: "charge.success", of: t})
	}
}

// refunded announces each status that the refund will go through.
func (h *hooks) refunded(r *refund, m faults.Modes, in time.Duration) {
	if r.of.provider != "" {
		return
	}
	for _, step := range []struct {
		status string
		after  time.Duration
	}{{pending, 0}, {refundProcessing, r.step}, {r.end, 2 * r.step}} {
		if r.step > 0 || step.status == r.end {
			h.announce(m, in+step.after, delivery{event: "refund." + step.status, of: r.of, refund: r, status: step.status})
		}
		if step.status == r.end {
			return
		}
	}
}

// announce queues one event as the modes have it.
func (h *hooks) announce(m faults.Modes, in time.Duration, d delivery) {
	if h.target(d.of) == "" {
		return
	}
	name := d.event + "/" + d.of.reference
	if d.refund != nil {
		name += "/" + strconv.FormatInt(d.refund.id, 10)
	}
	dice := h.sim.dice
	if _, ok := dice.Struck(m, "drop", name); ok {
		h.dropped.Add(1)
		return
	}
	if set, ok := dice.Struck(m, "hookdelay", name); ok {
		in += set.Span
	}
	if set, ok := dice.Struck(m, "reorder", name); ok {
		in += time.Duration(dice.Once("wait/"+name) * float64(set.Span))
	}
	_, d.badsig = dice.Struck(m, "badsig", name)
	times := int64(1)
	if set, ok := dice.Struck(m, "duplicate", name); ok {
		times = set.Number
	}
	d.due = time.Now().Add(in)
	for range times {
		h.push(d)
	}
}

func (h *hooks) push(d delivery) {
	h.mu.Lock()
	if len(h.queue) >= maxWebhooks {
		h.mu.Unlock()
		h.dropped.Add(1)
		return
	}
	heap.Push(&h.queue, &d)
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// dispatch hands deliveries to the workers when they are due, until ctx ends.
func (h *hooks) dispatch(ctx context.Context, due chan<- *delivery) {
	defer close(due)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		d, wait := h.pop()
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
		case <-h.wake:
		case <-ctx.Done():
			return
		}
	}
}

// pop takes the first delivery if it is due, else says how long that will be.
func (h *hooks) pop() (*delivery, time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		return nil, time.Hour
	}
	if wait := time.Until(h.queue[0].due); wait > 0 {
		return nil, wait
	}
	first := h.queue[0]
	heap.Pop(&h.queue)
	return first, 0
}

// deliver sends one webhook, and queues it again unless it is answered 200.
func (h *hooks) deliver(ctx context.Context, d *delivery) {
	if h.send(ctx, d) {
		h.sent.Add(1)
		return
	}
	h.failed.Add(1)
	again := *d
	again.tries++
	if again.tries < webhookTries && ctx.Err() == nil {
		again.due = time.Now().Add(h.sim.cfg.WebhookRetry)
		h.push(again)
	}
}

func (h *hooks) send(ctx context.Context, d *delivery) bool {
	body, err := h.sim.encodeHook(d)
	if err != nil {
		h.sim.cfg.Log.Error("payment simulator: encode webhook", slog.Any("error", err))
		return false
	}
	wrong := ""
	if d.badsig {
		wrong = "?"
	}
	target := h.target(d.of)
	if d.of.provider == mollie {
		target += strings.ReplaceAll(wrong, "?", "0") // the MAC is the end of the address
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		h.sim.cfg.Log.Error("payment simulator: make webhook", slog.Any("error", err))
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	switch d.of.provider {
	case mollie:
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case nowpayments: // the encoder has sorted the keys, and there is nothing that it escapes
		req.Header.Set("X-Nowpayments-Sig", sign(h.sim.cfg.NOWPaymentsSign+wrong, body))
	case flutterwave:
		req.Header.Set("Verif-Hash", h.sim.cfg.FlutterwaveHash+wrong)
	case stripe:
		req.Header.Set("Stripe-Signature", signStripe(h.sim.cfg.StripeSecret+wrong, body, time.Now()))
	case paypal:
		h.sim.signPaypal(req.Header, h.sim.cfg.PayPalKey+wrong, body, time.Now())
	default:
		req.Header.Set("X-Paystack-Signature", sign(h.sim.cfg.SecretKey+wrong, body))
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	// Reading to the end lets the connection be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	return resp.StatusCode == http.StatusOK
}

// encodeHook is a webhook's body as it is sent: Mollie tells an id alone, as a form.
func (s *Sim) encodeHook(d *delivery) ([]byte, error) {
	if d.of.provider == mollie {
		return []byte("id=" + molliePaymentID + strconv.FormatInt(d.of.id, 10)), nil
	}
	return json.Marshal(s.told(d))
}

// told is what a webhook tells.
func (s *Sim) told(d *delivery) any {
	switch d.of.provider {
	case nowpayments:
		s.mu.Lock()
		defer s.mu.Unlock()
		status := d.status
		if status == "" {
			status = depositStatus(d.of, s.cfg.Now())
		}
		return s.depositBody(d.of, status)
	case flutterwave:
		s.mu.Lock()
		defer s.mu.Unlock()
		return map[string]any{"event": d.event, "event.type": "CARD_TRANSACTION", "data": hostedBody(d.of, s.cfg.Now())}
	}
	switch d.of.provider {
	case stripe:
		return s.stripeEvent(d)
	case paypal:
		return s.paypalEvent(d)
	}
	return s.webhook(d)
}

// sign is the lower-case hex HMAC-SHA512 of the raw body.
func sign(key string, body []byte) string {
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// queue is a heap by due time.
type queue []*delivery

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }

// Push is for container/heap.
func (q *queue) Push(x any) {
	*q = append(*q, x.(*delivery)) //nolint:errcheck // hooks.push is the one caller
}

// Pop is for container/heap.
func (q *queue) Pop() any {
	old := *q
	last := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return last
}

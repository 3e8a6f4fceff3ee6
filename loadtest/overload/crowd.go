package overload

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/contest"
	"boxoffice/loadtest/openloop"
	"boxoffice/loadtest/rush"
)

// These are the ways in which an order may end. openloop counts each as an operation of its own, so
// accepted and refused orders have separate times.
const (
	opAccepted openloop.Op = iota
	opRefused
	opOdd
)

// crowd places the orders, and keeps the answers as they came. They are decoded only when the
// overload is over: until then the clients share the machine with the node, and decoding would take
// CPU from it. mu guards the answers.
type crowd struct {
	*scene
	name  string
	began time.Time

	mu      sync.Mutex
	answers []answer
}

// answer is the answer to the order with the number n. key is the idempotency key under which the
// order was sent; repeatUnknown sends it again.
type answer struct {
	n   int
	key string
	op  openloop.Op
	// The status of HTTP; 0 means that no answer came.
	status int
	// The time from the beginning of the part to the answer.
	after      time.Duration
	retryAfter string
	body       []byte
	err        error
}

// placeOrder places the order with the number n, for one ticket. Only 201 counts as accepted, and
// only 429 and 503 as a refusal for now; everything else is odd, and a finding.
func (c *crowd) placeOrder(ctx context.Context, n int, key string) answer {
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	a := answer{n: n, key: key, op: opOdd}
	a.err = c.Net.Source(n).Do(ctx, &client.Request{
		Method: "POST", Host: c.API.Host, Path: "/api/v1/orders", Key: key, ContentType: "application/json",
		Body: rush.Encode(rush.PlaceOrder{
			Items: []rush.Item{{TicketTypeID: c.sale.Types[0].ID, Quantity: 1}}, GuestEmail: fmt.Sprintf("%s-%d@load.test", c.name, n), GuestName: "Load Buyer",
		}),
	}, resp)
	if a.err != nil {
		return a
	}
	switch a.status = resp.StatusCode(); a.status {
	case fasthttp.StatusCreated:
		a.op = opAccepted
	case fasthttp.StatusTooManyRequests, fasthttp.StatusServiceUnavailable:
		a.op = opRefused
	}
	// The moment of the answer decides later whether an accepted order was goodput.
	a.after = time.Since(c.began)
	// The response is used again for other requests, so the body is copied.
	a.retryAfter, a.body = string(resp.Header.Peek("Retry-After")), slices.Clone(resp.Body())
	return a
}

// describeOdd describes an answer that is neither an accepted order nor a refusal for now.
func (a *answer) describeOdd() string { return fmt.Sprintf("%d %v %.200s", a.status, a.err, a.body) }

// buyer places one order and does not repeat it, whatever the answer is.
type buyer struct {
	crowd *crowd
	n     int
}

// Step places the order.
func (b *buyer) Step(ctx context.Context) openloop.Result {
	a := b.crowd.placeOrder(ctx, b.n, uuid.NewString())
	b.crowd.mu.Lock()
	b.crowd.answers = append(b.crowd.answers, a)
	b.crowd.mu.Unlock()
	return openloop.Result{Op: a.op, Status: a.status, Done: true}
}

// measurePeak measures how many orders the node takes: each client orders again as soon as it has
// its answer, so the node is never idle and never flooded. The overload is a multiple of this rate.
func (s *scene) measurePeak(ctx context.Context) error {
	var n, accepted atomic.Int64
	var mu sync.Mutex
	latency := hdrhistogram.New(1, time.Minute.Microseconds(), 3)
	s.crowd.began = time.Now()
	end := warmUp + s.cfg.Phase
	err := contest.ForAll(s.cfg.Clients, s.cfg.Clients, func(int, int) error {
		for {
			sent := time.Now()
			a := s.crowd.placeOrder(ctx, int(n.Add(1)), uuid.NewString())
			if a.op == opOdd {
				return fmt.Errorf("an order was answered %s", a.describeOdd())
			}
			// Answers after the end and within the warm-up do not count, but their orders keep the
			// load even.
			if a.after > end {
				return nil
			}
			if a.after > warmUp && a.op == opAccepted {
				accepted.Add(1)
				mu.Lock()
				_ = latency.RecordValue(time.Since(sent).Microseconds()) // the client's patience is shorter than a minute
				mu.Unlock()
			}
		}
	})
	// Only the answers of the measured phase were counted, so the phase is the time to divide by.
	s.out.Peak, s.out.PeakLatency = float64(accepted.Load())/s.cfg.Phase.Seconds(), openloop.PercentilesOf(latency)
	return err
}

// refusal is an answer with the status 429 or 503.
type refusal struct {
	status     int
	retryAfter string
	body       []byte
}

// findFault returns what a refusal lacks of what the API promises: a Retry-After of whole seconds,
// and the envelope with a code, a message and a request id. It returns "" if nothing is missing.
func (r *refusal) findFault() string {
	var seconds int
	if _, err := fmt.Sscan(r.retryAfter, &seconds); err != nil || seconds < 1 {
		return fmt.Sprintf("Retry-After is %q", r.retryAfter)
	}
	var envelope struct {
		Error struct {
			Code, Message string
			Details       *json.RawMessage
		}
		Meta struct {
			RequestID string `json:"request_id"`
		}
	}
	if err := json.Unmarshal(r.body, &envelope); err != nil || envelope.Error.Code == "" || envelope.Error.Message == "" || envelope.Meta.RequestID == "" {
		return fmt.Sprintf("it is not in the envelope: %.200s", r.body)
	}
	return ""
}

// placed is an accepted order.
type placed struct {
	rush.Order
	// What is wrong about how the node shows the order afterwards; "" if nothing is.
	wrong string
}

// unknown is the code of a refusal after which the order may exist all the same. A repeat with the
// same key tells.
const unknown = `"code":"UNAVAILABLE"`

// repeatUnknown sends each order again if its answer left open whether the order was placed, as a
// client would do. The key finds the order that was placed, or else places it now.
func (s *scene) repeatUnknown(ctx context.Context) error {
	var again []*answer
	for i := range s.crowd.answers {
		if a := &s.crowd.answers[i]; a.op == opRefused && bytes.Contains(a.body, []byte(unknown)) {
			again = append(again, a)
		}
	}
	s.out.Unknown = len(again)
	return contest.ForAll(s.cfg.Clients, len(again), func(_, i int) error {
		*again[i] = s.crowd.placeOrder(ctx, again[i].n, again[i].key)
		return nil
	})
}

// readBack sorts the answers of the overload. Then it reads every accepted order and the stock,
// with which Audit compares them.
func (s *scene) readBack(ctx context.Context) error {
	// The repeats come first, because they turn open answers into orders or refusals.
	if err := s.repeatUnknown(ctx); err != nil {
		return err
	}
	o := s.out
	for i := range s.crowd.answers {
		a := &s.crowd.answers[i]
		o.Answers++
		switch a.op {
		case opAccepted:
			var made struct{ Data rush.Order }
			if err := json.Unmarshal(a.body, &made); err != nil {
				o.Odd = append(o.Odd, fmt.Sprintf("201 with %.200s", a.body))
				continue
			}
			o.Orders = append(o.Orders, placed{Order: made.Data})
		case opRefused:
			o.Refuses = append(o.Refuses, refusal{a.status, a.retryAfter, a.body})
		default:
			o.Odd = append(o.Odd, a.describeOdd())
		}
	}
	if err := contest.ForAll(s.cfg.Clients, len(o.Orders), func(_, i int) error {
		o.Orders[i].wrong = s.CheckPlaced(ctx, i, &o.Orders[i].Order)
		return nil
	}); err != nil {
		return err
	}
	taken, err := s.ReadTaken(ctx, s.sale, len(o.Orders))
	o.Taken = int64(taken[s.sale.Types[0].ID])
	return err
}

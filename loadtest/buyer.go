package loadtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// The operations of a buyer; opNames are their names in the report.
const (
	opEvent openloop.Op = iota
	opTickets
	opPlace
	opPay
	opCheckout
	opVerify
	opRead
	opCancel
)

var opNames = []string{
	"GET event", "GET tickets", "POST order", "POST pay", "POST checkout (paysim)", "POST verify", "GET order", "POST cancel",
}

// stage is what a buyer does next: one request.
type stage func(*buyer, context.Context) openloop.Result

// buyer is one visitor of the sale: looks at the event and its tickets, orders,
// and then pays, walks away or cancels. A request that got no definite answer
// is sent again, the same bytes from the same address, until the buyer's
// patience ends.
type buyer struct {
	rush *rush
	svc  client.API
	n    int
	from *client.Source
	rng  *rand.Rand

	next  stage
	email string
	key   string // Idempotency-Key of the placement
	place []byte // body of the placement
	items []item
	fate  fate
	twin  bool // sends another's placement a second time, and nothing else

	order    order
	checkout *url.URL // where to pay

	// Of the request that is being repeated.
	since   time.Time // of its first try
	tries   int
	doubt   bool   // sent, and no definite answer yet
	keyOnce string // Idempotency-Key of pay, verify or cancel
}

// fate is what a buyer will do with a pending order.
type fate int

const (
	pays fate = iota
	walksAway
	cancels
)

// newBuyer draws what the buyer does from the seed and the buyer's number.
func (r *rush) newBuyer(n int) *buyer {
	rng := rand.New(rand.NewPCG(r.cfg.Seed, uint64(n)))
	b := &buyer{
		rush: r, svc: r.svc, n: n, rng: rng, next: (*buyer).lookAtEvent,
		from:  r.net.Source(n),
		email: fmt.Sprintf("buyer-%d@load.test", n),
		items: pick(rng, r.sale.Types[:r.cfg.Types]),
		key:   uuid.NewString(), // not from the seed: a second run is no repeat of the first
	}
	if n > 0 && rng.Float64() < r.cfg.Returning {
		b.email = fmt.Sprintf("buyer-%d@load.test", rng.IntN(n))
	}
	switch u := rng.Float64(); {
	case u < r.cfg.Abandon:
		b.fate = walksAway
	case u < r.cfg.Abandon+r.cfg.Cancel:
		b.fate = cancels
	}
	b.place = encode(placeOrder{Items: b.items, GuestEmail: b.email, GuestName: "Load Buyer"})
	return b
}

// Step sends the buyer's next request.
func (b *buyer) Step(ctx context.Context) openloop.Result {
	if b.since.IsZero() {
		b.since = time.Now()
	}
	placing := openloop.Op(b.rush.placeAs.Load())
	r := b.next(b, ctx)
	if r.Op == opPlace {
		r.Op = placing
	}
	return r
}

func (b *buyer) lookAtEvent(ctx context.Context) openloop.Result {
	a := b.svc.Do(ctx, b.from, client.Call{Method: "GET", Path: "/events/" + url.PathEscape(b.rush.sale.Slug)}, nil)
	if !a.OK() {
		return b.again(opEvent, a)
	}
	return b.then(opEvent, a, (*buyer).lookAtTickets, b.think())
}

func (b *buyer) lookAtTickets(ctx context.Context) openloop.Result {
	path := "/events/" + url.PathEscape(b.rush.sale.EventID) + "/tickets"
	a := b.svc.Do(ctx, b.from, client.Call{Method: "GET", Path: path}, nil)
	if !a.OK() {
		return b.again(opTickets, a)
	}
	if b.rng.Float64() >= b.rush.cfg.Duplicate {
		return b.then(opTickets, a, (*buyer).placeOrder, b.think())
	}
	// A double click: both requests are due at once.
	b.rush.count.Duplicates.Add(1)
	twin := *b
	twin.twin, twin.rng = true, rand.New(rand.NewPCG(b.rush.cfg.Seed, ^uint64(b.n)))
	twin.becomes((*buyer).placeOrder)
	r := b.then(opTickets, a, (*buyer).placeOrder, 0)
	r.Also = &twin
	return r
}

func (b *buyer) placeOrder(ctx context.Context) openloop.Result {
	b.inDoubt()
	var o order
	a := b.svc.Do(ctx, b.from, client.Call{Method: "POST", Path: "/orders", Key: b.key, Body: b.place}, &o)
	if a.OK() && (o.ID == "" || o.AccessToken == "") {
		a.Code, a.Message = client.CodeUnreadable, "an order without id or accessToken"
	}
	if a.Unsettled() {
		return b.again(opPlace, a)
	}
	b.settled()
	if !a.OK() {
		if !b.twin {
			b.rush.count.Refused.Add(1)
		}
		return b.done(opPlace, a)
	}
	b.order = o
	b.rush.acks.add(Entry{
		What: ackPlaced, Buyer: b.n, Key: b.key, Order: o.ID, Token: o.AccessToken, Status: o.Status,
		Total: o.Total, Email: b.email, Items: b.items, Tickets: o.Tickets, From: b.n,
	})
	if b.twin {
		return b.done(opPlace, a)
	}
	b.rush.count.Placed.Add(1)
	if o.Status == completed {
		b.rush.count.Free.Add(1)
		if len(o.Tickets) == 0 {
			return b.then(opPlace, a, (*buyer).readOrder, b.think())
		}
		return b.done(opPlace, a)
	}
	return b.afterPlacing(a)
}

// afterPlacing turns to what the buyer will do with the pending order.
func (b *buyer) afterPlacing(a client.Answer) openloop.Result {
	switch {
	case b.rush.settling.Load():
		return b.done(opPlace, a)
	case b.fate == walksAway:
		b.rush.count.Abandoned.Add(1)
		return b.done(opPlace, a)
	case b.fate == cancels:
		return b.then(opPlace, a, (*buyer).cancelOrder, b.think())
	}
	return b.then(opPlace, a, (*buyer).pay, b.think())
}

func (b *buyer) pay(ctx context.Context) openloop.Result {
	var at payAt
	a := b.svc.Do(ctx, b.from, b.post("/orders/"+url.PathEscape(b.order.ID)+"/pay", map[string]string{
		"provider": "paystack", "token": b.order.AccessToken,
	}), &at)
	if !a.OK() {
		return b.again(opPay, a)
	}
	u, err := url.Parse(at.AuthorizationURL)
	if err == nil {
		_, err = client.HostOf(u)
	}
	if err != nil {
		a.Code, a.Message = client.CodeUnreadable, fmt.Sprintf("authorizationUrl %q: %v", at.AuthorizationURL, err)
		return b.done(opPay, a)
	}
	b.checkout = u
	b.rush.paysimSeen(u)
	return b.then(opPay, a, (*buyer).payAtProvider, b.think())
}

// payAtProvider is what the buyer does on the provider's page.
func (b *buyer) payAtProvider(ctx context.Context) openloop.Result {
	b.inDoubt()
	host, err := client.HostOf(b.checkout)
	if err != nil {
		return b.done(opCheckout, client.Answer{Code: client.CodeUnreadable, Message: err.Error()})
	}
	a := client.Exchange(ctx, b.from, &client.Request{
		Method: "POST", Host: host, Path: b.checkout.RequestURI(),
		ContentType: "application/x-www-form-urlencoded", Body: []byte("outcome=success"),
	}, nil)
	if !a.OK() {
		if !a.Unsettled() {
			b.settled()
		}
		return b.again(opCheckout, a)
	}
	b.rush.acks.add(Entry{What: ackPaid, Buyer: b.n, Order: b.order.ID, Total: b.order.Total})
	return b.then(opCheckout, a, (*buyer).verify, 0)
}

// verify asks until the order is completed. The money is paid, so the buyer is
// in doubt until then.
func (b *buyer) verify(ctx context.Context) openloop.Result {
	var o order
	a := b.svc.Do(ctx, b.from, b.post("/payments/verify", map[string]string{
		"orderId": b.order.ID, "token": b.order.AccessToken,
	}), &o)
	if !a.OK() {
		return b.again(opVerify, a)
	}
	if o.Status == pending || o.Status == processing {
		b.keyOnce = "" // the next one is a new question
		return b.again(opVerify, client.Answer{Status: a.Status})
	}
	b.settled()
	b.ackStatus(o)
	if o.Status == completed {
		b.rush.count.Paid.Add(1)
		if len(o.Tickets) == 0 {
			return b.then(opVerify, a, (*buyer).readOrder, 0)
		}
	}
	return b.done(opVerify, a)
}

// readOrder fetches the tickets of a completed order.
func (b *buyer) readOrder(ctx context.Context) openloop.Result {
	var o order
	a := b.svc.Do(ctx, b.from, readOrder(b.order.ID, b.order.AccessToken), &o)
	if !a.OK() {
		return b.again(opRead, a)
	}
	b.ackStatus(o)
	return b.done(opRead, a)
}

func (b *buyer) cancelOrder(ctx context.Context) openloop.Result {
	if b.tries == 0 {
		b.rush.acks.add(Entry{What: askCancel, Buyer: b.n, Order: b.order.ID})
	}
	b.inDoubt()
	var o order
	a := b.svc.Do(ctx, b.from, b.post("/orders/"+url.PathEscape(b.order.ID)+"/cancel", map[string]string{
		"token": b.order.AccessToken,
	}), &o)
	if a.Unsettled() {
		return b.again(opCancel, a)
	}
	b.settled()
	if a.OK() {
		b.rush.count.Cancelled.Add(1)
		b.ackStatus(order{Status: cancelled})
	}
	return b.done(opCancel, a)
}

// ackStatus notes what the service said has become of the order.
func (b *buyer) ackStatus(o order) {
	b.rush.acks.add(Entry{
		What: ackStatus, Buyer: b.n, Order: b.order.ID, Status: o.Status, Tickets: o.Tickets,
	})
}

// post is a call with a key of its own, the same one until the buyer moves on.
func (b *buyer) post(path string, body any) client.Call {
	if b.keyOnce == "" {
		b.keyOnce = uuid.NewString()
	}
	return client.Call{Method: "POST", Path: path, Key: b.keyOnce, Body: encode(body)}
}

func readOrder(id, token string) client.Call {
	return client.Call{Method: "GET", Path: "/orders/" + url.PathEscape(id) + "?token=" + url.QueryEscape(token)}
}

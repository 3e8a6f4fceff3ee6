package rush

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

// These are the operations of a buyer. OpNames has their names in the report, in the same order.
const (
	opEvent openloop.Op = iota
	opTickets
	OpPlace
	opPay
	opCheckout
	opVerify
	opRead
	OpCancel
)

// OpNames names the operations, in their order.
var OpNames = []string{
	"GET event", "GET tickets", "POST order", "POST pay", "POST checkout (paysim)", "POST verify", "GET order", "POST cancel",
}

// Stage is what a buyer does next. It sends one request and tells how the buyer goes on.
type Stage func(*Buyer, context.Context) openloop.Result

// Buyer is one visitor of the sale. The buyer looks at the event and its tickets, orders, and then
// pays, walks away or cancels. A request without a definite answer is sent again, with the same
// bytes and from the same address, until the buyer's patience ends.
type Buyer struct {
	rush   *Rush
	svc    client.API
	Number int
	From   *client.Source
	Random *rand.Rand

	Next  Stage
	Email string
	// The Idempotency-Key of the placement. It is drawn once, so that repeats are recognized.
	key       string
	Placement []byte // the body of the placement
	Items     []Item
	intention intention
	// The buyer only sends another buyer's placement a second time, as a double click does.
	twin bool

	order Order
	// The address of the page where the buyer pays.
	checkout *url.URL

	// These fields are about the request that is being repeated. When the present request was tried
	// first.
	since time.Time
	// How often the present request has been tried.
	Tries int
	// The request was sent, and there is no definite answer yet.
	InDoubt bool
	// The Idempotency-Key of a request to pay, verify or cancel.
	keyOnce string
}

// intention is what a buyer will do with an order that waits for its payment.
type intention int

const (
	pays intention = iota
	walksAway
	cancels
)

// NewBuyer draws what a buyer does. It depends only on the seed and on the buyer's number, so that
// two runs have the same buyers.
func (r *Rush) NewBuyer(n int) *Buyer {
	rng := rand.New(rand.NewPCG(r.Config.Seed, uint64(n)))
	b := &Buyer{
		rush: r, svc: r.API, Number: n, Random: rng, Next: (*Buyer).lookAtEvent,
		From:  r.Network.Source(n),
		Email: fmt.Sprintf("buyer-%d@load.test", n),
		Items: pickItems(rng, r.Sale.Types[:r.Config.Types]),
		key:   uuid.NewString(), // not from the seed: a second run is no repeat of the first
	}
	// A returning buyer uses the address of an earlier one, and so reaches the cap for each customer.
	if n > 0 && rng.Float64() < r.Config.Returning {
		b.Email = fmt.Sprintf("buyer-%d@load.test", rng.IntN(n))
	}
	switch u := rng.Float64(); {
	case u < r.Config.Abandon:
		b.intention = walksAway
	case u < r.Config.Abandon+r.Config.Cancel:
		b.intention = cancels
	}
	b.Placement = Encode(PlaceOrder{Items: b.Items, GuestEmail: b.Email, GuestName: "Load Buyer"})
	return b
}

// Step sends the buyer's next request.
func (b *Buyer) Step(ctx context.Context) openloop.Result {
	if b.since.IsZero() {
		b.since = time.Now()
	}
	// The phase is read before the request: an order counts for the phase in which it was sent.
	placing := openloop.Op(b.rush.PlaceAs.Load())
	r := b.Next(b, ctx)
	if r.Op == OpPlace {
		r.Op = placing
	}
	return r
}

// lookAtEvent reads the event's page, as every visitor does first.
func (b *Buyer) lookAtEvent(ctx context.Context) openloop.Result {
	a := b.svc.Do(ctx, b.From, client.Call{Method: "GET", Path: "/events/" + url.PathEscape(b.rush.Sale.Slug)}, nil)
	if !a.OK() {
		return b.RepeatLater(opEvent, a)
	}
	return b.ThenDo(opEvent, a, (*Buyer).lookAtTickets, b.ThinkTime())
}

// lookAtTickets reads the stock and then turns to the order. Some buyers click twice: a twin sends
// the same order at the same moment.
func (b *Buyer) lookAtTickets(ctx context.Context) openloop.Result {
	path := "/events/" + url.PathEscape(b.rush.Sale.EventID) + "/tickets"
	a := b.svc.Do(ctx, b.From, client.Call{Method: "GET", Path: path}, nil)
	if !a.OK() {
		return b.RepeatLater(opTickets, a)
	}
	if b.Random.Float64() >= b.rush.Config.Duplicate {
		return b.ThenDo(opTickets, a, (*Buyer).PlaceOrder, b.ThinkTime())
	}
	// A double click: both requests are due at once.
	b.rush.Count.Duplicates.Add(1)
	// The twin is the same buyer with the same key, as the two clicks of one person. It ends after its placing, and
	// has random numbers of its own because both run at once.
	twin := *b
	twin.twin, twin.Random = true, rand.New(rand.NewPCG(b.rush.Config.Seed, ^uint64(b.Number)))
	twin.turnTo((*Buyer).PlaceOrder)
	r := b.ThenDo(opTickets, a, (*Buyer).PlaceOrder, 0)
	r.Also = &twin
	return r
}

// PlaceOrder sends the order, and turns to what the buyer does once the order is placed.
func (b *Buyer) PlaceOrder(ctx context.Context) openloop.Result {
	// From here on the order may exist although no answer comes.
	b.noteDoubt()
	var o Order
	a := b.svc.Do(ctx, b.From, client.Call{Method: "POST", Path: "/orders", Key: b.key, Body: b.Placement}, &o)
	// An order that can't be found again is as bad as no answer.
	if a.OK() && (o.ID == "" || o.AccessToken == "") {
		a.Code, a.Message = client.CodeUnreadable, "an order without id or accessToken"
	}
	if a.Unsettled() {
		return b.RepeatLater(OpPlace, a)
	}
	b.noteAnswered()
	if !a.OK() {
		if !b.twin {
			b.rush.Count.Refused.Add(1)
		}
		return b.End(OpPlace, a)
	}
	// The log has the order before the buyer goes on: from here on it is a promise that the audit checks.
	b.order = o
	b.rush.Acks.Add(Entry{
		What: AckPlaced, Buyer: b.Number, Key: b.key, Order: o.ID, Token: o.AccessToken, Status: o.Status,
		Total: o.Total, Email: b.Email, Items: b.Items, Tickets: o.Tickets, From: b.Number,
	})
	if b.twin {
		return b.End(OpPlace, a)
	}
	b.rush.Count.Placed.Add(1)
	if o.Status == Completed {
		b.rush.Count.Free.Add(1)
		// The answer may lack the tickets. The buyer then reads the order to see them.
		if len(o.Tickets) == 0 {
			return b.ThenDo(OpPlace, a, (*Buyer).readOrder, b.ThinkTime())
		}
		return b.End(OpPlace, a)
	}
	return b.afterPlacing(a)
}

// afterPlacing turns to what the buyer intends to do with the order. After the run nobody begins
// anything new.
func (b *Buyer) afterPlacing(a client.Answer) openloop.Result {
	switch {
	case b.rush.Settling.Load():
		return b.End(OpPlace, a)
	case b.intention == walksAway:
		b.rush.Count.Abandoned.Add(1)
		return b.End(OpPlace, a)
	case b.intention == cancels:
		return b.ThenDo(OpPlace, a, (*Buyer).cancelOrder, b.ThinkTime())
	}
	return b.ThenDo(OpPlace, a, (*Buyer).startPayment, b.ThinkTime())
}

// startPayment asks for the address of the page where the order is paid.
func (b *Buyer) startPayment(ctx context.Context) openloop.Result {
	var at payAt
	a := b.svc.Do(ctx, b.From, b.newCall("/orders/"+url.PathEscape(b.order.ID)+"/pay", map[string]string{
		"provider": "paystack", "token": b.order.AccessToken,
	}), &at)
	if !a.OK() {
		return b.RepeatLater(opPay, a)
	}
	u, err := url.Parse(at.AuthorizationURL)
	if err == nil {
		_, err = client.HostOf(u)
	}
	if err != nil {
		a.Code, a.Message = client.CodeUnreadable, fmt.Sprintf("authorizationUrl %q: %v", at.AuthorizationURL, err)
		return b.End(opPay, a)
	}
	b.checkout = u
	b.rush.notePaysim(u)
	return b.ThenDo(opPay, a, (*Buyer).payAtProvider, b.ThinkTime())
}

// payAtProvider pays on the provider's page. From here on the buyer's money may be gone, so the
// buyer is in doubt until the order is completed.
func (b *Buyer) payAtProvider(ctx context.Context) openloop.Result {
	b.noteDoubt()
	host, err := client.HostOf(b.checkout)
	if err != nil {
		return b.End(opCheckout, client.Answer{Code: client.CodeUnreadable, Message: err.Error()})
	}
	a := client.Exchange(ctx, b.From, &client.Request{
		Method: "POST", Host: host, Path: b.checkout.RequestURI(),
		ContentType: "application/x-www-form-urlencoded", Body: []byte("outcome=success"),
	}, nil)
	if !a.OK() {
		// The provider has refused for sure, so no money is gone.
		if !a.Unsettled() {
			b.noteAnswered()
		}
		return b.RepeatLater(opCheckout, a)
	}
	b.rush.Acks.Add(Entry{What: ackPaid, Buyer: b.Number, Order: b.order.ID, Total: b.order.Total})
	return b.ThenDo(opCheckout, a, (*Buyer).verifyPayment, 0)
}

// verifyPayment asks until the order is completed. The buyer has paid and is in doubt until then.
func (b *Buyer) verifyPayment(ctx context.Context) openloop.Result {
	var o Order
	a := b.svc.Do(ctx, b.From, b.newCall("/payments/verify", map[string]string{
		"orderId": b.order.ID, "token": b.order.AccessToken,
	}), &o)
	if !a.OK() {
		return b.RepeatLater(opVerify, a)
	}
	if o.Status == Pending || o.Status == processing {
		b.keyOnce = "" // the next one is a new question
		return b.RepeatLater(opVerify, client.Answer{Status: a.Status})
	}
	b.noteAnswered()
	b.noteStatus(o)
	if o.Status == Completed {
		b.rush.Count.Paid.Add(1)
		if len(o.Tickets) == 0 {
			return b.ThenDo(opVerify, a, (*Buyer).readOrder, 0)
		}
	}
	return b.End(opVerify, a)
}

// readOrder reads the tickets of a completed order.
func (b *Buyer) readOrder(ctx context.Context) openloop.Result {
	var o Order
	a := b.svc.Do(ctx, b.From, readOrder(b.order.ID, b.order.AccessToken), &o)
	if !a.OK() {
		return b.RepeatLater(opRead, a)
	}
	b.noteStatus(o)
	return b.End(opRead, a)
}

// cancelOrder cancels the order. It notes that in the log before it sends the request, because the
// order may be cancelled although no answer comes.
func (b *Buyer) cancelOrder(ctx context.Context) openloop.Result {
	// A repeat is still the same wish.
	if b.Tries == 0 {
		b.rush.Acks.Add(Entry{What: AskCancel, Buyer: b.Number, Order: b.order.ID})
	}
	b.noteDoubt()
	var o Order
	a := b.svc.Do(ctx, b.From, b.newCall("/orders/"+url.PathEscape(b.order.ID)+"/cancel", map[string]string{
		"token": b.order.AccessToken,
	}), &o)
	if a.Unsettled() {
		return b.RepeatLater(OpCancel, a)
	}
	b.noteAnswered()
	if a.OK() {
		b.rush.Count.Cancelled.Add(1)
		b.noteStatus(Order{Status: Cancelled})
	}
	return b.End(OpCancel, a)
}

// noteStatus notes the status that the service told.
func (b *Buyer) noteStatus(o Order) {
	b.rush.Acks.Add(Entry{
		What: AckStatus, Buyer: b.Number, Order: b.order.ID, Status: o.Status, Tickets: o.Tickets,
	})
}

// newCall makes a call with a key that stays the same until the buyer turns to the next stage.
func (b *Buyer) newCall(path string, body any) client.Call {
	if b.keyOnce == "" {
		b.keyOnce = uuid.NewString()
	}
	return client.Call{Method: "POST", Path: path, Key: b.keyOnce, Body: Encode(body)}
}

// readOrder makes the call that reads an order by its token.
func readOrder(id, token string) client.Call {
	return client.Call{Method: "GET", Path: "/orders/" + url.PathEscape(id) + "?token=" + url.QueryEscape(token)}
}

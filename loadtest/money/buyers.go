package money

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// story is what one buyer does, and what the provider does with the buyer's money.
type story struct {
	name string
	// How often the story is drawn, in proportion to the weights of the others.
	weight int
	// How the simulator treats the payment (package faults).
	modes string
	// What the buyer does at each checkout, one after the other.
	does []string
	// The second checkout is at another provider.
	also bool
	// The order is cancelled before the money comes.
	before bool
	// The order is cancelled after everything else.
	after bool
	// The buyer's page asks about the payment.
	asks bool
	// The only provider for this story; "" for any.
	only string
	// The story happens neither with coins nor with transfers.
	cards bool
}

const (
	pays  = "success"
	fails = "failed"
	// The buyer leaves the page.
	turns = "abandoned"
)

// stories are all the things that can happen between a buyer and a provider. Most have a small
// weight, so that a run also has many orders in which all goes well.
var stories = []story{
	{name: "as it should be", weight: 30, does: []string{pays}},
	{name: "as it should be, and asks", weight: 6, does: []string{pays}, asks: true},
	{name: "pending for some time", weight: 7, modes: "pending=2", does: []string{pays}, asks: true},
	{name: "late", weight: 5, modes: "late=3s", does: []string{pays}},
	{name: "told twice, out of order and late", weight: 7, modes: "duplicate=3,reorder=2s,hookdelay=500ms", does: []string{pays}},
	{name: "told by nobody", weight: 3, modes: "drop", does: []string{pays}},
	{name: "told under a wrong signature, and asks", weight: 3, modes: "badsig", does: []string{pays}, asks: true},
	{name: "too little, and gives up", weight: 3, modes: "short", does: []string{pays}, after: true},
	{name: "too little, and pays again", weight: 3, modes: "short", does: []string{pays, pays}, asks: true},
	{name: "too much", weight: 5, modes: "over", does: []string{pays}},
	{name: "another currency", weight: 4, modes: "currency=ZAR", does: []string{pays}, after: true, cards: true},
	{name: "fails, then works", weight: 5, does: []string{fails, pays}, asks: true},
	{name: "turns away", weight: 3, does: []string{turns}, after: true},
	{name: "gives up, and the money comes", weight: 5, does: []string{pays}, before: true},
	{name: "pays twice", weight: 6, does: []string{pays, pays}, also: true},
	{name: "pays after giving up, told by nobody", weight: 1, modes: "drop", does: []string{pays}, before: true},
	{name: "a slow provider", weight: 3, modes: "slow=1500ms", does: []string{pays}},
	{name: "a provider that loses answers", weight: 4, modes: "error=503@0.3,lost@0.3,reset@0.1", does: []string{pays}, asks: true},
	{name: "coins come again", weight: 3, modes: "again=1s,duplicate=2", does: []string{pays}, only: coins},
	{name: "a refund that fails first", weight: 3, modes: "refundfails", does: []string{pays}, cards: true},
	{name: "a refund that is refused first", weight: 2, modes: "refundrefused", does: []string{pays}, cards: true},
	{name: "a refund that takes time", weight: 3, modes: "refundslow=3s", does: []string{pays}, cards: true},
}

// These are the providers.
const (
	coins       = "nowpayments"
	paystack    = "paystack"
	flutterwave = "flutterwave"
	stripe      = "stripe"
	mollie      = "mollie"
	transfer    = "transfer"
)

// pickStory draws a story, and returns with it the providers that take the sale's currency and fit
// the story, in random order.
func pickStory(rng *rand.Rand, s *sale, skip []string) (*story, []string) {
	for {
		// The draw is in proportion to the weights: a number below their sum falls into the stretch of one story.
		sum := 0
		for i := range stories {
			sum += stories[i].weight
		}
		n := rng.IntN(sum)
		i := 0
		for ; n >= stories[i].weight; i++ {
			n -= stories[i].weight
		}
		t := &stories[i]
		if slices.ContainsFunc(skip, func(part string) bool { return strings.Contains(t.name, part) }) {
			continue
		}
		// A story that no provider of this sale can play is drawn again.
		at := slices.DeleteFunc(slices.Clone(s.providers), func(p string) bool { return t.only != "" && p != t.only || t.cards && (p == coins || p == transfer) })
		if len(at) > 0 {
			rng.Shuffle(len(at), func(i, j int) { at[i], at[j] = at[j], at[i] })
			return t, at
		}
	}
}

// record has the parts of an order that are used here.
type record struct {
	ID, Status, Currency, Total, Fees, AccessToken string
	PromoCode                                      *string
	Items                                          []struct{ Quantity int64 }
	Tickets                                        []struct{ ID, Status string }
	Payments                                       []payment
	Refunds                                        []refund
}

type payment struct {
	Reference, Provider, Status, Received string
}

type refund struct {
	ID, OrderID, Reference, Amount, Currency, Reason, Status string
	TicketID, Message                                        *string
	Manual                                                   bool
}

// playBuyer plays the story of one buyer. The buyer's acts depend only on the seed and on the
// number i.
func (m *market) playBuyer(ctx context.Context, i int) {
	rng := m.newRandom(i)
	s := m.sales[rng.IntN(len(m.sales))]
	t, providers := pickStory(rng, s, m.cfg.Skip)
	email, who := fmt.Sprintf("buyer-%d@load.test", i), (*customer)(nil)
	// One buyer in five has an account, and may ask for the money back later.
	if rng.IntN(5) == 0 {
		who = m.customers[rng.IntN(len(m.customers))]
		email = who.email
	}
	body := map[string]any{
		"items": []rush.Item{{TicketTypeID: s.types[rng.IntN(len(s.types))], Quantity: 1 + rng.IntN(3)}}, "guestEmail": email, "guestName": "Load Buyer",
	}
	if code := s.codes[rng.IntN(len(s.codes))]; code != "" {
		body["promoCode"] = code
	}
	var o record
	a := m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/orders", Body: rush.Encode(body)}, &o)
	// The code is used up, so the buyer orders without it.
	if a.Code == "PROMO_CODE_INVALID" {
		delete(body, "promoCode")
		a = m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/orders", Body: rush.Encode(body)}, &o)
	}
	if !a.OK() {
		return // the service was away for too long
	}
	// From here on the order is compared at the end, whatever becomes of its buyer.
	mine := placed{o.ID, o.AccessToken, s}
	m.mu.Lock()
	m.orders = append(m.orders, mine)
	m.stories[t.name]++
	m.mu.Unlock()
	// The order cost nothing, so there is nothing to pay.
	if o.Status == rush.Completed {
		return
	}
	for n, does := range t.does {
		provider := providers[0]
		if t.also && n == 1 {
			provider = providers[1%len(providers)]
		}
		m.checkOut(ctx, mine, provider, t, does, n)
	}
	m.followOrder(ctx, mine, t, who, rng)
}

// checkOut opens a payment and acts on the provider's page. n counts the checkouts of the order
// from 0. The second payment of a short story pays the rest.
func (m *market) checkOut(ctx context.Context, o placed, provider string, t *story, does string, n int) {
	in := map[string]any{"provider": provider}
	if provider == coins {
		in["payCurrency"] = "usdcbsc"
	}
	var at struct {
		Reference, AuthorizationURL, PayAddress string
		Transfer                                transferTo
	}
	a := m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/orders/" + o.id + "/pay?token=" + url.QueryEscape(o.token), Body: rush.Encode(in)}, &at)
	if !a.OK() {
		// The order was paid in the meantime, or the provider was away for too long.
		return
	}
	// The order is cancelled after its payment was opened and before the buyer pays: the money comes late.
	if t.before && n == 0 {
		m.giveUp(ctx, o)
	}
	if provider == transfer {
		if does == pays {
			m.payIn(ctx, at.Reference, at.Transfer, t.modes, n > 0)
		}
		return
	}
	// Coins have no page at the provider: the buyer pays to an address, and the simulator has a page for each
	// address.
	page := at.AuthorizationURL
	if at.PayAddress != "" {
		page = m.cfg.Paysim + "/checkout/" + at.PayAddress
	}
	modes := t.modes
	// A second payment pays in full: the fault has struck the first one already.
	if n > 0 && strings.HasPrefix(modes, "short") {
		modes = "" // The rest is paid in full.
	}
	m.visitCheckout(ctx, page+"?paysim="+url.QueryEscape(modes), url.Values{"outcome": {does}}.Encode(), "application/x-www-form-urlencoded")
	// Between two payments the buyer's page asks, so that the service knows of the first before the second begins.
	if len(t.does) > n+1 && t.asks {
		m.verifyPayment(ctx, o)
	}
}

// visitCheckout sends something to the simulator and reports whether it was accepted.
func (m *market) visitCheckout(ctx context.Context, address, body, kind string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewBufferString(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", kind)
	res, err := m.web.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close() // nothing in the body matters
	return res.StatusCode < 400
}

// setModes makes the simulator treat all payments in some way that have no modes of their own.
func (m *market) setModes(ctx context.Context, modes string) {
	m.visitCheckout(ctx, m.cfg.Paysim+"/_sim/modes", string(rush.Encode(map[string]string{"modes": modes})), "application/json")
}

// verifyPayment asks the service to look for a payment, as the buyer's page does.
func (m *market) verifyPayment(ctx context.Context, o placed) {
	m.svc.Do(ctx, m.net.Source(1), client.Call{
		Method: "POST", Path: "/payments/verify?token=" + url.QueryEscape(o.token), Body: rush.Encode(map[string]string{"orderId": o.id}),
	}, nil)
}

// giveUp cancels an order.
func (m *market) giveUp(ctx context.Context, o placed) {
	a := m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/orders/" + o.id + "/cancel", Body: rush.Encode(map[string]string{"token": o.token})}, nil)
	if a.OK() {
		m.cancelled.Add(1)
	}
}

// readOrder reads an order as its buyer does.
func (m *market) readOrder(ctx context.Context, o placed) (r record, ok bool) {
	a := m.insistAsGuest(ctx, client.Call{Method: "GET", Path: "/orders/" + o.id + "?token=" + url.QueryEscape(o.token)}, &r)
	return r, a.OK()
}

// followOrder waits a little for the tickets. Some buyers then ask for their money back, and the
// organizer gives some back without being asked.
func (m *market) followOrder(ctx context.Context, o placed, t *story, who *customer, rng *rand.Rand) {
	var r record
	// The buyer waits for about a second. A story whose money takes longer goes on without its buyer.
	for range 6 {
		rig.Wait(ctx, 150*time.Millisecond)
		if t.asks {
			m.verifyPayment(ctx, o)
		}
		var ok bool
		if r, ok = m.readOrder(ctx, o); !ok || r.Status == rush.Completed || r.Status == rush.Cancelled {
			break
		}
	}
	switch {
	case t.after && r.Status != rush.Completed:
		m.giveUp(ctx, o)
	case r.Status != rush.Completed || len(r.Tickets) == 0:
	case who != nil && rng.IntN(2) == 0:
		if m.askRefund(ctx, who, r.Tickets[0].ID) {
			m.asked.Add(1)
		}
	case rng.IntN(5) == 0 || strings.HasPrefix(t.modes, "refund"):
		body := map[string]any{"reason": "The line-up has changed."}
		switch rng.IntN(3) {
		case 0:
			body["ticketIds"] = []string{r.Tickets[rng.IntN(len(r.Tickets))].ID}
		case 1:
			body["amount"] = 1.25 * o.sale.scale()
		}
		if m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "POST", Path: "/organizer/orders/" + o.id + "/refund", Body: rush.Encode(body)}, nil).OK() {
			m.given.Add(1)
		}
	}
}

// insistAsGuest is insistAs without a credential.
func (m *market) insistAsGuest(ctx context.Context, c client.Call, out any) client.Answer {
	return m.insistAs(ctx, "", c, out)
}

// insistAs repeats a call until it has a definite answer. All tries have the same key, so that
// nothing is done twice.
func (m *market) insistAs(ctx context.Context, bearer string, c client.Call, out any) client.Answer {
	c.Bearer, c.Key = bearer, uuid.NewString()
	return m.svc.Insist(ctx, m.net.Source(0), c, m.cfg.Patience, out)
}

// customer is a buyer with an account. Only customers ask for money back. mu guards the session.
type customer struct {
	email string

	mu     sync.Mutex
	bearer string
	since  time.Time
}

// askRefund asks as a customer for the money of a ticket. It reports whether the request was
// accepted.
func (m *market) askRefund(ctx context.Context, who *customer, ticket string) bool {
	who.mu.Lock()
	defer who.mu.Unlock()
	if time.Since(who.since) > 8*time.Minute { // A session is valid for ten minutes.
		if err := m.logIn(ctx, who); err != nil {
			return false
		}
	}
	return m.insistAs(ctx, who.bearer, client.Call{
		Method: "POST", Path: "/users/me/refunds", Body: rush.Encode(map[string]string{"ticketId": ticket, "reason": "I am ill and can't come."}),
	}, nil).OK()
}

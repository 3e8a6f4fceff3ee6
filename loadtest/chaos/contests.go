package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"boxoffice/edge/venuemap"
	"boxoffice/loadtest/client"
	"boxoffice/loadtest/history"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Each contest has few clients. Porcupine, which judges the histories, needs a time that grows fast
// with the number of operations at once.
const (
	// How many clients one contest has.
	contenders = 5
	// How many tickets of a type the clients contend for.
	stockSize = 5
	// The mean pause between two acts of a contender.
	pace = 80 * time.Millisecond
	// A contest for a seat ends after this many unanswered calls, because more of them cannot be
	// judged.
	mostUnknown = 4
	// At how many events of a stalled node clients order when it goes on.
	mostStale = 3
	// How many surprising answers are kept at most.
	mostSurprise = 50
	// How many rows of eight seats an event has.
	rowsOfSeats = 200
	// The time of a hold in seconds. It is longer than a run, so that no hold ends by itself.
	longestHold = 3600
)

// seatedEvent is an event for whose seats clients contend, one seat after another.
type seatedEvent struct {
	*rush.Sale
	*rush.House
	nextSeat atomic.Int64
}

// openSeats puts an event on sale in which every seat has an aisle beside it. So no choice is
// refused because it would leave a single seat between others.
func (c *chaosRun) openSeats(ctx context.Context) (*seatedEvent, error) {
	// The quantity does not matter: the map replaces it by the number of its seats.
	sale, err := c.Organizer.OpenSale(ctx, []rush.SaleType{{Name: "Seat", Quantity: 1, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer}})
	if err != nil {
		return nil, err
	}
	house, err := c.Organizer.SeatByDocument(ctx, sale, &venuemap.Document{
		Name: "Chaos", Canvas: venuemap.Canvas{Width: 1000, Height: 100 * rowsOfSeats}, Focus: []int{500, 20},
		Sections: []venuemap.Section{{ID: "s", Name: "S", Rows: []venuemap.Row{{
			Label: "1", From: []int{100, 100}, To: []int{900, 100}, Count: 8, Repeat: rowsOfSeats, Step: []int{0, 60},
			AislesAfter: []int{1, 2, 3, 4, 5, 6, 7},
		}}}},
	}, longestHold)
	if err != nil {
		return nil, err
	}
	return &seatedEvent{Sale: sale, House: house}, c.Organizer.WaitUntilSized(ctx, sale, len(house.Seats))
}

// runContests lets clients contend for seats, tickets and stocks until the second context ends.
// They then finish what they have begun.
func (c *chaosRun) runContests(ctx, until context.Context) {
	var all sync.WaitGroup
	n := 0 // index of the first contender's client address
	for i := range c.conf.Contests {
		for _, contest := range []func(ctx, until context.Context, first int, rng *rand.Rand){
			func(ctx, until context.Context, first int, rng *rand.Rand) {
				c.contendForSeat(ctx, until, c.seatedEvents[i], first, rng)
			},
			c.contendForTickets, c.contendForStock,
		} {
			first, rng := n, rand.New(rand.NewPCG(c.conf.Seed, uint64(n)))
			n += contenders
			all.Go(func() {
				for until.Err() == nil {
					contest(ctx, until, first, rng)
				}
			})
		}
	}
	all.Wait()
}

// runContenders runs the clients of one contest, which lasts at most conf.Contest. Each gets random
// numbers of its own, so that they do not depend on each other's pace.
func (c *chaosRun) runContenders(until context.Context, rng *rand.Rand, act func(until context.Context, i int, rng *rand.Rand)) {
	until, cancel := context.WithTimeout(until, c.conf.Contest)
	defer cancel()
	var all sync.WaitGroup
	for i := range contenders {
		own := rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		all.Go(func() { act(until, i, own) })
	}
	all.Wait()
}

// pauseContender waits for a random time, so that the acts of the contenders meet in all orders.
func pauseContender(until context.Context, rng *rand.Rand) {
	rig.Wait(until, time.Duration(rng.ExpFloat64()*float64(pace)))
}

// addHistory keeps a history, which is judged after the run.
func (c *chaosRun) addHistory(h *history.History) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.histories = append(c.histories, h)
}

// noteSurprise keeps an answer that no client should ever get.
func (c *chaosRun) noteSurprise(what string, a client.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.surprising) < mostSurprise {
		c.surprising = append(c.surprising, fmt.Sprintf("%s answered %v", what, a.Err()))
	}
}

// tried is a contender's call together with its outcome.
type tried struct {
	client.Answer
	history.Operation // without What
	// An earlier try was not answered, and may still reach the service.
	lost bool
}

// callOnce sends a call to one node, once, and notes when it began and ended.
func (c *chaosRun) callOnce(ctx context.Context, host string, n, contender int, call client.Call, out any) tried {
	op := history.Operation{Client: contender + 1, Node: c.history.names[host], Call: time.Now(), Answer: history.Unknown}
	a := c.API.At(ctx, host, c.hasty.Source(n), call, out)
	op.Return = time.Now()
	return tried{Answer: a, Operation: op}
}

// callUntilAnswered repeats a call with a key until there is a definite answer, as clients are told
// to. The operation in the history lasts from the first try to that answer, because any of the
// tries may have been carried out.
func (c *chaosRun) callUntilAnswered(ctx context.Context, n, contender int, call client.Call, out any) tried {
	return c.callUntilAnsweredFrom(ctx, c.anyNode(), n, contender, call, out)
}

// callUntilAnsweredFrom is callUntilAnswered with a given node for the first try.
func (c *chaosRun) callUntilAnsweredFrom(ctx context.Context, host string, n, contender int, call client.Call, out any) tried {
	first, lost := time.Now(), false
	for tries := 1; ; tries++ {
		t := c.callOnce(ctx, host, n, contender, call, out)
		// The next try may go to another node, as a client's would that got no answer.
		host = c.anyNode()
		t.Call, t.lost = first, lost
		// A try without an answer may still lie in the socket of a node that stands still, and be carried out much
		// later.
		lost = lost || t.Status == 0 && mayBeCarriedOut(t.Answer)
		if !t.Unsettled() || time.Since(first) > 2*c.conf.Patience || ctx.Err() != nil {
			return t
		}
		rig.Wait(ctx, t.RetryAfter+min(rush.FirstPause<<min(tries-1, 4), rush.MostPause))
	}
}

// mayBeCarriedOut reports whether the service may have carried out a call that it did not answer.
func mayBeCarriedOut(a client.Answer) bool {
	return a.Code != client.CodeUnsent && a.Code != "OVERLOADED" && a.Status != 429
}

// contendForSeat lets clients hold and release one seat. Holds have no key, so each try is an
// operation of its own.
func (c *chaosRun) contendForSeat(ctx, until context.Context, h *seatedEvent, first int, rng *rand.Rand) {
	// Each contest has a seat of its own, so that its history begins with a seat that is free.
	seat := h.Seats[int(h.nextSeat.Add(1)-1)%len(h.Seats)]
	past := history.Seat("seat " + seat + " of event " + h.EventID)
	run := uuid.NewString()[:8]
	c.runContenders(until, rng, func(until context.Context, i int, rng *rand.Rand) {
		holder := fmt.Sprintf("contender-%d-%s", i, run)
		for until.Err() == nil && past.Unanswered() < mostUnknown {
			if rng.IntN(3) > 0 {
				c.holdSeat(ctx, past, h, seat, holder, first+i, i)
			} else {
				c.releaseSeat(ctx, past, h, holder, first+i, i)
			}
			pauseContender(until, rng)
		}
		// Every contender leaves the seat free in the end, so that the last state is known.
		for deadline := time.Now().Add(2 * c.conf.Patience); !c.releaseSeat(ctx, past, h, holder, first+i, i); {
			if rig.Wait(ctx, rush.FirstPause); ctx.Err() != nil || time.Now().After(deadline) {
				return
			}
		}
	})
	c.addHistory(past)
}

// holdSeat tries once to hold the seat, and notes the outcome. A call that surely did nothing is no
// operation.
func (c *chaosRun) holdSeat(ctx context.Context, past *history.History, h *seatedEvent, seat, holder string, n, contender int) {
	var got rush.Selection
	t := c.callOnce(ctx, c.anyNode(), n, contender, client.Call{
		Method: "POST", Path: h.Path + "/hold", Body: rush.Encode(rush.HoldSeats{Holder: holder, SeatIDs: []string{seat}}),
	}, &got)
	t.What = history.Hold
	switch {
	case t.OK() && slices.Contains(got.Held, seat):
		t.Operation.Answer = history.Granted
	case t.OK() && got.Reasons[seat] == "taken":
		t.Operation.Answer = history.Refused
	case t.OK() || !t.Unsettled():
		c.noteSurprise(fmt.Sprintf("a hold of seat %s, of which %v,", seat, got), t.Answer)
		return
	case !mayBeCarriedOut(t.Answer):
		return
	}
	past.Note(t.Operation)
}

// releaseSeat tries once to give the seat back, and notes the outcome. It reports whether there was
// a definite answer.
func (c *chaosRun) releaseSeat(ctx context.Context, past *history.History, h *seatedEvent, holder string, n, contender int) bool {
	var got struct {
		Released int `json:"released"`
	}
	t := c.callOnce(ctx, c.anyNode(), n, contender, client.Call{Method: "DELETE", Path: h.Path + "/hold", Body: rush.Encode(rush.HoldSeats{Holder: holder})}, &got)
	t.What = history.Release
	switch {
	case t.OK() && got.Released == 1:
		t.Operation.Answer = history.Granted
	case t.OK():
		t.Operation.Answer = history.Refused
	case !t.Unsettled():
		c.noteSurprise("a release", t.Answer)
		return true
	case !mayBeCarriedOut(t.Answer):
		return false
	}
	past.Note(t.Operation)
	return t.OK()
}

// contendForTickets buys tickets, and lets clients scan each of them at the same moment. Exactly
// one scan may be admitted.
func (c *chaosRun) contendForTickets(ctx, until context.Context, first int, rng *rand.Rand) {
	h := c.measured[rng.IntN(len(c.measured))]
	// The tickets are free, so the order has them at once.
	o, ok := c.orderTickets(ctx, c.anyNode(), first, 0, c.typeOf(h, gateType), rush.MaxPerOrder, nil)
	if !ok {
		return
	}
	for _, ticket := range o.Tickets {
		past := history.Ticket("ticket " + ticket.ID)
		// In the second round the ticket has been used, so no scan may be admitted.
		for range 2 {
			c.runContenders(until, rng, func(until context.Context, i int, rng *rand.Rand) {
				rig.Wait(until, time.Duration(rng.Int64N(int64(pace))))
				c.scanTicket(ctx, past, h, ticket.ShortCode, first+i, i)
			})
		}
		c.addHistory(past)
		// The count is compared with the gates' own at the end.
		admitted := slices.ContainsFunc(past.Operations(), func(op history.Operation) bool { return op.Answer == history.Granted })
		c.mu.Lock()
		if admitted {
			c.admitted[h]++
		}
		c.mu.Unlock()
	}
}

// scanTicket scans a ticket until there is a definite answer, and notes it.
func (c *chaosRun) scanTicket(ctx context.Context, past *history.History, h *rush.Sale, code string, n, contender int) {
	var got struct {
		Status string `json:"status"`
	}
	t := c.callUntilAnswered(ctx, n, contender, client.Call{
		Method: "POST", Path: "/checkin/scan", Bearer: c.Organizer.Bearer, Key: uuid.NewString(), Body: rush.Encode(map[string]string{
			"eventId": h.EventID, "qrData": code, "gateName": fmt.Sprintf("Gate %d", contender), "deviceId": uuid.NewString(),
		}),
	}, &got)
	t.What = history.Scan
	switch {
	case t.OK() && got.Status == "success":
		t.Operation.Answer = history.Granted
	case t.OK() && got.Status == "denied_duplicate":
		t.Operation.Answer = history.Refused
	case t.OK() || !t.Unsettled():
		c.noteSurprise(fmt.Sprintf("a scan of %s, as %q,", code, got.Status), t.Answer)
		return
	}
	past.Note(t.Operation)
}

// contendForStock puts a ticket type with few tickets on sale, and lets clients order and cancel.
func (c *chaosRun) contendForStock(ctx, until context.Context, first int, rng *rand.Rand) {
	h := c.measured[rng.IntN(len(c.measured))]
	// The type is new, so its whole history is known.
	scarce, ok := c.putOnSale(ctx, h, "Scarce", first)
	if !ok {
		return
	}
	past := history.Stock("tickets of type "+scarce.ID, scarce.Quantity)
	c.runContenders(until, rng, func(until context.Context, i int, rng *rand.Rand) {
		for until.Err() == nil {
			if o, ok := c.orderTickets(ctx, c.anyNode(), first+i, i, scarce.ID, 1+rng.IntN(2), past); ok && rng.IntN(4) > 0 {
				pauseContender(until, rng)
				c.cancelOrder(ctx, past, &o, first+i, i)
			}
			pauseContender(until, rng)
		}
	})
	c.addHistory(past)
}

// typeOf returns the id of a ticket type that an event has had from the beginning. It locks,
// because contests add types at the same time.
func (c *chaosRun) typeOf(h *rush.Sale, n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return h.Types[n].ID
}

// putOnSale adds a ticket type with few tickets to an event.
func (c *chaosRun) putOnSale(ctx context.Context, h *rush.Sale, name string, n int) (rush.SaleType, bool) {
	t := rush.SaleType{Name: name + " " + uuid.NewString()[:8], Quantity: stockSize, MaxPerOrder: rush.MaxPerOrder, MaxPerCustomer: rush.MaxPerCustomer}
	var made rush.TicketType
	if a := c.callUntilAnswered(ctx, n, 0, client.Call{
		Method: "POST", Path: "/organizer/events/" + url.PathEscape(h.EventID) + "/tickets", Bearer: c.Organizer.Bearer,
		Key: uuid.NewString(), Body: rush.Encode(t.Request(h.Starts)),
	}, &made); !a.OK() {
		c.noteSurprise("a new ticket type", a.Answer)
		return t, false
	}
	t.ID = made.ID
	c.mu.Lock()
	defer c.mu.Unlock()
	h.Types = append(h.Types, t)
	return t, true
}

// askStale puts new types on sale at events of a stalled node, and orders tickets of them from that
// node as it goes on. The node has never heard of these types. It must find out that it is stale,
// and must not answer that they don't exist.
func (c *chaosRun) askStale(ctx context.Context, m *rig.Member, events []*rush.Sale, goOn func() error) error {
	var orders sync.WaitGroup
	for i, h := range events[:min(len(events), mostStale)] {
		t, ok := c.putOnSale(ctx, h, "Unheard of", i)
		if !ok {
			continue
		}
		for range stockSize {
			orders.Go(func() { c.orderTickets(ctx, m.Host(), i, 0, t.ID, 1, nil) })
		}
	}
	// The orders must have been sent, and must not have been given up yet, when the node goes on.
	rig.Wait(ctx, c.conf.Hasty/2)
	err := goOn()
	orders.Wait()
	return err
}

// orderTickets orders tickets of one type, first from the given node. If there is a history, it
// also notes refusals there.
func (c *chaosRun) orderTickets(ctx context.Context, host string, n, contender int, ticketType string, quantity int, past *history.History) (rush.Order, bool) {
	e := rush.Entry{
		What: rush.AckPlaced, Buyer: n, Key: uuid.NewString(), From: n, Email: "contender-" + uuid.NewString() + "@load.test",
		Items: []rush.Item{{TicketTypeID: ticketType, Quantity: quantity}},
	}
	var o rush.Order
	t := c.callUntilAnsweredFrom(ctx, host, n, contender, e.Call(), &o)
	t.What, t.Quantity = history.Take, quantity
	switch {
	case t.OK():
		t.Operation.Answer = history.Granted
		c.notePlaced(e, &o)
	// This refusal is not noted yet: the earlier try may still be granted.
	case t.Code == "TICKET_SOLD_OUT" && past != nil && t.lost:
		c.mu.Lock()
		c.lateRefusals = append(c.lateRefusals, e)
		c.mu.Unlock()
	case t.Code == "TICKET_SOLD_OUT" && past != nil:
		t.Operation.Answer = history.Refused
	case !t.Unsettled():
		c.noteSurprise("an order", t.Answer)
		return o, false
	default:
		c.Acks.Add(rush.Entry{What: rush.AckUnresolved, Buyer: n, Key: e.Key})
	}
	if past != nil {
		past.Note(t.Operation)
	}
	return o, t.OK()
}

// notePlaced notes an order that was acknowledged. The audit will look for it.
func (c *chaosRun) notePlaced(e rush.Entry, o *rush.Order) {
	e.Order, e.Token, e.Status, e.Total, e.Tickets = o.ID, o.AccessToken, o.Status, o.Total, o.Tickets
	c.Acks.Add(e)
}

// askAgain repeats the orders that were refused while an earlier try of theirs was on its way to a
// stalled node. That try may have arrived after the refusal and been accepted. By the key the
// service finds the order that it made.
func (c *chaosRun) askAgain(ctx context.Context) {
	for _, e := range c.lateRefusals {
		var o rush.Order
		switch t := c.callUntilAnswered(ctx, e.From, 0, e.Call(), &o); {
		case t.OK():
			c.granted++
			c.notePlaced(e, &o)
		case t.Unsettled():
			c.Acks.Add(rush.Entry{What: rush.AckUnresolved, Buyer: e.Buyer, Key: e.Key})
		case t.Code != "TICKET_SOLD_OUT":
			c.noteSurprise("an order that was asked for again", t.Answer)
		}
	}
}

// cancelOrder cancels an order and notes that its tickets come back. They come back some time after
// the answer, so the operation has no end in the history.
func (c *chaosRun) cancelOrder(ctx context.Context, past *history.History, o *rush.Order, n, contender int) {
	// The log has the wish before the request is sent: the order may be cancelled although no answer comes.
	c.Acks.Add(rush.Entry{What: rush.AskCancel, Buyer: n, Order: o.ID})
	t := c.callUntilAnswered(ctx, n, contender, client.Call{
		Method: "POST", Path: "/orders/" + url.PathEscape(o.ID) + "/cancel", Key: uuid.NewString(), Body: rush.Encode(map[string]string{"token": o.AccessToken}),
	}, nil)
	t.What, t.Quantity, t.Return = history.GiveBack, rush.CountItems(o.Items)[o.Items[0].TicketTypeID], history.Never
	switch {
	case t.OK():
		t.Operation.Answer = history.Granted
		c.Acks.Add(rush.Entry{What: rush.AckStatus, Buyer: n, Order: o.ID, Status: rush.Cancelled})
	case !t.Unsettled():
		c.noteSurprise("a cancel", t.Answer)
	}
	past.Note(t.Operation)
}

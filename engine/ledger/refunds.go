package ledger

import (
	"cmp"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
)

// This file has the refunds that somebody asks for. A refund that is granted ends its tickets at once: their codes
// are no longer valid, and the keepers are told to take back what the tickets took, under a serial of the refund's
// own, until each keeper has acknowledged it. The money moves without waiting for that, and the edge reports it
// (decideRefund).
//
// The ledger forgets the record of an order that has ended. A request for a refund brings the read model's
// record along, and the ledger keeps it again for lateMillis, and longer if the refund is not over then.

// Why a refund can't be asked for or granted (docs/rules.md, Refunds).
const (
	RefundUnpaid    = "order_unpaid"
	RefundRefunded  = "refunded"
	RefundRequested = "already_requested"
	refundCheckedIn = "checked_in"
	refundTooOften  = "asked_too_often"
)

// holderAsks is how often holders may ask for the money of one ticket. An order keeps every request, with its texts,
// also if it was denied or taken back.
const holderAsks = 10

// NotEligible is the detail of REFUND_NOT_ELIGIBLE.
type NotEligible struct {
	Reason string `json:"reason"`
}

func notEligible(reason string) engine.Decision {
	return refuse(engine.RefundNotEligible, NotEligible{Reason: reason})
}

// recallOrder returns an order, from the record that the caller brings if the ledger has forgotten its own. In
// that case it also returns the fact that restores the record. It returns nil if the record is not the record of a
// sold order of this event. It refuses a record from before one of the order's tickets was passed on, because the
// ledger would keep it and not know the ticket's new holder. The caller has to read it again.
func (b *Book) recallOrder(t *Terms, id engine.OrderID, record *order.Order, at int64) (*order.Order, []engine.Fact, *engine.Refusal) {
	if o := b.Find(id); o != nil {
		return o, nil, nil
	}
	if record == nil || record.ID != id || !record.Sold() || int64(record.FirstTicket)+record.Tickets() > int64(t.Tickets.Next()) {
		return nil, nil, nil
	}
	for k := range uint32(record.Tickets()) { //nolint:gosec // tickets of an order are few
		ticket := record.FirstTicket + k
		if b.holderVersion(t, ticket) != record.HolderOf(ticket).Version {
			return nil, nil, engine.Refuse(engine.Unavailable, nil)
		}
	}
	return record, []engine.Fact{&OrderRecalled{Order: record, At: at}}, nil
}

// decideAskRefund notes a request for money. If c.Approve is set, it grants the request at once. Either way, pending
// transfers of the tickets are revoked. It refuses the whole request if one of the tickets can't go back
// (refuseTicket), is asked for already, or was asked for too often.
func (b *Book) decideAskRefund(c AskRefund, t *Terms, at int64) engine.Decision {
	o, facts, r := b.recallOrder(t, c.Order, c.Record, at)
	switch {
	case r != nil:
		return engine.Decision{Reply: r}
	case o == nil:
		return refuse(engine.OrderNotFound, nil)
	case !o.Sold():
		return notEligible(RefundUnpaid)
	}
	// All tickets are checked before anything is decided: a request is granted as a whole or not at all.
	for _, ticket := range c.Tickets {
		if _, _, ok := o.LineOf(ticket); !ok {
			return refuse(engine.NotFound, nil)
		}
		if found, _ := t.Tickets.Find(ticket); c.Version != 0 && c.Version != found.Version {
			return refuse(engine.TicketNotFound, nil)
		}
		if reason := b.refuseTicket(t, ticket); reason != "" {
			return notEligible(reason)
		}
		if slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Gives(ticket) }) {
			return notEligible(RefundRequested)
		}
		if c.By == order.AskedByBuyer && o.CountAsks(ticket) >= holderAsks {
			return notEligible(refundTooOften)
		}
	}
	amount, r := b.amountBack(t, o, c.Tickets, c.Amount)
	if r != nil {
		return engine.Decision{Reply: r}
	}
	due := &order.RefundDue{ID: o.ID, Number: len(o.Refunds) + 1, Refund: order.Refund{
		Amount: amount, Reason: c.Reason, Status: order.RefundRequested, At: at,
		Ask: &order.Ask{Tickets: c.Tickets, By: c.By, Message: c.Message, Evidence: c.Evidence, Asker: c.Asker},
	}}
	for _, ticket := range c.Tickets { // nobody may claim a ticket for whose money somebody asks
		if found, _ := t.Tickets.Find(ticket); found.Last.Pending(at) {
			facts = append(facts, found.Last.Revoke(o.ID, at))
		}
	}
	facts = append(facts, due)
	asked := due.Fold(o)
	if !c.Approve {
		return engine.Decision{Facts: facts, Reply: &OrderReply{Order: asked, Status: asked.Status}}
	}
	return b.grantRefund(asked, len(asked.Refunds)-1, amount, "", c.Manual, at, facts)
}

// refuseTicket returns the reason why a ticket's money can't go back, or "".
func (b *Book) refuseTicket(t *Terms, ticket uint32) string {
	switch found, _ := t.Tickets.Find(ticket); found.Status {
	case admission.StatusCheckedIn:
		return refundCheckedIn
	case admission.StatusRefunded, admission.StatusCancelled:
		return RefundRefunded
	}
	return ""
}

// amountBack returns the amount that goes back. If asked is not negative, that is asked, or a refusal if less
// is left of the order's money. Otherwise it is what the tickets cost, plus their share of the fee if the event
// was cancelled, and at most what is left.
func (b *Book) amountBack(t *Terms, o *order.Order, tickets []uint32, asked int64) (int64, *engine.Refusal) {
	left := o.Total - o.AskedBack(false)
	if asked >= 0 {
		if asked > left {
			return 0, engine.Refuse(engine.Validation, keeper.Issues{Issues: []keeper.Issue{{
				Path: "amount", Code: "maximum", Message: "must be at most " + engine.Decimal(left, o.Currency) + ", which is left of the order",
			}}})
		}
		return asked, nil
	}
	return min(costOf(t, o, tickets), left), nil
}

// costOf returns what an order's tickets cost, plus their share of the fee if the event was cancelled.
func costOf(t *Terms, o *order.Order, tickets []uint32) (amount int64) {
	for _, ticket := range tickets {
		line, k, _ := o.LineOf(ticket)
		face := o.Lines[line].FaceValue(k)
		amount += face
		if t.Cancelled && o.Fees > 0 {
			amount += order.Fee(face)
		}
	}
	return amount
}

// decideOnRefund grants or denies a request, or withdraws it for the asker. A request that is not pending any more is
// refused. So is a grant if a ticket can't go back any more, or if the amount is more than is left of the order's money.
// A negative amount stands for what was asked for; if the event was cancelled, for the tickets' cost if that is more.
func (b *Book) decideOnRefund(c DecideRefund, t *Terms, at int64) engine.Decision {
	o, facts, refusal := b.recallOrder(t, c.Order, c.Record, at)
	if refusal != nil {
		return engine.Decision{Reply: refusal}
	}
	if o == nil || c.Position < 0 || c.Position >= len(o.Refunds) || o.Refunds[c.Position].Ask == nil {
		return refuse(engine.NotFound, nil)
	}
	r := &o.Refunds[c.Position]
	if r.Status != order.RefundRequested {
		return refuse(engine.RefundNotPending, OrderState{Status: r.ToldStatus(), Reason: "the refund has been decided"})
	}
	if !c.Approve {
		status := order.RefundDenied
		if c.Cancel {
			status = order.RefundCancelled
		}
		return foldFacts(o, append(facts, &order.RefundDecided{
			ID: o.ID, Position: c.Position, Status: status, Amount: r.Amount, Note: c.Note, At: at,
		}))
	}
	for _, ticket := range r.Ask.Tickets {
		if reason := b.refuseTicket(t, ticket); reason != "" {
			return notEligible(reason)
		}
	}
	amount, left := r.Amount, o.Total-o.AskedBack(false)+r.Amount
	switch {
	case c.Amount > left:
		_, refusal := b.amountBack(t, &order.Order{Total: left}, nil, c.Amount)
		return engine.Decision{Reply: refusal}
	case c.Amount >= 0:
		amount = c.Amount
	case t.Cancelled: // the event may have been cancelled since the refund was asked for
		amount = max(amount, min(costOf(t, o, r.Ask.Tickets), left))
	}
	return b.grantRefund(o, c.Position, amount, c.Note, c.Manual, at, facts)
}

// grantRefund ends the refund's tickets and starts to send the money back: by the provider, or by hand if
// manual is set or no provider was paid. A refund of nothing is processed at once if a provider was paid, or if
// the buyer withdraws.
func (b *Book) grantRefund(o *order.Order, position int, amount int64, note string, manual bool, at int64, facts []engine.Fact) engine.Decision {
	f := &order.RefundDecided{
		ID: o.ID, Position: position, Status: order.RefundProcessing, Amount: amount, Note: note, Manual: manual,
		Serial: keeper.NewSerial(b.epoch, b.counter+1), Tickets: o.Refunds[position].Ask.Tickets, At: at,
	}
	switch paid := o.PaidBy(); {
	case amount == 0 && o.Refunds[position].AskedBy() == order.AskedByWithdrawal:
		f.Status, f.Manual = order.RefundProcessed, false
	case paid == nil: // no provider was paid: the order was free, or the organization issued it
		f.Manual = true
	case amount == 0:
		f.Status, f.Manual = order.RefundProcessed, false
	default:
		f.Reference = paid.Reference
	}
	d := engine.Decision{Facts: append(facts, f)}
	after := f.Fold(o)
	b.sendReturns(&d, after, position, places.OfReturn(after, position))
	d.Reply = &OrderReply{Order: after, Status: after.Status}
	return d
}

// sendReturns adds to d one command for each keeper at the places to. It gives back what a refund's tickets took from
// that keeper: seats, dates, units of a ticket type, or one use of the promo code. It has the ask's serial, except that
// the seat map knows its seats by the order's.
func (b *Book) sendReturns(d *engine.Decision, o *order.Order, position int, to places.Set) {
	ask := o.Refunds[position].Ask
	to.Each(func(place int) {
		back := keeper.Return{
			Claim: keeper.Claim{Order: o.ID, Serial: ask.Serial}, Floor: b.lowestAlive(), Under: ask.Serial, Customer: o.Customer,
		}
		for _, ticket := range ask.Tickets {
			line, k, _ := o.LineOf(ticket)
			l := &o.Lines[line]
			switch place - len(o.Lines) {
			case places.Seats:
				back.Serial = o.Serial // the seats are known by the order's serial
				if int(k) < len(l.Seats) {
					back.Seats = append(back.Seats, l.Seats[k])
				}
			case places.Calendar:
				if b, ok := o.Booking(ticket); ok {
					back.Bookings = append(back.Bookings, b)
				}
			case places.Promo:
				back.Quantity = 1
			default:
				if places.FirstLineOf(o, line) == place {
					back.Quantity++
				}
			}
		}
		d.Sends = append(d.Sends, engine.Send{To: places.KeeperOf(b.home, o, place), Cmd: back})
	})
}

// returning is a refund that waits for keepers to acknowledge what they got back.
type returning struct {
	order    engine.OrderID
	position int
	waiting  places.Set
}

// decideReturned notes that a keeper has taken back what a refund's tickets took. Only the fact after the last keeper,
// RefundReturned, is journaled. An acknowledgement that is not waited for does nothing.
func (b *Book) decideReturned(c keeper.Returned, at int64) engine.Decision {
	serial := c.Under
	r, ok := b.returning[serial]
	o := b.Find(c.Order)
	if !ok || o == nil {
		return engine.Decision{}
	}
	place := places.Of(o, c.Keeper)
	switch {
	case place < 0 || !r.waiting.Has(place):
		return engine.Decision{}
	case r.waiting == places.Only(place):
		return engine.Decision{Facts: []engine.Fact{&order.RefundReturned{ID: r.order, Position: r.position, At: at}}}
	}
	return engine.Decision{Facts: []engine.Fact{&ReturnSeen{Serial: serial, Place: place}}}
}

// resendReturns sends the returns and moves again that keepers have not acknowledged in time. It returns how
// many orders it has looked at, at most wakeLimit.
func (b *Book) resendReturns(d *engine.Decision, now int64) (due int) {
	for _, one := range b.returnDue.Ready(now, wakeLimit) {
		due++
		o := b.Find(one.ID)
		if o == nil {
			continue
		}
		for _, serial := range b.returnsOf(one.ID) {
			r := b.returning[serial]
			b.sendReturns(d, o, r.position, r.waiting)
		}
		b.sendMoved(d, o)
	}
	return due
}

// returnsOf lists the serials of an order's refunds that are being given back, in order.
func (b *Book) returnsOf(id engine.OrderID) []keeper.Serial {
	var all []keeper.Serial
	for serial, r := range b.returning {
		if r.order == id {
			all = append(all, serial)
		}
	}
	slices.SortFunc(all, cmp.Compare)
	return all
}

// applyRecalled keeps an order's record again for lateMillis, unless the ledger has one already.
func (b *Book) applyRecalled(f *OrderRecalled) {
	if f.Order == nil || b.Find(f.Order.ID) != nil {
		return
	}
	b.lateOrders.Put(f.Order)
	b.lateDue.Push(f.At+lateMillis, f.Order.ID)
}

// applyRefundDecided changes the refund, and returns the order before and after that, or nil if it is not here. If the
// refund was granted (it has a serial), it begins to give back to the keepers what its tickets took.
func (b *Book) applyRefundDecided(f *order.RefundDecided) (was, is *order.Order) {
	was, is = b.changeOrder(f.ID, f.Fold)
	if is == nil || f.Serial == 0 {
		return was, is
	}
	if f.Serial.Epoch() == b.epoch {
		b.counter = max(b.counter, uint32(f.Serial)) //nolint:gosec // the lower half
	}
	b.startReturning(is, f.Position, f.At)
	return was, is
}

// startReturning makes the ledger tell the keepers to take back what a granted refund's tickets took, until
// they acknowledge it. It does nothing if they have done so already.
func (b *Book) startReturning(o *order.Order, position int, at int64) {
	if position < 0 || position >= len(o.Refunds) { // the journal is damaged: the order has no such refund
		return
	}
	r := &o.Refunds[position]
	if !r.Approved() || r.Ask.Returned {
		return
	}
	waiting := places.OfReturn(o, position)
	if waiting.Empty() {
		return
	}
	b.returning[r.Ask.Serial] = returning{order: o.ID, position: position, waiting: waiting}
	b.alive.Push(keeper.Claim{Order: o.ID, Serial: r.Ask.Serial})
	b.returnDue.Push(at+resendMillis, o.ID)
}

func (b *Book) applyRefundReturned(f *order.RefundReturned) (was, is *order.Order) {
	was, is = b.changeOrder(f.ID, f.Fold)
	if is != nil && f.Position >= 0 && f.Position < len(is.Refunds) && is.Refunds[f.Position].Ask != nil {
		delete(b.returning, is.Refunds[f.Position].Ask.Serial)
	}
	b.raiseFloor()
	return was, is
}

func (b *Book) applyReturnSeen(f *ReturnSeen) {
	if r, ok := b.returning[f.Serial]; ok {
		r.waiting = r.waiting.Without(f.Place)
		b.returning[f.Serial] = r
	}
}

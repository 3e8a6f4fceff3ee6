package ledger

import (
	"cmp"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// An offer to somebody on the waitlist is an order under the id of their entry. It is not shown, and
// ends with the offer's window; a claim makes it an order like any other.

// EndOffer ends the order that an entry was offered, and with it the entry, and tells the order's keepers to release
// what they have set aside.
func (b *Book) EndOffer(o *order.Order, status string, at int64) engine.Decision {
	d := engine.Decision{Facts: []engine.Fact{&waitlist.EntryEnded{ID: o.ID, Status: status, At: at, Email: o.Email, Name: o.Name, Language: o.Language}}}
	b.tellKeepers(&d, o, places.All(o), false)
	return d
}

// decideLeaveOffer ends the order of an entry that leaves the line. mine is false if no order is offered to the
// entry.
func (b *Book) decideLeaveOffer(c waitlist.Leave, t *Terms, at int64) (d engine.Decision, mine bool) {
	e := t.Line.Find(c.ID)
	if !t.Exists || e == nil || e.Status != waitlist.StatusOffered {
		return engine.Decision{}, false
	}
	gone := *e // entries are never changed
	gone.Status, gone.EndedAt = waitlist.StatusCancelled, at
	d = b.EndOffer(b.Find(e.ID), gone.Status, at)
	d.Reply = t.Line.PlaceOf(&gone)
	return d, true
}

// decideClaimOffer makes an offered order an order like any other. An order that costs nothing is completed at
// once. If the entry has claimed its order before, the answer is the order as it is now. If the entry has no open offer,
// its claim is refused with CONFLICT. An open offer can't be claimed either if the event no longer sells.
func (b *Book) decideClaimOffer(c waitlist.Claim, t *Terms, at int64) engine.Decision {
	if !t.Exists {
		return refuse(engine.EventNotFound, nil)
	}
	e := t.Line.Find(c.ID)
	if e == nil {
		return refuse(engine.NotFound, nil)
	}
	if e.Status == waitlist.StatusClaimed {
		return b.decideGetOrder(GetOrder{Order: c.ID})
	}
	was := b.Find(c.ID)
	switch {
	case e.Status != waitlist.StatusOffered || was == nil:
		return refuse(engine.Conflict, waitlist.Standing{Status: e.Status})
	case was.ExpiresAt <= at:
		return refuse(engine.Conflict, waitlist.Standing{Status: waitlist.StatusExpired})
	case !t.Selling:
		return engine.Decision{Reply: b.refuseLine(t, &was.Lines[0])}
	}
	o := *was
	o.Status, o.CreatedAt, o.UpdatedAt, o.ExpiresAt = order.StatusPending, at, at, at+t.OrderWindow
	o.Client = cmp.Or(e.Client, e.Customer) // not 0, which would make it an order of the box office (package velocity)
	d := engine.Decision{Facts: []engine.Fact{&waitlist.Claimed{ID: o.ID, At: at}, &order.Created{Order: &o}}}
	reply := &o
	if o.Total == 0 {
		f := &order.Completed{ID: o.ID, Serial: o.Serial, First: t.Tickets.Next(), At: at}
		d.Facts = append(d.Facts, f)
		reply = f.Fold(&o)
		b.tellKeepers(&d, &o, places.All(&o), true)
	}
	d.Reply = &OrderReply{Order: reply, Status: reply.Status}
	return d
}

// StartOffer begins an order for a waitlist's entry, with the entry's id, and asks the ticket type for the units. How
// long the offer may be claimed depends on the event's start or, once that is past, on its end (Line.OfferMillis).
func (b *Book) StartOffer(t *Terms, e *waitlist.Entry, typ, at int64) engine.Decision {
	until := t.StartAt
	if until <= at {
		until = t.EndAt
	}
	o := &order.Order{
		ID: e.ID, Serial: keeper.NewSerial(b.epoch, b.counter+1), Status: order.StatusOffered,
		Email: e.Email, Name: e.Name, Customer: e.Customer, Language: e.Language, Lines: []order.Line{{Type: typ, Quantity: e.Quantity}},
		Currency: t.Currency, CreatedAt: at, UpdatedAt: at, ExpiresAt: at + t.Line.OfferMillis(e, at, until),
	}
	return b.startPlacing(&placing{order: o, at: at, waiting: places.All(o), offer: true})
}

// makeOffer makes the order that an entry is offered, unless the entry has left the list since.
func (b *Book) makeOffer(t *Terms, o *order.Order) engine.Decision {
	if e := t.Line.Find(o.ID); e == nil || e.Status != waitlist.StatusWaiting {
		return b.dropPlacing(b.placing[o.ID], engine.Refuse(engine.NotFound, nil), -1)
	}
	o.SumUp(t.AbsorbFees)
	o.Digital = t.Digital
	return engine.Decision{Facts: []engine.Fact{&waitlist.OfferMade{Order: o}}}
}

// applyOffered stores the order that an entry is offered.
func (b *Book) applyOffered(o *order.Order) {
	if b.placing[o.ID] != nil {
		b.endPlacing(o.ID)
	} else {
		b.unitsTaken += o.Tickets()
	}
	b.openOrders.Put(o)
	b.expiry.Add(o.ExpiresAt, o.ID)
}

// applyOfferEnded gives up the order that an entry was offered: its units are free, and its keepers are to acknowledge
// the end. If no order is offered to the entry, it does nothing.
func (b *Book) applyOfferEnded(f *waitlist.EntryEnded) {
	o := b.openOrders.Get(f.ID)
	if o == nil || o.Status != order.StatusOffered {
		return
	}
	c := *o
	c.Status, c.UpdatedAt, c.EndedAt = cmp.Or(f.Status, waitlist.StatusExpired), f.At, f.At
	b.unitsTaken -= o.Tickets()
	b.openOrders.Put(&c)
	b.settleFrom(&c, f.At)
}

// EraseOffered replaces a person by a pseudonym in the order that the person's entry was offered.
func (b *Book) EraseOffered(entry engine.OrderID, customer uint64, pseudonym string) {
	b.changeOrder(entry, func(o *order.Order) *order.Order { return o.Erase(customer, pseudonym) })
}

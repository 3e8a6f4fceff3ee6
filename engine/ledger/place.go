package ledger

import (
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger/places"
	"boxoffice/engine/order"
	"boxoffice/engine/velocity"
)

// decidePlace asks every keeper for its line, except the wallet, which is asked last (createOrder). The caller
// waits (Decision.WaitKey) until all have granted, one has refused, or placeMillis are over. It asks nobody if the
// order can be refused without them. A repeat gets the answer of the first.
func (b *Book) decidePlace(c Place, t *Terms, at int64) engine.Decision {
	// A repeat must get its first answer even if the order would be refused by now, so nothing is checked before.
	if d, known := b.decideKnown(c); known {
		return d
	}
	if c.Late {
		return engine.Decision{Reply: engine.Refuse(engine.QueueRequired, nil)}
	}
	p, r := b.beginPlacing(t, c, 1, at)
	if r != nil {
		return engine.Decision{Reply: r}
	}
	if r := b.buyers.RefuseOrder(p.order, p.presale, t.makeVelocityTerms(p.scale), at); r != nil {
		return engine.Decision{Reply: r}
	}
	if r := b.refuseRoom(t, c.Lines, p.order.Tickets()); r != nil {
		return engine.Decision{Reply: r}
	}
	return b.startPlacing(p)
}

// beginPlacing returns an order that is to be placed, or the reason why it can't be: the event does not exist or does
// not sell, or a line names an unknown ticket type, or wrongly has or lacks seats or a date. nth counts the orders
// that are begun together, from 1.
func (b *Book) beginPlacing(t *Terms, c Place, nth uint32, at int64) (*placing, *engine.Refusal) {
	if !t.Exists {
		return nil, engine.Refuse(engine.TicketTypeNotFound, nil)
	}
	for i := range c.Lines {
		if t.Offers[c.Lines[i].Type].Revision == 0 {
			return nil, engine.Refuse(engine.TicketTypeNotFound, keeper.OfType{TicketTypeID: b.typeID(&c.Lines[i])})
		}
	}
	if !t.Selling {
		return nil, b.refuseLine(t, &c.Lines[0])
	}
	if r := b.missSeats(t, c.Lines); r != nil {
		return nil, r
	}
	if r := b.missDates(t, c.Lines); r != nil {
		return nil, r
	}
	o := &order.Order{
		ID: c.Order, Serial: keeper.NewSerial(b.epoch, b.counter+nth), Fingerprint: c.Fingerprint,
		Status: order.StatusPending, Email: c.Email, Name: c.Name, Customer: c.Customer, Client: c.Client, Lines: c.Lines,
		Currency: t.Currency, CreatedAt: at, UpdatedAt: at, ExpiresAt: at + t.OrderWindow,
	}
	o.Promo, o.Issue, o.Language = c.Promo, c.Issue, c.Language
	if c.Waive && t.Digital {
		o.WaivedAt = at
	}
	if takesSeats(c.Lines) {
		o.Shopper = &order.Shopper{Holder: c.Holder, Principal: c.Principal}
	}
	return &placing{order: o, at: at, presale: c.PresaleCode, scale: c.Scale, waiting: places.All(o)}, nil
}

// refuseRoom refuses more tickets than the event's capacity still admits.
func (b *Book) refuseRoom(t *Terms, lines []order.Line, tickets int64) *engine.Refusal {
	if tickets <= t.RoomForAll {
		return nil
	}
	return engine.Refuse(engine.TicketSoldOut, keeper.OutOfStock{TicketTypeID: b.typeID(&lines[0]), Requested: tickets, Available: t.RoomForAll})
}

// makeVelocityTerms returns what the velocity rules must know about the event. scale multiplies their limits.
func (t *Terms) makeVelocityTerms(scale float64) velocity.Terms {
	return velocity.Terms{Limits: t.Velocity, Window: t.OrderWindow, Scale: scale}
}

// decideKnown answers a Place whose order is known under its id or its alias (decideKnownAs).
func (b *Book) decideKnown(c Place) (engine.Decision, bool) {
	if d, known := b.decideKnownAs(c.Order, c.Fingerprint); known || c.Alias.Zero() {
		return d, known
	}
	return b.decideKnownAs(c.Alias, c.Fingerprint)
}

// decideKnownAs answers a Place under an id, and reports whether the id is known. While its order is being
// placed, the caller waits like the first one; afterwards it gets the order as it was placed or, of a closed
// order, only the outcome. The same id with another body is refused.
func (b *Book) decideKnownAs(id engine.OrderID, body uint64) (engine.Decision, bool) {
	other := func(fingerprint uint64) (engine.Decision, bool) {
		return refuse(engine.IdempotencyReused, nil), fingerprint != body
	}
	if p := b.placing[id]; p != nil && p.late == nil {
		if d, differs := other(p.order.Fingerprint); differs {
			return d, true
		}
		return engine.Decision{WaitKey: p.caller()}, true
	}
	if o := b.Find(id); o != nil {
		if d, differs := other(o.Fingerprint); differs {
			return d, true
		}
		o = o.Placed()
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status, Known: true}}, true
	}
	if status, print, ok := b.closedOrders.Find(id); ok {
		if d, differs := other(print); differs {
			return d, true
		}
		return engine.Decision{Reply: &OrderReply{ID: id, Past: true, Status: status, Known: true}}, true
	}
	return engine.Decision{}, false
}

func (b *Book) typeID(l *order.Line) string {
	return engine.NumberedID(b.home, l.Type).String()
}

// refuseLine refuses a line because of the event's status.
func (b *Book) refuseLine(t *Terms, l *order.Line) *engine.Refusal {
	return b.notOnSale(t, l, "event_"+t.Status)
}

func (b *Book) notOnSale(t *Terms, l *order.Line, reason string) *engine.Refusal {
	o := t.Offers[l.Type]
	iso := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }
	return engine.Refuse(engine.NotOnSale, keeper.NotOnSale{
		TicketTypeID: b.typeID(l), SaleStart: iso(o.SaleStart), SaleEnd: iso(o.SaleEnd), Reason: reason,
	})
}

// startPlacing makes the caller wait, and asks the keepers. The keepers of a new order are asked at once,
// before its facts are durable (Asks), and without a floor, because the ends that raised the floor may not be
// durable yet. The keepers of an order with late money are asked only when the facts are durable. Otherwise a
// crash could bring the order back as it was before its end, and the new reservation would have replaced the
// one that the order needs then.
func (b *Book) startPlacing(p *placing) engine.Decision {
	d := engine.Decision{WaitKey: p.caller(), Facts: []engine.Fact{&Placing{placing: p}}}
	claim := keeper.Claim{Order: p.order.ID, Serial: p.order.Serial}
	var floor keeper.Serial
	if p.late != nil {
		floor = b.lowestAlive()
	}
	sole := p.waiting.Len() == 1 && p.late == nil && p.order.Issue == nil
	var asks []engine.Send
	p.waiting.Each(func(place int) {
		asks = append(asks, engine.Send{To: places.KeeperOf(b.home, p.order, place), Cmd: keeper.Reserve{
			Claim: claim, Floor: floor, Sole: sole, Line: p.askedOf(place),
		}})
	})
	if p.late == nil {
		d.Asks = asks
	} else {
		d.Sends = asks
	}
	return d
}

// decideGranted notes that a keeper has granted. The last grant makes the order, completes the one with late
// money, or moves the ticket. It is too late if the event no longer sells or the buyer has tried too many
// codes: then the order is dropped, or late money is sent back.
func (b *Book) decideGranted(c keeper.Granted, t *Terms, at int64) engine.Decision {
	if m := b.moving[c.Order]; m != nil && m.serial == c.Serial {
		return b.decideMoveGranted(t, m, c, at)
	}
	p := b.placing[c.Order]
	if p == nil || p.order.Serial != c.Serial {
		return engine.Decision{} // the keeper will ask and get an answer
	}
	place := places.Of(p.order, c.Keeper)
	if place < 0 || !p.waiting.Has(place) {
		return engine.Decision{}
	}
	if p.waiting != places.Only(place) || p.group != nil && p.group.waiting > 1 {
		return engine.Decision{Facts: []engine.Fact{lineGranted(c, place)}}
	}
	switch {
	case p.late != nil && b.Find(c.Order) == nil: // the order was forgotten while its places were reserved
		return b.dropPlacing(p, engine.Refuse(engine.Unavailable, nil), -1)
	case p.late != nil && !t.Selling:
		return b.refundLate(p, at)
	case p.late != nil:
		return b.settleLate(t, p, at)
	}
	if !t.Selling {
		return b.dropPlacing(p, b.refuseLine(t, &p.order.Lines[0]), -1)
	}
	if p.group != nil {
		return b.createAll(t, p, lineGranted(c, place), at)
	}
	if r := b.buyers.RefuseGuess(p.order, p.presale, t.makeVelocityTerms(p.scale), at); r != nil { // the buyer has tried other, wrong codes since
		return b.dropPlacing(p, r, -1)
	}
	return b.createOrder(t, p, place, c, at)
}

// createOrder makes the order of p after its last grant. If the organization owes a fee for it, the wallet is
// asked first. If its promo code turns out not to be valid, p is dropped. If p is for an entry on the waitlist,
// it becomes an offer (makeOffer). An order for which nobody has to pay is completed at once.
func (b *Book) createOrder(t *Terms, p *placing, place int, c keeper.Granted, at int64) engine.Decision {
	o := *p.order
	takeGrant(&o, lineGranted(c, place))
	if fee := o.IssueFee(); fee > 0 && !o.TakesFee() {
		return b.askFee(t, &o, lineGranted(c, place), fee)
	}
	if o.Promo != nil {
		if reason := o.ApplyCode(); reason != "" {
			return b.dropPlacing(p, engine.Refuse(engine.PromoCodeInvalid, keeper.BadCode{Reason: reason}), -1)
		}
	}
	if p.offer {
		return b.makeOffer(t, &o)
	}
	var d engine.Decision
	reply := b.addMade(t, &d, &o, t.Tickets.Next(), at)
	d.Answers = []engine.Answer{{Key: o.ID, Reply: &OrderReply{Order: reply, Status: reply.Status}}}
	return d
}

// addMade adds the facts of an order for which everything is granted, and returns the order as it is after
// them. If nobody has to pay for it, it gets tickets from the serial first on.
func (b *Book) addMade(t *Terms, d *engine.Decision, o *order.Order, first uint32, at int64) *order.Order {
	o.SumUp(t.AbsorbFees)
	o.Digital = t.Digital
	d.Facts = append(d.Facts, &order.Created{Order: o})
	if !o.CompletesAtOnce() {
		return o
	}
	f := &order.Completed{ID: o.ID, Serial: o.Serial, First: first, At: at}
	d.Facts = append(d.Facts, f)
	b.tellKeepers(d, o, places.All(o), true)
	return f.Fold(o)
}

// lineGranted returns the fact of what a keeper grants for one of an order's places.
func lineGranted(c keeper.Granted, place int) *LineGranted {
	return &LineGranted{ID: c.Order, Line: place, Price: c.Price, Name: c.Name, Discount: c.Discount, Visits: c.Visits, Terms: c.Terms}
}

// takeGrant writes what a keeper has granted into an order that is being placed: price, name and terms into all lines of
// a ticket type, the code's terms, or each line's visit. Seat map and wallet grant nothing that is written. A
// complimentary ticket costs nothing, whatever its price.
func takeGrant(o *order.Order, g *LineGranted) {
	switch g.Line - len(o.Lines) {
	case places.Seats, places.Wallet:
	case places.Promo:
		if g.Discount != nil {
			o.Promo = &order.Promo{Ref: o.Promo.Ref, Code: g.Discount.Code, Terms: g.Discount.In(o.Currency)}
		}
	case places.Calendar:
		o.Lines = slices.Clone(o.Lines)
		for i := range g.Visits[:min(len(g.Visits), len(o.Lines))] {
			o.Lines[i].Visit = &g.Visits[i]
		}
	default:
		if o.Lines = slices.Clone(o.Lines); o.Issue != nil && o.Issue.Comp {
			g = &LineGranted{Line: g.Line, Name: g.Name, Terms: g.Terms} // a complimentary ticket costs nothing
		}
		for i := range o.Lines {
			if o.Lines[i].Type == o.Lines[g.Line].Type {
				o.Lines[i].UnitPrice, o.Lines[i].Name, o.Lines[i].Terms = g.Price, g.Name, g.Terms
			}
		}
	}
}

// decideRefused acts on a keeper's refusal: the order or move is dropped, and the other keepers give back what
// they have set aside. Late money is sent back. A wrong presale code is counted as a guess.
func (b *Book) decideRefused(c keeper.Refused, t *Terms, at int64) engine.Decision {
	if m := b.moving[c.Order]; m != nil && m.serial == c.Serial {
		return b.dropMove(m, b.refuseMoved(t, m, c.Refusal), false)
	}
	p := b.placing[c.Order]
	if p == nil || p.order.Serial != c.Serial {
		return engine.Decision{}
	}
	if p.late != nil && b.Find(c.Order) != nil {
		return b.refundLate(p, at)
	}
	d := b.dropPlacing(p, b.refuseAll(p, c.Refusal), places.Of(p.order, c.Keeper))
	if c.Refusal.Code == engine.PresaleCodeRequired && p.presale != "" && velocity.Counts(p.order) {
		if r := b.buyers.RefuseGuess(p.order, p.presale, t.makeVelocityTerms(p.scale), at); r != nil {
			d.Answers[0].Reply = r // a code beyond the limit gets no verdict
		} else {
			d.Facts = append(d.Facts, &velocity.Guessed{Customer: p.order.Customer, Client: p.order.Client, At: at})
		}
	}
	return d
}

// dropPlacing forgets an order that waited for its keepers, and answers its callers. All keepers but the one at
// the refusing place (-1 if none has refused) are told to release. The orders that are placed together with it
// are forgotten as well.
func (b *Book) dropPlacing(p *placing, why *engine.Refusal, refusing int) engine.Decision {
	d := engine.Decision{Answers: []engine.Answer{{Key: *p.caller(), Reply: why}}}
	for _, q := range b.placedTogether(p) {
		d.Facts = append(d.Facts, &Dropped{ID: q.order.ID})
		release := places.All(q.order)
		if q == p && refusing >= 0 {
			release = release.Without(refusing)
		}
		b.tellKeepers(&d, q.order, release, false)
	}
	if p.offer { // a caller under this id waits for its place in line, not for the order
		d.Answers = nil
	}
	return d
}

// decideClosed notes that a keeper has carried out an order's end, or that the calendar has carried out a ticket's move.
// An acknowledgement of another serial, or one that is not waited for, does nothing.
func (b *Book) decideClosed(c keeper.Closed, at int64) engine.Decision {
	if _, ok := b.moved[c.Serial]; ok {
		return engine.Decision{Facts: []engine.Fact{&order.RescheduleSettled{ID: c.Order, Serial: c.Serial, At: at}}}
	}
	o := b.openOrders.Get(c.Order)
	if o == nil || o.Serial != c.Serial {
		return engine.Decision{}
	}
	line := places.Of(o, c.Keeper)
	if line < 0 || !b.settling[c.Order].Has(line) {
		return engine.Decision{}
	}
	return engine.Decision{Facts: []engine.Fact{&LineSettled{ID: c.Order, Line: line, At: at}}}
}

// decideInquire answers a keeper that asks about its reservations. It confirms the reservations of unpaid orders
// and releases the reservations that no order knows. If an order has ended, or its ticket has moved, it tells the
// keeper so again. About orders that are still being placed and tickets that wait for a new place it says nothing.
func (b *Book) decideInquire(c keeper.Inquire) engine.Decision {
	var d engine.Decision
	var confirmed []keeper.Claim
	for _, claim := range c.Claims {
		if claim.Serial.Epoch() > b.epoch {
			continue // a later activation made this serial, and only that activation can judge it
		}
		if p := b.placing[claim.Order]; p != nil && p.order.Serial == claim.Serial {
			continue // not durable yet; the keeper will ask again
		}
		if m := b.moving[claim.Order]; m != nil && m.serial == claim.Serial {
			continue
		}
		if _, ok := b.moved[claim.Serial]; ok {
			if o := b.Find(claim.Order); o != nil {
				b.sendMoved(&d, o)
			}
			continue
		}
		serial, status, ok := b.openOrders.HeadOf(claim.Order)
		switch {
		case !ok || serial != claim.Serial:
			d.Sends = append(d.Sends, engine.Send{To: c.Keeper, Cmd: keeper.Release{Claim: claim, Floor: b.lowestAlive()}})
		case order.Unpaid(status):
			confirmed = append(confirmed, claim)
		default:
			o := b.openOrders.Get(claim.Order)
			if line := places.Of(o, c.Keeper); line >= 0 {
				b.tellKeepers(&d, o, places.Only(line), o.Sold())
			}
		}
	}
	if len(confirmed) > 0 {
		d.Sends = append(d.Sends, engine.Send{To: c.Keeper, Cmd: keeper.Confirmed{Claims: confirmed}})
	}
	return d
}

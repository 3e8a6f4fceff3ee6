package event

import (
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// decidePlace asks every keeper for its line. The caller waits (Hold) until all
// have granted or one has refused.
func (s *State) decidePlace(c Place, at int64) engine.Decision {
	if d, known := s.decideKnown(c); known {
		return d
	}
	if s.details == nil {
		return refuse(engine.TicketTypeNotFound, nil)
	}
	for i := range c.Lines {
		if _, ok := s.offer(c.Lines[i].Type); !ok {
			return refuse(engine.TicketTypeNotFound, keeper.OfType{TicketTypeID: s.typeID(&c.Lines[i])})
		}
	}
	if !selling(s.status) {
		return engine.Decision{Reply: s.blocked(&c.Lines[0])}
	}
	if !Sellable(s.details.Category) { // the release before let it be published
		return engine.Decision{Reply: s.notOnSale(&c.Lines[0], notSoldYet)}
	}
	if r := s.missSeats(c.Lines); r != nil {
		return engine.Decision{Reply: r}
	}
	o := &Order{
		ID: c.Order, Serial: keeper.NewSerial(s.epoch, s.counter+1), Fingerprint: c.Fingerprint,
		Status: Pending, Email: c.Email, Name: c.Name, Customer: c.Customer, Client: c.Client, Lines: c.Lines,
		Currency: s.details.Currency, CreatedAt: at, UpdatedAt: at, ExpiresAt: at + s.details.OrderWindow,
	}
	if takesSeats(c.Lines) {
		o.Shopper = &Shopper{Holder: c.Holder, Principal: c.Principal}
	}
	p := &placing{order: o, at: at, presale: c.PresaleCode, scale: c.Scale, waiting: allLines(o)}
	if r := s.ordering(p, at); r != nil {
		return engine.Decision{Reply: r}
	}
	if left := s.room(); left != NoCapacity && o.Tickets() > left {
		return refuse(engine.TicketSoldOut, keeper.OutOfStock{
			TicketTypeID: s.typeID(&c.Lines[0]), Requested: o.Tickets(), Available: left,
		})
	}
	return s.startPlacing(p)
}

// decideKnown answers a Place that has been seen before, with what it was
// answered then.
func (s *State) decideKnown(c Place) (engine.Decision, bool) {
	if d, known := s.decideKnownAs(c.Order, c.Fingerprint); known || c.Alias.Zero() {
		return d, known
	}
	if d, known := s.decideKnownAs(c.Alias, c.Fingerprint); known {
		return d, true
	}
	for _, id := range c.Former {
		if d, known := s.decideKnownAs(id, c.Fingerprint); known {
			return d, true
		}
	}
	return engine.Decision{}, false
}

func (s *State) decideKnownAs(id engine.OrderID, body uint64) (engine.Decision, bool) {
	other := func(fingerprint uint64) (engine.Decision, bool) {
		return refuse(engine.IdempotencyReused, nil), fingerprint != body
	}
	if p := s.placing[id]; p != nil && p.late == nil {
		if d, differs := other(p.order.Fingerprint); differs {
			return d, true
		}
		return engine.Decision{Hold: &p.order.ID}, true
	}
	if o := s.find(id); o != nil {
		if d, differs := other(o.Fingerprint); differs {
			return d, true
		}
		o = o.Placed()
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status, Known: true}}, true
	}
	if status, print, ok := s.past.find(id); ok {
		if d, differs := other(print); differs {
			return d, true
		}
		return engine.Decision{Reply: &OrderReply{ID: id, Past: true, Status: status, Known: true}}, true
	}
	return engine.Decision{}, false
}

// room is how many more units the event's capacity admits, or NoCapacity.
func (s *State) room() int64 {
	if s.details.Capacity == NoCapacity {
		return NoCapacity
	}
	return max(0, s.details.Capacity-s.live)
}

// full says that the event's capacity is used up by orders that have been made.
func (s *State) full() bool {
	return s.details != nil && s.details.Capacity != NoCapacity && s.live-s.begun >= s.details.Capacity
}

func (s *State) typeID(l *OrderLine) string {
	return engine.NumberedID(s.ref.Event, l.Type).String()
}

// blocked refuses a line because of the event's status.
func (s *State) blocked(l *OrderLine) *engine.Refusal { return s.notOnSale(l, "event_"+s.status) }

func (s *State) notOnSale(l *OrderLine, reason string) *engine.Refusal {
	o := s.offers[l.Type]
	iso := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }
	return engine.Refuse(engine.NotOnSale, keeper.NotOnSale{
		TicketTypeID: s.typeID(l), SaleStart: iso(o.SaleStart), SaleEnd: iso(o.SaleEnd), Reason: reason,
	})
}

// startPlacing holds the caller and asks the keepers: at once for an order of
// which nobody has heard, and without a floor, for what ended may not be durable
// yet. Late money waits: its order may come back with the reservation it had.
func (s *State) startPlacing(p *placing) engine.Decision {
	d := engine.Decision{Hold: &p.order.ID, Facts: []engine.Fact{&Placing{placing: p}}}
	claim := keeper.Claim{Order: p.order.ID, Serial: p.order.Serial}
	var floor keeper.Serial
	if p.late != nil {
		floor = s.floor()
	}
	sole := len(p.order.Lines) == 1 && !p.order.seated() && p.late == nil
	var asks []engine.Send
	for i := range p.order.Lines {
		l := &p.order.Lines[i]
		asks = append(asks, engine.Send{To: s.keeperOf(p.order, i), Cmd: keeper.Reserve{
			Claim: claim, Floor: floor, Sole: sole,
			Line: keeper.Line{
				Quantity: l.Quantity, Customer: p.order.Customer, PresaleCode: p.presale, Late: p.late != nil, Seated: len(l.Seats) > 0,
			},
		}})
	}
	if p.order.seated() {
		l := p.order.seats()
		l.Late = p.late != nil
		asks = append(asks, engine.Send{To: engine.SeatmapRef(s.ref.Event), Cmd: keeper.Reserve{Claim: claim, Floor: floor, Line: l}})
	}
	if p.late == nil {
		d.Asks = asks
	} else {
		d.Sends = asks
	}
	return d
}

// decideGranted takes a keeper's yes. The last one makes the order.
func (s *State) decideGranted(c keeper.Granted, at int64) engine.Decision {
	p := s.placing[c.Order]
	if p == nil || p.order.Serial != c.Serial {
		return engine.Decision{} // the keeper will ask, and be told
	}
	line := lineOf(p.order, c.Keeper)
	if line < 0 || p.waiting&(1<<line) == 0 {
		return engine.Decision{}
	}
	if p.waiting != 1<<line {
		return engine.Decision{Facts: []engine.Fact{&LineGranted{ID: c.Order, Line: line, Price: c.Price, Name: c.Name}}}
	}
	switch {
	case p.late != nil && s.find(c.Order) == nil: // its time came meanwhile
		return s.drop(p, engine.Refuse(engine.Unavailable, nil), -1)
	case p.late != nil && !selling(s.status):
		return s.refundLate(p, at)
	case p.late != nil:
		return s.settleLate(p, at)
	}
	if !selling(s.status) {
		return s.drop(p, s.blocked(&p.order.Lines[0]), -1)
	}
	if r := s.guessing(p, at); r != nil { // others of his were wrong meanwhile
		return s.drop(p, r, -1)
	}
	return s.create(p, line, c, at)
}

// create makes the order that p has become with its last grant. A free one is
// completed at once.
func (s *State) create(p *placing, line int, c keeper.Granted, at int64) engine.Decision {
	o := *p.order
	if line < len(o.Lines) {
		o.Lines = slices.Clone(o.Lines)
		o.Lines[line].UnitPrice, o.Lines[line].Name = c.Price, c.Name
	}
	o.total(s.details.AbsorbFees)
	d := engine.Decision{Facts: []engine.Fact{&OrderCreated{Order: &o}}}
	reply := &o
	if o.Total == 0 {
		f := &OrderCompleted{ID: o.ID, Serial: o.Serial, First: s.minted.next(), At: at}
		d.Facts = append(d.Facts, f)
		reply = f.Fold(&o)
		s.tellKeepers(&d, &o, allLines(&o), true)
	}
	d.Answers = []engine.Answer{{Key: o.ID, Reply: &OrderReply{Order: reply, Status: reply.Status}}}
	return d
}

// decideRefused takes a keeper's no: the other keepers give back.
func (s *State) decideRefused(c keeper.Refused, at int64) engine.Decision {
	p := s.placing[c.Order]
	if p == nil || p.order.Serial != c.Serial {
		return engine.Decision{}
	}
	if p.late != nil && s.find(c.Order) != nil {
		return s.refundLate(p, at)
	}
	d := s.drop(p, c.Refusal, lineOf(p.order, c.Keeper))
	if c.Refusal.Code == engine.PresaleCodeRequired && p.presale != "" && p.order.counts() {
		if r := s.guessing(p, at); r != nil {
			d.Answers[0].Reply = r // what he tried beyond the limit is not judged
		} else {
			d.Facts = append(d.Facts, &Guessed{Customer: p.order.Customer, Client: p.order.Client, At: at})
		}
	}
	return d
}

// drop forgets an order that waited for its keepers, and answers its callers.
// All keepers but the one of the refusing line are told to release.
func (s *State) drop(p *placing, why *engine.Refusal, refusing int) engine.Decision {
	d := engine.Decision{
		Facts:   []engine.Fact{&Dropped{ID: p.order.ID}},
		Answers: []engine.Answer{{Key: p.order.ID, Reply: why}},
	}
	lines := allLines(p.order)
	if refusing >= 0 {
		lines &^= 1 << refusing
	}
	s.tellKeepers(&d, p.order, lines, false)
	return d
}

// decideClosed notes that a keeper has carried an order's end out.
func (s *State) decideClosed(c keeper.Closed, at int64) engine.Decision {
	o := s.open.get(c.Order)
	if o == nil || o.Serial != c.Serial {
		return engine.Decision{}
	}
	line := lineOf(o, c.Keeper)
	if line < 0 || s.settling[c.Order]&(1<<line) == 0 {
		return engine.Decision{}
	}
	return engine.Decision{Facts: []engine.Fact{&LineSettled{ID: c.Order, Line: line, At: at}}}
}

// decideInquire tells a keeper which of its reservations are still wanted.
func (s *State) decideInquire(c keeper.Inquire) engine.Decision {
	var d engine.Decision
	var confirmed []keeper.Claim
	for _, claim := range c.Claims {
		if claim.Serial.Epoch() > s.epoch {
			continue // made by a later activation than this one: not ours to judge
		}
		if p := s.placing[claim.Order]; p != nil && p.order.Serial == claim.Serial {
			continue // not durable yet; it will ask again
		}
		serial, status, ok := s.open.head(claim.Order)
		switch {
		case !ok || serial != claim.Serial:
			d.Sends = append(d.Sends, engine.Send{To: c.Keeper, Cmd: keeper.Release{Claim: claim, Floor: s.floor()}})
		case unpaid(status):
			confirmed = append(confirmed, claim)
		default:
			o := s.open.get(claim.Order)
			if line := lineOf(o, c.Keeper); line >= 0 {
				s.tellKeepers(&d, o, 1<<line, status == Completed)
			}
		}
	}
	if len(confirmed) > 0 {
		d.Sends = append(d.Sends, engine.Send{To: c.Keeper, Cmd: keeper.Confirmed{Claims: confirmed}})
	}
	return d
}

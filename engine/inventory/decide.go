package inventory

import (
	"crypto/subtle"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Decide decides what a command does, and changes nothing itself. It refuses an unknown command with INTERNAL.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	if d, decided := s.protocol().Decide(c, at); decided {
		return d
	}
	switch c := c.(type) {
	case keeper.Return:
		return s.protocol().DecideReturn(c, func(d *engine.Decision) { s.takeBack(d, c, at) })
	case keeper.Await:
		return s.decideAwait(c, at)
	case keeper.Resize:
		return s.decideResize(c, at)
	case keeper.OfferSeen:
		return engine.Decision{Facts: []engine.Fact{&Seen{Revision: c.Revision}}}
	case engine.Wake:
		return s.decideWake(at)
	case Create:
		return s.decideCreate(c, at)
	case Update:
		return s.decideUpdate(c, at)
	case Get:
		if s.details == nil {
			return refuse(engine.TicketTypeNotFound, nil)
		}
		return engine.Decision{Reply: s.makeRecord()}
	default:
		return refuse(engine.Internal, nil)
	}
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// decideCreate makes the type and offers it to the ledger. A repeated command gets the record as it
// is.
func (s *State) decideCreate(c Create, at int64) engine.Decision {
	if s.details != nil {
		return engine.Decision{Reply: s.makeRecord()}
	}
	t := c.Details
	// Only a seat map makes a type seated (decideResize), so a request can't.
	t.Seated = false
	d := engine.Decision{
		Facts: []engine.Fact{&Created{Details: &t, At: at}},
		Reply: &Record{Ref: s.ref, Details: t, CreatedAt: at, Revision: 1, Available: t.Quantity},
	}
	s.sendOffer(&d, at, &t, 1, standing{soldOut: t.Quantity == 0})
	return d
}

// decideUpdate replaces the record, if nobody has changed it since the revision that the organizer has seen.
// Once a unit is taken, the price, the type and the currency can't change, because a buyer has agreed to them. The
// quantity can't be less than what is taken. That of a seated type can't change, because it is the number of its
// seats.
func (s *State) decideUpdate(c Update, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.TicketTypeNotFound, nil)
	}
	if c.Revision != s.rev {
		return refuse(engine.Conflict, nil)
	}
	t, taken := c.Details, s.takenUnits()
	t.Seated = s.details.Seated
	if t.equal(*s.details) {
		return engine.Decision{Reply: s.makeRecord()}
	}
	if taken > 0 && (t.Price != s.details.Price || t.Type != s.details.Type || t.Currency != s.details.Currency) {
		return refuse(engine.TicketTypeLocked, nil)
	}
	if t.Seated && t.Quantity != s.details.Quantity {
		return engine.Decision{Reply: &engine.Refusal{
			Code: engine.TicketTypeLocked, Message: "The quantity of a seated ticket type is that of its seats.",
		}}
	}
	if t.Quantity != Unlimited && t.Quantity < taken && !t.Seated {
		return refuse(engine.Validation, Floor{QuantityTotal: t.Quantity, Sold: taken})
	}
	return s.update(&Updated{Details: &t, At: at}, t.leftOf(taken))
}

// decideResize sets the type's quantity to its number of seats, or makes the type unseated again. A
// type that becomes unseated keeps its quantity until the organizer changes it, or gets what is
// taken if that is more. Each Resize is acknowledged by ResizeSeen. If the type
// is not created yet, the Resize is refused instead, and the seat map repeats it.
func (s *State) decideResize(c keeper.Resize, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.TicketTypeNotFound, nil) // not made yet; the seat map repeats the size
	}
	var d engine.Decision
	// A Resize that comes again, or after a later one, changes nothing and is only acknowledged.
	if c.Revision > s.sized {
		t := *s.details
		if t.Seated = c.Quantity != keeper.Unseated; t.Seated {
			t.Quantity = c.Quantity
		} else if t.Quantity != Unlimited {
			t.Quantity = max(t.Quantity, s.takenUnits())
		}
		d = s.update(&Updated{Details: &t, At: at, Resize: c.Revision}, t.leftOf(s.takenUnits()))
	}
	d.Sends = append(d.Sends, engine.Send{To: c.Keeper, Cmd: keeper.ResizeSeen{Revision: c.Revision}})
	return d
}

// update replaces the record and sends the offer that follows from it. free is how many units are
// free under the new record.
func (s *State) update(f *Updated, free int64) engine.Decision {
	after := &State{details: f.Details, awaited: s.awaited}
	f.Left = after.forSale(free)
	stands := after.standingAt(free)
	r := s.makeRecord()
	r.Details, r.Revision, r.Available, r.SetAside = *f.Details, s.rev+1, f.Left, stands.free
	d := engine.Decision{Facts: []engine.Fact{f}, Reply: r}
	s.sendOffer(&d, f.At, f.Details, s.rev+1, stands)
	return d
}

// decideAwait sets the free units aside for the waitlist if c.On is set, or else puts them on sale again. If this
// changes what the type offers, it tells the ledger. A message whose revision is not newer than the last one changes
// nothing and is only acknowledged, because the ledger repeats a message until it is acknowledged.
func (s *State) decideAwait(c keeper.Await, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.TicketTypeNotFound, nil) // not made yet; the ledger repeats the Await
	}
	d := engine.Decision{Sends: []engine.Send{{To: s.ledgerRef(), Cmd: keeper.AwaitSeen{Keeper: s.ref, Revision: c.Revision}}}}
	if c.Revision <= s.awaitRev {
		return d
	}
	after := &State{details: s.details, awaited: c.On}
	d.Facts = []engine.Fact{&Awaited{Revision: c.Revision, On: c.On, Left: after.forSale(s.freeUnits()), At: at}}
	if stands := after.standingAt(s.freeUnits()); stands != s.standingAt(s.freeUnits()) {
		s.sendOffer(&d, at, s.details, s.rev+1, stands)
	}
	return d
}

// protocol returns the type's side of the reservation protocol with its event's ledger.
func (s *State) protocol() keeper.Protocol {
	return keeper.Protocol{Self: s.ref, Ledger: s.ledgerRef(), Book: &s.book, Goods: s}
}

// GrantLine returns the answer to a reserved line. It has the price and the terms of this moment,
// so that a later change does not change an order that was placed.
func (s *State) GrantLine(c keeper.Reserve) keeper.Granted {
	return keeper.Granted{Claim: c.Claim, Keeper: s.ref, Price: s.details.Price, Name: s.details.Name, Terms: s.details.makeTerms()}
}

// ReserveLine adds the fact that sets a line's units aside, and a new offer if that changes what the type
// offers (offerTurn). Units that the same order held under an earlier serial count as given back.
func (s *State) ReserveLine(d *engine.Decision, c keeper.Reserve, replaced keeper.Held, at int64) {
	left := s.details.leftOf(s.takenUnits() - replaced.Quantity + c.Line.Quantity)
	d.Facts = append(d.Facts, &keeper.ReservedFact{
		Claim: c.Claim, Floor: c.Floor, At: at,
		Quantity: c.Line.Quantity, Customer: c.Line.Customer, Left: s.forSale(left),
	})
	s.offerTurn(d, at, left)
}

// CommitLine adds the fact that sells the reserved units. The fact that sells the last one also says when the
// type sold out.
func (s *State) CommitLine(d *engine.Decision, c keeper.Commit, h keeper.Held, at int64) {
	f := &keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor}
	if s.sold+h.Quantity == s.details.Quantity {
		f.SoldOutAt = at
	}
	d.Facts = append(d.Facts, f)
}

// ReleaseLine adds the fact that gives the reserved units back, so that others can buy them, and a new offer if
// that changes what the type offers (offerTurn).
func (s *State) ReleaseLine(d *engine.Decision, c keeper.Release, h keeper.Held, at int64) {
	left := s.details.leftOf(s.takenUnits() - h.Quantity)
	d.Facts = append(d.Facts, &keeper.ReleasedFact{Claim: c.Claim, Floor: c.Floor, Left: s.forSale(left)})
	s.offerTurn(d, at, left)
}

// takeBack adds the fact that takes back sold units after a refund, and a new offer if that changes what the type
// offers (offerTurn).
func (s *State) takeBack(d *engine.Decision, c keeper.Return, at int64) {
	left := s.details.leftOf(s.takenUnits() - c.Quantity)
	d.Facts = append(d.Facts, &keeper.ReturnedFact{Claim: c.Claim, Floor: c.Floor, Quantity: c.Quantity, Customer: c.Customer, Left: s.forSale(left), At: at})
	s.offerTurn(d, at, left)
}

// RefuseLine returns the reason why a line can't be reserved, or nil. The rules of refuseByRules bind neither an
// Unbound line nor late money, which was paid for an order that met them when it was placed. For a seated type, the
// seat map decides whether a seat is left.
func (s *State) RefuseLine(l *keeper.Line, replaced keeper.Held, at int64) *engine.Refusal {
	if s.details == nil {
		return engine.Refuse(engine.TicketTypeNotFound, nil)
	}
	if !l.Late && !l.Unbound {
		if r := s.refuseByRules(l, replaced.Quantity, at); r != nil {
			return r
		}
	}
	if l.Unbound && s.details.Unmapped() {
		return s.refuseSale("unmapped")
	}
	if s.details.Seated {
		if !l.Seated { // the ledger has not heard yet that the type is seated
			return &engine.Refusal{Code: engine.Validation, Message: "These tickets are sold by seat.", Details: keeper.OfType{TicketTypeID: s.typeID()}}
		}
		return nil
	}
	left := s.details.leftOf(s.takenUnits() - replaced.Quantity)
	if !l.SetAside {
		left = s.forSale(left)
	}
	if left != Unlimited && left < l.Quantity {
		return engine.Refuse(engine.TicketSoldOut, keeper.OutOfStock{TicketTypeID: s.typeID(), Requested: l.Quantity, Available: left})
	}
	return nil
}

// refuseByRules checks that the type is for sale now, the presale code and the caps. back is how many units the same
// order gives back.
func (s *State) refuseByRules(l *keeper.Line, back, at int64) *engine.Refusal {
	t, id := s.details, s.typeID()
	if reason := t.whyClosed(at); reason != "" {
		return s.refuseSale(reason)
	}
	if t.PresaleCode != "" && subtle.ConstantTimeCompare([]byte(t.PresaleCode), []byte(l.PresaleCode)) != 1 {
		return engine.Refuse(engine.PresaleCodeRequired, keeper.OfType{TicketTypeID: id})
	}
	if l.Quantity > t.MaxPerOrder {
		return engine.Refuse(engine.ExceedsMaxPerOrder, OrderCap{id, t.MaxPerOrder, l.Quantity})
	}
	if has := s.buyers.Count(l.Customer) - back; has+l.Quantity > t.MaxPerCustomer {
		return engine.Refuse(engine.ExceedsMaxPerBuyer, CustomerCap{id, t.MaxPerCustomer, has, l.Quantity})
	}
	return nil
}

// refuseSale refuses because the type is not for sale. reason is one of those that whyClosed returns.
func (s *State) refuseSale(reason string) *engine.Refusal {
	return engine.Refuse(engine.NotOnSale, keeper.NotOnSale{
		TicketTypeID: s.typeID(), SaleStart: formatTime(s.details.SaleStart), SaleEnd: formatTime(s.details.SaleEnd), Reason: reason,
	})
}

// whyClosed returns the reason why the type is not for sale at a time, or "".
func (t *Details) whyClosed(at int64) string {
	switch {
	case t.Hidden:
		return "hidden"
	case t.Unmapped():
		return "unmapped"
	case at < t.SaleStart:
		return "not_started"
	case at >= t.SaleEnd:
		return "ended"
	default:
		return ""
	}
}

// typeID returns the type's public id.
func (s *State) typeID() string { return TypeID(s.ref).String() }

func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

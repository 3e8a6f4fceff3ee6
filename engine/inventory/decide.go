package inventory

import (
	"crypto/subtle"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Decide reads the state and says what a command does.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	switch c := c.(type) {
	case keeper.Reserve:
		return s.decideReserve(c, at)
	case keeper.Commit:
		return s.decideCommit(c)
	case keeper.Release:
		return s.decideRelease(c, at)
	case keeper.Confirmed:
		return engine.Decision{Facts: []engine.Fact{&keeper.ConfirmedFact{Claims: c.Claims}}}
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
		return engine.Decision{Reply: s.record()}
	default:
		return refuse(engine.Internal, nil)
	}
}

func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

func (s *State) decideCreate(c Create, at int64) engine.Decision {
	if s.details != nil {
		return engine.Decision{Reply: s.record()}
	}
	t := c.Details
	d := engine.Decision{
		Facts: []engine.Fact{&Created{Details: &t, At: at}},
		Reply: &Record{Ref: s.ref, Details: t, CreatedAt: at, Revision: 1, Available: t.Quantity},
	}
	s.sendOffer(&d, at, &t, 1, t.Quantity == 0)
	return d
}

func (s *State) decideUpdate(c Update, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.TicketTypeNotFound, nil)
	}
	if c.Revision != s.rev {
		return refuse(engine.Conflict, nil)
	}
	t, taken := c.Details, s.sold+s.held
	if taken > 0 && (t.Price != s.details.Price || t.Type != s.details.Type || t.Currency != s.details.Currency) {
		return refuse(engine.TicketTypeLocked, nil)
	}
	if t.Quantity != Unlimited && t.Quantity < taken {
		return refuse(engine.Validation, Floor{QuantityTotal: t.Quantity, Sold: taken})
	}
	left := int64(Unlimited)
	if t.Quantity != Unlimited {
		left = t.Quantity - taken
	}
	r := s.record()
	r.Details, r.Revision, r.Available = t, s.rev+1, left
	d := engine.Decision{Facts: []engine.Fact{&Updated{Details: &t, At: at, Left: left}}, Reply: r}
	s.sendOffer(&d, at, &t, s.rev+1, left == 0)
	return d
}

func (s *State) decideReserve(c keeper.Reserve, at int64) engine.Decision {
	standing, old := s.book.Standing(c.Claim)
	switch standing {
	case keeper.Open:
		return s.grant(c.Claim)
	case keeper.Ended, keeper.Barred:
		return engine.Decision{} // late: its ledger has stopped waiting
	case keeper.Unknown, keeper.Replaces:
	}
	if r := s.objection(c.Line, old, at); r != nil {
		return engine.Decision{Sends: []engine.Send{{
			To:  s.ledger(),
			Cmd: keeper.Refused{Claim: c.Claim, Keeper: s.ref, Refusal: r},
		}}}
	}
	left := int64(Unlimited)
	if s.details.Quantity != Unlimited {
		left = s.available() - c.Line.Quantity
		if old != nil {
			left += old.Quantity
		}
	}
	d := s.grant(c.Claim)
	d.Facts = []engine.Fact{&keeper.ReservedFact{
		Claim: c.Claim, Floor: c.Floor, At: at,
		Quantity: c.Line.Quantity, Customer: c.Line.Customer, Left: left,
	}}
	if left == 0 && s.available() != 0 {
		s.sendOffer(&d, at, s.details, s.rev+1, true)
	}
	return d
}

func (s *State) grant(c keeper.Claim) engine.Decision {
	return engine.Decision{Sends: []engine.Send{{To: s.ledger(), Cmd: keeper.Granted{
		Claim: c, Keeper: s.ref, Price: s.details.Price, Name: s.details.Name,
	}}}}
}

// objection is why a line can't be reserved, or nil. What the same order holds
// under an earlier serial counts as given back.
func (s *State) objection(l keeper.Line, old *keeper.Held, at int64) *engine.Refusal {
	if s.details == nil {
		return engine.Refuse(engine.TicketTypeNotFound, nil)
	}
	var back int64
	if old != nil {
		back = old.Quantity
	}
	if !l.Late {
		if r := s.ruleObjection(l, back, at); r != nil {
			return r
		}
	}
	if s.details.Quantity != Unlimited && s.available()+back < l.Quantity {
		return engine.Refuse(engine.TicketSoldOut, Stock{s.typeID(), l.Quantity, s.available() + back})
	}
	return nil
}

// ruleObjection judges the rules other than stock: window, presale code, caps.
func (s *State) ruleObjection(l keeper.Line, back, at int64) *engine.Refusal {
	t, id := s.details, s.typeID()
	if reason := t.closed(at); reason != "" {
		return engine.Refuse(engine.NotOnSale, Closed{id, iso(t.SaleStart), iso(t.SaleEnd), reason})
	}
	if t.PresaleCode != "" && subtle.ConstantTimeCompare([]byte(t.PresaleCode), []byte(l.PresaleCode)) != 1 {
		return engine.Refuse(engine.PresaleCodeRequired, Which{id})
	}
	if l.Quantity > t.MaxPerOrder {
		return engine.Refuse(engine.ExceedsMaxPerOrder, OrderCap{id, t.MaxPerOrder, l.Quantity})
	}
	if has := s.buyers.count(l.Customer) - back; has+l.Quantity > t.MaxPerCustomer {
		return engine.Refuse(engine.ExceedsMaxPerBuyer, CustomerCap{id, t.MaxPerCustomer, has, l.Quantity})
	}
	return nil
}

// closed is why the type is not for sale at a time, or "".
func (t *Details) closed(at int64) string {
	switch {
	case t.Hidden:
		return "hidden"
	case at < t.SaleStart:
		return "not_started"
	case at >= t.SaleEnd:
		return "ended"
	default:
		return ""
	}
}

func (s *State) decideCommit(c keeper.Commit) engine.Decision {
	d := s.acknowledge(c.Claim)
	switch standing, _ := s.book.Standing(c.Claim); standing {
	case keeper.Open:
		d.Facts = []engine.Fact{&keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor}}
	case keeper.Ended:
	case keeper.Unknown, keeper.Replaces, keeper.Barred:
		// A ledger commits only what was granted: this activation has been
		// succeeded by one that holds the reservation. The ledger asks again.
		return engine.Decision{}
	}
	return d
}

func (s *State) decideRelease(c keeper.Release, at int64) engine.Decision {
	d := s.acknowledge(c.Claim)
	switch standing, h := s.book.Standing(c.Claim); standing {
	case keeper.Unknown, keeper.Replaces, keeper.Barred:
		// The ledger waits only for what was granted: either its Reserve was
		// lost, and it does not wait, or this activation has been succeeded
		// by one that holds the reservation, and must not speak for it.
		return engine.Decision{Facts: []engine.Fact{&keeper.BarredFact{Claim: c.Claim}}}
	case keeper.Open:
		left := s.available()
		if left != Unlimited {
			left += h.Quantity
		}
		d.Facts = []engine.Fact{&keeper.ReleasedFact{Claim: c.Claim, Floor: c.Floor, Left: left}}
		if s.available() == 0 {
			s.sendOffer(&d, at, s.details, s.rev+1, false)
		}
	case keeper.Ended:
	}
	return d
}

func (s *State) acknowledge(c keeper.Claim) engine.Decision {
	return engine.Decision{Sends: []engine.Send{{To: s.ledger(), Cmd: keeper.Closed{Claim: c, Keeper: s.ref}}}}
}

func (s *State) typeID() string { return TypeID(s.ref).String() }

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

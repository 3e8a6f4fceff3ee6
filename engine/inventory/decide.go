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
		return s.decideCommit(c, at)
	case keeper.Release:
		return s.decideRelease(c, at)
	case keeper.Confirmed:
		return engine.Decision{Facts: []engine.Fact{&keeper.ConfirmedFact{Claims: c.Claims}}}
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
	t.Seated = false
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
	t, taken := c.Details, s.taken()
	t.Seated = s.details.Seated
	if t.equal(*s.details) {
		return engine.Decision{Reply: s.record()}
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
	return s.update(&Updated{Details: &t, At: at, Left: t.left(taken)})
}

// decideResize gives the type as many units as it has seats, or lets it have
// none again: then it keeps its quantity until the organizer changes it.
func (s *State) decideResize(c keeper.Resize, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.TicketTypeNotFound, nil) // not yet: it will be told again
	}
	var d engine.Decision
	if c.Revision > s.sized {
		t := *s.details
		if t.Seated = c.Quantity != keeper.Unseated; t.Seated {
			t.Quantity = c.Quantity
		} else if t.Quantity != Unlimited {
			t.Quantity = max(t.Quantity, s.taken())
		}
		d = s.update(&Updated{Details: &t, At: at, Left: t.left(s.taken()), Resize: c.Revision})
	}
	d.Sends = append(d.Sends, engine.Send{To: c.Keeper, Cmd: keeper.ResizeSeen{Revision: c.Revision}})
	return d
}

// update replaces the record, and offers what it says.
func (s *State) update(f *Updated) engine.Decision {
	r := s.record()
	r.Details, r.Revision, r.Available = *f.Details, s.rev+1, f.Left
	d := engine.Decision{Facts: []engine.Fact{f}, Reply: r}
	s.sendOffer(&d, f.At, f.Details, s.rev+1, f.Left == 0)
	return d
}

func (s *State) decideReserve(c keeper.Reserve, at int64) engine.Decision {
	standing, old := s.book.Standing(c.Claim)
	switch standing {
	case keeper.Open:
		return engine.Decision{Sends: s.grant(c.Claim)}
	case keeper.Ended, keeper.Barred:
		return engine.Decision{} // late: its ledger has stopped waiting
	case keeper.Unknown, keeper.Replaces:
	}
	if r := s.objection(c.Line, old.Quantity, at); r != nil {
		return engine.Decision{Sends: []engine.Send{{
			To:  s.ledger(),
			Cmd: keeper.Refused{Claim: c.Claim, Keeper: s.ref, Refusal: r},
		}}}
	}
	left := s.details.left(s.taken() - old.Quantity + c.Line.Quantity)
	d := engine.Decision{Facts: []engine.Fact{&keeper.ReservedFact{
		Claim: c.Claim, Floor: c.Floor, At: at,
		Quantity: c.Line.Quantity, Customer: c.Line.Customer, Left: left,
	}}}
	if c.Sole {
		d.Joint = s.grant(c.Claim)
	} else {
		d.Sends = s.grant(c.Claim)
	}
	s.offerTurn(&d, at, left)
	return d
}

func (s *State) grant(c keeper.Claim) []engine.Send {
	return []engine.Send{{To: s.ledger(), Cmd: keeper.Granted{
		Claim: c, Keeper: s.ref, Price: s.details.Price, Name: s.details.Name,
	}}}
}

// objection is why a line can't be reserved, or nil. What the same order holds
// under an earlier serial counts as given back.
func (s *State) objection(l keeper.Line, back, at int64) *engine.Refusal {
	if s.details == nil {
		return engine.Refuse(engine.TicketTypeNotFound, nil)
	}
	if !l.Late {
		if r := s.ruleObjection(l, back, at); r != nil {
			return r
		}
	}
	if s.details.Seated {
		if !l.Seated { // its ledger has not heard yet
			return &engine.Refusal{Code: engine.Validation, Message: "These tickets are sold by seat.", Details: Which{s.typeID()}}
		}
		return nil
	}
	if left := s.details.left(s.taken() - back); left != Unlimited && left < l.Quantity {
		return engine.Refuse(engine.TicketSoldOut, Stock{s.typeID(), l.Quantity, left})
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

func (s *State) decideCommit(c keeper.Commit, at int64) engine.Decision {
	d := s.acknowledge(c.Claim)
	switch standing, h := s.book.Standing(c.Claim); standing {
	case keeper.Open:
		f := &keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor}
		if s.sold+h.Quantity == s.details.Quantity {
			f.SoldOutAt = at
		}
		d.Facts = []engine.Fact{f}
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
		left := s.details.left(s.taken() - h.Quantity)
		d.Facts = []engine.Fact{&keeper.ReleasedFact{Claim: c.Claim, Floor: c.Floor, Left: left}}
		s.offerTurn(&d, at, left)
	case keeper.Ended:
	}
	return d
}

func (s *State) acknowledge(c keeper.Claim) engine.Decision {
	return engine.Decision{Sends: []engine.Send{{To: s.ledger(), Cmd: keeper.Closed{Claim: c, Keeper: s.ref}}}}
}

func (s *State) typeID() string { return TypeID(s.ref).String() }

func iso(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339Nano) }

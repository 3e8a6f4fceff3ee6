package event

import (
	"boxoffice/engine"
	"boxoffice/engine/ledger"
	"boxoffice/engine/waitlist"
)

// makeWaitlistTerms returns what the waitlist must know about the event and its ticket types.
func (s *State) makeWaitlistTerms() waitlist.Terms {
	t := waitlist.Terms{Event: s.ref.Home, Offers: s.offers, IsPlacing: s.book.IsPlacing}
	if s.details != nil {
		t.Selling, t.Full, t.Room = isSelling(s.status), s.isFull(), s.roomLeft()
		t.Dated = ProductType(s.details.Category) == ProductReservation
	}
	return t
}

// decideLine decides on the commands about the waitlist.
func (s *State) decideLine(c engine.Command, at int64) engine.Decision {
	terms := s.makeWaitlistTerms()
	if d, mine := s.line.Decide(c, &terms, at); mine {
		return d
	}
	return refuse(engine.Internal, nil)
}

// wakeLine wakes the waitlist. If units are set aside for the first entry in line, the ledger
// begins an order that offers them.
func (s *State) wakeLine(d *engine.Decision, terms *ledger.Terms, now int64) {
	waiting := s.makeWaitlistTerms()
	if e, typ := s.line.Wake(d, &waiting, now); e != nil {
		d.Add(s.book.StartOffer(terms, e, typ, now))
	}
}

// applyLine applies a fact about the waitlist. Offers are orders too, so the ledger gets the facts that begin and
// end them. After a journaled fact the line is judged again and, if the event is full now or no longer, its status.
func (s *State) applyLine(f engine.Fact) {
	if s.line == nil {
		s.line = waitlist.New()
	}
	full := s.isFull()
	switch f := f.(type) {
	case *waitlist.OfferMade:
		// A fact that does not fit is left out by both, or the waitlist and the ledger would
		// disagree.
		if f.Order == nil || len(f.Order.Lines) == 0 || s.book.Find(f.Order.ID) != nil || !s.line.Apply(f) {
			return
		}
		s.book.Apply(f)
	case *waitlist.EntryEnded:
		if s.line.Apply(f) {
			s.book.Apply(f)
		}
	default:
		if !s.line.Apply(f) {
			return
		}
	}
	if _, seen := f.(*waitlist.Seen); seen {
		s.line.Answered(s.offers)
	}
	if changed, ok := f.(waitlist.Fact); ok {
		s.line.Judge(s.offers)
		s.noteFilling(full, changed.Decided())
	}
}

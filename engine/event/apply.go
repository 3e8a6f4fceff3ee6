package event

import (
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/proceeds"
	"boxoffice/engine/waitlist"
)

// Apply applies a fact to the state. Each part of the event gets the facts that concern it.
func (s *State) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *admission.CheckedIn, *admission.CheckInDenied, *admission.CheckInUndone, *admission.GatePassed, *admission.PassageUndone,
		*order.TransferOffered, *order.TransferRevoked:
		s.tickets.Apply(f)
	case *proceeds.Cleared, *proceeds.Told, *proceeds.Heard:
		s.earned.Apply(f, s.makeClearingTerms())
	case *Created:
		s.details, s.status, s.created = f.Details, StatusDraft, f.At
		s.noteChange(f.At)
	case *Updated:
		s.details = f.Details
		s.noteChange(f.At)
	case *Moved:
		s.applyMoved(f)
	case *Removed:
		s.details, s.status = nil, ""
		s.noteChange(f.At)
	case *Offered:
		s.offers[f.Offer.Keeper.ID] = f.Offer
		s.line.Judge(s.offers)
		s.judgeAgain(f.At)
	case *waitlist.Joined, *waitlist.OfferMade, *waitlist.Claimed, *waitlist.EntryEnded, *waitlist.CalledFact, *waitlist.SetFact,
		*waitlist.Held, *waitlist.Seen, *waitlist.Judged:
		s.applyLine(f)
	case *PersonErased:
		s.applyPersonErased(f)
	default:
		s.applyOrder(f)
	}
}

// applyMoved changes the status and starts what follows from it: the unpaid orders of a cancelled
// event end, and the money of a completed one begins to clear.
func (s *State) applyMoved(f *Moved) {
	s.status = f.To
	switch f.To {
	case StatusCancelled:
		s.book.EndAll()
	case StatusCompleted:
		s.earned.Complete(f.At)
	}
	s.noteChange(f.At)
}

// applyOrder gives a fact to the ledger, and then its effects to the event's other parts: tickets,
// proceeds and waitlist. The waitlist looks again if units have come free. If the event has become full, or is full no
// longer, its status is judged again.
func (s *State) applyOrder(f engine.Fact) {
	// The units are counted before the fact changes them, to compare them with the counts
	// afterwards.
	full, taken := s.isFull(), s.unitsTaken()
	was, is := s.book.Apply(f)
	switch f := f.(type) {
	case *ledger.Placing:
		if o := f.Offered(); o != nil {
			s.line.Ask(o.ID, new(s.offers[o.Lines[0].Type]), o.CreatedAt)
		}
	case *ledger.Elapsed:
		s.clock = max(s.clock, f.At)
		s.line.Stir()
		s.boundary = s.nextBoundary()
	case *order.Completed:
		if is != nil {
			s.tickets.Mint(is)
			s.earned.AddSale(is, s.details == nil || ProductType(s.details.Category) == ProductEvent, f.At)
			was = nil // nothing of the sale has been given back
		}
	case *order.RefundDecided:
		if is != nil && f.Serial != 0 {
			s.tickets.Apply(f)
		}
	case *order.TicketTransferred, *order.TicketRescheduled, *order.Erased:
		s.tickets.Apply(f)
	}
	if was != nil {
		s.earned.GiveBack(was, is)
	}
	// Units have come free, so the waitlist may have something to offer.
	if s.unitsTaken() < taken {
		s.line.Stir()
	}
	// The event has become full or is full no longer, so its status may have to change.
	if about, ok := f.(order.Fact); ok && s.isFull() != full {
		s.judgeAgain(about.Happened())
	}
}

// noteChange notes that the record has changed at a time, in unix milliseconds, and raises the revision. The event's
// status is judged again.
func (s *State) noteChange(at int64) {
	s.updated = at
	s.rev++
	s.judgeAgain(at)
}

// noteFilling judges the event's status again, if the event has become full or is full no longer. was is what isFull
// returned before.
func (s *State) noteFilling(was bool, at int64) {
	if s.isFull() != was {
		s.judgeAgain(at)
	}
}

// judgeAgain computes when the event's status may change next (s.boundary). It sets s.clock, the time up to which
// sale windows and dates have been judged, to at. The waitlist looks again at what it can offer.
func (s *State) judgeAgain(at int64) {
	s.clock = at
	s.line.Stir()
	s.boundary = s.nextBoundary()
	// If the status is out of date already, the next Wake is due at once and changes it.
	if s.details != nil && s.dueStatus(at) != s.status {
		s.boundary = at
	}
}

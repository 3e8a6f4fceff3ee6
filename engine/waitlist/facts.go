package waitlist

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// These are the numbers of the facts about the line, among an event's facts.
const (
	typeJoined  engine.FactType = 60
	typeOffered engine.FactType = 61
	typeClaimed engine.FactType = 62
	typeEnded   engine.FactType = 63
	typeCalled  engine.FactType = 64
	typeSet     engine.FactType = 65

	typeHeld   = engine.VolatileFrom + 50
	typeSeen   = engine.VolatileFrom + 51
	typeJudged = engine.VolatileFrom + 52
)

type (
	// Joined puts an entry in line.
	Joined struct {
		Entry *Entry `cbor:"1,keyasint"`
	}
	// OfferMade holds stock for an entry, in an order under the entry's id that is not shown until
	// it is claimed.
	OfferMade struct {
		Order *order.Order `cbor:"1,keyasint"`
	}
	// Claimed accepts an offer. The order's creation follows.
	Claimed struct {
		ID engine.OrderID `cbor:"1,keyasint"`
		At int64          `cbor:"2,keyasint"`
	}
	// EntryEnded ends an entry as expired or cancelled, together with its offer.
	EntryEnded struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Status string         `cbor:"2,keyasint"`
		At     int64          `cbor:"3,keyasint"`
		Email  string         `cbor:"4,keyasint,omitempty"` // address of the person who waited
		Name   string         `cbor:"5,keyasint,omitempty"`
		// Language is the entry's language.
		Language string `cbor:"6,keyasint,omitempty"`
	}
	// CalledFact says that the organizer wants the entries to be offered something, even if offers are not made
	// automatically.
	CalledFact struct {
		IDs []engine.OrderID `cbor:"1,keyasint"`
		At  int64            `cbor:"2,keyasint"`
	}
	// SetFact changes how offers are made.
	SetFact struct {
		Auto         bool  `cbor:"1,keyasint,omitempty"`
		OfferMinutes int64 `cbor:"2,keyasint"`
		At           int64 `cbor:"3,keyasint"`
	}
	// Held (volatile) says that the reply to an entry's Join is held back until the entry's ticket types sell to
	// nobody else (are guarded).
	Held struct{ ID engine.OrderID }
	// Seen (volatile) says that a ticket type has acknowledged a guard.
	Seen struct{ Await keeper.AwaitSeen }
	// Judged (volatile) says that the event's Wake has looked at the line, and has told the guards that were
	// due.
	Judged struct{ At int64 }
)

// Fact is a journaled fact about entries of the line.
type Fact interface {
	engine.Fact
	// Decided returns when the fact was decided, in unix milliseconds.
	Decided() int64
}

// Decided returns when the fact was decided, in unix milliseconds.
func (f *Joined) Decided() int64 { return f.Entry.At }

// Decided returns when the fact was decided, in unix milliseconds.
func (f *OfferMade) Decided() int64 { return f.Order.CreatedAt }

// Decided returns when the fact was decided, in unix milliseconds.
func (f *Claimed) Decided() int64 { return f.At }

// Decided returns when the fact was decided, in unix milliseconds.
func (f *EntryEnded) Decided() int64 { return f.At }

// Decided returns when the fact was decided, in unix milliseconds.
func (f *CalledFact) Decided() int64 { return f.At }

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Joined) FactType() engine.FactType     { return typeJoined }
func (*OfferMade) FactType() engine.FactType  { return typeOffered }
func (*Claimed) FactType() engine.FactType    { return typeClaimed }
func (*EntryEnded) FactType() engine.FactType { return typeEnded }
func (*CalledFact) FactType() engine.FactType { return typeCalled }
func (*SetFact) FactType() engine.FactType    { return typeSet }
func (*Held) FactType() engine.FactType       { return typeHeld }
func (*Seen) FactType() engine.FactType       { return typeSeen }
func (*Judged) FactType() engine.FactType     { return typeJudged }

// Facts is the table of facts about the line.
var Facts = []engine.FactDef{
	{Type: typeJoined, Name: "waitlist.joined", New: func() engine.Fact { return new(Joined) }},
	{Type: typeOffered, Name: "waitlist.offered", New: func() engine.Fact { return new(OfferMade) }},
	{Type: typeClaimed, Name: "waitlist.claimed", New: func() engine.Fact { return new(Claimed) }},
	{Type: typeEnded, Name: "waitlist.ended", New: func() engine.Fact { return new(EntryEnded) }},
	{Type: typeCalled, Name: "waitlist.called", New: func() engine.Fact { return new(CalledFact) }},
	{Type: typeSet, Name: "waitlist.set", New: func() engine.Fact { return new(SetFact) }},
}

// Apply applies a fact. It reports whether the fact was one about the line and fitted it; otherwise
// nothing has changed.
func (l *Line) Apply(f engine.Fact) bool {
	switch f := f.(type) {
	case *Joined:
		if f.Entry == nil || l.index[f.Entry.ID] != nil || f.Entry.Number <= l.joined {
			return false
		}
		l.put(f.Entry)
	case *OfferMade:
		return l.changeEntry(f.Order.ID, func(e *Entry) bool {
			e.Given, e.OfferedAt, e.ExpiresAt = f.Order.Lines[0].Type, f.Order.CreatedAt, f.Order.ExpiresAt
			was := e.Status
			e.Status = StatusOffered
			return was == StatusWaiting
		})
	case *Claimed:
		return l.end(f.ID, StatusClaimed, f.At)
	case *EntryEnded:
		return l.end(f.ID, f.Status, f.At)
	case *CalledFact:
		for _, id := range f.IDs {
			l.changeEntry(id, func(e *Entry) bool {
				e.Called = true
				return e.Status == StatusWaiting
			})
		}
	case *SetFact:
		l.Auto, l.OfferMinutes, l.due = f.Auto, f.OfferMinutes, true
	case *Held:
		l.holds = append(l.holds, f.ID)
	case *Seen:
		if g := l.findGuard(f.Await.Keeper.ID); g != nil && g.isSeen(&f.Await) {
			g.seen = true
		}
	case *Judged:
		l.applyJudged(f.At)
	default:
		return false
	}
	return true
}

// Answered forgets the callers who were answered, because the types that they wait for are guarded
// now.
func (l *Line) Answered(offers map[int64]keeper.Offer) {
	l.holds = slices.DeleteFunc(l.holds, func(id engine.OrderID) bool {
		e := l.index[id]
		return e == nil || e.Status != StatusWaiting || l.isGuarded(e, offers, nil)
	})
}

// end ends an entry that is alive, with a status and a time in unix milliseconds. If there is no such entry, it
// returns false.
func (l *Line) end(id engine.OrderID, status string, at int64) bool {
	return l.changeEntry(id, func(e *Entry) bool {
		was := e.alive()
		e.Status, e.EndedAt = status, at
		return was
	})
}

// changeEntry replaces an entry by a changed copy, because snapshots share entries. It changes
// nothing, and returns false, if to returns false.
func (l *Line) changeEntry(id engine.OrderID, to func(*Entry) bool) bool {
	was := l.index[id]
	if was == nil {
		return false
	}
	e := *was
	if !to(&e) {
		return false
	}
	l.put(&e)
	return true
}

// applyJudged notes that the guards were told at a time. It also forgets asks that are so old that another may
// be made.
func (l *Line) applyJudged(at int64) {
	l.due = false
	for i := range l.guards {
		if g := &l.guards[i]; !g.seen && (g.told == 0 || at >= g.told+resendMillis) {
			g.told = at
		}
	}
	for typ, a := range l.asks {
		if at >= a.at+retryMillis {
			delete(l.asks, typ)
		}
	}
}

// Ask notes that an entry is being offered units of a ticket type because of the type's offer o.
// Until the type offers something new, or some time has passed, nobody else is asked.
func (l *Line) Ask(id engine.OrderID, o *keeper.Offer, at int64) {
	l.asks[o.Keeper.ID] = ask{id, o.Revision, at}
	l.due = true
}

package waitlist

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/velocity"
)

// This is the waitlist of sold-out ticket types (docs/adr/0018). As long as an entry waits for a
// type, the type sells to nobody else. The line tells the type so (keeper.Await), and somebody who
// joins gets an answer when the type has acknowledged that. The type then tells the event how much
// it has set aside (keeper.Offer). The ledger offers that to the oldest entry whose quantity fits:
// it places an order under the entry's id, which nobody is shown and which ends with the offer's
// window. The ledger also decides what becomes of that order, including a claim and the entry's
// leaving.

// Terms are what the waitlist must know about its event.
type Terms struct {
	Event     int64 // number of the event
	Selling   bool
	Full      bool  // whether the event's capacity is used up
	Dated     bool  // whether each ticket is for a date of its own
	Room      int64 // units that the event's capacity still admits
	Offers    map[int64]keeper.Offer
	IsPlacing func(engine.OrderID) bool // whether an entry's order waits for its keepers
}

// Decide decides on the commands about the line, except Claim and the Leave of an entry that is
// offered something, which the ledger decides. mine is false for a command about something else.
func (l *Line) Decide(c engine.Command, t *Terms, at int64) (d engine.Decision, mine bool) {
	switch c := c.(type) {
	case Join:
		return l.decideJoin(c, t, at), true
	case Leave:
		return l.decideLeave(c, at), true
	case Call:
		return l.decideCall(c, t, at), true
	case Set:
		return l.decideSet(c, at), true
	case Of:
		page := &Page{}
		for _, e := range l.OfCustomer(c.Customer) {
			page.Entries = append(page.Entries, *l.PlaceOf(e))
		}
		return engine.Decision{Reply: page}, true
	case List:
		page := &Page{}
		if l != nil {
			page.Entries = l.listPage(c.After, c.Limit)
		}
		return engine.Decision{Reply: page}, true
	}
	return engine.Decision{}, false
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// decideJoin puts somebody in line. The answer waits until all ticket types that could serve the entry sell to nobody
// else, because nobody can overtake the entry from then on. It refuses if the ticket type is unknown, if nobody can wait
// (Closed), and if the line or the network's part of it is full. With Unproven it only checks that, and stores nothing.
func (l *Line) decideJoin(c Join, t *Terms, at int64) engine.Decision {
	if e := l.Find(c.ID); e != nil && !c.Unproven { // the command is a repeat
		return l.answerJoin(engine.Decision{}, e, t)
	}
	if !t.Selling {
		return refuseClosed(ClosedOver)
	}
	// An address waits only once for a type, so a second Join gets the entry that is there.
	if e := l.findAlive(c.Customer, c.Type); e != nil && !c.Unproven {
		return l.answerJoin(engine.Decision{}, e, t)
	}
	if c.Type != 0 && t.Offers[c.Type].Revision == 0 {
		return refuse(engine.TicketTypeNotFound, nil)
	}
	enabled := false
	for _, o := range t.Offers {
		if !o.Waitlist || !CanWait(&o) || c.Type != 0 && c.Type != o.Keeper.ID {
			continue
		}
		enabled = true
		if !o.SoldOut && !t.Full {
			return refuseClosed(ClosedNotSoldOut)
		}
	}
	if !enabled || t.Dated {
		return refuseClosed(ClosedNotEnabled)
	}
	if l.isFull() {
		return engine.Decision{Reply: &engine.Refusal{Code: engine.Conflict, Message: "The waitlist is full."}}
	}
	// One network may have only some entries, so that nobody fills the line with addresses of
	// their own.
	if most := velocity.ScaleLimit(0, MaxOfNetwork, c.Scale); c.Client != 0 && l.countNetwork(c.Client) >= most {
		return engine.Decision{Reply: velocity.RefuseFor("waitlist_per_network", most, entryPause, entryPause)}
	}
	e := &Entry{
		ID: c.ID, Number: l.nextNumber(), Type: c.Type, Quantity: c.Quantity, Email: c.Email, Name: c.Name, Customer: c.Customer,
		At: at, Status: StatusWaiting, Client: c.Client, Language: c.Language,
	}
	if c.Unproven {
		e.Status = StatusUnconfirmed
		return engine.Decision{Reply: &Placed{Entry: *e}}
	}
	return l.answerJoin(engine.Decision{Facts: []engine.Fact{&Joined{Entry: e}}}, e, t)
}

// entryPause is after how many milliseconds a network that has too many entries is told to try
// again. Nobody can know when one of its entries will end.
const entryPause = 3_600_000

// refuseClosed refuses a Join. reason is one of the Closed constants.
func refuseClosed(reason string) engine.Decision {
	return refuse(engine.WaitlistClosed, Closed{Reason: reason})
}

// answerJoin answers with an entry. If the entry waits and its types may still sell to others (isGuarded), the
// answer is held back until they don't (DecideSeen).
func (l *Line) answerJoin(d engine.Decision, e *Entry, t *Terms) engine.Decision {
	if e.Status == StatusWaiting && !l.isGuarded(e, t.Offers, nil) {
		d.Facts = append(d.Facts, &Held{ID: e.ID})
		d.WaitKey = &e.ID
		return d
	}
	d.Reply = l.PlaceOf(e)
	return d
}

// PlaceOf returns an entry with its place among the waiting entries, from 1; 0 if it does not wait. In a nil
// line, the entry is the first.
func (l *Line) PlaceOf(e *Entry) *Placed {
	p := &Placed{Entry: *e, Position: 1}
	if l != nil {
		p.Position = l.findPosition(e)
	}
	return p
}

// DecideSeen notes that a ticket type has acknowledged its guard, and answers the callers whose
// places in line are safe now.
func (l *Line) DecideSeen(c keeper.AwaitSeen, offers map[int64]keeper.Offer) engine.Decision {
	if l == nil {
		return engine.Decision{}
	}
	d := engine.Decision{Facts: []engine.Fact{&Seen{Await: c}}}
	for _, e := range l.listHeld(offers, &c) {
		d.Answers = append(d.Answers, engine.Answer{Key: e.ID, Reply: l.PlaceOf(e)})
	}
	return d
}

// decideLeave takes a waiting entry out of the line. An entry that has ended stays as it is.
func (l *Line) decideLeave(c Leave, at int64) engine.Decision {
	e := l.Find(c.ID)
	if e == nil {
		return refuse(engine.NotFound, nil)
	}
	if e.Status != StatusWaiting {
		return engine.Decision{Reply: l.PlaceOf(e)}
	}
	gone := *e
	gone.Status, gone.EndedAt = StatusCancelled, at
	f := &EntryEnded{ID: e.ID, Status: gone.Status, At: at, Email: e.Email, Name: e.Name, Language: e.Language}
	return engine.Decision{Facts: []engine.Fact{f}, Reply: l.PlaceOf(&gone)}
}

// decideCall calls the oldest entries for which enough is set aside, at most c.Count of them. Entries that were
// called before, or that are being offered something, are left out. Called entries are offered something even
// if offers are not made automatically.
func (l *Line) decideCall(c Call, t *Terms, at int64) engine.Decision {
	var ids []engine.OrderID
	if l != nil && t.Selling {
		left, room := make(map[int64]int64, len(t.Offers)), t.Room
		for typ, o := range t.Offers {
			if isOpen(&o, at) {
				left[typ] = o.Free
			}
		}
		l.eachWaiting(func(e *Entry) bool {
			typ := t.fittingType(e, left, room)
			if typ == 0 {
				return true
			}
			left[typ] -= e.Quantity
			room -= e.Quantity
			if !e.Called && !t.IsPlacing(e.ID) {
				ids = append(ids, e.ID)
			}
			return int64(len(ids)) < c.Count
		})
	}
	d := engine.Decision{Reply: &Called{Offered: int64(len(ids))}}
	if len(ids) > 0 {
		d.Facts = []engine.Fact{&CalledFact{IDs: ids, At: at}}
	}
	return d
}

// fittingType returns the ticket type that has what an entry waits for, or 0. Of several types it
// is the one with the lowest number. left is how many units each type has left, and room how many
// the event has.
func (t *Terms) fittingType(e *Entry, left map[int64]int64, room int64) int64 {
	if e.Quantity > room {
		return 0
	}
	if e.Type != 0 {
		if left[e.Type] >= e.Quantity {
			return e.Type
		}
		return 0
	}
	first := int64(0)
	for typ, n := range left {
		if o := t.Offers[typ]; n >= e.Quantity && o.Waitlist && (first == 0 || typ < first) {
			first = typ
		}
	}
	return first
}

// isOpen reports whether units of a ticket type that are set aside may be offered at the time at, in unix
// milliseconds: while the type is on sale, neither hidden nor seated, and units are free.
func isOpen(o *keeper.Offer, at int64) bool {
	return o.Free > 0 && !o.Hidden && !o.Seated && at >= o.SaleStart && at < o.SaleEnd
}

// decideSet changes how offers are made. A field that is nil stays as it is.
func (l *Line) decideSet(c Set, at int64) engine.Decision {
	now := Settings{Auto: true, OfferMinutes: DefaultOfferMinutes}
	if l != nil {
		now = Settings{Auto: l.Auto, OfferMinutes: l.OfferMinutes}
	}
	was := now
	if c.Auto != nil {
		now.Auto = *c.Auto
	}
	if c.OfferMinutes != nil {
		now.OfferMinutes = *c.OfferMinutes
	}
	d := engine.Decision{Reply: &now}
	if now != was {
		d.Facts = []engine.Fact{&SetFact{Auto: now.Auto, OfferMinutes: now.OfferMinutes, At: at}}
	}
	return d
}

// Wake tells ticket types that somebody waits for them, or that nobody does any more. It returns the first
// entry for which enough is set aside, and the ticket type to offer it, or nil if there is none. As long as the
// line is not due (Due), it does nothing and returns nil. The entry after that one is offered something at the next
// Wake, when this offer has been made.
func (l *Line) Wake(d *engine.Decision, t *Terms, now int64) (first *Entry, typ int64) {
	if due := l.Due(t.Offers); due == 0 || due > now {
		return nil, 0
	}
	for _, g := range l.listUntold(now) {
		d.Sends = append(d.Sends, engine.Send{To: engine.InventoryRef(t.Event, g.Type), Cmd: keeper.Await{Revision: g.Revision, On: g.On}})
	}
	d.Facts = slices.Insert(d.Facts, 0, engine.Fact(&Judged{At: now})) // first: the other facts may ask to judge again
	return l.firstInLine(t, now)
}

// firstInLine returns the oldest entry that may be offered something now, and the ticket type to
// offer it. A type whose last offer is still being made is left out.
func (l *Line) firstInLine(t *Terms, now int64) (first *Entry, typ int64) {
	if !t.Selling {
		return nil, 0
	}
	left := make(map[int64]int64)
	for id, o := range t.Offers {
		if isOpen(&o, now) && l.isReady(&o, now, t.IsPlacing) {
			left[id] = o.Free
		}
	}
	if len(left) == 0 {
		return nil, 0
	}
	room := t.Room
	l.eachWaiting(func(e *Entry) bool {
		if (l.Auto || e.Called) && !t.IsPlacing(e.ID) {
			if typ = t.fittingType(e, left, room); typ != 0 {
				first = e
			}
		}
		return first == nil
	})
	return first, typ
}

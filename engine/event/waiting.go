package event

import (
	"cmp"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// The waitlist of sold-out ticket types (docs/adr/0018). As long as an entry waits for a type, the
// type sells to nobody else: the ledger tells the type so (keeper.Await), and somebody who joins
// gets an answer when the type has acknowledged it. The type tells the ledger how much it has set
// aside (keeper.Offer), and the ledger offers that to the oldest entry whose quantity fits: it
// places an order under the entry's id, which is not shown and which ends with the offer's window.
// A claim makes it an order like any other.

// decideLine decides on the commands about the waitlist.
func (s *State) decideLine(c engine.Command, at int64) engine.Decision {
	switch c := c.(type) {
	case waitlist.Join:
		return s.decideJoin(c, at)
	case waitlist.Leave:
		return s.decideLeave(c, at)
	case waitlist.Claim:
		return s.decideClaimOffer(c, at)
	case waitlist.Call:
		return s.decideCall(c, at)
	case waitlist.Set:
		return s.decideSet(c, at)
	case waitlist.Of:
		page := &waitlist.Page{}
		for _, e := range s.line.OfCustomer(c.Customer) {
			page.Entries = append(page.Entries, *s.placeInLine(e))
		}
		return engine.Decision{Reply: page}
	case waitlist.List:
		page := &waitlist.Page{}
		if s.line != nil {
			page.Entries = s.line.Page(c.After, c.Limit)
		}
		return engine.Decision{Reply: page}
	default:
		return refuse(engine.Internal, nil)
	}
}

// decideJoin puts somebody in line. The answer waits until all types that they wait for are known
// to sell to nobody else, because from then on nobody can overtake them.
func (s *State) decideJoin(c waitlist.Join, at int64) engine.Decision {
	if e := s.line.Find(c.ID); e != nil && !c.Unproven { // the command is a repeat
		return s.answerJoin(engine.Decision{}, e)
	}
	if !isSelling(s.status) {
		return refuseClosed(waitlist.ClosedOver)
	}
	if e := s.line.Of(c.Customer, c.Type); e != nil && !c.Unproven {
		return s.answerJoin(engine.Decision{}, e)
	}
	if _, made := s.findOffer(c.Type); c.Type != 0 && !made {
		return refuse(engine.TicketTypeNotFound, nil)
	}
	enabled := false
	for _, o := range s.offers {
		if !o.Waitlist || !waitlist.CanWait(&o) || c.Type != 0 && c.Type != o.Keeper.ID {
			continue
		}
		enabled = true
		if !o.SoldOut && !s.isFull() {
			return refuseClosed(waitlist.ClosedNotSoldOut)
		}
	}
	if !enabled || ProductType(s.details.Category) == ProductReservation {
		return refuseClosed(waitlist.ClosedNotEnabled)
	}
	if s.line.Full() {
		return engine.Decision{Reply: &engine.Refusal{Code: engine.Conflict, Message: "The waitlist is full."}}
	}
	if most := scaleLimit(0, waitlist.MaxOfNetwork, c.Scale); c.Client != 0 && s.line.OfNetwork(c.Client) >= most {
		return engine.Decision{Reply: tooFast("waitlist_per_network", most, entryPause, entryPause)}
	}
	e := &waitlist.Entry{
		ID: c.ID, Number: s.line.Next(), Type: c.Type, Quantity: c.Quantity, Email: c.Email, Name: c.Name, Customer: c.Customer,
		At: at, Status: waitlist.StatusWaiting, Client: c.Client,
	}
	if c.Unproven {
		e.Status = waitlist.StatusUnconfirmed
		return engine.Decision{Reply: &waitlist.Placed{Entry: *e}}
	}
	return s.answerJoin(engine.Decision{Facts: []engine.Fact{&waitlist.Joined{Entry: e}}}, e)
}

// entryPause is after how many milliseconds a network that has too many entries may try again: when
// an entry ends can't be known.
const entryPause = 3_600_000

func refuseClosed(reason string) engine.Decision {
	return refuse(engine.WaitlistClosed, waitlist.Closed{Reason: reason})
}

// answerJoin answers with an entry, or holds the caller until the types are guarded.
func (s *State) answerJoin(d engine.Decision, e *waitlist.Entry) engine.Decision {
	if e.Status == waitlist.StatusWaiting && !s.line.Guarded(e, s.offers, nil) {
		d.Facts = append(d.Facts, &waitlist.Held{ID: e.ID})
		d.Hold = &e.ID
		return d
	}
	d.Reply = s.placeInLine(e)
	return d
}

// placeInLine returns an entry as answers show it.
func (s *State) placeInLine(e *waitlist.Entry) *waitlist.Placed {
	p := &waitlist.Placed{Entry: *e, Position: 1}
	if s.line != nil {
		p.Position = s.line.Position(e)
	}
	return p
}

// decideAwaitSeen answers the callers whose places in line are safe now.
func (s *State) decideAwaitSeen(c keeper.AwaitSeen) engine.Decision {
	if s.line == nil {
		return engine.Decision{}
	}
	d := engine.Decision{Facts: []engine.Fact{&waitlist.Seen{Await: c}}}
	for _, e := range s.line.Held(s.offers, &c) {
		d.Answers = append(d.Answers, engine.Answer{Key: e.ID, Reply: s.placeInLine(e)})
	}
	return d
}

func (s *State) decideLeave(c waitlist.Leave, at int64) engine.Decision {
	e := s.line.Find(c.ID)
	if e == nil {
		return refuse(engine.NotFound, nil)
	}
	gone := *e
	switch e.Status {
	case waitlist.StatusWaiting:
		gone.Status, gone.EndedAt = waitlist.StatusCancelled, at
		f := &waitlist.EntryEnded{ID: e.ID, Status: gone.Status, At: at, Email: e.Email, Name: e.Name}
		return engine.Decision{Facts: []engine.Fact{f}, Reply: s.placeInLine(&gone)}
	case waitlist.StatusOffered:
		gone.Status, gone.EndedAt = waitlist.StatusCancelled, at
		d := s.endOffer(s.find(e.ID), gone.Status, at)
		d.Reply = s.placeInLine(&gone)
		return d
	}
	return engine.Decision{Reply: s.placeInLine(e)}
}

// endOffer ends the order that an entry was offered, and with it the entry.
func (s *State) endOffer(o *order.Order, status string, at int64) engine.Decision {
	d := engine.Decision{Facts: []engine.Fact{&waitlist.EntryEnded{ID: o.ID, Status: status, At: at, Email: o.Email, Name: o.Name}}}
	s.tellKeepers(&d, o, allPlaces(o), false)
	return d
}

// decideClaimOffer makes an offered order an order like any other. An order that costs nothing is
// completed at once.
func (s *State) decideClaimOffer(c waitlist.Claim, at int64) engine.Decision {
	e := s.line.Find(c.ID)
	if e == nil {
		return refuse(engine.NotFound, nil)
	}
	if e.Status == waitlist.StatusClaimed {
		return s.decideGetOrder(GetOrder{Order: c.ID})
	}
	was := s.find(c.ID)
	switch {
	case e.Status != waitlist.StatusOffered || was == nil:
		return refuse(engine.Conflict, waitlist.Standing{Status: e.Status})
	case was.ExpiresAt <= at:
		return refuse(engine.Conflict, waitlist.Standing{Status: waitlist.StatusExpired})
	case !isSelling(s.status):
		return engine.Decision{Reply: s.refuseLine(&was.Lines[0])}
	}
	o := *was
	o.Status, o.CreatedAt, o.UpdatedAt, o.ExpiresAt = order.StatusPending, at, at, at+s.details.OrderWindow
	o.Client = cmp.Or(e.Client, e.Customer) // some buyer's in any case, not the organization's
	d := engine.Decision{Facts: []engine.Fact{&waitlist.Claimed{ID: o.ID, At: at}, &order.Created{Order: &o}}}
	reply := &o
	if o.Total == 0 {
		f := &order.Completed{ID: o.ID, Serial: o.Serial, First: s.minted.next(), At: at}
		d.Facts = append(d.Facts, f)
		reply = f.Fold(&o)
		s.tellKeepers(&d, &o, allPlaces(&o), true)
	}
	d.Reply = &OrderReply{Order: reply, Status: reply.Status}
	return d
}

// decideCall calls so many of the oldest entries that fit what is set aside, so that they are
// offered it.
func (s *State) decideCall(c waitlist.Call, at int64) engine.Decision {
	var ids []engine.OrderID
	if s.line != nil && isSelling(s.status) {
		left, room := make(map[int64]int64, len(s.offers)), s.roomLeft()
		for typ, o := range s.offers {
			if s.isOpen(&o, at) {
				left[typ] = o.Free
			}
		}
		s.line.Waiting(func(e *waitlist.Entry) bool {
			typ := s.fittingType(e, left, room)
			if typ == 0 {
				return true
			}
			left[typ] -= e.Quantity
			if room != NoCapacity {
				room -= e.Quantity
			}
			if !e.Called && s.placing[e.ID] == nil {
				ids = append(ids, e.ID)
			}
			return int64(len(ids)) < c.Count
		})
	}
	d := engine.Decision{Reply: &waitlist.Called{Offered: int64(len(ids))}}
	if len(ids) > 0 {
		d.Facts = []engine.Fact{&waitlist.CalledFact{IDs: ids, At: at}}
	}
	return d
}

// fittingType returns the first ticket type that has what an entry waits for, or 0. left is what
// each type has left, and room is what the event has.
func (s *State) fittingType(e *waitlist.Entry, left map[int64]int64, room int64) int64 {
	if room != NoCapacity && e.Quantity > room {
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
		if o := s.offers[typ]; n >= e.Quantity && o.Waitlist && (first == 0 || typ < first) {
			first = typ
		}
	}
	return first
}

// isOpen reports whether units of a ticket type that are set aside may be offered at a time.
func (s *State) isOpen(o *keeper.Offer, at int64) bool {
	return o.Free > 0 && !o.Hidden && !o.Seated && at >= o.SaleStart && at < o.SaleEnd
}

func (s *State) decideSet(c waitlist.Set, at int64) engine.Decision {
	now := waitlist.Settings{Auto: true, OfferMinutes: waitlist.DefaultOfferMinutes}
	if s.line != nil {
		now = waitlist.Settings{Auto: s.line.Auto, OfferMinutes: s.line.OfferMinutes}
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
		d.Facts = []engine.Fact{&waitlist.SetFact{Auto: now.Auto, OfferMinutes: now.OfferMinutes, At: at}}
	}
	return d
}

// wakeLine tells ticket types that somebody waits for them, or that nobody does any more, and
// offers what is set aside to the first entry that it fits. The next entry is offered something
// when that one's offer is made.
func (s *State) wakeLine(d *engine.Decision, now int64) {
	if due := s.line.Due(s.offers); due == 0 || due > now {
		return
	}
	for _, g := range s.line.Untold(now) {
		d.Sends = append(d.Sends, engine.Send{To: engine.InventoryRef(s.ref.Home, g.Type), Cmd: keeper.Await{Revision: g.Revision, On: g.On}})
	}
	d.Facts = slices.Insert(d.Facts, 0, engine.Fact(&waitlist.Judged{At: now})) // first: the other facts may ask to judge again
	if e, typ := s.firstInLine(now); e != nil {
		mergeDecision(d, s.startOffer(e, typ, now))
	}
}

// firstInLine returns the oldest entry that may be offered something now, and the ticket type to
// offer.
func (s *State) firstInLine(now int64) (first *waitlist.Entry, typ int64) {
	if s.details == nil || !isSelling(s.status) {
		return nil, 0
	}
	pending := func(id engine.OrderID) bool { return s.placing[id] != nil }
	left := make(map[int64]int64)
	for id, o := range s.offers {
		if s.isOpen(&o, now) && s.line.Ready(&o, now, pending) {
			left[id] = o.Free
		}
	}
	if len(left) == 0 {
		return nil, 0
	}
	room := s.roomLeft()
	s.line.Waiting(func(e *waitlist.Entry) bool {
		if (s.line.Auto || e.Called) && !pending(e.ID) {
			if typ = s.fittingType(e, left, room); typ != 0 {
				first = e
			}
		}
		return first == nil
	})
	return first, typ
}

// startOffer asks the ticket type for the units that an entry waits for.
func (s *State) startOffer(e *waitlist.Entry, typ, at int64) engine.Decision {
	until := s.details.StartAt
	if until <= at {
		until = s.details.EndAt
	}
	o := &order.Order{
		ID: e.ID, Serial: keeper.NewSerial(s.epoch, s.counter+1), Status: order.StatusOffered,
		Email: e.Email, Name: e.Name, Customer: e.Customer, Lines: []order.Line{{Type: typ, Quantity: e.Quantity}},
		Currency: s.details.Currency, CreatedAt: at, UpdatedAt: at, ExpiresAt: at + s.line.OfferMillis(e, at, until),
	}
	return s.startPlacing(&placing{order: o, at: at, waiting: allPlaces(o), offer: true})
}

// makeOffer makes the order that an entry is offered, unless the entry has left meanwhile.
func (s *State) makeOffer(o *order.Order) engine.Decision {
	if e := s.line.Find(o.ID); e == nil || e.Status != waitlist.StatusWaiting {
		return s.dropPlacing(s.placing[o.ID], engine.Refuse(engine.NotFound, nil), -1)
	}
	o.SumUp(s.details.AbsorbFees)
	o.Digital = ProductType(s.details.Category) == ProductDigital
	return engine.Decision{Facts: []engine.Fact{&waitlist.OfferMade{Order: o}}}
}

// roomForAll returns how many units the event's capacity admits for buyers who are not on the
// waitlist, or NoCapacity.
func (s *State) roomForAll() int64 {
	room := s.roomLeft()
	if room == NoCapacity {
		return NoCapacity
	}
	return max(0, room-s.line.Reserved(s.offers))
}

// applyLine applies a fact about the waitlist.
func (s *State) applyLine(f engine.Fact) {
	if s.line == nil {
		s.line = waitlist.New()
	}
	full := s.isFull()
	switch f := f.(type) {
	case *waitlist.OfferMade:
		if f.Order == nil || len(f.Order.Lines) == 0 || s.find(f.Order.ID) != nil || !s.line.Apply(f) {
			return
		}
		s.applyOffered(f.Order)
	case *waitlist.EntryEnded:
		if was := s.open.get(f.ID); s.line.Apply(f) && was != nil && was.Status == order.StatusOffered {
			s.applyOfferEnded(was, f)
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

// applyOffered stores the order that an entry is offered.
func (s *State) applyOffered(o *order.Order) {
	if s.placing[o.ID] != nil {
		s.endPlacing(o.ID)
	} else {
		s.live += o.Tickets()
	}
	s.open.put(o)
	s.expiry.add(o.ExpiresAt, o.ID)
}

// applyOfferEnded gives up the order that an entry was offered.
func (s *State) applyOfferEnded(o *order.Order, f *waitlist.EntryEnded) {
	c := *o
	c.Status, c.UpdatedAt, c.EndedAt = cmp.Or(f.Status, waitlist.StatusExpired), f.At, f.At
	s.live -= o.Tickets()
	s.open.put(&c)
	s.settleFrom(&c, f.At)
}

// checkLine returns the first broken invariant of the waitlist: an order is offered exactly
// when its entry is.
func (s *State) checkLine() error {
	if s.line == nil {
		return nil
	}
	offered := 0
	for o := range s.open.all() {
		if o.Status != order.StatusOffered {
			continue
		}
		offered++
		if e := s.line.Find(o.ID); e == nil || e.Status != waitlist.StatusOffered {
			return fmt.Errorf("event: order %s is offered to nobody", o.ID)
		}
	}
	if n := s.line.Offered(); n != offered {
		return fmt.Errorf("event: %d orders are offered, to %d entries", offered, n)
	}
	return s.line.Check(s.offers)
}

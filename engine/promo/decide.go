package promo

import (
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Decide decides what a command does, and changes nothing itself. The reservation protocol (keeper.Protocol), with a book
// for each event, decides the commands of ledgers. Update, Delete and Get need a code that exists.
func (s *State) Decide(c engine.Command, now time.Time) engine.Decision {
	at := now.UnixMilli()
	if event, mine := keeper.LedgerOf(c); mine {
		if back, is := c.(keeper.Return); is {
			return s.protocol(event).DecideReturn(back, func(d *engine.Decision) { s.takeBack(d, back, at) })
		}
		d, _ := s.protocol(event).Decide(c, at)
		return d
	}
	switch c := c.(type) {
	case engine.Wake:
		return s.books.DecideWake(s.ref, at)
	case Create:
		return s.decideCreate(c, at)
	case Validate:
		return engine.Decision{Reply: s.validateCode(c, at)}
	}
	if s.details == nil {
		return refuse(engine.NotFound, nil)
	}
	switch c := c.(type) {
	case Update:
		return s.decideUpdate(c, at)
	case Delete:
		return s.decideDelete(at)
	case Get:
		return engine.Decision{Reply: s.makeRecord()}
	default:
		return refuse(engine.Internal, nil)
	}
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// decideCreate makes the code. A repeated command gets the record as it is, or NOT_FOUND if the code was removed since.
func (s *State) decideCreate(c Create, at int64) engine.Decision {
	switch {
	case s.details != nil:
		return engine.Decision{Reply: s.makeRecord()}
	case s.rev > 0: // the code was removed, and this is the same Create once more
		return refuse(engine.NotFound, nil)
	}
	t := c.Details
	return engine.Decision{
		Facts: []engine.Fact{&Created{Details: &t, At: at}},
		Reply: &Record{Ref: s.ref, Details: t, CreatedAt: at, Revision: s.rev + 1},
	}
}

// decideUpdate replaces the terms, if nobody has changed them since the revision that the organizer
// has seen. A code that somebody has used keeps its name.
func (s *State) decideUpdate(c Update, at int64) engine.Decision {
	switch {
	case c.Revision != s.rev:
		return refuse(engine.Conflict, nil)
	case c.Details.equal(s.details):
		return engine.Decision{Reply: s.makeRecord()}
	case c.Details.Code != s.details.Code && s.redeemed:
		return refuse(engine.CodeLocked, nil)
	}
	t, r := c.Details, s.makeRecord()
	r.Details, r.Revision = t, s.rev+1
	return engine.Decision{Facts: []engine.Fact{&Updated{Details: &t, At: at}}, Reply: r}
}

// decideDelete removes a code that no order has used or reserved. It disables any other code,
// because orders still refer to it.
func (s *State) decideDelete(at int64) engine.Decision {
	r := s.makeRecord()
	switch {
	case s.disabled:
		return engine.Decision{Reply: r}
	case s.redeemed || s.held > 0:
		r.Disabled, r.Revision = true, s.rev+1
		return engine.Decision{Facts: []engine.Fact{&DisabledFact{At: at}}, Reply: r}
	}
	r.Removed = true
	return engine.Decision{Facts: []engine.Fact{&Removed{At: at}}, Reply: r}
}

// validateCode returns whether the code is valid for a purchase, or why not, and its terms; of a code that is not
// found it returns no terms. It uses nothing. The answer can be out of date when the order is placed, which then
// checks again.
func (s *State) validateCode(c Validate, at int64) *Verdict {
	v := &Verdict{Reason: s.whyClosed(c.Event, at)}
	if v.Reason == keeper.CodeNotFound {
		return v
	}
	v.Details = *s.details
	v.Details.Discount = *s.details.In(c.Currency)
	if v.Reason == "" {
		v.Reason = s.usedUp(c.Customer, 0)
	}
	switch {
	case v.Reason != "":
	case len(c.Types) > 0 && !slices.ContainsFunc(c.Types, s.details.Applies):
		v.Reason = keeper.CodeNotApplicable
	case c.Subtotal >= 0 && c.Subtotal < v.Details.MinOrder:
		v.Reason = keeper.CodeBelowMinimum
	}
	return v
}

// whyClosed returns the reason why the code is not valid for an event now, or "". An event that the
// code is not for gets the same reason as one for which there is no code.
func (s *State) whyClosed(event, at int64) string {
	switch t := s.details; {
	case t == nil || t.Event != 0 && t.Event != event:
		return keeper.CodeNotFound
	case s.disabled:
		return keeper.CodeDisabled
	case at < t.ValidFrom:
		return keeper.CodeNotYet
	case at >= t.ValidUntil:
		return keeper.CodeExpired
	}
	return ""
}

// usedUp returns the reason why no use is left in all or for the customer, or "". back is how many
// uses the same order gives back.
func (s *State) usedUp(customer uint64, back int64) string {
	switch t := s.details; {
	case t.MaxUses > 0 && s.used+s.held-back >= t.MaxUses:
		return keeper.CodeUsedUp
	case t.MaxByCustomer > 0 && customer != 0 && s.buyers.Count(customer)-back >= t.MaxByCustomer:
		return keeper.CodeCustomerLimit
	}
	return ""
}

// protocol returns the code's side of the reservation protocol with the ledger of one event.
func (s *State) protocol(event int64) keeper.Protocol {
	return keeper.Protocol{Self: s.ref, Ledger: engine.EventRef(event), Book: s.books.Of(event), Goods: goods{s, event}}
}

// goods are the code's uses, as the ledger of one event sees them.
type goods struct {
	*State
	event int64
}

// RefuseLine returns the reason why a use can't be reserved, or nil. Late money takes its use again
// even if the code has expired or is used up since, because the buyer has paid the discounted
// price.
func (g goods) RefuseLine(l *keeper.Line, replaced keeper.Held, at int64) *engine.Refusal {
	if l.Late && g.details != nil {
		return nil
	}
	reason := g.whyClosed(g.event, at)
	if reason == "" {
		reason = g.usedUp(l.Customer, replaced.Quantity)
	}
	if reason == "" {
		return nil
	}
	return engine.Refuse(engine.PromoCodeInvalid, keeper.BadCode{Reason: reason})
}

// GrantLine returns the answer to a reserved use, with the code's discount.
func (g goods) GrantLine(c keeper.Reserve) keeper.Granted {
	terms := g.details.Discount
	return keeper.Granted{Claim: c.Claim, Keeper: g.ref, Discount: &terms}
}

// ReserveLine adds the fact that sets a use aside.
func (g goods) ReserveLine(d *engine.Decision, c keeper.Reserve, replaced keeper.Held, at int64) {
	d.Facts = append(d.Facts, &keeper.ReservedFact{
		Claim: c.Claim, Floor: c.Floor, At: at, Quantity: 1, Customer: c.Line.Customer, Left: g.usesLeft(1 - replaced.Quantity),
	})
}

// CommitLine adds the fact that consumes the use.
func (g goods) CommitLine(d *engine.Decision, c keeper.Commit, _ keeper.Held, _ int64) {
	d.Facts = append(d.Facts, &keeper.CommittedFact{Claim: c.Claim, Floor: c.Floor})
}

// ReleaseLine adds the fact that gives the use back.
func (g goods) ReleaseLine(d *engine.Decision, c keeper.Release, h keeper.Held, _ int64) {
	d.Facts = append(d.Facts, &keeper.ReleasedFact{Claim: c.Claim, Floor: c.Floor, Left: g.usesLeft(-h.Quantity)})
}

// takeBack adds the fact that takes back a use that was consumed.
func (s *State) takeBack(d *engine.Decision, c keeper.Return, at int64) {
	d.Facts = append(d.Facts, &keeper.ReturnedFact{Claim: c.Claim, Floor: c.Floor, Quantity: c.Quantity, Customer: c.Customer, Left: s.usesLeft(-c.Quantity), At: at})
}

// usesLeft returns how many uses are left after taking more of them. A negative number means that
// there is no limit.
func (s *State) usesLeft(more int64) int64 {
	if s.details.MaxUses == 0 {
		return -1
	}
	return max(0, s.details.MaxUses-s.used-s.held-more)
}

package bugs

import (
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/calendar"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/wallet"
)

// admitsOld is a ledger that admits by the code of an earlier holder as if it were the code of the last one.
type admitsOld struct{ engine.State }

// Decide ignores which holder of the ticket the code was made for.
func (a *admitsOld) Decide(c engine.Command, now time.Time) engine.Decision {
	if scan, ok := c.(admission.Scan); ok {
		scan.Version = 0
		c = scan
	}
	return a.State.Decide(c, now)
}

// keepsTickets is a ledger that sends money back, and leaves the refunded tickets valid.
type keepsTickets struct{ engine.State }

// Decide grants refunds without their tickets.
func (k *keepsTickets) Decide(c engine.Command, now time.Time) engine.Decision {
	d := k.State.Decide(c, now)
	for _, f := range d.Facts {
		if decided, ok := f.(*order.RefundDecided); ok {
			decided.Tickets = nil
		}
	}
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (k *keepsTickets) Check() error { return nil }

// returnsTwice is a stock that takes a repeated Return for a new one, and so gives the units back twice.
type returnsTwice struct{ engine.State }

// Decide gives units back whenever it is told to.
func (r *returnsTwice) Decide(c engine.Command, now time.Time) engine.Decision {
	d := r.State.Decide(c, now)
	// A repeated Return makes no fact, and is acknowledged once more.
	if back, ok := c.(keeper.Return); ok && len(d.Facts) == 0 && len(d.Sends) > 0 {
		d.Facts = []engine.Fact{&keeper.ReturnedFact{
			Claim: back.Claim, Floor: back.Floor, Quantity: back.Quantity, Customer: back.Customer, At: now.UnixMilli(),
		}}
	}
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (r *returnsTwice) Check() error { return nil }

// forgetsReturns is a ledger that sends a Return to a keeper only once. If that message is lost, the units never come
// back.
type forgetsReturns struct{ engine.State }

// Decide drops what is told again.
func (f *forgetsReturns) Decide(c engine.Command, now time.Time) engine.Decision {
	d := f.State.Decide(c, now)
	if _, timer := c.(engine.Wake); timer {
		var sends []engine.Send
		for _, s := range d.Sends {
			if _, back := s.Cmd.(keeper.Return); !back {
				sends = append(sends, s)
			}
		}
		d.Sends = sends
	}
	return d
}

// consumesTwice is a promo code that takes a repeated Commit for a new one, and so consumes two uses.
type consumesTwice struct{ engine.State }

// Decide consumes a use whenever it is told to.
func (u *consumesTwice) Decide(c engine.Command, now time.Time) engine.Decision {
	d := u.State.Decide(c, now)
	// A repeated Commit makes no fact, and is acknowledged once more.
	if sold, ok := c.(keeper.Commit); ok && len(d.Facts) == 0 && len(d.Sends) > 0 {
		d.Facts = []engine.Fact{&keeper.CommittedFact{Claim: sold.Claim, Floor: sold.Floor}}
	}
	return d
}

// judgesInUTC is a calendar that takes its dates for dates in UTC, and not in the event's time zone.
type judgesInUTC struct{ engine.State }

// Decide configures it without a zone.
func (u *judgesInUTC) Decide(c engine.Command, now time.Time) engine.Decision {
	if conf, ok := c.(calendar.Configure); ok {
		conf.Config.Zone = nil
		c = conf
	}
	return u.State.Decide(c, now)
}

// forgetsSlots is a calendar that gives back a refunded place on its date, but not in the date's time slot.
type forgetsSlots struct{ engine.State }

// Apply takes what comes back off the date alone.
func (g *forgetsSlots) Apply(f engine.Fact) {
	if back, ok := f.(*keeper.ReturnedFact); ok {
		c := *back
		c.Bookings = slices.Clone(c.Bookings)
		for i := range c.Bookings {
			c.Bookings[i].Slot = ""
		}
		f = &c
	}
	g.State.Apply(f)
}

// keepsPlaces is a calendar that sells the new place of a ticket that is moved to another date, and does not free the
// old place.
type keepsPlaces struct{ engine.State }

// Apply takes a move for an ordinary sale.
func (k *keepsPlaces) Apply(f engine.Fact) {
	if moved, ok := f.(*calendar.Moved); ok {
		f = &keeper.CommittedFact{Claim: moved.Claim, Floor: moved.Floor}
	}
	k.State.Apply(f)
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (k *keepsPlaces) Check() error { return nil }

// forgetsMoves is a ledger that tells the calendar only once that a ticket has moved. If that message is lost, the
// calendar never learns it.
type forgetsMoves struct{ engine.State }

// Decide drops what is told again.
func (f *forgetsMoves) Decide(c engine.Command, now time.Time) engine.Decision {
	d := f.State.Decide(c, now)
	if _, granted := c.(keeper.Granted); !granted {
		d.Sends = slices.DeleteFunc(slices.Clone(d.Sends), func(s engine.Send) bool {
			sold, ok := s.Cmd.(keeper.Commit)
			return ok && sold.Back != nil
		})
	}
	return d
}

// feeFirst is a wallet that debits a fee at the Reserve, before there are tickets, and not at the Commit.
type feeFirst struct{ engine.State }

// Decide commits a fee that should only be reserved.
func (w *feeFirst) Decide(c engine.Command, now time.Time) engine.Decision {
	d := w.State.Decide(c, now)
	if ask, ok := c.(keeper.Reserve); ok && len(d.Facts) > 0 {
		commit := w.State.Decide(keeper.Commit{Claim: ask.Claim, Floor: ask.Floor}, now)
		fee := wallet.Entry{ID: ask.Order, Kind: wallet.Debited, Amount: ask.Line.Quantity, Reason: wallet.IssueFee, Reference: ask.Order.String(), At: now.UnixMilli()}
		d.Facts = append(d.Facts, &wallet.Entered{Entry: fee})
		d.Facts = append(d.Facts, commit.Facts...)
	}
	return d
}

// Check reports nothing: it hides the mistake from the state's own check, so that only the judge can find it.
func (w *feeFirst) Check() error { return nil }

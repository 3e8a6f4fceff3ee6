package wallet

import (
	"maps"
	"slices"
	"strconv"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// decideProceeds stores the newest totals of an event. It makes an entry for each change since the
// last totals: sales, refunds and clearing. Totals of an old revision change nothing. All are
// acknowledged, because the event repeats its totals until then.
func (s *State) decideProceeds(c keeper.Proceeds, at int64) engine.Decision {
	d := engine.Decision{Sends: []engine.Send{{To: engine.EventRef(c.Event), Cmd: keeper.ProceedsSeen{Revision: c.Revision}}}}
	was := s.proceeds[c.Event]
	if c.Revision <= was.Revision {
		return d
	}
	told := &Told{Proceeds: c}
	last := s.last
	add := func(kind EntryKind, amount, pending, balance int64) {
		if amount == 0 {
			return
		}
		e := Entry{
			// The id is derived from the event, the revision and the kind, so that deciding
			// again gives the same id.
			ID: engine.NumberedID(c.Event, int64(c.Revision)<<2|int64(kind)&3), Kind: kind, Number: last.Number + 1, Amount: amount, //nolint:gosec // a counter
			Balance: last.Balance + balance, Pending: last.Pending + pending, At: at, Reference: "event/" + strconv.FormatInt(c.Event, 10),
		}
		last = e.stampOf()
		told.Entries = append(told.Entries, e)
	}
	sold, refunded, cleared := c.Sales-was.Sales, c.Refunds-was.Refunds, c.Cleared-was.Cleared
	add(Sold, sold, sold, 0)
	clawed := max(0, -cleared) // more has gone back than was pending
	add(Refunded, refunded, clawed-refunded, -clawed)
	add(Clearing, max(0, cleared), -max(0, cleared), max(0, cleared))
	d.Facts = []engine.Fact{told}
	return d
}

func (s *State) applyTold(f *Told) {
	s.proceeds[f.Proceeds.Event] = f.Proceeds
	for i := range f.Entries {
		s.last = f.Entries[i].stampOf()
		s.entries++
	}
}

// proceedsSums returns the sums over all events: what is pending, what is cleared, and what was
// given back.
func (s *State) proceedsSums() (pending, cleared, refunds int64) {
	for _, p := range s.proceeds {
		pending += p.Pending()
		cleared += p.Cleared
		refunds += p.Refunds
	}
	return pending, cleared, refunds
}

// Proceeds lists the totals that the events have told, ordered by the events' numbers.
func (s *State) Proceeds() []keeper.Proceeds {
	var all []keeper.Proceeds
	for _, event := range slices.Sorted(maps.Keys(s.proceeds)) {
		all = append(all, s.proceeds[event])
	}
	return all
}

package bugs

import (
	"slices"
	"time"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/waitlist"
)

// sellsSetAside is a ticket type that sells units which are set aside for the waitlist to any buyer.
type sellsSetAside struct{ engine.State }

// Decide treats every reservation as one of a buyer from the waitlist.
func (t *sellsSetAside) Decide(c engine.Command, now time.Time) engine.Decision {
	if r, reserve := c.(keeper.Reserve); reserve {
		r.Line.SetAside = true
		c = r
	}
	return t.State.Decide(c, now)
}

// keepsExpired is a ledger that makes no more offers to the waitlist once an offer has expired.
type keepsExpired struct {
	engine.State
	expired bool
}

// Decide drops the offers after the first that has run out.
func (k *keepsExpired) Decide(c engine.Command, now time.Time) engine.Decision {
	d := k.State.Decide(c, now)
	for _, f := range d.Facts {
		if end, ok := f.(*waitlist.EntryEnded); ok && end.Status == waitlist.StatusExpired {
			k.expired = true
		}
	}
	// An offer begins with a Reserve of units that are set aside.
	offers := slices.ContainsFunc(d.Asks, func(s engine.Send) bool {
		r, reserve := s.Cmd.(keeper.Reserve)
		return reserve && r.Line.SetAside
	})
	if k.expired && offers {
		d.Asks = nil
		d.Facts = slices.DeleteFunc(d.Facts, func(f engine.Fact) bool {
			_, placing := f.(*ledger.Placing)
			return placing
		})
	}
	return d
}

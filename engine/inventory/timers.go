package inventory

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// offerAgainMillis is after how many milliseconds an offer is sent again if the ledger has not
// acknowledged it.
const offerAgainMillis = 2_000

// decideWake asks the ledger about old reservations, and repeats the offer if the ledger has not
// acknowledged it in time.
func (s *State) decideWake(now int64) engine.Decision {
	var d engine.Decision
	s.protocol().DecideWake(&d, now)
	if s.details != nil && s.seen != s.rev && now >= s.offer+offerAgainMillis {
		s.sendOffer(&d, now, s.details, s.rev, s.standingAt(s.freeUnits()))
	}
	return d
}

func (s *State) ledgerRef() engine.Ref { return engine.EventRef(s.ref.Home) }

// sendOffer adds an offer to a decision. t, rev and stands are the record, the revision and the
// stock after that decision.
func (s *State) sendOffer(d *engine.Decision, now int64, t *Details, rev uint64, stands standing) {
	d.Facts = append(d.Facts, &Offered{At: now})
	d.Sends = append(d.Sends, engine.Send{To: s.ledgerRef(), Cmd: makeOffer(s.ref, t, rev, stands)})
}

// offerTurn adds an offer to a decision after which the given number of units is free. It does so
// only if that changes what the offer says: the type has sold out or come back, or more or less of
// it is set aside.
func (s *State) offerTurn(d *engine.Decision, now, free int64) {
	if stands := s.standingAt(free); stands != s.standingAt(s.freeUnits()) {
		s.sendOffer(d, now, s.details, s.rev+1, stands)
	}
}

// Offer returns what the ledger needs to know about the type.
func (r *Record) Offer() keeper.Offer {
	return makeOffer(r.Ref, &r.Details, r.Revision, standing{soldOut: r.Available == 0, free: r.SetAside})
}

func makeOffer(ref engine.Ref, t *Details, rev uint64, stands standing) keeper.Offer {
	return keeper.Offer{
		Keeper: ref, Revision: rev, SaleStart: t.SaleStart, SaleEnd: t.SaleEnd,
		Hidden: t.Hidden || t.Unmapped(), SoldOut: stands.soldOut, Paid: t.Price > 0, Seated: t.Seated,
		Waitlist: t.WaitlistEnabled, Free: stands.free,
	}
}

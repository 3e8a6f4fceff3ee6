package inventory

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// offerAgainMillis is when an offer that the ledger has not seen is repeated.
const offerAgainMillis = 2_000

// decideWake asks the ledger about old reservations and repeats the offer.
func (s *State) decideWake(now int64) engine.Decision {
	var d engine.Decision
	s.protocol().DecideWake(&d, now)
	if s.details != nil && s.seen != s.rev && now >= s.offer+offerAgainMillis {
		s.sendOffer(&d, now, s.details, s.rev, s.available() == 0)
	}
	return d
}

func (s *State) ledger() engine.Ref { return engine.EventRef(s.ref.Event) }

// sendOffer adds the offer as it will stand after the decision.
func (s *State) sendOffer(d *engine.Decision, now int64, t *Details, rev uint64, soldOut bool) {
	d.Facts = append(d.Facts, &Offered{At: now})
	d.Sends = append(d.Sends, engine.Send{To: s.ledger(), Cmd: offer(s.ref, t, rev, soldOut)})
}

// offerTurn adds the offer when the type sells out, or comes back, by having so
// many left.
func (s *State) offerTurn(d *engine.Decision, now, left int64) {
	if out := left == 0; out != (s.available() == 0) {
		s.sendOffer(d, now, s.details, s.rev+1, out)
	}
}

// Offer is what the ledger needs to know of the type, as the record says it.
func (r *Record) Offer() keeper.Offer {
	return offer(r.Ref, &r.Details, r.Revision, r.Available == 0)
}

func offer(ref engine.Ref, t *Details, rev uint64, soldOut bool) keeper.Offer {
	return keeper.Offer{
		Keeper: ref, Revision: rev, SaleStart: t.SaleStart, SaleEnd: t.SaleEnd,
		Hidden: t.Hidden || t.Unmapped(), SoldOut: soldOut, Paid: t.Price > 0, Seated: t.Seated,
	}
}

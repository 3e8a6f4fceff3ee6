package acts

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/promo"
)

// org is the organization that has all shows. A promo code is the organization's, and may be for all of its events.
const org = 1

// openCodes makes the promo codes that buyers of a show may name: one of the show's own, and one that is good for all
// shows.
func (s *Script) openCodes(sh *show) {
	if !s.fates.on {
		return
	}
	all := engine.PromoRef(org, 1)
	sh.codes = append(sh.codes, all)
	// All shows share the code, so only the first one makes it.
	if sh.ref.ID == 1 {
		s.openCode(all, 0)
	}
	own := engine.PromoRef(org, 100+sh.ref.ID)
	sh.codes = append(sh.codes, own)
	s.openCode(own, sh.ref.ID)
	for range s.fates.IntN(3) {
		ref := sh.codes[s.fates.IntN(len(sh.codes))]
		s.After(second+s.fates.Int64N(s.load.Span), func() { s.changeCode(ref) })
	}
}

// openCode makes a promo code for the event of this number, or for all events if it is 0. Its limits are small enough
// to be reached.
func (s *Script) openCode(ref engine.Ref, number int64) {
	d := promo.Details{
		Discount:  keeper.Discount{Code: "CODE", Percentage: s.fates.chance(.5), Value: 1 + s.fates.Int64N(9_000)},
		ValidFrom: s.Millis(-3600 * second), ValidUntil: s.Millis(24 * 3600 * second), Event: number,
		MaxUses: 1 + s.fates.Int64N(12), MaxByCustomer: s.fates.Int64N(4),
	}
	// A code without MaxUses may be used without end.
	if s.fates.chance(.2) {
		d.MaxUses = 0
	}
	if s.fates.chance(.2) {
		d.MinOrder = 1 + s.fates.Int64N(5_000)
	}
	s.ask(ref, promo.Create{Details: d}, 0, nil)
}

// changeCode changes a code's terms, or ends it, while orders are placed with it.
func (s *Script) changeCode(ref engine.Ref) {
	s.ask(ref, promo.Get{}, 2, func(r engine.Reply) {
		rec, ok := r.(*promo.Record)
		switch {
		case !ok || rec.Disabled:
		case s.fates.chance(.3):
			s.ask(ref, promo.Delete{}, 2, nil)
		default:
			d := rec.Details
			d.MaxUses, d.Value = s.fates.Int64N(12), 1+s.fates.Int64N(9_000)
			s.ask(ref, promo.Update{Details: d, Revision: rec.Revision}, 2, nil)
		}
	})
}

// nameCode lets about a third of the orders name a promo code.
func (s *Script) nameCode(sh *show, p *ledger.Place) {
	if len(sh.codes) > 0 && s.fates.chance(.35) {
		p.Promo = &order.Promo{Ref: sh.codes[s.fates.IntN(len(sh.codes))], Code: "CODE"}
	}
}

package judge

import (
	"boxoffice/engine"
)

// Phase returns in a few words what an actor is in the middle of, as far as its facts tell. The simulator counts in
// which phases its faults have struck, so that a run shows whether they hit the actors at work.
func (t *Truth) Phase(ref engine.Ref) string {
	if ref.Kind == engine.KindInventory {
		if st := t.stocks[ref]; st != nil && len(st.held) > 0 {
			return "stock reserved"
		}
		return "stock idle"
	}
	if ref.Kind == engine.KindPromo {
		if st := t.stocks[ref]; st != nil && len(st.held) > 0 {
			return "code reserved"
		}
		return "code idle"
	}
	if ref.Kind == engine.KindWallet {
		return "wallet idle"
	}
	if ref.Kind == engine.KindCalendar {
		if d := t.diaries[ref.Home]; d != nil && len(d.held) > 0 {
			return "dates reserved"
		}
		return "dates idle"
	}
	if ref.Kind == engine.KindSeatmap {
		return t.seats.Phase(ref)
	}
	if ref.Kind == engine.KindQueue {
		return t.rooms.Phase(ref)
	}
	phase := "event idle"
	b := t.bookOf(ref.Home)
	for _, id := range b.ids {
		switch sl := b.orders[id]; {
		case sl.order.Unpaid():
			return "order unpaid"
		case !sl.closed:
			phase = "order settling"
		}
	}
	return phase
}

package seats

import (
	"errors"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// Settled judges an event's seats once the world is quiet. No hold and no reservation is left, and the seats that are
// taken belong to the completed orders. The state that is replayed from the journal must say the same.
func (s *Seats) Settled(ref engine.Ref, sold []*order.Order) error {
	st := s.seatingOf(ref)
	if len(st.picks) > 0 || len(st.reserved) > 0 {
		return fmt.Errorf("%d selections and %d reservations are left", len(st.picks), len(st.reserved))
	}
	// Each seat that is taken has a sold order whose ticket is still good.
	for i := range st.spots {
		if claim := st.spots[i].claim; claim.Serial != 0 {
			id, o := st.seatID(int32(i)), s.world.Order(ref.Home, claim.Order)
			if o == nil || !o.Sold() || o.Serial != claim.Serial || s.world.Gone(o)[id] {
				return fmt.Errorf("seat %s is of %s, which is %+v", id, enginetest.ClaimName(claim), o)
			}
		}
	}
	// Conversely, each sold order has all its seats.
	for _, o := range sold {
		if err := st.checkSeatsOf(o, o.Serial, s.world.Gone(o)); err != nil {
			return err
		}
	}
	// The judge's own record is right by now. The kind's state has to agree with it, because it decides what comes
	// next.
	state, err := s.world.Replay(ref)
	if err != nil {
		return err
	}
	m, ok := state.(*seatmap.State)
	if !ok {
		return fmt.Errorf("a %T", state)
	}
	m.Open(func(h keeper.Held) {
		err = errors.Join(err, fmt.Errorf("%s is still reserved", enginetest.ClaimName(h.Claim)))
	})
	m.Selections(func(holder string, _ int64, ids []string) {
		err = errors.Join(err, fmt.Errorf("%s still holds %v", holder, ids))
	})
	m.Sales(func(c keeper.Claim, ids []string) {
		for _, id := range ids {
			if i := slices.Index(st.layout.SeatIDs, id); i < 0 || st.spots[i].claim != c {
				err = errors.Join(err, fmt.Errorf("seat %s is of %s", id, enginetest.ClaimName(c)))
			}
		}
	})
	return err
}

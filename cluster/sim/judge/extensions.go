package judge

import (
	"fmt"

	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// judgeExtended makes sure that an order gets more time only while it has some, ten times at most, and
// each time by the window that it was placed with at most.
func (t *Truth) judgeExtended(b *book, f *order.Extended) error {
	sl := b.orders[f.ID]
	switch {
	case sl == nil || !sl.order.Unpaid() || f.At >= sl.order.ExpiresAt:
		return fmt.Errorf("order %s gets more time when it is over: %+v", enginetest.OrderName(f.ID), sl)
	case b.details.NoExtensions:
		return fmt.Errorf("order %s gets more time, and the event gives none", enginetest.OrderName(f.ID))
	case f.Number != sl.order.Extensions+1 || f.Number > keeper.MaxExtensions:
		return fmt.Errorf("order %s gets more time for the %dth time, after %d", enginetest.OrderName(f.ID), f.Number, sl.order.Extensions)
	case f.ExpiresAt <= sl.order.ExpiresAt || f.ExpiresAt > sl.order.ExpiresAt+sl.order.Window():
		return fmt.Errorf("order %s has time until %d, after %d", enginetest.OrderName(f.ID), f.ExpiresAt, sl.order.ExpiresAt)
	}
	t.world.Reach("extension", "of an order")
	sl.foldFact(f)
	return nil
}

// judgeHeldLonger makes sure that a selection gets more time only while it has some, ten times at most,
// and each time as long as a new hold gets.
func (t *Truth) judgeHeldLonger(st *seats, old, f *seatmap.HeldFact) error {
	switch {
	case old == nil || f.At >= old.Until || len(f.Took)+len(f.Dropped) > 0 || f.Since != old.Since:
		return fmt.Errorf("%s gets more time for seats that he does not have: %+v", f.Holder, f)
	case f.Extended != old.Extended+1 || f.Extended > keeper.MaxExtensions:
		return fmt.Errorf("%s gets more time for the %dth time, after %d", f.Holder, f.Extended, old.Extended)
	case f.Until != old.Until+st.holdTime:
		return fmt.Errorf("%s has his seats until %d, after %d", f.Holder, f.Until, old.Until)
	}
	t.world.Reach("extension", "of a hold")
	return nil
}

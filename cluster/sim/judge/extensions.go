package judge

import (
	"fmt"

	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// judgeExtended makes sure that an order gets more time only before its time is over, only if its event allows it,
// keeper.MaxExtensions times at most, and each time by no more than the window that it was placed with.
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

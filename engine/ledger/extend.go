package ledger

import (
	"math"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
)

// decideExtend gives an unpaid order its window once more, but not beyond the end of its ticket types' sale. It is
// refused if the order has ended, if the event allows no more time, if the order has got it MaxExtensions times or if
// the end of the sale leaves none. A repeat changes nothing. The order's reservations stay as they are, because its
// keepers give nothing back before they are told that the order has ended.
func (b *Book) decideExtend(c ExtendOrder, t *Terms, at int64) engine.Decision {
	o := b.findMade(c.Order)
	if o == nil {
		if _, _, ok := b.closedOrders.Find(c.Order); ok {
			return engine.Decision{Reply: keeper.RefuseExtension(keeper.ExtensionOver)}
		}
		return refuse(engine.OrderNotFound, nil)
	}
	until := min(o.ExpiresAt+o.Window(), b.saleEnd(t, o))
	// A repeat is answered before the order is judged, because the order has changed since the first request.
	switch {
	case c.By != 0 && slices.Contains(o.ExtendedBy, c.By):
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	case !o.Unpaid() || t.Cancelled || at >= o.ExpiresAt:
		return engine.Decision{Reply: keeper.RefuseExtension(keeper.ExtensionOver)}
	case o.Extensions > c.After:
		return engine.Decision{Reply: &OrderReply{Order: o, Status: o.Status}}
	case t.Hurried:
		return engine.Decision{Reply: keeper.RefuseExtension(keeper.ExtensionsOff)}
	case o.Extensions >= keeper.MaxExtensions || until <= o.ExpiresAt:
		return engine.Decision{Reply: keeper.RefuseExtension(keeper.ExtensionsUsed)}
	}
	return foldFacts(o, []engine.Fact{&order.Extended{ID: o.ID, Number: o.Extensions + 1, ExpiresAt: until, At: at, By: c.By}})
}

// saleEnd returns the earliest time, in unix milliseconds, at which the sale of one of an order's ticket types
// ends. It is math.MaxInt64 if no sale ends.
func (b *Book) saleEnd(t *Terms, o *order.Order) int64 {
	end := int64(math.MaxInt64)
	for i := range o.Lines {
		if e := t.Offers[o.Lines[i].Type].SaleEnd; e != 0 {
			end = min(end, e)
		}
	}
	return end
}

package erasure

import (
	"context"
	"iter"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// ordersOf returns the orders whose buyer has the address, page by page. If reading fails, the last
// pair of the sequence has the error and no order.
func (e *Eraser) ordersOf(ctx context.Context, address string) iter.Seq2[*order.Order, error] {
	address = order.NormalEmail(address)
	return func(yield func(*order.Order, error) bool) {
		var after engine.OrderID
		for {
			list, err := e.Read.OrdersOf(ctx, order.CustomerOf(address), after, page)
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range list {
				after = list[i].ID
				// The read model finds orders by the hash of the address, and another address may
				// have the same hash.
				if order.NormalEmail(list[i].Email) == address && !yield(&list[i], nil) {
					return
				}
			}
			if len(list) < page {
				return
			}
		}
	}
}

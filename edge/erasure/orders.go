package erasure

import (
	"context"
	"iter"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// ordersOf are the orders whose buyer has an address.
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
				if order.NormalEmail(list[i].Email) == address && !yield(&list[i], nil) { // an order may be of another address with the same hash
					return
				}
			}
			if len(list) < page {
				return
			}
		}
	}
}

package ledger

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine/order"
)

// TestPlaced makes sure that what happens to an order later does not change the answer to a repeat
// of its Place.
func TestPlaced(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.SampledFrom([]int64{0, 2_000}).Draw(t, "price")
		o := &order.Order{
			Status: order.StatusPending, Lines: []order.Line{{Type: 1, Quantity: 2, UnitPrice: price}}, Client: 7,
			CreatedAt: 1_000, UpdatedAt: 1_000, ExpiresAt: 901_000,
		}
		o.SumUp(false)
		if price == 0 {
			o = order.Fold(o, &order.Completed{First: 5, At: 1_005})
		}
		first, at := *o, int64(2_000)
		require.Equal(t, first, *o.Placed())
		for range rapid.IntRange(1, 12).Draw(t, "changes") {
			at += 1_000
			o = drawChange(t, o, at)
			now := *o
			placed := *o.Placed()
			placed.Serial = 0 // only keepers are told the serial
			require.Equal(t, first, placed)
			require.Equal(t, now, *o)
		}
	})
}

// drawChange returns the order after something that may happen to it.
func drawChange(t *rapid.T, o *order.Order, at int64) *order.Order {
	reference := "none"
	if n := len(o.Attempts); n > 0 {
		reference = o.Attempts[rapid.IntRange(0, n-1).Draw(t, "attempt")].Reference
	}
	switch what := rapid.IntRange(0, 6).Draw(t, "what"); {
	case what == 0 && o.Unpaid():
		return order.Fold(o, &order.PaymentBegun{Attempt: order.Attempt{Reference: string(rune('a' + len(o.Attempts))), At: at}, ExpiresAt: at + 1_800_000})
	case what == 1:
		return order.Fold(o, &order.PaymentOpened{Reference: reference, URL: "https://pay", At: at})
	case what == 2:
		status := rapid.SampledFrom([]string{order.AttemptProcessing, order.AttemptSucceeded, order.AttemptFailed, order.AttemptUnderpaid}).Draw(t, "status")
		return order.Fold(o, &order.PaymentReported{Reference: reference, Status: status, Received: 100, At: at})
	case what == 3 && o.Unpaid():
		return order.Fold(o, &order.Ended{Status: rapid.SampledFrom([]string{order.StatusCancelled, order.StatusExpired, order.StatusFailed}).Draw(t, "end"), At: at})
	case what == 4 && o.Total > 0 && o.Status != order.StatusCompleted:
		return order.Fold(o, &order.Completed{Serial: 9, First: 77, At: at})
	case what == 5:
		return order.Fold(o, &order.RefundDue{Refund: order.Refund{Reference: reference, Amount: 100, Status: order.RefundProcessing, At: at}})
	case what == 6 && len(o.Refunds) > 0 && slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.ProcessedAt == 0 }):
		return order.Fold(o, &order.RefundReported{Status: order.RefundProcessed, At: at})
	}
	return o
}

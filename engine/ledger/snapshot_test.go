package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// TestThawUnpacked takes up a late order of an old snapshot, which did not pack it. What its refund's ticket took goes
// back to the keepers, as it does after a newer snapshot.
func TestThawUnpacked(t *testing.T) {
	t.Parallel()
	o := &order.Order{
		ID: engine.NumberedID(1, 1), Status: order.StatusCompleted, Lines: []order.Line{{Type: 1, Quantity: 1}}, FirstTicket: 1, UpdatedAt: 1_000,
		Refunds: []order.Refund{{Status: order.RefundProcessed, Ask: &order.Ask{Tickets: []uint32{1}, Serial: 5}}},
	}
	book := New(1)
	book.lateOrders.Put(o)
	frozen, buyers := book.Freeze()
	packed, unpacked := New(1), New(1)
	require.NoError(t, packed.Thaw(&frozen, &buyers))
	require.NoError(t, unpacked.Thaw(&FrozenOrders{Late: []*order.Order{o}}, &FrozenBuyers{}))
	require.NotEmpty(t, packed.returning)
	require.Equal(t, packed.returning, unpacked.returning)
	require.Equal(t, packed.Next(), unpacked.Next())
}

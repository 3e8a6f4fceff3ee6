package event

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// TestPublishedBefore opens events that the release before let be published,
// though their category is not sold yet.
func TestPublishedBefore(t *testing.T) {
	t.Parallel()
	for _, category := range []string{"reservations", "online-course", "e-books"} {
		s, _ := New(engine.EventRef(7)).(*State)
		offer := keeper.Offer{Keeper: engine.InventoryRef(7, 1), Revision: 1, SaleEnd: 10_000}
		s.Apply(&Created{Details: &Details{Category: category, Capacity: NoCapacity}, At: 1})
		s.Apply(&Offered{Offer: offer, At: 1})
		s.Apply(&Moved{From: StatusDraft, To: StatusPublished, At: 1})
		d := s.Decide(Place{Order: engine.OrderID{1}, Lines: []OrderLine{{Type: 1, Quantity: 1}}}, time.UnixMilli(2))
		if category == "e-books" {
			require.Len(t, d.Asks, 1)
			continue
		}
		r, ok := d.Reply.(*engine.Refusal)
		require.True(t, ok)
		require.Empty(t, d.Facts)
		require.Equal(t, engine.NotOnSale, r.Code)
		require.Equal(t, notSoldYet, r.Details.(keeper.NotOnSale).Reason)
	}
}

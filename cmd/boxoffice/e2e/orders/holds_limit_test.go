package orders

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// roomy is an event seated by eight rows of fifty, on a node whose limits are those
// of a deployment.
func roomy(t *testing.T) *nodetest.House {
	t.Helper()
	h := &nodetest.House{Shop: nodetest.Guarded(t)}
	h.SeatRoomy()
	return h
}

// TestHeldSeatsPerPrincipal has one address, one account and one key hold seats under
// many names: a name is free, so it is not the name that is counted.
func TestHeldSeatsPerPrincipal(t *testing.T) {
	t.Parallel()
	h := roomy(t)
	const here, there, elsewhere = "2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"
	h.HoldFrom(here, "holder-1", nodetest.RowOf("A")).Is(t, 200)
	h.HoldFrom(there, "holder-2", nodetest.RowOf("B")).Is(t, 200)
	tooFast(h.HoldFrom(here, "holder-3", nodetest.RowOf("C")[:1]), t, "held_seats", 100, 300)
	tooFast(h.BestFrom(there, "holder-4", 1), t, "held_seats", 100, 300)
	h.HoldFrom(here, "holder-1", nodetest.RowOf("A")).Is(t, 200)

	t.Log("an account and a key count for themselves, wherever they ask from")
	other := h.Register("other@example.org")
	h.HoldFrom(here, "holder-5", nodetest.RowOf("C"), other.Bearer()...).Is(t, 200)
	h.BestFrom(elsewhere, "holder-6", 50, other.Bearer()...).Is(t, 200)
	tooFast(h.BestFrom(elsewhere, "holder-7", 1, other.Bearer()...), t, "held_seats", 100, 300)
	key := []string{"Authorization", "Bearer " + h.Key(nil).Str("secret")}
	h.BestFrom(here, "holder-8", 50, key...).Is(t, 200)
	h.BestFrom(elsewhere, "holder-9", 50, key...).Is(t, 200)
	tooFast(h.BestFrom(here, "holder-10", 1, key...), t, "held_seats", 100, 300)

	t.Log("what an order takes is no longer held, and a restart forgets nothing")
	h.Restart()
	tooFast(h.HoldFrom(here, "holder-3", nodetest.RowOf("H")[:1]), t, "held_seats", 100, 300)
	body := nodetest.OrderBody("ada@example.org", h.Stalls, 10)
	body["holder"], body["items"].([]nodetest.Object)[0]["venueSeatIds"] = "holder-1", nodetest.RowOf("A")[:10]
	h.Raw("POST", "/orders", "application/json", nodetest.Encode(t, body), "X-Forwarded-For", here).Is(t, 201)
	require.Contains(t, h.BestFrom(here, "holder-3", 10).Is(t, 200).Body, "floor-")
	tooFast(h.BestFrom(here, "holder-4", 1), t, "held_seats", 100, 300)
}

// TestSeatHoldsPerNetwork has one network take seats and give them back again and
// again.
func TestSeatHoldsPerNetwork(t *testing.T) {
	t.Parallel()
	h := roomy(t)
	const here, there, elsewhere = "192.0.2.1", "::ffff:192.0.2.1", "192.0.2.2"
	for i := range 6 {
		holder := fmt.Sprintf("holder-%d", i)
		h.HoldFrom(here, holder, nodetest.RowOf("A")).Is(t, 200)
		h.Call("DELETE", h.Path+"seats/hold", nodetest.Object{"holder": holder}).Is(200, "")
	}
	tooFast(h.HoldFrom(here, "holder-6", nodetest.RowOf("A")[:1]), t, "seat_holds", 300, 600)
	tooFast(h.BestFrom(there, "holder-6", 1), t, "seat_holds", 300, 600)
	tooFast(h.BestFrom(here, "holder-6", 1, h.Register("other@example.org").Bearer()...), t, "seat_holds", 300, 600)
	h.Restart()
	tooFast(h.BestFrom(here, "holder-6", 1), t, "seat_holds", 300, 600)
	h.BestFrom(elsewhere, "holder-6", 1).Is(t, 200)
	h.BestFrom(here, "holder-7", 1, h.Bearer()...).Is(t, 200) // whoever sells for the organization is no buyer
}

package enginetest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// crowd drives one event with many orders at once. Its keeper grants all of them, if it answers.
type crowd struct {
	t     *testing.T
	state engine.State
	now   time.Time
	sends []engine.Send
	told  int // sends of the last command
	facts int // facts of the last command
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{t: t, state: event.New(engine.EventRef(1)), now: Epoch}
	c.tell(engine.Wake{Epoch: 1})
	c.tell(event.Create{Details: event.Details{
		Category: "music", Currency: "USD", Capacity: event.NoCapacity, OrderWindow: 60_000,
		StartAt: c.now.Add(time.Hour).UnixMilli(), EndAt: c.now.Add(2 * time.Hour).UnixMilli(),
	}})
	c.tell(keeper.Offer{Keeper: engine.InventoryRef(1, 1), Revision: 1, SaleStart: 0, SaleEnd: c.now.Add(time.Hour).UnixMilli()})
	c.tell(event.Move{To: event.StatusPublished})
	return c
}

func (c *crowd) tell(cmd engine.Command) {
	c.t.Helper()
	d := c.state.Decide(cmd, c.now)
	for _, f := range d.Facts {
		c.state.Apply(f)
	}
	c.sends = slices.Concat(c.sends, d.Asks, d.Joint, d.Sends)
	c.told, c.facts = len(d.Asks)+len(d.Joint)+len(d.Sends), len(d.Facts)
}

// place asks for n orders, and makes the keeper grant them if granted is set.
func (c *crowd) place(n int, granted bool) {
	c.t.Helper()
	for i := range n {
		id := engine.NumberedID(1, int64(i+1))
		c.tell(ledger.Place{Order: id, Fingerprint: 1, Lines: []order.Line{{Type: 1, Quantity: 1}}})
		if granted {
			reserve, ok := c.sends[len(c.sends)-1].Cmd.(keeper.Reserve)
			require.True(c.t, ok)
			c.tell(keeper.Granted{Claim: reserve.Claim, Keeper: engine.InventoryRef(1, 1), Price: 100, Name: "GA"})
		}
	}
	c.sends = nil
	require.NoError(c.t, c.state.Check())
}

// settle wakes the event whenever it wants during a span, and makes the keeper acknowledge if
// acknowledge is set. It returns the releases.
func (c *crowd) settle(d time.Duration, acknowledge bool) (released map[keeper.Claim]int) {
	c.t.Helper()
	released = make(map[keeper.Claim]int)
	until := c.now.Add(d)
	for range 10_000 {
		next := c.state.Next()
		if next.IsZero() || next.After(until) {
			c.now = until
			return released
		}
		if next.After(c.now) {
			c.now = next
		}
		c.tell(engine.Wake{})
		require.NotZero(c.t, c.facts, "a Wake at its time does nothing")
		require.LessOrEqual(c.t, c.told, 3*256, "one Wake does too much")
		for _, s := range c.sends {
			r, ok := s.Cmd.(keeper.Release)
			require.True(c.t, ok, "%T", s.Cmd)
			released[r.Claim]++
			if acknowledge {
				c.tell(keeper.Closed{Claim: r.Claim, Keeper: s.To})
			}
		}
		c.sends = nil
	}
	c.t.Fatal("not quiet after 10,000 wakes")
	return nil
}

// TestCrowd makes thousands of orders come due at the same moment: no Wake does too much, and no
// order is forgotten.
func TestCrowd(t *testing.T) {
	t.Parallel()
	const n = 3_000
	t.Run("expiry", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t)
		c.place(n, true)
		require.Empty(t, c.settle(59*time.Second, true))
		require.Len(t, c.settle(5*time.Second, true), n)
		require.Empty(t, c.settle(10*time.Minute, true))
		requireNoOrders(t, c)
	})
	t.Run("event cancelled", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t)
		c.place(n, true)
		c.settle(5*time.Second, true)
		c.tell(event.Move{To: event.StatusCancelled})
		require.Len(t, c.settle(time.Second, true), n)
		c.settle(5*time.Second, true)
		requireNoOrders(t, c)
	})
	t.Run("keeper away while placing", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t)
		c.place(n, false)
		require.Len(t, c.settle(5*time.Second, true), n)
		require.Empty(t, c.settle(10*time.Minute, true))
		requireNoOrders(t, c)
	})
	t.Run("keeper away while settling", func(t *testing.T) {
		t.Parallel()
		c := newCrowd(t)
		c.place(n, true)
		released := c.settle(90*time.Second, false)
		require.Len(t, released, n)
		for claim, times := range released {
			require.InDelta(t, 15, times, 3, "order %s, every 2 s", claim.Order)
		}
		c.settle(2*time.Second, true)
		c.settle(2*time.Second, true)
		require.Empty(t, c.settle(10*time.Minute, true))
		requireNoOrders(t, c)
	})
}

func requireNoOrders(t *testing.T, c *crowd) {
	t.Helper()
	require.NoError(t, c.state.Check())
	s, ok := c.state.(*event.State)
	require.True(t, ok)
	s.Orders(func(o *order.Order) { t.Errorf("order %s is left as %s", o.ID, o.Status) })
}

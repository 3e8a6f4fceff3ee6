package rooms

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// TestSlowOrders judges the pace of orders by the slowest hundredth of enough of them, and each order once.
func TestSlowOrders(t *testing.T) {
	t.Parallel()
	h := New(Deps{})
	note := func(all, slow int) {
		for i := range all {
			took := slowOrder
			if i < slow {
				took++
			}
			h.NoteOrder(took)
		}
	}
	note(orderSample, orderSample)
	k := &keptRoom{Handlers: h, judged: h.pace.read()}
	note(orderSample-1, orderSample-1)
	require.False(t, k.isSlow(), "too few to judge, and what was before the room does not count")
	note(1, 0)
	require.True(t, k.isSlow())
	require.False(t, k.isSlow(), "it was judged")
	note(orderSample, orderSample/100)
	require.False(t, k.isSlow(), "one of 100")
	note(orderSample, orderSample/100+1)
	require.True(t, k.isSlow())
}

// TestEstimate holds the span in which a turn comes to the rate: a fixed one is nearly kept, a steered one
// may double or halve, and nobody's turn comes before the opening.
func TestEstimate(t *testing.T) {
	t.Parallel()
	opens := time.UnixMilli(1_900_000_000_000)
	r := newRoom(&queue.Record{Settings: &queue.Settings{Rate: 60, Rules: draw.Rules{OpensAt: opens.UnixMilli()}}})
	e := r.estimate(opens.Add(-time.Hour), 120)
	require.Equal(t, opens.Add(120_000*time.Millisecond*100/105).Truncate(time.Millisecond).UTC(), *e.From)
	require.Equal(t, opens.Add(120*time.Second*10/9).Truncate(time.Millisecond).UTC(), *e.To)
	r.Settings.Auto = true
	e = r.estimate(opens.Add(time.Minute), 120)
	require.Equal(t, opens.Add(2*time.Minute).UTC(), *e.From)
	require.Equal(t, opens.Add(5*time.Minute).UTC(), *e.To)
	r.Settings.Rate = 1
	require.True(t, r.estimate(opens, queue.MaxEntries).To.After(opens), "a bound for the longest line")
}

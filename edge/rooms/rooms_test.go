package rooms

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/draw"
	"boxoffice/engine/queue"
)

// TestEstimate holds the span in which a turn comes to the rate: a fixed one is nearly kept, a steered one
// may double or halve, and nobody's turn comes before the opening.
func TestEstimate(t *testing.T) {
	t.Parallel()
	opens := time.UnixMilli(1_900_000_000_000)
	r := newRoom(&queue.Record{Settings: &queue.Settings{Rate: 60, Rules: draw.Rules{OpensAt: opens.UnixMilli()}}})
	e := r.estimate(opens.Add(-time.Hour), 120)
	require.Equal(t, opens.Add(96*time.Second).UTC(), *e.From)
	require.Equal(t, opens.Add(150*time.Second).UTC(), *e.To)
	r.Settings.Auto = true
	e = r.estimate(opens.Add(time.Minute), 120)
	require.Equal(t, opens.Add(2*time.Minute).UTC(), *e.From)
	require.Equal(t, opens.Add(5*time.Minute).UTC(), *e.To)
	r.Settings.Rate = 1
	require.True(t, r.estimate(opens, queue.MaxEntries).To.After(opens), "a bound for the longest line")
}

package follower

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCallersWhoGiveUpAreForgotten makes sure that a follower which does not come further remembers no callers that
// wait no more, and may rest.
func TestCallersWhoGiveUpAreForgotten(t *testing.T) {
	t.Parallel()
	f := New(Config{Name: "waiters"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 3 {
		require.ErrorIs(t, f.PassedTo(ctx, map[int32]int64{1: 1}), context.Canceled)
	}
	require.False(t, f.isAwaited())
	require.NoError(t, f.Stop(t.Context()))
	require.ErrorIs(t, f.PassedTo(t.Context(), map[int32]int64{1: 1}), ErrStopped)
	require.False(t, f.isAwaited())
}

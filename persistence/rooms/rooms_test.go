package rooms_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/rooms"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// TestMostRooms opens as many rooms as an organization may have.
func TestMostRooms(t *testing.T) {
	t.Parallel()
	s, ctx := rooms.New(persisttest.Migrated(t)), t.Context()
	for event := range int64(rooms.MaxPerOrg) {
		require.NoError(t, s.Open(ctx, 7, event+1))
	}
	require.ErrorIs(t, s.Open(ctx, 7, 1000), rooms.ErrTooMany)
	require.NoError(t, s.Open(ctx, 8, 1001), "another organization's")
	require.NoError(t, s.Open(ctx, 7, 1), "one that is there is opened again")

	r, found, err := s.Find(ctx, 2)
	require.NoError(t, err)
	require.True(t, found)
	require.NoError(t, s.Close(ctx, r))
	require.NoError(t, s.Open(ctx, 7, 1000), "one has ended")
	require.ErrorIs(t, s.Open(ctx, 7, 2), rooms.ErrTooMany, "and would be one more again")
}

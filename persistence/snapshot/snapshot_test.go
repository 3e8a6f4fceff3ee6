package snapshot_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/persisttest"
	"boxoffice/persistence/snapshot"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

// stream makes stream 1, with facts up to head, under the epoch.
func stream(t *testing.T, pool *pgxpool.Pool, head int64, epoch int32) {
	t.Helper()
	for _, sql := range []string{
		`CREATE TABLE IF NOT EXISTS journal_all PARTITION OF journal DEFAULT`,
		`INSERT INTO streams (stream_id, name) VALUES (1, 'event/1/1') ON CONFLICT DO NOTHING`,
		`INSERT INTO tails (writer) VALUES (1) ON CONFLICT DO NOTHING`,
	} {
		_, err := pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	_, err := pool.Exec(t.Context(), `UPDATE streams SET epoch = $1`, epoch)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `
INSERT INTO journal (writer, batch, day, streams, epochs, firsts, lasts, ends, facts)
VALUES (1, $1, current_date, '{1}', ARRAY[$2::int], '{1}', ARRAY[$1::bigint], '{0}', '') ON CONFLICT DO NOTHING`, head, epoch)
	require.NoError(t, err)
}

func random(n int) []byte {
	b := make([]byte, n)
	source := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = source.Read(b) // never fails
	return b
}

func save(ctx context.Context, s *snapshot.Store, stream, seq int64, epoch int32, state []byte) error {
	return s.Save(ctx, stream, seq, epoch, func(w io.Writer) error {
		for piece := range slices.Chunk(state, 200<<10) {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	})
}

func requireLatest(t *testing.T, s *snapshot.Store, seq int64, state []byte) {
	t.Helper()
	v, got, err := s.Load(t.Context(), 1, snapshot.Latest)
	require.NoError(t, err)
	require.Equal(t, seq, v.Seq)
	require.True(t, bytes.Equal(state, got), "%d bytes, want %d", len(got), len(state))
}

func TestSaveAndLoad(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 100, 1)
	requireLatest(t, s, 0, nil)
	for seq, size := range []int{0, 1, 512<<10 - 1, 512 << 10, 512<<10 + 1, 3 << 20} {
		require.NoError(t, save(t.Context(), s, 1, int64(seq), 1, random(size)))
		requireLatest(t, s, int64(seq), random(size))
	}
	v, state, err := s.Load(t.Context(), 2, snapshot.Latest)
	require.NoError(t, err)
	require.Zero(t, v)
	require.Nil(t, state)
}

func TestSaveRefusesStaleStates(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 10, 2)
	require.ErrorIs(t, save(t.Context(), s, 1, 10, 1, []byte("old owner")), snapshot.ErrStale)
	require.ErrorIs(t, save(t.Context(), s, 1, 11, 2, []byte("ahead of the journal")), snapshot.ErrStale)
	require.ErrorIs(t, save(t.Context(), s, 7, 1, 1, []byte("no such stream")), snapshot.ErrStale)
	requireLatest(t, s, 0, nil)
}

// TestNewerEpochWins makes sure that a snapshot of an older epoch, at whatever seq, never hides one
// of a newer epoch.
func TestNewerEpochWins(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 20, 1)
	require.NoError(t, save(t.Context(), s, 1, 20, 1, []byte("old, far")))
	require.NoError(t, save(t.Context(), s, 1, 5, 1, []byte("old, near")))
	requireLatest(t, s, 20, []byte("old, far"))
	stream(t, pool, 20, 2)
	require.NoError(t, save(t.Context(), s, 1, 12, 2, []byte("new")))
	requireLatest(t, s, 12, []byte("new"))
	require.NoError(t, save(t.Context(), s, 1, 20, 2, []byte("newest")))
	requireLatest(t, s, 20, []byte("newest"))
	require.NoError(t, save(t.Context(), s, 1, 20, 2, []byte("again")))
	requireLatest(t, s, 20, []byte("again"))
}

// TestLoadBefore makes sure that a caller that can't use a snapshot gets the one before it.
func TestLoadBefore(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 20, 1)
	require.NoError(t, save(t.Context(), s, 1, 20, 1, []byte("old, far")))
	stream(t, pool, 20, 2)
	require.NoError(t, save(t.Context(), s, 1, 12, 2, []byte("new")))
	before := snapshot.Latest
	for _, want := range []struct {
		snapshot.Version
		state string
	}{{snapshot.Version{Epoch: 2, Seq: 12}, "new"}, {snapshot.Version{Epoch: 1, Seq: 20}, "old, far"}, {}} {
		v, state, err := s.Load(t.Context(), 1, before)
		require.NoError(t, err)
		require.Equal(t, want.Version, v)
		require.Equal(t, want.state, string(state))
		before = v
	}
}

// TestBrokenSave makes sure that after a Save that broke off, the snapshot before it is still
// loaded.
func TestBrokenSave(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 20, 1)
	require.NoError(t, save(t.Context(), s, 1, 5, 1, []byte("whole")))
	broken := errors.New("broken")
	err := s.Save(t.Context(), 1, 9, 1, func(w io.Writer) error {
		_, err := w.Write(random(2 << 20))
		require.NoError(t, err)
		return broken
	})
	require.ErrorIs(t, err, broken)
	requireLatest(t, s, 5, []byte("whole"))
	require.NoError(t, save(t.Context(), s, 1, 9, 1, []byte("anew")))
	requireLatest(t, s, 9, []byte("anew"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, save(ctx, s, 1, 10, 1, random(2<<20)), context.Canceled)
	requireLatest(t, s, 9, []byte("anew"))
}

// TestEarlierVersions loads snapshots of earlier versions, which saved the last part first, each
// part with the number of parts.
func TestEarlierVersions(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 20, 1)
	require.NoError(t, save(t.Context(), s, 1, 5, 1, []byte("new")))
	part := func(n int, state string) {
		_, err := pool.Exec(t.Context(),
			`INSERT INTO snapshots (stream_id, epoch, seq, part, parts, state) VALUES (1, 1, 9, $1, 3, $2)`, n, []byte(state))
		require.NoError(t, err)
	}
	part(2, "c")
	part(1, "b")
	requireLatest(t, s, 5, []byte("new"))
	part(0, "a")
	requireLatest(t, s, 9, []byte("abc"))
}

func TestPrune(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := snapshot.New(pool)
	stream(t, pool, 100, 1)
	require.NoError(t, s.Prune(t.Context(), 1))
	for seq := range int64(5) {
		require.NoError(t, save(t.Context(), s, 1, 10*seq, 1, random(600<<10)))
		require.NoError(t, s.Prune(t.Context(), 1))
	}
	_, err := pool.Exec(t.Context(), `INSERT INTO snapshots (stream_id, epoch, seq, part, parts, state) VALUES
(1, 1, 7, 1, 2, 'broken, old'), (1, 1, 99, 1, 2, 'broken, perhaps on its way'), (2, 1, 7, 0, 1, 'other')`)
	require.NoError(t, err)
	require.NoError(t, s.Prune(t.Context(), 1))
	var left []int64
	require.NoError(t, pool.QueryRow(t.Context(),
		`SELECT array_agg(DISTINCT seq ORDER BY seq) FROM snapshots WHERE stream_id = 1`).Scan(&left))
	require.Equal(t, []int64{30, 40, 99}, left)
	requireLatest(t, s, 40, random(600<<10))
	v, _, err := s.Load(t.Context(), 2, snapshot.Latest)
	require.NoError(t, err)
	require.Equal(t, snapshot.Version{Epoch: 1, Seq: 7}, v)
}

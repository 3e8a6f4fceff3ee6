package idempotency_test

import (
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/idempotency"
	"boxoffice/persistence/persisttest"
)

func TestMain(m *testing.M) { persisttest.Main(m) }

func request(scope, print byte, holder string) idempotency.Request {
	return idempotency.Request{Scope: [32]byte{scope}, Fingerprint: [32]byte{print}, Holder: holder, Lease: time.Minute}
}

func TestAnswerIsRepeated(t *testing.T) {
	t.Parallel()
	s := idempotency.New(persisttest.Migrated(t))
	first := request(1, 1, "a")
	answer, err := s.Begin(t.Context(), first)
	require.NoError(t, err)
	require.Nil(t, answer)

	_, err = s.Begin(t.Context(), request(1, 1, "b"))
	require.ErrorIs(t, err, idempotency.ErrInFlight)
	_, err = s.Begin(t.Context(), request(1, 2, "b"))
	require.ErrorIs(t, err, idempotency.ErrReused, "another request, even while the first runs")

	require.NoError(t, s.Keep(t.Context(), first, []byte("sealed")))
	answer, err = s.Begin(t.Context(), request(1, 1, "c"))
	require.NoError(t, err)
	require.Equal(t, []byte("sealed"), answer)
	_, err = s.Begin(t.Context(), request(1, 2, "c"))
	require.ErrorIs(t, err, idempotency.ErrReused)
	require.NoError(t, s.GiveUp(t.Context(), first), "what has an answer stays")
	answer, err = s.Begin(t.Context(), request(1, 1, "d"))
	require.NoError(t, err)
	require.Equal(t, []byte("sealed"), answer)
}

func TestGivenUpRunsAgain(t *testing.T) {
	t.Parallel()
	s := idempotency.New(persisttest.Migrated(t))
	_, err := s.Begin(t.Context(), request(1, 1, "a"))
	require.NoError(t, err)
	require.NoError(t, s.GiveUp(t.Context(), request(1, 1, "b")), "not the one that runs: nothing happens")
	_, err = s.Begin(t.Context(), request(1, 1, "b"))
	require.ErrorIs(t, err, idempotency.ErrInFlight)
	require.NoError(t, s.GiveUp(t.Context(), request(1, 1, "a")))
	answer, err := s.Begin(t.Context(), request(1, 2, "c"))
	require.NoError(t, err, "with another body too: nothing came of the first")
	require.Nil(t, answer)
}

// TestDeadNode makes sure that a request whose node died is run again by its repeat, and by nothing
// else, and that the dead node's answer comes too late.
func TestDeadNode(t *testing.T) {
	t.Parallel()
	s := idempotency.New(persisttest.Migrated(t))
	dead := request(1, 1, "dead")
	dead.Lease = -time.Second
	_, err := s.Begin(t.Context(), dead)
	require.NoError(t, err)
	_, err = s.Begin(t.Context(), request(1, 2, "b"))
	require.ErrorIs(t, err, idempotency.ErrReused)
	answer, err := s.Begin(t.Context(), request(1, 1, "c"))
	require.NoError(t, err)
	require.Nil(t, answer)
	require.NoError(t, s.Keep(t.Context(), dead, []byte("late")))
	require.NoError(t, s.Keep(t.Context(), request(1, 1, "c"), []byte("right")))
	answer, err = s.Begin(t.Context(), request(1, 1, "d"))
	require.NoError(t, err)
	require.Equal(t, []byte("right"), answer)
}

func TestForgottenAfterADay(t *testing.T) {
	t.Parallel()
	pool := persisttest.Migrated(t)
	s := idempotency.New(pool)
	for scope := range byte(2) {
		r := request(scope, 1, "a")
		_, err := s.Begin(t.Context(), r)
		require.NoError(t, err)
		require.NoError(t, s.Keep(t.Context(), r, []byte("sealed")))
	}
	_, err := pool.Exec(t.Context(), `UPDATE idempotency SET created_at = now() - interval '24 hours 1 second'`)
	require.NoError(t, err)
	answer, err := s.Begin(t.Context(), request(0, 2, "b"))
	require.NoError(t, err, "the key may serve for another request")
	require.Nil(t, answer)
	require.NoError(t, s.Prune(t.Context()))
	var left int
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM idempotency`).Scan(&left))
	require.Equal(t, 1, left, "only the new one")
}

// TestOneBegins makes sure that of many attempts at once one begins.
func TestOneBegins(t *testing.T) {
	t.Parallel()
	s := idempotency.New(persisttest.Migrated(t))
	var began, waited atomic.Int32
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			_, err := s.Begin(t.Context(), request(1, 1, strconv.Itoa(i)))
			if err == nil {
				began.Add(1)
				return
			}
			require.ErrorIs(t, err, idempotency.ErrInFlight)
			waited.Add(1)
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), began.Load())
	require.Equal(t, int32(15), waited.Load())
}

package panics_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/panics"
)

// TestCatch makes a job's item return, fail and panic: the job goes on, and a panic is counted and
// logged with its stack.
func TestCatch(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	to := slog.New(slog.NewJSONHandler(&log, nil))
	bad := errors.New("bad")
	require.NoError(t, panics.Catch(to, "catch", func() error { return nil }))
	require.ErrorIs(t, panics.Catch(to, "catch", func() error { return bad }), bad)
	require.Zero(t, panics.Counts()["catch"])
	require.Empty(t, log.String())

	err := panics.Catch(to, "catch", func() error { panic("no such line") })
	caught, ok := errors.AsType[*panics.Error](err)
	require.True(t, ok)
	require.Equal(t, "no such line", caught.Value)
	require.True(t, panics.Do(to, "catch", func() {}))
	require.False(t, panics.Do(to, "catch", func() { panic("again") }))
	require.Equal(t, int64(2), panics.Counts()["catch"])
	require.Contains(t, log.String(), "panics_test.go", "the stack")
}

// TestKeep starts a loop again until it returns, and not after its context has ended.
func TestKeep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs atomic.Int64
		none := slog.New(slog.DiscardHandler)
		panics.Keep(t.Context(), none, "keep", func() {
			if runs.Add(1) < 4 {
				panic("not yet")
			}
		})
		require.Equal(t, int64(4), runs.Load())
		require.Equal(t, int64(3), panics.Counts()["keep"])

		ctx, cancel := context.WithCancel(t.Context())
		panics.Keep(ctx, none, "keep", func() {
			runs.Add(1)
			cancel()
			panic("for ever")
		})
		require.Equal(t, int64(5), runs.Load())
	})
}

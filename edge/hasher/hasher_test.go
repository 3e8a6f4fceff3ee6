package hasher_test

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/argon2"

	"boxoffice/edge/hasher"
	"boxoffice/engine"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == hasher.Command {
		if err := hasher.Serve(os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func start(t *testing.T) *hasher.Hasher {
	t.Helper()
	return startBeside(t, func() bool { return false })
}

func startBeside(t *testing.T, busy func() bool) *hasher.Hasher {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	h := hasher.New(program, busy)
	t.Cleanup(func() { require.NoError(t, h.Stop(context.Background())) })
	return h
}

func TestKey(t *testing.T) {
	t.Parallel()
	h := start(t)
	for _, password := range []string{"correct horse", "", strings.Repeat("é", 64)} {
		salt := []byte("0123456789abcdef")
		key, err := h.Key(t.Context(), password, salt)
		require.NoError(t, err)
		require.Equal(t, hex.EncodeToString(argon2.IDKey([]byte(password), salt, 2, 19<<10, 1, 32)), hex.EncodeToString(key))
	}
}

// TestRests has workers rest for an hour, which they do while the node is busy.
// Those who wait fill the line, and Full says so before anybody gets into it.
func TestRests(t *testing.T) {
	t.Parallel()
	var busy atomic.Bool
	h := startBeside(t, busy.Load)
	salt := make([]byte, 16)
	want, err := h.Key(t.Context(), "correct horse", salt)
	require.NoError(t, err)
	h.Rest(time.Hour)
	busy.Store(true)
	require.NoError(t, h.Full())
	ctx, cancel := context.WithCancel(t.Context())
	var line sync.WaitGroup
	for range h.Places() {
		line.Go(func() {
			_, err := h.Key(ctx, "correct horse", salt)
			assert.ErrorIs(t, err, context.Canceled)
		})
	}
	require.Eventually(t, func() bool { return h.Full() != nil }, time.Minute, time.Millisecond)
	cancel()
	line.Wait()
	busy.Store(false)
	key, err := h.Key(t.Context(), "correct horse", salt)
	require.NoError(t, err)
	require.Equal(t, want, key)
}

// TestTooManyAtOnce: those beyond the queue are refused at once.
func TestTooManyAtOnce(t *testing.T) {
	t.Parallel()
	h := start(t)
	var made, refused atomic.Int32
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			_, err := h.Key(t.Context(), "correct horse", make([]byte, 16))
			var r *engine.Refusal
			switch {
			case err == nil:
				made.Add(1)
			case errors.As(err, &r) && r.Code == engine.Overloaded:
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	require.Positive(t, made.Load())
	require.Equal(t, int32(64), made.Load()+refused.Load())
	_, err := h.Key(t.Context(), "correct horse", make([]byte, 16))
	require.NoError(t, err, "and afterwards there is room again")
}

// TestWhoGivesUp ends the hash, and the next one gets a new worker.
func TestWhoGivesUp(t *testing.T) {
	t.Parallel()
	h := start(t)
	_, err := h.Key(t.Context(), "warm", make([]byte, 16))
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = h.Key(ctx, "correct horse", make([]byte, 16))
	require.ErrorIs(t, err, context.Canceled)
	_, err = h.Key(t.Context(), "correct horse", make([]byte, 16))
	require.NoError(t, err)
}

func TestStopped(t *testing.T) {
	t.Parallel()
	h := start(t)
	require.NoError(t, h.Stop(t.Context()))
	_, err := h.Key(t.Context(), "correct horse", make([]byte, 16))
	require.Error(t, err)
}

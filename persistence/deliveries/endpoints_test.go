package deliveries_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/deliveries"
)

func TestEndpoint(t *testing.T) {
	t.Parallel()
	w := open(t)
	draft := w.draft("order.completed", "ticket.created")
	draft.Name = "Books"
	e, err := w.Create(t.Context(), uuid.New(), draft)
	require.NoError(t, err)
	require.Equal(t, deliveries.Active, e.Status)
	require.Equal(t, draft.Events, e.Events)
	require.Equal(t, "Books", e.Name)
	require.Equal(t, draft.Secret, e.Secret)
	got, err := w.Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, e, got)
	second := w.create()
	all, err := w.List(t.Context(), w.org)
	require.NoError(t, err)
	require.Equal(t, []*deliveries.Endpoint{second, e}, all)
	none, err := w.List(t.Context(), w.organization())
	require.NoError(t, err)
	require.Empty(t, none)

	changed, err := w.Update(t.Context(), e.ID, func(e *deliveries.Endpoint) { e.URL, e.Events, e.Name = "https://b.example.org/", []string{"*"}, "" })
	require.NoError(t, err)
	require.Equal(t, "https://b.example.org/", changed.URL)
	require.Equal(t, []string{"*"}, changed.Events)
	require.Empty(t, changed.Name)
	rotated, err := w.Rotate(t.Context(), e.ID, []byte("other"), "whsec_zz")
	require.NoError(t, err)
	require.Equal(t, []byte("other"), rotated.Secret)
	require.Equal(t, "whsec_zz", rotated.Hint)

	gone, err := w.Delete(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, rotated.URL, gone.URL)
	var secret []byte
	w.scan(&secret, `SELECT secret FROM webhook_endpoints WHERE id = $1`, e.ID)
	require.Empty(t, secret, "the secret of a deleted endpoint is not kept")
	for _, id := range []int64{e.ID, 999} {
		got, err = w.Get(t.Context(), id)
		require.NoError(t, err)
		require.Nil(t, got)
		got, err = w.Update(t.Context(), id, func(*deliveries.Endpoint) {})
		require.NoError(t, err)
		require.Nil(t, got)
		got, err = w.Delete(t.Context(), id)
		require.NoError(t, err)
		require.Nil(t, got)
	}
}

// TestCreateAgain makes sure that a repeated command makes no second endpoint.
func TestCreateAgain(t *testing.T) {
	t.Parallel()
	w := open(t)
	command := uuid.New()
	first, err := w.Create(t.Context(), command, w.draft())
	require.NoError(t, err)
	again := w.draft()
	again.Secret = []byte("another")
	second, err := w.Create(t.Context(), command, again)
	require.NoError(t, err)
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, again.Secret, second.Secret, "the secret that nobody was told is dead")

	_, err = w.Delete(t.Context(), first.ID)
	require.NoError(t, err)
	_, err = w.Create(t.Context(), command, w.draft())
	require.ErrorIs(t, err, deliveries.ErrGone)
	w.exec(`UPDATE webhook_endpoints SET created_at = now() - interval '25 hours'`)
	third, err := w.Create(t.Context(), command, w.draft())
	require.NoError(t, err)
	require.NotEqual(t, first.ID, third.ID, "after a day it is another command")
}

func TestTooManyEndpoints(t *testing.T) {
	t.Parallel()
	w := open(t)
	for range deliveries.MaxPerOrg - 1 {
		w.create()
	}
	t.Log("the last one, by several at once")
	var wg sync.WaitGroup
	var made, refused atomic.Int32
	for range 4 {
		wg.Go(func() {
			switch _, err := w.Create(t.Context(), uuid.New(), w.draft()); {
			case err == nil:
				made.Add(1)
			case errors.Is(err, deliveries.ErrTooMany):
				refused.Add(1)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 1, made.Load())
	require.EqualValues(t, 3, refused.Load())
	all, err := w.List(t.Context(), w.org)
	require.NoError(t, err)
	_, err = w.Delete(t.Context(), all[0].ID)
	require.NoError(t, err)
	w.create()
}

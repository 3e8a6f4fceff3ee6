package mailqueue

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/outreach"
)

// TestBroadcastGoesOn stops the workers in the middle of a broadcast, again and again:
// each of its recipients gets it, and gets it once.
func TestBroadcastGoesOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, id, want := outreach.New(w.pool), uuid.New(), people(0, 2*pageSize+100)
	w.tx(func(tx pgx.Tx) error {
		if _, err := store.AddBroadcast(t.Context(), tx, &outreach.Broadcast{ID: id, Org: 7, Event: number, Subject: "s", Body: "b"}, 5); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `INSERT INTO broadcast_recipients (broadcast, email, name) SELECT $1, unnest($2::text[]), ''`, id, want)
		return err
	})
	w.tx(func(tx pgx.Tx) error {
		return w.queue.insert(t.Context(), tx, []river.InsertManyParams{{Args: broadcast{ID: id}}})
	})
	send := func(ctx context.Context, l *Mail) (bool, error) {
		ctx = context.WithoutCancel(ctx)
		waiting, err := store.IsWaiting(ctx, id, l.To)
		if err != nil || !waiting {
			return false, err
		}
		if _, err := w.sent.send(ctx, l); err != nil {
			return false, err
		}
		return true, store.NoteRecipient(ctx, id, l.To, outreach.Sent)
	}
	for some := 200; some < len(want); some += 400 {
		stop := w.work(send)
		require.Eventually(t, func() bool { return len(w.sent.all()) >= some }, within, time.Millisecond)
		stop()
	}
	w.work(send)
	require.Eventually(t, func() bool { return len(w.sent.all()) >= len(want) }, within, 10*time.Millisecond, "%v", w.states())
	w.done()
	require.Equal(t, want, w.sent.addresses(Broadcast))
	b, err := store.Broadcast(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []int64{int64(len(want)), int64(len(want)), 0}, []int64{b.Recipients, b.Sent, b.Suppressed})
}

// TestBroadcastEndsWithoutAMail: a mail that is given up has come to an end, and so has its broadcast.
func TestBroadcastEndsWithoutAMail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	store, id := outreach.New(w.pool), uuid.New()
	w.tx(func(tx pgx.Tx) error {
		if _, err := store.AddBroadcast(t.Context(), tx, &outreach.Broadcast{ID: id, Org: 7, Event: number, Subject: "s", Body: "b"}, 5); err != nil {
			return err
		}
		_, err := tx.Exec(t.Context(), `INSERT INTO broadcast_recipients (broadcast, email, name) SELECT $1, unnest($2::text[]), ''`, id, []string{"ada@example.org", "bob@example.org"})
		return err
	})
	w.tx(func(tx pgx.Tx) error {
		return w.queue.insert(t.Context(), tx, []river.InsertManyParams{{Args: broadcast{ID: id}}})
	})
	w.work(func(ctx context.Context, l *Mail) (bool, error) {
		if l.To == "bob@example.org" {
			return false, fmt.Errorf("%w: no such mailbox", ErrUndeliverable)
		}
		return true, store.NoteRecipient(ctx, id, l.To, outreach.Sent)
	})
	w.done()
	b, err := store.Broadcast(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1, 0, 1}, []int64{b.Recipients, b.Sent, b.Suppressed, b.Dropped})
	require.NoError(t, store.NoteRecipient(t.Context(), id, "ada@example.org", outreach.Dropped))
	b, err = store.Broadcast(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, []int64{1, 1}, []int64{b.Sent, b.Dropped}, "a mail that is out stays out")
}

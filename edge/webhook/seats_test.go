package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/webhook"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/persistence"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/follower"
	"boxoffice/persistence/publicfacts"
)

// hall is a place of seat maps, some of which cannot be had.
type hall struct {
	gone  map[int64]bool // by event
	asked map[int64]int
}

func (h *hall) seats(ctx context.Context, number int64) (*committed.SeatMap, error) {
	h.asked[number]++
	if !h.gone[number] {
		return &committed.SeatMap{}, nil
	}
	if h.asked[number]%2 == 0 { // an actor that answers nothing at all
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return nil, errors.New("the actor cannot be loaded")
}

// seatedSale is the completion of an order of one seat.
func seatedSale(number int64) *publicfacts.Enriched {
	o := &order.Order{
		ID: orderOf(number, 1), Status: order.StatusCompleted, Email: "ada@example.org", Currency: "USD", FirstTicket: 1,
		Lines: []order.Line{{Type: 1, Name: "Stalls", Quantity: 1, Seats: []string{"A-1"}}},
	}
	return &publicfacts.Enriched{
		Ref: engine.EventRef(number), Stream: number, Seq: 3, Fact: &order.Completed{ID: o.ID, First: 1, At: 5},
		Event: &event.Record{Number: number, Details: &event.Details{Org: 1}}, Order: o,
	}
}

// TestSeatsThatNeverCome asks for the seat map of an event that cannot be loaded any
// more. Its facts fail, in a way that has them set aside, after one long attempt; later
// ones fail at once, and now and then after a short attempt. No other event waits, and
// an event whose map is there again is told of.
func TestSeatsThatNeverCome(t *testing.T) {
	t.Parallel()
	w := open(t)
	master := w.secrets
	synctest.Test(t, func(t *testing.T) {
		h := &hall{gone: map[int64]bool{13: true}, asked: map[int64]int{}}
		teller := &webhook.Teller{Secrets: master, Seats: h.seats}
		fails := func(number int64) (took time.Duration) {
			t.Helper()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // a follower's
			defer cancel()
			began := time.Now()
			_, err := teller.Build(ctx, seatedSale(number))
			require.ErrorContains(t, err, "seat map")
			require.NoError(t, ctx.Err())
			require.False(t, persistence.Outage(err), "it would be tried for ever")
			return time.Since(began)
		}
		tells := func(number int64) {
			t.Helper()
			began := time.Now()
			tellings, err := teller.Build(t.Context(), seatedSale(number))
			require.NoError(t, err)
			require.Len(t, tellings, 2)
			require.Zero(t, time.Since(began))
		}
		tells(12)
		first := fails(13)
		require.Less(t, first, 20*time.Second)
		require.Greater(t, h.asked[13], 2, "a node that has just died is waited for")
		for range 1000 {
			require.Zero(t, fails(13))
		}
		tells(12)
		time.Sleep(time.Minute) //nolint:forbidigo // in synctest's time
		require.Less(t, fails(13), 2*time.Second)
		require.Zero(t, fails(13))

		time.Sleep(time.Minute) //nolint:forbidigo // in synctest's time
		delete(h.gone, 13)
		tells(13)
		h.gone[13] = true
		require.Equal(t, first, fails(13), "what was there again is waited for as before")

		t.Log("a follower that is stopped has set nothing aside")
		h.gone[14] = true
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := teller.Build(ctx, seatedSale(14))
		require.Error(t, err)
		require.Error(t, ctx.Err())
		delete(h.gone, 14)
		tells(14)
	})
}

// TestSeatsOfALostShard makes sure that a seat map which cannot be had because a database of the journal
// does not answer is no reason to wait, nor to set the fact aside.
func TestSeatsOfALostShard(t *testing.T) {
	t.Parallel()
	asked := 0
	teller := &webhook.Teller{Secrets: open(t).secrets, Seats: func(context.Context, int64) (*committed.SeatMap, error) {
		asked++
		return nil, fmt.Errorf("%w: shard 1 of the journal: %w", follower.ErrAgain, persistence.ErrAway)
	}}
	for range 2 {
		_, err := teller.Build(t.Context(), seatedSale(13))
		require.ErrorIs(t, err, follower.ErrAgain)
	}
	require.Equal(t, 2, asked)
}

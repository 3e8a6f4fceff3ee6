package deliveries_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/publicfacts"
)

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	w := open(t)
	e, other := w.create(), w.create("order.failed")
	var facts []publicfacts.Fact
	for seq := range int64(5) {
		facts = append(facts, w.fact("order.created", 1, seq))
	}
	w.tell(facts...)
	var ids []string
	for before := int64(0); ; {
		page, err := w.Deliveries(t.Context(), e.ID, before, 2)
		require.NoError(t, err)
		for _, d := range page {
			ids, before = append(ids, d.EventID), d.ID
		}
		if len(page) < 2 {
			break
		}
	}
	require.Equal(t, []string{facts[4].ID, facts[3].ID, facts[2].ID, facts[1].ID, facts[0].ID}, ids)
	require.Empty(t, w.history(other.ID))
}

func TestTestDelivery(t *testing.T) {
	t.Parallel()
	w := open(t)
	e := w.create("order.completed")
	d, err := w.Test(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, deliveries.TestType, d.Type)
	require.Regexp(t, `^evt_[0-9a-z]{26}$`, d.EventID)
	require.Equal(t, 1, w.jobs("webhook_wake"))
	again, err := w.Test(t.Context(), e.ID)
	require.NoError(t, err)
	require.NotEqual(t, d.EventID, again.EventID)
	a := w.load(e.ID, time.Now()).Attempts[0]
	require.Equal(t, d.ID, a.Delivery)
	require.Nil(t, a.Payload)
	require.False(t, a.Missing)
	require.True(t, a.At.Equal(d.CreatedAt))

	_, err = w.Update(t.Context(), e.ID, func(e *deliveries.Endpoint) { e.Status = deliveries.Disabled })
	require.NoError(t, err)
	_, err = w.Test(t.Context(), e.ID)
	require.ErrorIs(t, err, deliveries.ErrDisabled)
	d, err = w.Test(t.Context(), 999)
	require.NoError(t, err)
	require.Nil(t, d)
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	e := w.create()
	w.tell(w.fact("order.created", 7, 3), w.fact("order.completed", 7, 4))
	first := w.history(e.ID)[0]
	_, err := w.Replay(t.Context(), first)
	require.ErrorIs(t, err, deliveries.ErrPending)
	due := now.Add(time.Hour)
	w.record(e.ID, now, func(a *deliveries.Attempt) deliveries.Result {
		if a.Seq == 4 {
			return deliveries.Result{Status: deliveries.Failed, Due: &due}
		}
		return succeed(a)
	})
	h := w.history(e.ID)
	for i, want := range []string{deliveries.Succeeded, deliveries.Cancelled} {
		d, err := w.Replay(t.Context(), h[i])
		require.NoError(t, err)
		require.NotEqual(t, h[i].ID, d.ID)
		require.Equal(t, h[i].EventID, d.EventID)
		require.Equal(t, h[i].ID, *d.ReplayOf)
		require.Equal(t, deliveries.Pending, d.Status)
		require.Zero(t, d.Attempts)
		old, err := w.Delivery(t.Context(), h[i].ID)
		require.NoError(t, err)
		require.Equal(t, want, old.Status, "what was to be sent again is given up for the replay")
		require.Nil(t, old.Due)
	}
	p := w.load(e.ID, now)
	require.Len(t, p.Attempts, 2)
	require.Equal(t, h[0].EventID, p.Attempts[0].EventID)
	require.Equal(t, int64(3), p.Attempts[0].Seq)
	require.NotEmpty(t, p.Attempts[0].Payload)

	t.Log("of what is not kept any more")
	w.record(e.ID, now, succeed)
	w.tell(w.fact("ticket.created", 7, 5))
	w.exec(`DELETE FROM facts`)
	_, err = w.Replay(t.Context(), h[0])
	require.ErrorIs(t, err, deliveries.ErrTooOld)
	p = w.load(e.ID, now)
	require.True(t, p.Attempts[0].Missing)
	w.exec(`DELETE FROM webhook_deliveries`)
	none, err := w.Replay(t.Context(), h[0])
	require.NoError(t, err)
	require.Nil(t, none, "the delivery itself")

	_, err = w.Delete(t.Context(), e.ID)
	require.NoError(t, err)
	none, err = w.Replay(t.Context(), h[0])
	require.NoError(t, err)
	require.Nil(t, none)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	w := open(t)
	old, e := w.create(), w.create()
	w.tell(w.fact("order.created", 1, 1), w.fact("order.created", 1, 2), w.fact("order.created", 1, 3))
	_, err := w.Delete(t.Context(), old.ID)
	require.NoError(t, err)
	w.exec(`UPDATE webhook_endpoints SET updated_at = now() - interval '26 hours'`)
	require.NoError(t, w.Prune(t.Context()))
	require.Len(t, w.history(e.ID), 3)
	require.Len(t, w.history(old.ID), 3, "the history of a deleted endpoint stays as long as others'")
	w.exec(`UPDATE webhook_deliveries SET created_at = now() - interval '31 days' WHERE endpoint = $1 OR event_id LIKE '%_1_1_%'`, old.ID)
	require.NoError(t, w.Prune(t.Context()))
	require.Len(t, w.history(e.ID), 2)
	var n int
	w.scan(&n, `SELECT count(*) FROM webhook_endpoints`)
	require.Equal(t, 1, n)
	w.scan(&n, `SELECT count(*) FROM webhook_leases`)
	require.Equal(t, 1, n)
}

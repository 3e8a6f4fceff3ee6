package deliveries_test

import (
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/publicfacts"
)

// TestFanOut makes sure that each endpoint is sent what it is subscribed to, once and in the facts'
// order.
func TestFanOut(t *testing.T) {
	t.Parallel()
	w := open(t)
	all, some, off, deleted := w.create(), w.create("order.completed", "ticket.created"), w.create(), w.create()
	_, err := w.Update(t.Context(), off.ID, func(e *deliveries.Endpoint) { e.Status = deliveries.Disabled })
	require.NoError(t, err)
	_, err = w.Delete(t.Context(), deleted.ID)
	require.NoError(t, err)
	other := w.fact("order.completed", 9, 1)
	other.Org = w.organization()
	facts := []publicfacts.Fact{
		w.fact("order.created", 7, 3), other, w.fact("order.completed", 7, 4), w.fact("ticket.created", 7, 4), w.fact("event.updated", 8, 2),
	}
	w.tell(facts...)
	types := func(endpoint int64) (out []string) {
		for _, d := range w.history(endpoint) {
			require.Equal(t, deliveries.Pending, d.Status)
			require.Nil(t, d.Due)
			out = append(out, d.Type)
		}
		return out
	}
	require.Equal(t, []string{"order.created", "order.completed", "ticket.created", "event.updated"}, types(all.ID))
	require.Equal(t, []string{"order.completed", "ticket.created"}, types(some.ID))
	require.Empty(t, types(off.ID))
	require.Empty(t, types(deleted.ID))
	require.Equal(t, 1, w.jobs("webhook_wake"))

	t.Log("told again, as after a lost position")
	require.NoError(t, pgx.BeginFunc(t.Context(), w.pool, func(tx pgx.Tx) error { return w.FanOut(t.Context(), tx, facts) }))
	require.Len(t, types(all.ID), 4)
	require.Equal(t, 1, w.jobs("webhook_wake"))
	t.Log("nobody is subscribed")
	lone := w.fact("event.created", 5, 1)
	lone.Org = w.organization()
	w.tell(lone)
	require.Equal(t, 1, w.jobs("webhook_wake"))
}

// TestClaimAndLoad makes sure that a claim is exclusive, and that a page has the first deliveries
// of the queue in order.
func TestClaimAndLoad(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	a, b := w.create(), w.create()
	require.Empty(t, w.claim("one", now), "nothing is due")
	w.tell(w.fact("order.created", 7, 3), w.fact("order.completed", 7, 4))
	require.Equal(t, []int64{a.ID, b.ID}, w.claim("one", now))
	require.Empty(t, w.claim("two", now))
	require.Empty(t, w.claim("one", now))

	p := w.load(a.ID, now)
	require.Equal(t, a.URL, p.URL)
	require.Equal(t, a.Secret, p.Secret)
	require.Equal(t, w.org, p.Org)
	require.Len(t, p.Attempts, 2)
	first := p.Attempts[0]
	require.Equal(t, 1, first.Number)
	require.Equal(t, "order.created", first.Type)
	require.Equal(t, int64(7), first.Stream)
	require.Equal(t, int64(3), first.Seq)
	require.Equal(t, []byte(`{"n":1}`), first.Payload)
	require.True(t, first.At.Equal(w.fact("x", 1, 1).At))
	require.Equal(t, int64(4), p.Attempts[1].Seq)

	none := map[int64][]deliveries.Result{a.ID: nil}
	require.NoError(t, w.Record(t.Context(), "two", none))
	require.Empty(t, w.claim("two", now), "only the holder gives it back")
	require.NoError(t, w.Record(t.Context(), "one", none))
	require.Equal(t, []int64{a.ID}, w.claim("two", now))
	t.Log("a node that comes back has nothing in hand")
	require.NoError(t, w.FreeAll(t.Context(), "one"))
	require.Equal(t, []int64{b.ID}, w.claim("two", now))
	t.Log("a node that does not")
	w.exec(`UPDATE webhook_leases SET until = now() - interval '1 ms'`)
	require.Len(t, w.claim("three", now), 2)
}

// TestClaimAtOnce makes sure that nodes which claim at once never get the same endpoint.
func TestClaimAtOnce(t *testing.T) {
	t.Parallel()
	w := open(t)
	const endpoints, nodes = 40, 4
	for range endpoints {
		w.create()
	}
	w.tell(w.fact("order.created", 1, 1))
	var mu sync.Mutex
	holders := map[int64]string{}
	var wg sync.WaitGroup
	for n := range nodes {
		wg.Go(func() {
			for {
				ids, err := w.Claim(t.Context(), string(rune('a'+n)), time.Now(), 3)
				if err != nil || len(ids) == 0 {
					return
				}
				mu.Lock()
				for _, id := range ids {
					if other, taken := holders[id]; taken {
						t.Errorf("%d is held by %s and by %c", id, other, 'a'+n)
					}
					holders[id] = string(rune('a' + n))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Len(t, holders, endpoints)
}

// TestClaimIsFair makes sure that the endpoint served last waits longest.
func TestClaimIsFair(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	a, b, c := w.create(), w.create(), w.create()
	w.tell(w.fact("order.created", 1, 1))
	for _, e := range []*deliveries.Endpoint{b, c, a} {
		w.exec(`UPDATE webhook_leases SET until = now() WHERE endpoint = $1`, e.ID)
	}
	for _, e := range []*deliveries.Endpoint{b, c, a} {
		ids, err := w.Claim(t.Context(), "one", now, 1)
		require.NoError(t, err)
		require.Equal(t, []int64{e.ID}, ids)
	}
}

// TestPageIsBounded makes sure that a page is small, however much waits.
func TestPageIsBounded(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	e := w.create()
	var facts []publicfacts.Fact
	for seq := range int64(300) {
		facts = append(facts, w.fact("order.created", 1, seq))
	}
	w.tell(facts...)
	p := w.load(e.ID, now)
	require.Len(t, p.Attempts, 64)
	for i, a := range p.Attempts {
		require.Equal(t, int64(i), a.Seq)
	}
	w.exec(`UPDATE webhook_deliveries SET size = 50000`)
	require.Len(t, w.load(e.ID, now).Attempts, 2)
	w.exec(`UPDATE webhook_deliveries SET size = 5000000`)
	require.Len(t, w.load(e.ID, now).Attempts, 1, "one that is larger than a page comes alone")
	t.Log("further attempts come with the first ones, not instead")
	w.exec(`UPDATE webhook_deliveries SET size = 1`)
	w.exec(`UPDATE webhook_deliveries SET status = 'failed', attempts = 1, due = $1 WHERE id % 2 = 0`, now)
	p = w.load(e.ID, now)
	require.Len(t, p.Attempts, 80)
	for i, a := range p.Attempts {
		require.Equal(t, i >= 64, a.Number == 2, i)
		require.Equal(t, i >= 64, a.Stream == 0, "only first attempts are in order")
	}
}

// TestRecord makes sure that outcomes are in the history, and that failed deliveries come again
// when they are due.
func TestRecord(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now().Truncate(time.Millisecond)
	e := w.create()
	w.tell(w.fact("order.created", 7, 3), w.fact("order.completed", 7, 4))
	due := now.Add(time.Minute)
	w.record(e.ID, now, func(a *deliveries.Attempt) deliveries.Result {
		if a.Seq == 3 {
			return deliveries.Result{Status: deliveries.Failed, Due: &due, ResponseStatus: 503, Error: "later", Latency: 40 * time.Millisecond}
		}
		return succeed(a)
	})
	h := w.history(e.ID)
	require.Equal(t, deliveries.Failed, h[0].Status)
	require.Equal(t, 1, h[0].Attempts)
	require.True(t, due.Equal(*h[0].Due))
	require.True(t, now.Equal(*h[0].AttemptedAt))
	require.Equal(t, 503, *h[0].ResponseStatus)
	require.Equal(t, 40, *h[0].LatencyMS)
	require.Equal(t, "later", h[0].Error)
	require.Equal(t, deliveries.Succeeded, h[1].Status)
	require.Nil(t, h[1].Due)
	n, err := w.Waiting(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)

	require.Empty(t, w.claim("one", due.Add(-time.Millisecond)))
	require.Equal(t, []int64{e.ID}, w.claim("one", due))
	require.Nil(t, w.load(e.ID, due.Add(-time.Millisecond)))
	p := w.load(e.ID, due)
	require.Len(t, p.Attempts, 1)
	require.Equal(t, 2, p.Attempts[0].Number)
	t.Log("a result that comes twice counts once")
	again := map[int64][]deliveries.Result{e.ID: {{Delivery: p.Attempts[0].Delivery, Number: 1, At: due, Status: deliveries.Succeeded}}}
	require.NoError(t, w.Record(t.Context(), "one", again))
	require.Equal(t, h, w.history(e.ID))
	again[e.ID][0] = deliveries.Result{Delivery: p.Attempts[0].Delivery, Number: 2, At: due, Error: "no answer", Status: deliveries.Exhausted}
	require.NoError(t, w.Record(t.Context(), "one", again))
	last := w.history(e.ID)[0]
	require.Equal(t, deliveries.Exhausted, last.Status)
	require.Nil(t, last.Due)
	require.Nil(t, last.ResponseStatus)
	require.Equal(t, 2, last.Attempts)
}

// TestDisable makes sure that a disabled endpoint gets nothing any more, and that an endpoint
// enabled again gets nothing from before.
func TestDisable(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	e := w.create()
	w.tell(w.fact("order.created", 7, 3), w.fact("order.completed", 7, 4))
	require.Len(t, w.claim("one", now), 1)
	p := w.load(e.ID, now)
	set := func(status string) *deliveries.Endpoint {
		e, err := w.Update(t.Context(), e.ID, func(e *deliveries.Endpoint) { e.Status = status })
		require.NoError(t, err)
		return e
	}
	set(deliveries.Disabled)
	t.Log("what was on its way: one arrives, one does not")
	due := now.Add(time.Minute)
	require.NoError(t, w.Record(t.Context(), "one", map[int64][]deliveries.Result{e.ID: {
		{Delivery: p.Attempts[0].Delivery, Number: 1, At: now, Status: deliveries.Succeeded, ResponseStatus: 200},
		{Delivery: p.Attempts[1].Delivery, Number: 1, At: now, Status: deliveries.Failed, ResponseStatus: 500, Due: &due},
	}}))
	h := w.history(e.ID)
	require.Equal(t, deliveries.Succeeded, h[0].Status)
	require.Equal(t, deliveries.Cancelled, h[1].Status)
	require.Nil(t, h[1].Due)
	w.tell(w.fact("order.created", 7, 5))
	require.Len(t, w.history(e.ID), 2)

	t.Log("a fact that was being fanned out at that moment")
	w.exec(`INSERT INTO webhook_deliveries (endpoint, event_id, type, stream, size) VALUES ($1, 'evt_late', 'order.created', 7, 1)`, e.ID)
	require.Empty(t, w.claim("one", now))
	require.Nil(t, w.load(e.ID, now))
	set(deliveries.Active)
	require.Empty(t, w.claim("one", now))
	require.Equal(t, deliveries.Cancelled, w.history(e.ID)[2].Status)
	w.tell(w.fact("order.created", 7, 6))
	require.Equal(t, []int64{e.ID}, w.claim("one", now))
}

// TestExhausted makes sure that three deliveries in a row that used up their attempts disable an
// endpoint.
func TestExhausted(t *testing.T) {
	t.Parallel()
	w := open(t)
	now := time.Now()
	e := w.create()
	seq := int64(0)
	end := func(statuses ...string) {
		t.Helper()
		var facts []publicfacts.Fact
		for range statuses {
			seq++
			facts = append(facts, w.fact("order.created", 1, seq))
		}
		w.tell(facts...)
		i := 0
		w.record(e.ID, now, func(*deliveries.Attempt) deliveries.Result {
			i++
			return deliveries.Result{Status: statuses[i-1]}
		})
	}
	status := func() (string, string) {
		got, err := w.Get(t.Context(), e.ID)
		require.NoError(t, err)
		return got.Status, got.Reason
	}
	end(deliveries.Exhausted, deliveries.Exhausted)
	end(deliveries.Succeeded)
	end(deliveries.Exhausted)
	end(deliveries.Exhausted)
	s, _ := status()
	require.Equal(t, deliveries.Active, s, "a success lies between")
	require.Zero(t, w.jobs("webhook_disabled"))
	end(deliveries.Succeeded, deliveries.Exhausted)
	s, _ = status()
	require.Equal(t, deliveries.Active, s)
}

func TestDisablesItself(t *testing.T) {
	t.Parallel()
	for reason, result := range map[string]deliveries.Result{
		deliveries.ReasonExhausted: {Status: deliveries.Exhausted},
		deliveries.ReasonGone:      {Status: deliveries.Cancelled, ResponseStatus: 410, Gone: true},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			e, other := w.create(), w.create()
			var facts []publicfacts.Fact
			for seq := range int64(70) {
				facts = append(facts, w.fact("order.created", 1, seq))
			}
			w.tell(facts...)
			w.record(e.ID, time.Now(), func(a *deliveries.Attempt) deliveries.Result {
				if a.Seq < deliveries.MaxExhausted {
					return result
				}
				return deliveries.Result{Status: deliveries.Failed, Due: new(time.Now())}
			})
			got, err := w.Get(t.Context(), e.ID)
			require.NoError(t, err)
			require.Equal(t, deliveries.Disabled, got.Status)
			require.Equal(t, reason, got.Reason)
			for _, d := range w.history(e.ID)[deliveries.MaxExhausted:] {
				require.Equal(t, deliveries.Cancelled, d.Status)
			}
			require.Equal(t, 1, w.jobs("webhook_disabled"))
			require.Equal(t, deliveries.Pending, w.history(other.ID)[0].Status, "of another endpoint")

			got, err = w.Update(t.Context(), e.ID, func(e *deliveries.Endpoint) { e.Status = deliveries.Active })
			require.NoError(t, err)
			require.Empty(t, got.Reason)
			var counted int
			w.scan(&counted, `SELECT exhausted FROM webhook_endpoints WHERE id = $1`, e.ID)
			require.Zero(t, counted)
		})
	}
}

// TestNoDeadlock makes sure that managing an endpoint and recording outcomes of its deliveries
// never deadlock.
func TestNoDeadlock(t *testing.T) {
	t.Parallel()
	w := open(t)
	e := w.create()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for i := range 60 {
			_, err := w.Update(t.Context(), e.ID, func(e *deliveries.Endpoint) {
				e.Status = []string{deliveries.Disabled, deliveries.Active}[i%2]
			})
			if err != nil {
				t.Errorf("update: %v", err)
				return
			}
		}
	})
	for seq := int64(0); ; seq += 20 {
		var facts []publicfacts.Fact
		for i := range int64(20) {
			facts = append(facts, w.fact("order.created", 1, seq+i))
		}
		w.tell(facts...)
		w.exec(`UPDATE webhook_leases SET until = now()`)
		if p := w.load(e.ID, time.Now()); p != nil {
			var results []deliveries.Result
			for _, a := range p.Attempts {
				results = append([]deliveries.Result{{Delivery: a.Delivery, Number: a.Number, At: time.Now(), Status: deliveries.Exhausted}}, results...)
			}
			require.NoError(t, w.Record(t.Context(), "one", map[int64][]deliveries.Result{e.ID: results}))
		}
		select {
		case <-stop:
			wg.Wait()
			return
		default:
		}
	}
}

package webhook_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
	"boxoffice/persistence/publicfacts"
)

// What arrives is what was told, signed.
func TestDelivery(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := receive(t, nil)
	e, secret := w.create(in.URL + "/hook?a=b")
	d := w.start()
	facts := w.facts(7, 3, 1)
	w.tell(facts)
	d.Wake()
	l := in.next(t)
	require.Equal(t, "/hook", l.path)
	require.Equal(t, facts[0].ID, l.ID)
	require.Equal(t, "order.created", l.Type)
	require.Equal(t, int64(3), l.Seq)
	require.WithinDuration(t, facts[0].At, l.Created, time.Millisecond)
	require.JSONEq(t, string(facts[0].Data), string(l.Data))
	require.Equal(t, "order.created", l.header.Get("X-Service-Event"))
	require.Equal(t, "application/json", l.header.Get("Content-Type"))
	require.Equal(t, "Boxoffice-Webhooks/1", l.header.Get("User-Agent"))
	require.Equal(t, 1, l.attempt)
	require.True(t, verified(t, l, secret))
	require.False(t, verified(t, l, secret+"x"))
	w.settled(d, e.ID, deliveries.Pending)
	h := w.history(e.ID)
	require.Equal(t, deliveries.Succeeded, h[0].Status)
	require.Equal(t, 200, *h[0].ResponseStatus)

	t.Log("a test, which is in no fact")
	_, err := w.store.Test(t.Context(), e.ID)
	require.NoError(t, err)
	d.Wake()
	l = in.next(t)
	require.Equal(t, deliveries.TestType, l.Type)
	require.Contains(t, string(l.Data), `"webhookId"`)
	require.True(t, verified(t, l, secret))

	t.Log("a replay, under the same id")
	_, err = w.store.Replay(t.Context(), h[0])
	require.NoError(t, err)
	d.Wake()
	l = in.next(t)
	require.Equal(t, facts[0].ID, l.ID)
	require.Equal(t, 1, l.attempt)
}

// clock is a virtual one.
type clock struct{ now atomic.Pointer[time.Time] }

func (c *clock) set(t time.Time) { c.now.Store(&t) }
func (c *clock) get() time.Time  { return *c.now.Load() }

// The ladder on a virtual clock: 12 attempts at their times, then exhausted.
func TestLadder(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := receive(t, func(w http.ResponseWriter, _ *http.Request, _ *letter) {
		http.Error(w, "not today", http.StatusInternalServerError)
	})
	e, _ := w.create(in.URL)
	var c clock
	begin := time.Date(2031, 6, 20, 19, 0, 0, 0, time.UTC)
	c.set(begin)
	d := w.start(func(cfg *webhook.Config) { cfg.Now = c.get })
	w.tell(w.facts(7, 3, 1))
	const day = 24 * time.Hour
	pauses := []time.Duration{0, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour, day, day, day, day, day, day}
	require.Len(t, pauses, 12)
	for i, pause := range pauses {
		at := c.get().Add(pause)
		if i > 0 {
			last := w.history(e.ID)[0]
			require.Equal(t, deliveries.Failed, last.Status)
			require.True(t, at.Equal(*last.Due), "attempt %d at %v", i+1, last.Due)
			early, err := w.store.Claim(t.Context(), "early", at.Add(-time.Microsecond), 10)
			require.NoError(t, err)
			require.Empty(t, early)
		}
		c.set(at)
		d.Wake()
		require.Equal(t, i+1, in.next(t).attempt)
		require.Eventually(t, func() bool { return w.history(e.ID)[0].Attempts == i+1 }, time.Minute, 2*time.Millisecond)
	}
	last := w.history(e.ID)[0]
	require.Equal(t, deliveries.Exhausted, last.Status)
	require.Nil(t, last.Due)
	require.Equal(t, "HTTP 500: not today", last.Error)
	require.Equal(t, 6*day+14*time.Hour+36*time.Minute, c.get().Sub(begin))
	c.set(c.get().Add(1000 * day))
	none, err := w.store.Claim(t.Context(), "late", c.get(), 10)
	require.NoError(t, err)
	require.Empty(t, none, "a thirteenth attempt")

	t.Log("a replay has all its attempts anew")
	_, err = w.store.Replay(t.Context(), last)
	require.NoError(t, err)
	d.Wake()
	l := in.next(t)
	require.Equal(t, 1, l.attempt)
	require.Equal(t, last.EventID, l.ID)
	w.settled(d, e.ID, deliveries.Pending)
	require.True(t, c.get().Add(time.Minute).Equal(*w.history(e.ID)[1].Due))
}

// The old secret fails at once.
func TestRotation(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := receive(t, nil)
	e, old := w.create(in.URL)
	d := w.start()
	w.tell(w.facts(7, 1, 1))
	d.Wake()
	require.True(t, verified(t, in.next(t), old))
	w.settled(d, e.ID, deliveries.Pending)
	fresh, hint := secrets.NewWebhookSecret()
	_, err := w.store.Rotate(t.Context(), e.ID, webhook.SealSecret(w.secrets, w.org, fresh), hint)
	require.NoError(t, err)
	w.tell(w.facts(7, 2, 1))
	d.Wake()
	l := in.next(t)
	require.False(t, verified(t, l, old))
	require.True(t, verified(t, l, fresh))
}

// First attempts of a stream arrive in its order, whatever came of those before,
// and those of other streams do not wait for them.
func TestOrder(t *testing.T) {
	t.Parallel()
	w := open(t)
	var n atomic.Int64
	in := receive(t, func(w http.ResponseWriter, _ *http.Request, _ *letter) {
		if n.Add(1)%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	e, _ := w.create(in.URL)
	var c clock
	c.set(time.Now())
	d := w.start(func(cfg *webhook.Config) { cfg.Now = func() time.Time { return c.get() } })
	const streams, facts, batch = 5, 200, 20
	for from := int64(0); from < facts; from += batch {
		var some []publicfacts.Fact
		for stream := range int64(streams) {
			some = append(some, w.facts(stream+1, from, batch)...)
		}
		w.tell(some)
		d.Wake()
		c.set(c.get().Add(20 * time.Second)) // retries come between
	}
	w.settled(d, e.ID, deliveries.Pending)
	isAgain := func(l *letter) bool { return l.attempt > 1 }
	require.Eventually(t, func() bool { // on a busy machine all is sent for the first time after the last batch
		c.set(c.get().Add(20 * time.Second))
		d.Wake()
		return slices.ContainsFunc(in.all(), isAgain)
	}, time.Minute, 20*time.Millisecond)
	next := map[string]int64{}
	for _, l := range in.all() {
		if isAgain(l) {
			continue
		}
		require.Equal(t, next[l.stream()], l.Seq, "of stream %s", l.stream())
		next[l.stream()]++
	}
	require.Len(t, next, streams)
	for stream, n := range next {
		require.EqualValues(t, facts, n, stream)
	}
}

// An endpoint that is gone, or fails for good, is disabled.
func TestGone(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := receive(t, func(w http.ResponseWriter, _ *http.Request, _ *letter) { w.WriteHeader(http.StatusGone) })
	e, _ := w.create(in.URL)
	d := w.start()
	w.tell(w.facts(7, 1, 50))
	w.settled(d, e.ID, deliveries.Pending)
	got, err := w.store.Get(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, deliveries.Disabled, got.Status)
	require.Equal(t, deliveries.ReasonGone, got.Reason)
	require.Len(t, in.all(), 1)
	for _, d := range w.history(e.ID) {
		require.Equal(t, deliveries.Cancelled, d.Status)
	}
}

// Several nodes deliver at once: everything, once, and in order.
func TestSeveralNodes(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := receive(t, nil)
	const endpoints, facts, batch = 12, 100, 10
	paths := map[string]int64{}
	for i := range endpoints {
		path := "/" + string(rune('a'+i))
		e, _ := w.create(in.URL + path)
		paths[path] = e.ID
	}
	var nodes []*webhook.Deliverer
	for _, name := range []string{"node-1", "node-2", "node-3"} {
		nodes = append(nodes, w.start(func(c *webhook.Config) { c.Node = name }))
	}
	for from := int64(0); from < facts; from += batch {
		w.tell(w.facts(7, from, batch))
		for _, d := range nodes {
			d.Wake()
		}
	}
	for _, id := range paths {
		w.settled(nodes[0], id, deliveries.Pending)
	}
	next := map[string]int64{}
	for _, l := range in.all() {
		require.Equal(t, next[l.path], l.Seq, l.path)
		next[l.path]++
	}
	for path := range paths {
		require.EqualValues(t, facts, next[path], path)
	}
}

// What was on its way when a node died is sent again: at once when it comes back,
// else when its lease has ended.
func TestRestart(t *testing.T) {
	t.Parallel()
	for name, heir := range map[string]string{"the same node": "node-1", "another node": "node-2"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := open(t)
			in := receive(t, nil)
			e, _ := w.create(in.URL)
			w.tell(w.facts(7, 1, 10))
			claimed, err := w.store.Claim(t.Context(), "node-1", time.Now(), 10) // and is killed
			require.NoError(t, err)
			require.Equal(t, []int64{e.ID}, claimed)
			if heir != "node-1" {
				_, err := w.pool.Exec(t.Context(), `UPDATE webhook_leases SET until = now()`)
				require.NoError(t, err)
			}
			d := w.start(func(c *webhook.Config) { c.Node = heir })
			w.settled(d, e.ID, deliveries.Pending)
			for i, l := range in.all() {
				require.Equal(t, int64(i+1), l.Seq)
			}
			require.Len(t, in.all(), 10)
		})
	}
}

// A node that stops cuts attempts off that would keep it, and whoever comes next
// makes them.
func TestStop(t *testing.T) {
	t.Parallel()
	w := open(t)
	var hang atomic.Bool
	hang.Store(true)
	in := receive(t, func(_ http.ResponseWriter, r *http.Request, _ *letter) {
		if hang.Load() {
			<-r.Context().Done()
		}
	})
	e, _ := w.create(in.URL)
	d := webhook.Start(webhook.Config{Store: w.store, Secrets: w.secrets, Targets: webhook.NewTargets(true), Node: "node-1", Log: discard})
	w.tell(w.facts(7, 1, 3))
	d.Wake()
	in.next(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, d.Stop(ctx))
	h := w.history(e.ID)
	require.Equal(t, deliveries.Pending, h[0].Status, "of an attempt that was cut off nothing is known")
	hang.Store(false)
	next := w.start(func(c *webhook.Config) { c.Node = "node-2" })
	w.settled(next, e.ID, deliveries.Pending)
	var seqs []int64
	for _, l := range in.all() {
		seqs = append(seqs, l.Seq)
	}
	require.Equal(t, []int64{1, 1, 2, 3}, seqs)
}

// Endpoints that hang, fail, redirect or drip delay nobody else, and hold no more
// in memory than a page each: healthy ones have everything while those still have
// most of it before them.
func TestIsolation(t *testing.T) {
	t.Parallel()
	w := open(t)
	var elsewhere atomic.Int64
	forbidden := receive(t, func(http.ResponseWriter, *http.Request, *letter) { elsewhere.Add(1) })
	answers := map[string]func(http.ResponseWriter, *http.Request){
		"hang": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"fail": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, forbidden.URL, http.StatusTemporaryRedirect)
		},
		"drip":    drip,
		"healthy": func(http.ResponseWriter, *http.Request) {},
	}
	in := receive(t, func(w http.ResponseWriter, r *http.Request, l *letter) { answers[l.path[1:]](w, r) })
	ids := map[string][]int64{}
	for kind := range answers {
		for range 3 {
			e, _ := w.create(in.URL + "/" + kind)
			ids[kind] = append(ids[kind], e.ID)
		}
	}
	d := w.start()
	const facts, batch = 300, 50
	for from := int64(0); from < facts; from += batch {
		w.tell(w.facts(from%3+1, from, batch))
		d.Wake()
	}
	for _, id := range ids["healthy"] {
		w.settled(d, id, deliveries.Pending)
		for _, h := range w.history(id) {
			require.Equal(t, deliveries.Succeeded, h.Status)
		}
	}
	for _, id := range append(ids["fail"], ids["redirect"]...) {
		w.settled(d, id, deliveries.Pending)
		for _, h := range w.history(id) {
			require.Equal(t, deliveries.Failed, h.Status)
		}
	}
	require.Zero(t, elsewhere.Load(), "a redirect was followed")
	for _, id := range append(ids["hang"], ids["drip"]...) {
		var waiting int
		require.NoError(t, w.pool.QueryRow(t.Context(), `SELECT count(*) FROM webhook_deliveries WHERE endpoint = $1 AND status = 'pending'`, id).Scan(&waiting))
		require.Positive(t, waiting, "it was waited for")
	}
}

// drip answers a byte of headers at a time, forever.
func drip(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	if _, err := conn.Write([]byte("HTTP/1.1 200 OK\r\nX-Slow: ")); err != nil {
		return
	}
	for range tick.C {
		if _, err := conn.Write([]byte("x")); err != nil {
			return
		}
	}
}

// Facts that come while an endpoint is being served are not missed.
func TestNoLostWakeup(t *testing.T) {
	t.Parallel()
	w := open(t)
	in := receive(t, nil)
	e, _ := w.create(in.URL)
	d := w.start()
	var tellers sync.WaitGroup
	for stream := range int64(4) {
		tellers.Go(func() {
			for seq := range int64(50) {
				w.tell(w.facts(stream+1, seq, 1))
				d.Wake()
			}
		})
	}
	tellers.Wait()
	w.settled(d, e.ID, deliveries.Pending)
	require.Len(t, in.all(), 200)
}

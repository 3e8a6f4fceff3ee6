package paysim_test

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/paysim/outbox"
)

// hook is a webhook as it arrived.
type hook struct {
	event   string
	data    map[string]any
	genuine bool
	at      time.Time
}

// receive starts a webhook receiver; it answers the first refuse ones with 500.
func receive(t *testing.T, refuse int32) (string, <-chan hook) {
	t.Helper()
	got := make(chan hook, 1000)
	var left atomic.Int32
	left.Store(refuse)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha512.New, []byte(secret))
		mac.Write(raw)
		var body struct {
			Event string         `json:"event"`
			Data  map[string]any `json:"data"`
		}
		_ = json.Unmarshal(raw, &body)
		got <- hook{
			body.Event, body.Data,
			r.Header.Get("x-paystack-signature") == hex.EncodeToString(mac.Sum(nil)), time.Now(),
		}
		if left.Add(-1) >= 0 {
			w.WriteHeader(500)
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, got
}

func TestWebhookBodies(t *testing.T) {
	t.Parallel()
	target, got := receive(t, 0)
	c := newClient(t, start(t, paysim.Config{WebhookURL: target, RefundStep: time.Millisecond}))
	c.pay("A-1", "refund=needs-attention")

	charge := <-got
	require.True(t, charge.genuine)
	require.Equal(t, "charge.success", charge.event)
	require.Equal(t, "success", charge.data["status"])
	require.EqualValues(t, 30050, charge.data["amount"])
	require.EqualValues(t, 0, charge.data["metadata"], "no metadata is 0 in webhooks")
	require.NotContains(t, charge.data, "requested_amount")

	c.post("/refund", `{"transaction":"A-1","amount":70,"merchant_note":"k"}`)
	byEvent := map[string]hook{}
	for range 3 {
		h := <-got
		require.True(t, h.genuine)
		require.Equal(t, "A-1", h.data["transaction_reference"])
		byEvent[h.event] = h
	}
	require.Equal(t, "70", byEvent["refund.pending"].data["amount"])
	require.Nil(t, byEvent["refund.processing"].data["refund_reference"])
	attention := byEvent["refund.needs-attention"].data
	require.EqualValues(t, 70, attention["amount"])
	require.Equal(t, "k", attention["merchant_note"])
	require.IsType(t, "", attention["id"])

	c.pay("A-2", "reversed=0s")
	events := []string{(<-got).event, (<-got).event}
	require.ElementsMatch(t, []string{"charge.success", "refund.processed"}, events)
}

func TestWebhooksOfFailuresAreNotSent(t *testing.T) {
	t.Parallel()
	target, got := receive(t, 0)
	sim := start(t, paysim.Config{WebhookURL: target})
	c := newClient(t, sim)
	c.pay("failed", "failed")
	c.pay("abandoned", "abandoned")
	c.pay("dropped", "drop")
	c.pay("forged", "badsig")
	h := <-got
	require.Equal(t, "forged", h.data["reference"])
	require.False(t, h.genuine)
	require.Eventually(t, func() bool { return sim.Stats().Webhooks == outbox.Stats{Sent: 1, Dropped: 1} },
		time.Minute, time.Millisecond)
	require.Empty(t, got)
}

func TestWebhooksAreRepeatedUntilAnswered(t *testing.T) {
	t.Parallel()
	target, got := receive(t, 2)
	sim := start(t, paysim.Config{WebhookURL: target, WebhookRetry: 10 * time.Millisecond})
	c := newClient(t, sim)
	c.pay("A-1", "")
	for range 3 {
		require.Equal(t, "A-1", (<-got).data["reference"])
	}
	require.Eventually(t, func() bool { return sim.Stats().Webhooks == outbox.Stats{Sent: 1, Failed: 2} },
		time.Minute, time.Millisecond)
}

func TestWebhooksComeLateTwiceAndOutOfOrder(t *testing.T) {
	t.Parallel()
	target, got := receive(t, 0)
	c := newClient(t, start(t, paysim.Config{WebhookURL: target, Seed: 3}))

	before := time.Now()
	c.pay("delayed", "hookdelay=150ms,duplicate=3")
	for range 3 {
		h := <-got
		require.Equal(t, "delayed", h.data["reference"])
		require.GreaterOrEqual(t, h.at.Sub(before), 150*time.Millisecond)
	}

	before = time.Now()
	c.pay("late", "late=120ms")
	require.GreaterOrEqual(t, (<-got).at.Sub(before), 120*time.Millisecond)

	c.pay("pending", "pending=2")
	for range 2 {
		require.Equal(t, "pending", c.get("/transaction/verify/pending").data(t)["status"])
	}
	require.Equal(t, "pending", (<-got).data["reference"], "announced before verify was through with pending")

	var sent, arrived []string
	// On a busy machine payments may be further apart than the notices are put off; then they are put
	// off for longer.
	for late := 400 * time.Millisecond; slices.Equal(sent, arrived) && late < time.Minute; late *= 4 {
		sent, arrived = nil, nil
		for _, ref := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			sent = append(sent, late.String()+ref)
			c.pay(late.String()+ref, "reorder="+late.String())
		}
		for range sent {
			arrived = append(arrived, (<-got).data["reference"].(string))
		}
		require.ElementsMatch(t, sent, arrived)
	}
	require.NotEqual(t, sent, arrived)
}

package loadtest_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/loadtest"
)

// telling is the part of the service that tells the world.
type telling struct {
	url    string // of the one endpoint; empty: none
	secret string
	facts  []fact
}

// tellingBugs are what can be wrong with it. Each acts on one fact in nth (0:
// never).
type tellingBugs struct {
	untold int // it is neither in the feed nor delivered
	lose   int // it is not delivered
	repeat int // it is delivered twice, which is allowed
	forge  int // its signature is wrong
	invent int // it is delivered and not in the feed
	late   int // it is delivered as if it were the first
}

type fact struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Created time.Time      `json:"created"`
	Seq     int            `json:"seq"`
	Data    map[string]any `json:"data"`
}

func (s *telling) subscribe(ctx *fasthttp.RequestCtx) {
	var in struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) != nil {
		fail(ctx, 400, "VALIDATION_ERROR")
		return
	}
	s.url, s.secret = in.URL, "whsec_test"
	data(ctx, 201, map[string]string{"id": "1", "secret": s.secret})
}

// list is the feed, in pages of 100; a cursor counts facts.
func (s *telling) list(ctx *fasthttp.RequestCtx) {
	from := ctx.QueryArgs().GetUintOrZero("after")
	end := min(from+100, len(s.facts))
	page := map[string]any{"items": append([]fact{}, s.facts[from:end]...), "cursor": fmt.Sprint(end), "nextCursor": nil}
	if end < len(s.facts) {
		page["nextCursor"] = page["cursor"]
	}
	data(ctx, 200, page)
}

// tell tells of an order at once. The service is locked.
func (s *service) tell(typ string, o *svcOrder) {
	t, bugs := &s.told, s.bugs.telling
	seq := len(t.facts) + 1
	if nth(seq, bugs.untold) {
		t.facts = append(t.facts, fact{ID: fmt.Sprintf("evt_%d", seq), Type: "event.updated", Seq: seq})
		return
	}
	f := fact{
		ID: fmt.Sprintf("evt_%d", seq), Type: typ, Created: time.Now(), Seq: seq,
		Data: map[string]any{"order": map[string]string{"id": o.ID, "eventId": "event-1"}},
	}
	t.facts = append(t.facts, f)
	if t.url == "" || nth(seq, bugs.lose) {
		return
	}
	if nth(seq, bugs.late) {
		f.Seq = 1
	}
	t.post(f, nth(seq, bugs.forge))
	if nth(seq, bugs.repeat) {
		t.post(f, false)
	}
	if nth(seq, bugs.invent) {
		f.ID += "_of_nothing"
		t.post(f, false)
	}
}

func (s *telling) post(f fact, forged bool) {
	body, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	at := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(s.secret))
	fmt.Fprintf(mac, "%d.%s", at, body)
	if forged {
		body = bytes.Replace(body, []byte("order-"), []byte("order+"), 1)
	}
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Close = true
	req.Header.Set("X-Service-Attempt", "1")
	req.Header.Set("X-Service-Signature", fmt.Sprintf("t=%d,v1=%x", at, mac.Sum(nil)))
	if resp, err := http.DefaultClient.Do(req); err == nil { // what did not arrive is the audit's to find
		_ = resp.Body.Close()
	}
}

func TestWebhooksOfARush(t *testing.T) {
	t.Parallel()
	s := startService(t, bugs{telling: tellingBugs{repeat: 7}})
	r, out, err := onsale(t, config(t, s.url, "--webhooks", "--duration=500ms"))
	require.NoError(t, err, out)
	require.EqualValues(t, len(s.told.facts), r.Deliveries.Events)
	require.EqualValues(t, len(s.told.facts)/7, r.Deliveries.Again)
	require.Positive(t, r.Deliveries.Delay.P50)
	require.EqualValues(t, len(s.told.facts), check(t, r, "each fact was delivered").Checked)
	require.EqualValues(t, s.places, check(t, r, "acknowledged orders are told").Checked)
	require.Contains(t, out, "webhooks, ms from fact to receipt")
}

func TestTheAuditFindsInWebhooks(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bugs  tellingBugs
		check string
		text  string
	}{
		"a fact that nobody was told":    {tellingBugs{untold: 20}, "acknowledged orders are told", "no order.created tells of it"},
		"a delivery that never came":     {tellingBugs{lose: 20}, "each fact was delivered", "never came to"},
		"a signature of something else":  {tellingBugs{forge: 20}, "every delivery was signed", "not signed with its secret"},
		"a delivery of nothing":          {tellingBugs{invent: 20}, "nothing was delivered", "_of_nothing came to"},
		"deliveries in another sequence": {tellingBugs{late: 20}, "first attempts came in the order", "after a later one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, bugs{telling: c.bugs})
			r, out, err := onsale(t, config(t, s.url, "--webhooks", "--duration=500ms", "--hook-patience=1s"))
			require.ErrorIs(t, err, loadtest.ErrFindings)
			found := check(t, r, c.check)
			require.Positive(t, found.Failed)
			require.Contains(t, strings.Join(found.Findings, "\n"), c.text)
			require.Contains(t, out, "FOUND "+found.Name)
		})
	}
}

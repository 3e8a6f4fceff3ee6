package rushtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/valyala/fasthttp"
)

// Telling is the part of the service that tells the world what happens: the feed of facts and the
// webhooks.
type Telling struct {
	url    string // of the one endpoint; empty: none
	secret string
	Facts  []fact
}

// TellingBugs are what can be wrong with Telling. Each acts on every nth fact; 0 means never.
type TellingBugs struct {
	Untold int // it is neither in the feed nor delivered
	Lose   int // it is not delivered
	Repeat int // it is delivered twice, which is allowed
	Forge  int // its signature is wrong
	Invent int // it is delivered and not in the feed
	Late   int // it is delivered as if it were the first
}

// fact is a fact in the form in which the feed has it and a webhook tells it.
type fact struct {
	ID      string         `json:"id"`
	Type    string         `json:"type"`
	Created time.Time      `json:"created"`
	Seq     int            `json:"seq"`
	Data    map[string]any `json:"data"`
}

// subscribe makes the only endpoint for webhooks. A second one takes its place.
func (s *Telling) subscribe(ctx *fasthttp.RequestCtx) {
	var in struct {
		URL string `json:"url"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) != nil {
		writeFailure(ctx, 400, "VALIDATION_ERROR")
		return
	}
	s.url, s.secret = in.URL, "whsec_test"
	writeData(ctx, 201, map[string]string{"id": "1", "secret": s.secret})
}

// list is the feed, in pages of 100 facts. A cursor is the number of facts before it.
func (s *Telling) list(ctx *fasthttp.RequestCtx) {
	from := ctx.QueryArgs().GetUintOrZero("after")
	end := min(from+100, len(s.Facts))
	page := map[string]any{"items": append([]fact{}, s.Facts[from:end]...), "cursor": fmt.Sprint(end), "nextCursor": nil}
	if end < len(s.Facts) {
		page["nextCursor"] = page["cursor"]
	}
	writeData(ctx, 200, page)
}

// tellFact puts a fact about an order into the feed and sends its webhook at once. The caller holds
// the service's mutex.
func (s *Service) tellFact(typ string, o *svcOrder) {
	t, bugs := &s.Told, s.bugs.Telling
	seq := len(t.Facts) + 1
	// The feed gets another fact with this number, so that its numbers have no gap that would show
	// the loss.
	if nth(seq, bugs.Untold) {
		t.Facts = append(t.Facts, fact{ID: fmt.Sprintf("evt_%d", seq), Type: "event.updated", Seq: seq})
		return
	}
	f := fact{
		ID: fmt.Sprintf("evt_%d", seq), Type: typ, Created: time.Now(), Seq: seq,
		Data: map[string]any{"order": map[string]string{"id": o.ID, "eventId": "event-1"}},
	}
	t.Facts = append(t.Facts, f)
	if t.url == "" || nth(seq, bugs.Lose) {
		return
	}
	if nth(seq, bugs.Late) {
		f.Seq = 1
	}
	t.postFact(f, nth(seq, bugs.Forge))
	if nth(seq, bugs.Repeat) {
		t.postFact(f, false)
	}
	if nth(seq, bugs.Invent) {
		f.ID += "_of_nothing"
		t.postFact(f, false)
	}
}

// postFact delivers a fact and waits for the answer. A forged delivery has a body that is not the signed one.
func (s *Telling) postFact(f fact, forged bool) {
	body, err := json.Marshal(f)
	if err != nil {
		panic(err)
	}
	at := time.Now().Unix()
	mac := hmac.New(sha256.New, []byte(s.secret))
	// The signature covers the time and the body.
	fmt.Fprintf(mac, "%d.%s", at, body)
	// The forged body is another than the one that was signed, and it is still valid JSON.
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

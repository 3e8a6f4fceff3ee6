package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
)

const webhooksPath = "/webhooks"

// silent is where nobody listens.
const silent = "http://127.0.0.1:1/hook"

func webhookBody() object { return object{"url": silent, "events": []string{"event.completed"}} }

// webhook makes an endpoint in the organizer's only organization.
func (s *shop) webhook() string {
	s.t.Helper()
	s.roomForWebhooks()
	return s.own("POST", webhooksPath, webhookBody()).is(201, "").str("id")
}

// roomForWebhooks deletes an endpoint when the organization has all that it may:
// the oldest but one.
func (s *shop) roomForWebhooks() {
	s.t.Helper()
	all := s.own("GET", webhooksPath, nil).is(200, "")
	if n := len(all.data("items").([]any)); n >= deliveries.MaxPerOrg {
		s.own("DELETE", webhooksPath+"/"+all.str(fmt.Sprintf("items.%d.id", n-2)), nil).is(200, "")
	}
}

// sent makes a delivery to an endpoint that has been sent, as far as the table
// says.
func (s *shop) sent(endpoint string) (delivery string) {
	s.t.Helper()
	delivery = s.own("POST", webhooksPath+"/"+endpoint+"/test", nil).is(202, "").str("id")
	_, err := s.pool.Exec(s.t.Context(), `UPDATE webhook_deliveries SET status = 'succeeded', due = NULL WHERE id = $1`, delivery)
	require.NoError(s.t, err)
	return delivery
}

// post is a delivery as it arrives.
type post struct {
	event     string
	delivery  string
	attempt   string
	signature string
	body      string
	ID        string         `json:"id"`
	Type      string         `json:"type"`
	Data      map[string]any `json:"data"`
}

// mailroom is an endpoint of the test's own.
func mailroom(t testing.TB, answer func(w http.ResponseWriter, p *post)) (url string, posts chan *post) {
	t.Helper()
	posts = make(chan *post, 1_000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		h := r.Header
		p := &post{
			event: h.Get("X-Service-Event"), delivery: h.Get("X-Service-Delivery"), attempt: h.Get("X-Service-Attempt"),
			signature: h.Get("X-Service-Signature"), body: string(body),
		}
		if err := json.Unmarshal(body, p); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		if answer != nil {
			answer(w, p)
		}
		posts <- p
	}))
	t.Cleanup(server.Close)
	return server.URL + "/hook", posts
}

// next waits for the next delivery of a type.
func next(t testing.TB, posts chan *post, typ string) *post {
	t.Helper()
	for {
		select {
		case p := <-posts:
			if p.Type == typ {
				return p
			}
		case <-time.After(time.Minute):
			require.Fail(t, "nothing arrives", typ)
		}
	}
}

// signedBy says whether a delivery carries the signature of a secret.
func (p *post) signedBy(t testing.TB, secret string) bool {
	t.Helper()
	var at int64
	_, err := fmt.Sscanf(p.signature, "t=%d,", &at)
	require.NoError(t, err)
	return p.signature == webhook.Sign(secret, time.Unix(at, 0), []byte(p.body))
}

// metricsPage is what /metrics says.
func (s *shop) metricsPage(t testing.TB) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.cfg.Listen+"/metrics", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return string(body)
}

var webhookFields = words(`id organizationId url events name status disabledReason secretHint createdAt updatedAt`)

func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	s := open(t, func(c *config) { c.WebhooksPrivate = false })
	body := object{"url": "https://hooks.example.org/a?b=c", "events": []string{"payout.paid"}}
	for _, f := range []field{
		{"url", absent, "", "required"},
		{"url", nil, "", "required"},
		{"url", "", "", "format"},
		{"url", 7, "", "type"},
		{"url", "http://hooks.example.org/", "", "format"},
		{"url", "https://hooks.example.org:8443/", "", "format"},
		{"url", "https://me:you@hooks.example.org/", "", "format"},
		{"url", "https://localhost/", "", "format"},
		{"url", "https://127.0.0.1/", "", "format"},
		{"url", "https://[::1]/", "", "format"},
		{"url", "https://169.254.169.254/latest/meta-data", "", "format"},
		{"url", "https://2130706433/", "", "format"},
		{"url", "https://0x7f.1/", "", "format"},
		{"url", uri(2049), "", "max_length"},
		{"events", absent, "", "required"},
		{"events", nil, "", "required"},
		{"events", []string{}, "", "min_items"},
		{"events", many(65, "order.created"), "", "max_items"},
		{"events", "order.created", "", "type"},
		{"events", []string{"order.created", "order.eaten"}, "events[1]", "enum"},
		{"events", []string{"webhook.test"}, "events[0]", "enum"},
		{"events", []string{"order.created", "*"}, "events[1]", "enum"},
		{"events", []string{""}, "events[0]", "enum"},
		{"events", []string{strings.Repeat("o", 41)}, "events[0]", "max_length"},
		{"name", text(121), "", "max_length"},
		{"name", 7, "", "type"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		s.own("POST", webhooksPath, with(body, object{f.name: f.value})).invalid(want, f.code)
	}

	a := s.own("POST", webhooksPath, body).is(201, "")
	require.Equal(t, words(strings.Join(webhookFields, " ")+" secret"), a.keys(""))
	require.Regexp(t, `^whsec_[0-9A-Za-z]{43}$`, a.str("secret"))
	require.Equal(t, a.str("secret")[:10]+"…", a.str("secretHint"))
	for name, want := range map[string]any{"url": body["url"], "name": nil, "status": "active", "disabledReason": nil, "organizationId": s.org(), "events": []any{"payout.paid"}} {
		require.Equal(t, want, a.data(name), name)
	}
	all := s.own("POST", webhooksPath, with(body, object{"events": []string{"*"}, "name": text(120), "orgId": s.org()})).is(201, "")
	twice := s.own("POST", webhooksPath+"?orgId="+s.org(), with(body, object{"events": many(64, "payout.paid")})).is(201, "")
	require.Equal(t, []any{"payout.paid"}, twice.data("events"), "each once")
	list := s.own("GET", webhooksPath, nil).is(200, "")
	require.NotContains(t, encode(t, list.body), `"secret"`)
	require.Equal(t, all.str("id"), list.str("items.1.id"))
	require.Equal(t, webhookFields, list.keys("items.0"))

	t.Log("with an API key, whose organization it is")
	manager := s.as(s.key(object{"scopes": []string{"webhooks:manage"}}).str("secret"))
	manager.own("POST", webhooksPath, body).is(201, "")
	s.as(s.key(object{"scopes": []string{"events:write"}}).str("secret")).own("POST", webhooksPath, body).
		refused(403, "FORBIDDEN", object{"required": []string{"webhooks:manage"}, "granted": []string{"events:write"}})
	other := s.register("bob@example.org")
	manager.own("POST", webhooksPath, with(body, object{"orgId": other.org()})).is(404, "NOT_FOUND")

	t.Log("no more than an organization may have")
	for range deliveries.MaxPerOrg - 4 {
		s.own("POST", webhooksPath, body).is(201, "")
	}
	s.own("POST", webhooksPath, body).is(409, "CONFLICT")
	other.own("POST", webhooksPath, body).is(201, "")
}

func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	s := open(t)
	a := s.own("POST", webhooksPath, with(webhookBody(), object{"name": "Books"})).is(201, "")
	path := webhooksPath + "/" + a.str("id")
	for _, f := range []field{
		{"url", nil, "", "null"},
		{"url", "ftp://127.0.0.1/", "", "format"},
		{"events", nil, "", "null"},
		{"events", []string{}, "", "min_items"},
		{"events", []string{"*", "*"}, "events[0]", "enum"},
		{"status", "paused", "", "enum"},
		{"status", nil, "", "null"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		r := s.own("PUT", path, object{f.name: f.value})
		require.Equal(t, f.code, r.issues()[want], "%v", r.body)
	}
	require.Equal(t, webhookFields, s.own("PUT", path, object{}).is(200, "").keys(""))
	b := s.own("PUT", path, object{"url": silent + "/2", "events": []string{"*"}, "name": nil, "status": "disabled"}).is(200, "")
	for name, want := range map[string]any{"url": silent + "/2", "events": []any{"*"}, "name": nil, "status": "disabled", "disabledReason": nil} {
		require.Equal(t, want, b.data(name), name)
	}
	s.own("POST", path+"/test", nil).is(409, "CONFLICT")
	s.own("PUT", path, object{"status": "active"}).is(200, "")
	s.own("POST", path+"/test", nil).is(202, "")
	require.Equal(t, "active", s.own("DELETE", path, nil).is(200, "").str("status"))
	for _, c := range [][2]string{{"PUT", path}, {"DELETE", path}, {"POST", path + "/test"}, {"POST", path + "/rotate-secret"}, {"GET", path + "/deliveries"}} {
		s.own(c[0], c[1], nil).is(404, "NOT_FOUND")
	}
	require.Empty(t, s.own("GET", webhooksPath, nil).data("items"))
}

// A retry makes no second endpoint, also when the answer was never stored.
func TestCreateWebhookAgain(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.org()
	retry := append(s.bearer(), "Idempotency-Key", uuid.NewString())
	first := s.call("POST", webhooksPath, webhookBody(), retry...).is(201, "")
	require.Equal(t, first.body, s.call("POST", webhooksPath, webhookBody(), retry...).is(201, "").body)
	_, err := s.pool.Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
	require.NoError(t, err)
	second := s.call("POST", webhooksPath, webhookBody(), retry...).is(201, "")
	require.Equal(t, first.str("id"), second.str("id"))
	require.NotEqual(t, first.str("secret"), second.str("secret"))
	require.Len(t, s.own("GET", webhooksPath, nil).data("items"), 1)
}

// What an order brings about arrives, signed, and stands in the history.
func TestWebhooksTellOfAnOrder(t *testing.T) {
	t.Parallel()
	s := open(t)
	url, posts := mailroom(t, nil)
	hook := s.own("POST", webhooksPath, object{"url": url, "events": []string{"order.completed", "ticket.created"}}).is(201, "")
	path, secret := webhooksPath+"/"+hook.str("id"), hook.str("secret")
	_, types := s.onSale(typeBody(0, 10))
	order := s.call("POST", "/orders", orderBody("ada@example.org", types[0], 1)).is(201, "")
	p := next(t, posts, "order.completed")
	require.Equal(t, order.str("id"), p.Data["order"].(object)["id"])
	require.Len(t, p.Data["tickets"], 1)
	require.Regexp(t, `^evt_[0-9a-z]{26}$`, p.ID)
	require.Equal(t, "order.completed", p.event)
	require.Equal(t, "1", p.attempt)
	require.True(t, p.signedBy(t, secret))
	require.NotContains(t, p.body, order.str("accessToken"))
	next(t, posts, "ticket.created")

	var page answer
	require.Eventually(t, func() bool {
		page = s.own("GET", path+"/deliveries?limit=1", nil).is(200, "")
		return page.str("items.0.status") == "succeeded"
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, words(`id webhookId eventId eventType status attempts retryCount responseStatus latencyMs error replayOf attemptedAt nextAttemptAt createdAt`), page.keys("items.0"))
	require.Equal(t, "ticket.created", page.str("items.0.eventType"))
	older := s.own("GET", path+"/deliveries?limit=1&cursor="+page.str("nextCursor"), nil).is(200, "")
	require.Nil(t, older.data("nextCursor"))
	require.Equal(t, p.ID, older.str("items.0.eventId"))
	require.Equal(t, p.delivery, older.str("items.0.id"))
	for name, want := range map[string]any{"webhookId": hook.str("id"), "attempts": 1.0, "retryCount": 0.0, "responseStatus": 200.0, "error": nil, "replayOf": nil, "nextAttemptAt": nil} {
		require.Equal(t, want, older.data("items.0."+name), name)
	}

	t.Log("once more, by hand")
	again := s.own("POST", webhooksPath+"/deliveries/"+p.delivery+"/replay", nil).is(202, "")
	require.Equal(t, p.delivery, again.str("replayOf"))
	require.Equal(t, "pending", again.str("status"))
	q := next(t, posts, "order.completed")
	require.Equal(t, p.body, q.body, "the same bytes")
	require.Equal(t, again.str("id"), q.delivery)

	t.Log("a test, after the secret was replaced: the old one fails at once")
	fresh := s.own("POST", path+"/rotate-secret", nil).is(200, "").str("secret")
	require.NotEqual(t, secret, fresh)
	sent := s.own("POST", path+"/test", nil).is(202, "")
	r := next(t, posts, deliveries.TestType)
	require.Equal(t, sent.str("eventId"), r.ID)
	require.True(t, r.signedBy(t, fresh))
	require.False(t, r.signedBy(t, secret))

	t.Log("the numbers")
	for _, name := range []string{
		`boxoffice_webhook_attempts_total{outcome="succeeded"} `, "boxoffice_webhook_attempt_seconds_count ", "boxoffice_webhook_lag_seconds_count ",
		"boxoffice_webhook_exhausted_total 0", "boxoffice_webhook_pending ",
	} {
		require.Contains(t, s.metricsPage(t), name)
	}

	t.Log("another organization's deliveries are not there")
	other := s.register("bob@example.org")
	other.own("GET", path+"/deliveries", nil).is(404, "NOT_FOUND")
	other.own("POST", webhooksPath+"/deliveries/"+p.delivery+"/replay", nil).is(404, "NOT_FOUND")
	s.own("POST", webhooksPath+"/deliveries/999999/replay", nil).is(404, "NOT_FOUND")
}

// An endpoint that answers 410 is disabled, and its owners are told by mail.
func TestGoneWebhook(t *testing.T) {
	t.Parallel()
	s := open(t)
	begun := time.Now()
	url, posts := mailroom(t, func(w http.ResponseWriter, _ *post) { w.WriteHeader(http.StatusGone) })
	id := s.own("POST", webhooksPath, object{"url": url, "events": []string{"*"}, "name": "Books"}).is(201, "").str("id")
	s.own("POST", webhooksPath+"/"+id+"/test", nil).is(202, "")
	next(t, posts, deliveries.TestType)
	m := s.mail(t, s.own("GET", "/users/me", nil).str("email"), "webhook_disabled", begun)
	require.Contains(t, m.Text, "answered 410 Gone")
	require.Contains(t, m.Text, "Books")
	require.Contains(t, m.Text, "endpoint "+id)
	e := s.own("GET", webhooksPath, nil).is(200, "")
	require.Equal(t, "disabled", e.str("items.0.status"))
	require.Equal(t, "gone", e.str("items.0.disabledReason"))
	require.Nil(t, s.own("PUT", webhooksPath+"/"+id, object{"status": "active"}).is(200, "").data("disabledReason"))
}

func TestWebhooksStayPublicInLive(t *testing.T) {
	t.Parallel()
	_, err := (&config{Env: "live", WebhooksPrivate: true}).webhookTargets()
	require.ErrorContains(t, err, "BOXOFFICE_WEBHOOK_ALLOW_PRIVATE is refused in live")
	_, err = (&config{Env: "live"}).webhookTargets()
	require.NoError(t, err)
}

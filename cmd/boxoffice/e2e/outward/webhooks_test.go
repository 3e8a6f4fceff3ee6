package outward

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

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
)

// field is a value of one field, and the issue that it is refused with; "" when
// it is accepted and answered unchanged.
type field struct {
	name  string
	value any
	path  string // of the issue, if not the name
	code  string
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

// signedBy reports whether a delivery carries the signature of a secret.
func (p *post) signedBy(t testing.TB, secret string) bool {
	t.Helper()
	var at int64
	_, err := fmt.Sscanf(p.signature, "t=%d,", &at)
	require.NoError(t, err)
	return p.signature == webhook.Sign(secret, time.Unix(at, 0), []byte(p.body))
}

// metricsPage is what /metrics says.
func metricsPage(s *nodetest.Shop, t testing.TB) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.Config().Listen+"/metrics", nil)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return string(body)
}

var webhookFields = nodetest.Words(`id organizationId url events name status disabledReason secretHint createdAt updatedAt`)

func TestCreateWebhook(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.WebhooksPrivate = false })
	body := nodetest.Object{"url": "https://hooks.example.org/a?b=c", "events": []string{"payout.paid"}}
	for _, f := range []field{
		{"url", nodetest.Absent, "", "required"},
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
		{"url", nodetest.URI(2049), "", "max_length"},
		{"events", nodetest.Absent, "", "required"},
		{"events", nil, "", "required"},
		{"events", []string{}, "", "min_items"},
		{"events", nodetest.Many(65, "order.created"), "", "max_items"},
		{"events", "order.created", "", "type"},
		{"events", []string{"order.created", "order.eaten"}, "events[1]", "enum"},
		{"events", []string{"webhook.test"}, "events[0]", "enum"},
		{"events", []string{"order.created", "*"}, "events[1]", "enum"},
		{"events", []string{""}, "events[0]", "enum"},
		{"events", []string{strings.Repeat("o", 41)}, "events[0]", "max_length"},
		{"name", nodetest.Text(121), "", "max_length"},
		{"name", 7, "", "type"},
	} {
		want := f.path
		if want == "" {
			want = f.name
		}
		s.Own("POST", nodetest.WebhooksPath, nodetest.With(body, nodetest.Object{f.name: f.value})).Invalid(want, f.code)
	}

	a := s.Own("POST", nodetest.WebhooksPath, body).Is(201, "")
	require.Equal(t, nodetest.Words(strings.Join(webhookFields, " ")+" secret"), a.Keys(""))
	require.Regexp(t, `^whsec_[0-9A-Za-z]{43}$`, a.Str("secret"))
	require.Equal(t, a.Str("secret")[:10]+"…", a.Str("secretHint"))
	for name, want := range map[string]any{"url": body["url"], "name": nil, "status": "active", "disabledReason": nil, "organizationId": s.Org(), "events": []any{"payout.paid"}} {
		require.Equal(t, want, a.Data(name), name)
	}
	all := s.Own("POST", nodetest.WebhooksPath, nodetest.With(body, nodetest.Object{"events": []string{"*"}, "name": nodetest.Text(120), "orgId": s.Org()})).Is(201, "")
	twice := s.Own("POST", nodetest.WebhooksPath+"?orgId="+s.Org(), nodetest.With(body, nodetest.Object{"events": nodetest.Many(64, "payout.paid")})).Is(201, "")
	require.Equal(t, []any{"payout.paid"}, twice.Data("events"), "each once")
	list := s.Own("GET", nodetest.WebhooksPath, nil).Is(200, "")
	require.NotContains(t, nodetest.Encode(t, list.Body), `"secret"`)
	require.Equal(t, all.Str("id"), list.Str("items.1.id"))
	require.Equal(t, webhookFields, list.Keys("items.0"))

	t.Log("with an API key, whose organization it is")
	manager := s.As(s.Key(nodetest.Object{"scopes": []string{"webhooks:manage"}}).Str("secret"))
	manager.Own("POST", nodetest.WebhooksPath, body).Is(201, "")
	s.As(s.Key(nodetest.Object{"scopes": []string{"events:write"}}).Str("secret")).Own("POST", nodetest.WebhooksPath, body).
		Refused(403, "FORBIDDEN", nodetest.Object{"required": []string{"webhooks:manage"}, "granted": []string{"events:write"}})
	other := s.Register("bob@example.org")
	manager.Own("POST", nodetest.WebhooksPath, nodetest.With(body, nodetest.Object{"orgId": other.Org()})).Is(404, "NOT_FOUND")

	t.Log("no more than an organization may have")
	for range deliveries.MaxPerOrg - 4 {
		s.Own("POST", nodetest.WebhooksPath, body).Is(201, "")
	}
	s.Own("POST", nodetest.WebhooksPath, body).Is(409, "CONFLICT")
	other.Own("POST", nodetest.WebhooksPath, body).Is(201, "")
}

func TestUpdateWebhook(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	a := s.Own("POST", nodetest.WebhooksPath, nodetest.With(nodetest.WebhookBody(), nodetest.Object{"name": "Books"})).Is(201, "")
	path := nodetest.WebhooksPath + "/" + a.Str("id")
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
		r := s.Own("PUT", path, nodetest.Object{f.name: f.value})
		require.Equal(t, f.code, r.Issues()[want], "%v", r.Body)
	}
	require.Equal(t, webhookFields, s.Own("PUT", path, nodetest.Object{}).Is(200, "").Keys(""))
	b := s.Own("PUT", path, nodetest.Object{"url": nodetest.Silent + "/2", "events": []string{"*"}, "name": nil, "status": "disabled"}).Is(200, "")
	for name, want := range map[string]any{"url": nodetest.Silent + "/2", "events": []any{"*"}, "name": nil, "status": "disabled", "disabledReason": nil} {
		require.Equal(t, want, b.Data(name), name)
	}
	s.Own("POST", path+"/test", nil).Is(409, "CONFLICT")
	s.Own("PUT", path, nodetest.Object{"status": "active"}).Is(200, "")
	s.Own("POST", path+"/test", nil).Is(202, "")
	require.Equal(t, "active", s.Own("DELETE", path, nil).Is(200, "").Str("status"))
	for _, c := range [][2]string{{"PUT", path}, {"DELETE", path}, {"POST", path + "/test"}, {"POST", path + "/rotate-secret"}, {"GET", path + "/deliveries"}} {
		s.Own(c[0], c[1], nil).Is(404, "NOT_FOUND")
	}
	require.Empty(t, s.Own("GET", nodetest.WebhooksPath, nil).Data("items"))
}

// A retry makes no second endpoint, also when the answer was never stored.
func TestCreateWebhookAgain(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	s.Org()
	retry := append(s.Bearer(), "Idempotency-Key", uuid.NewString())
	first := s.Call("POST", nodetest.WebhooksPath, nodetest.WebhookBody(), retry...).Is(201, "")
	require.Equal(t, first.Body, s.Call("POST", nodetest.WebhooksPath, nodetest.WebhookBody(), retry...).Is(201, "").Body)
	_, err := s.Pool().Exec(t.Context(), `DELETE FROM idempotency`) // as if the node had died before it was written
	require.NoError(t, err)
	second := s.Call("POST", nodetest.WebhooksPath, nodetest.WebhookBody(), retry...).Is(201, "")
	require.Equal(t, first.Str("id"), second.Str("id"))
	require.NotEqual(t, first.Str("secret"), second.Str("secret"))
	require.Len(t, s.Own("GET", nodetest.WebhooksPath, nil).Data("items"), 1)
}

// What an order brings about arrives, signed, and stands in the history.
func TestWebhooksTellOfAnOrder(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	url, posts := mailroom(t, nil)
	hook := s.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": url, "events": []string{"order.completed", "ticket.created"}}).Is(201, "")
	path, secret := nodetest.WebhooksPath+"/"+hook.Str("id"), hook.Str("secret")
	_, types := s.OnSale(nodetest.TypeBody(0, 10))
	order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", types[0], 1)).Is(201, "")
	p := next(t, posts, "order.completed")
	require.Equal(t, order.Str("id"), p.Data["order"].(nodetest.Object)["id"])
	require.Len(t, p.Data["tickets"], 1)
	require.Regexp(t, `^evt_[0-9a-z]{26}$`, p.ID)
	require.Equal(t, "order.completed", p.event)
	require.Equal(t, "1", p.attempt)
	require.True(t, p.signedBy(t, secret))
	require.NotContains(t, p.body, order.Str("accessToken"))
	next(t, posts, "ticket.created")

	var page nodetest.Answer
	require.Eventually(t, func() bool {
		page = s.Own("GET", path+"/deliveries?limit=1", nil).Is(200, "")
		return page.Str("items.0.status") == "succeeded"
	}, time.Minute, 5*time.Millisecond)
	require.Equal(t, nodetest.Words(`id webhookId eventId eventType status attempts retryCount responseStatus latencyMs error replayOf attemptedAt nextAttemptAt createdAt`), page.Keys("items.0"))
	require.Equal(t, "ticket.created", page.Str("items.0.eventType"))
	older := s.Own("GET", path+"/deliveries?limit=1&cursor="+page.Str("nextCursor"), nil).Is(200, "")
	require.Nil(t, older.Data("nextCursor"))
	require.Equal(t, p.ID, older.Str("items.0.eventId"))
	require.Equal(t, p.delivery, older.Str("items.0.id"))
	for name, want := range map[string]any{"webhookId": hook.Str("id"), "attempts": 1.0, "retryCount": 0.0, "responseStatus": 200.0, "error": nil, "replayOf": nil, "nextAttemptAt": nil} {
		require.Equal(t, want, older.Data("items.0."+name), name)
	}

	t.Log("what was sent, and what was answered")
	seen := s.Own("GET", nodetest.WebhooksPath+"/deliveries/"+p.delivery, nil).Is(200, "")
	payload, err := json.Marshal(seen.Data("payload"))
	require.NoError(t, err)
	require.JSONEq(t, p.body, string(payload))
	require.Len(t, seen.Data("tries"), 1)
	require.Equal(t, []any{1.0, 200.0, nil, nil}, []any{seen.Data("tries.0.number"), seen.Data("tries.0.responseStatus"), seen.Data("tries.0.error"), seen.Data("tries.0.answer")})

	t.Log("once more, by hand")
	again := s.Own("POST", nodetest.WebhooksPath+"/deliveries/"+p.delivery+"/replay", nil).Is(202, "")
	require.Equal(t, p.delivery, again.Str("replayOf"))
	require.Equal(t, "pending", again.Str("status"))
	q := next(t, posts, "order.completed")
	require.Equal(t, p.body, q.body, "the same bytes")
	require.Equal(t, again.Str("id"), q.delivery)

	t.Log("a test, after the secret was replaced: the old one fails at once")
	fresh := s.Own("POST", path+"/rotate-secret", nil).Is(200, "").Str("secret")
	require.NotEqual(t, secret, fresh)
	sent := s.Own("POST", path+"/test", nil).Is(202, "")
	r := next(t, posts, deliveries.TestType)
	require.Equal(t, sent.Str("eventId"), r.ID)
	require.True(t, r.signedBy(t, fresh))
	require.False(t, r.signedBy(t, secret))

	t.Log("the numbers")
	for _, name := range []string{
		`boxoffice_webhook_attempts_total{outcome="succeeded"} `, "boxoffice_webhook_attempt_seconds_count ", "boxoffice_webhook_lag_seconds_count ",
		"boxoffice_webhook_exhausted_total 0", "boxoffice_webhook_pending ",
	} {
		require.Contains(t, metricsPage(s, t), name)
	}

	t.Log("another organization's deliveries are not there")
	other := s.Register("bob@example.org")
	other.Own("GET", path+"/deliveries", nil).Is(404, "NOT_FOUND")
	other.Own("GET", nodetest.WebhooksPath+"/deliveries/"+p.delivery, nil).Is(404, "NOT_FOUND")
	s.Own("GET", nodetest.WebhooksPath+"/deliveries/999999", nil).Is(404, "NOT_FOUND")
	other.Own("POST", nodetest.WebhooksPath+"/deliveries/"+p.delivery+"/replay", nil).Is(404, "NOT_FOUND")
	s.Own("POST", nodetest.WebhooksPath+"/deliveries/999999/replay", nil).Is(404, "NOT_FOUND")
}

// An endpoint that answers 410 is disabled, and its owners are told by mail.
func TestGoneWebhook(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	begun := time.Now()
	url, posts := mailroom(t, func(w http.ResponseWriter, _ *post) { w.WriteHeader(http.StatusGone) })
	id := s.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": url, "events": []string{"*"}, "name": "Books"}).Is(201, "").Str("id")
	s.Own("POST", nodetest.WebhooksPath+"/"+id+"/test", nil).Is(202, "")
	next(t, posts, deliveries.TestType)
	m := s.Mail(t, s.Own("GET", "/users/me", nil).Str("email"), "webhook_disabled", begun)
	require.Contains(t, m.Text, "answered 410 Gone")
	require.Contains(t, m.Text, "Books")
	require.Contains(t, m.Text, "endpoint "+id)
	e := s.Own("GET", nodetest.WebhooksPath, nil).Is(200, "")
	require.Equal(t, "disabled", e.Str("items.0.status"))
	require.Equal(t, "gone", e.Str("items.0.disabledReason"))
	require.Nil(t, s.Own("PUT", nodetest.WebhooksPath+"/"+id, nodetest.Object{"status": "active"}).Is(200, "").Data("disabledReason"))
}

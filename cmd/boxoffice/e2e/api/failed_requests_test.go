package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge"
	"boxoffice/edge/redact"
	"boxoffice/edge/route"
)

// failedRequest asks for what is kept of a failed request.
func failedRequest(s *nodetest.Shop, org, id string) nodetest.Answer {
	s.T.Helper()
	return s.Own("GET", "/organizer/integrations/org/"+org+"/requests/"+id, nil)
}

// keptRequest is what is kept of a request that has just failed.
func keptRequest(s *nodetest.Shop, r nodetest.Reply) nodetest.Answer {
	s.T.Helper()
	var a nodetest.Answer
	require.Eventually(s.T, func() bool {
		a = failedRequest(s, s.Org(), r.Header.Get("X-Request-Id"))
		return a.Status == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	return a
}

// sentHeaders are the headers that are kept, by name.
func sentHeaders(a nodetest.Answer) map[string]string {
	a.T.Helper()
	sent := map[string]string{}
	for i := range a.Data("requestHeaders").([]any) {
		sent[a.Str(fmt.Sprintf("requestHeaders.%d.name", i))] = a.Str(fmt.Sprintf("requestHeaders.%d.value", i))
	}
	return sent
}

// TestFailedRequests shows what a failed request was sent and answered to those who manage the organization,
// and to nobody else, for a day.
func TestFailedRequests(t *testing.T) {
	t.Parallel()
	var passed atomic.Int64
	s := nodetest.Open(t, func(cfg *node.Config) {
		cfg.Now = func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	})
	key := s.Key(nil)
	a := s.As(key.Str("secret"))
	body := `{"title": 5, "titel": "Jazz", "onlineLink": "https://example.org/room-5e1f", "description": "Ask ` + a.Token + `"}`
	failed := a.Raw("POST", "/organizer/events", "application/json", body, append(a.Bearer(),
		"Idempotency-Key", nodetest.KeyOne, "User-Agent", "till/7", "Cookie", "session=cookie-5e1f", "X-Signature", "signature-5e1f", "X-Api-Token", "token-5e1f")...).Is(t, 400)
	done := a.Raw("GET", "/organizer/events", "", "", a.Bearer()...).Is(t, 200)

	kept := keptRequest(s, failed)
	require.Equal(t, nodetest.Words("answerBody keyId requestBody requestHeaders requestId"), kept.Keys(""))
	require.Equal(t, key.Str("id"), kept.Str("keyId"))
	require.Equal(t, map[string]string{
		"Content-Type": "application/json", "Content-Length": fmt.Sprint(len(body)), "Accept-Encoding": "gzip", "User-Agent": "till/7", "Idempotency-Key": nodetest.KeyOne,
	}, sentHeaders(kept))
	require.Equal(t, `{"title": 5, "titel": "[withheld]", "onlineLink": "[withheld]", "description": "Ask [withheld]"}`, kept.Str("requestBody.text"))
	require.Equal(t, false, kept.Data("requestBody.cut"))
	require.Equal(t, failed.Body, kept.Str("answerBody.text"))

	t.Log("nobody else sees it, and nothing is kept of what succeeds")
	id, org := failed.Header.Get("X-Request-Id"), s.Org()
	failedRequest(a, org, id).Is(403, "FORBIDDEN")
	failedRequest(s.As(s.Key(nil).Str("secret")), org, id).Is(403, "FORBIDDEN")
	other := s.Register("other@example.org")
	failedRequest(other, org, id).Is(404, "NOT_FOUND")
	failedRequest(other, other.Org(), id).Is(404, "NOT_FOUND")
	failedRequest(s.As(other.Key(nil).Str("secret")), org, id).Is(403, "FORBIDDEN")
	s.Invite("kim@example.org", "member")
	failedRequest(s.Buyer("kim@example.org"), org, id).Is(403, "FORBIDDEN")
	failedRequest(s, org, done.Header.Get("X-Request-Id")).Is(404, "NOT_FOUND")
	require.Equal(t, []any{false, true}, []any{logged(s, "status=2xx", 1)[0]["kept"], logged(s, "route=/api/v1/organizer/events&status=400", 1)[0]["kept"]})

	t.Log("a long body is cut, and what is no JSON is left out")
	long := a.Raw("POST", "/organizer/events", "application/json", `{"description":"`+nodetest.Text(30_000)+`"}`, a.Bearer()...).Is(t, 400)
	kept = keptRequest(s, long)
	require.Equal(t, true, kept.Data("requestBody.cut"))
	require.Len(t, kept.Str("requestBody.text"), 16<<10)
	form := a.Raw("POST", "/organizer/events", "application/x-www-form-urlencoded", "password=hunter-5e1f", append(a.Bearer(), "Idempotency-Key", "hunter-5e1f")...)
	kept = keptRequest(s, form)
	require.Equal(t, "", kept.Str("requestBody.text"))
	require.Equal(t, "[withheld]", sentHeaders(kept)["Idempotency-Key"])
	require.Nil(t, keptRequest(s, a.Raw("GET", "/organizer/events/no-such", "", "", a.Bearer()...).Is(t, 404)).Data("requestBody"))

	t.Log("after a day it is gone")
	passed.Store(int64(23 * time.Hour))
	fresh := s.As(s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken"))
	failedRequest(fresh, org, id).Is(200, "")
	passed.Store(int64(24*time.Hour + time.Minute))
	fresh = s.As(s.Call("POST", "/auth/login", nodetest.Object{"email": "owner@example.org", "password": "correct horse"}).Is(200, "").Str("accessToken"))
	failedRequest(fresh, org, id).Is(404, "NOT_FOUND")
}

// TestNothingIsKeptOfWhatCameTooSoon has a program ask in a loop, and another one fail in the same minute.
func TestNothingIsKeptOfWhatCameTooSoon(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.LimitsScale = 0.1 })
	loop, other := s.As(s.Key(nil).Str("secret")), s.As(s.Key(nil).Str("secret"))
	refused := 0
	for range 60 {
		if loop.Call("GET", "/events", nil, loop.Bearer()...).Status == http.StatusTooManyRequests {
			refused++
		}
	}
	require.Greater(t, refused, 30, "more than are kept in a minute")
	failed := other.Raw("GET", "/organizer/events/no-such", "", "", other.Bearer()...)
	id, org := failed.Header.Get("X-Request-Id"), s.Org()
	require.Eventually(t, func() bool { return failedRequest(s, org, id).Status == http.StatusOK }, 2*time.Minute, time.Second)
	for _, r := range logged(s, "status=429", refused) {
		require.Equal(t, false, r["kept"])
	}
}

// TestFailedRequestsKeepNoSecret sends each row a secret in each of its secret fields and in its query, and
// looks for it in all that is kept.
func TestFailedRequestsKeepNoSecret(t *testing.T) {
	t.Parallel()
	const secret = "canary-secret-5e1f"
	s := nodetest.Open(t)
	kept, secrets := 0, 0
	for ops := range slices.Chunk(rowsWithBody(), 25) { // of an organization's, 30 are kept in a minute
		owner := s.Register("owner-of-" + strings.ToLower(ops[0].ID) + "@example.org")
		var program *nodetest.Shop
		for i := range ops {
			if i%10 == 0 { // and 10 of a key's
				program = s.As(owner.Key(nil).Str("secret"))
			}
			path := strings.TrimPrefix(ops[i].Path, "/api/v1")
			for _, p := range ops[i].Handler.PathParams() {
				path = strings.ReplaceAll(path, "{"+p.Name+"}", "1")
			}
			var fields []string
			for _, name := range secretFields(&ops[i]) {
				fields = append(fields, fmt.Sprintf("%q:%q", name, secret))
			}
			secrets += len(fields)
			program.Raw(ops[i].Method, path+"?token="+secret, "application/json", "{"+strings.Join(fields, ",")+"}", program.Bearer()...)
		}
		for _, r := range logged(owner, "", len(ops)) {
			if r["kept"] == true {
				kept++
				a := failedRequest(owner, owner.Org(), r["requestId"].(string)).Is(200, "")
				require.NotContains(t, nodetest.Encode(t, a.Body), secret, "%v %v", r["method"], r["route"])
			}
		}
	}
	require.Greater(t, kept, 80)
	require.GreaterOrEqual(t, secrets, 40)
}

// rowsWithBody are the rows of the API that take JSON.
func rowsWithBody() []route.Op {
	return slices.DeleteFunc(new(edge.Areas).Routes(), func(op route.Op) bool {
		return !op.Handler.HasBody() || !strings.HasPrefix(op.Path, "/api/v1/")
	})
}

// secretFields are the names of a row's secret fields in its body.
func secretFields(op *route.Op) []string {
	var names []string
	for f := range op.Handler.In.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if redact.NamesSecret(name) || f.Tag.Get("format") == "password" {
			names = append(names, name)
		}
	}
	return names
}

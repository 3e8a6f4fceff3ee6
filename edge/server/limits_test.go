package server_test

import (
	"context"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/route"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/engine"
)

type (
	paying struct {
		ID    string `path:"id" format:"id" maxLength:"128"`
		Token string `json:"token" maxLength:"50"`
	}
	mailed struct {
		Email string `json:"email" required:"true" format:"email"`
	}
	scanned struct {
		Device string `json:"device" maxLength:"50"`
	}
)

func (p *paying) LimitOrder() (id string, tokens [2]string) { return p.ID, [2]string{p.Token} }

func (m *mailed) LimitEmail() string { return m.Email }

func (s *scanned) LimitDevice() string { return s.Device }

func limitedTable() []route.Op {
	row := func(method, path, id string, auth route.Auth, tier route.Tier, h route.Handler) route.Op {
		op := route.Op{
			Method: method, Path: "/api/v1/" + path, ID: id, Summary: "Do", Tag: "tests",
			Auth: auth, Tier: tier, Status: 200, Errors: []engine.Code{}, Handler: h,
		}
		if method != "GET" {
			op.Idempotency = route.ByActor
		}
		return op
	}
	return []route.Op{
		row("GET", "page", "page", route.Public|route.User, route.TierPublic, same[route.None]()),
		row("POST", "login", "login", route.Public, route.TierAuth, same[mailed]()),
		row("GET", "orders/{id}/print", "print", route.Public|route.User|route.OrderToken, route.TierStrict, printed()),
		row("POST", "orders/{id}/pay", "pay", route.Public|route.User|route.OrderToken, route.TierStrict, same[paying]()),
		row("POST", "place", "place", route.Public|route.User, route.TierStrict, same[route.None]()),
		row("POST", "scan", "scan", route.User, route.TierCheckin, same[scanned]()),
	}
}

func same[In any]() route.Handler {
	return route.Handle(func(_ *route.Call, in *In) (*In, error) { return in, nil })
}

// shown is a request with an order's token in its path, as browsers follow links.
type shown struct {
	ID    string `path:"id" format:"id" maxLength:"128"`
	Token string `query:"token" maxLength:"50"`
}

func (s *shown) LimitOrder() (id string, tokens [2]string) { return s.ID, [2]string{s.Token} }

// printed answers with a file.
func printed() route.Handler {
	return route.Bytes([]string{"text/plain"}, func(*route.Call, *shown) (*route.Content, error) {
		open := func(context.Context, int64, int64) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("page")), nil
		}
		return &route.Content{Type: "text/plain", Tag: `"page"`, Size: 4, Open: open}, nil
	})
}

// limited is a server behind a trusted proxy, with a clock of the test's own.
func limited(t *testing.T, scale float64) (c *edgetest.Client, forward func(time.Duration)) {
	t.Helper()
	var now atomic.Int64
	now.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixNano())
	c = edgetest.NewClient(t, server.Config{
		Ops: limitedTable(), Authenticate: authenticate, Now: func() time.Time { return time.Unix(0, now.Load()) },
		Limits:         buckets.New(scale, func(id, token string) (string, bool) { id = strings.ToLower(id); return id, token == "of-"+id }),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
	})
	return c, func(d time.Duration) { now.Add(int64(d)) }
}

const ada = "Bearer ada"

func TestLimitTellsAndRefuses(t *testing.T) {
	t.Parallel()
	c, forward := limited(t, 1)
	from := func(a string) edgetest.Response { return c.Do(t, "GET", "/api/v1/page", nil, "X-Forwarded-For", a) }
	for left := 119; left >= 0; left-- {
		res := from("192.0.2.1")
		require.Equal(t, 200, res.Status)
		require.Equal(t, "120", res.Header.Get("X-RateLimit-Limit"))
		require.Equal(t, strconv.Itoa(left), res.Header.Get("X-RateLimit-Remaining"))
	}
	res := from("192.0.2.1")
	require.Equal(t, 429, res.Status)
	require.Equal(t, "RATE_LIMITED", res.Failure(t).Error.Code)
	require.Equal(t, "1", res.Header.Get("Retry-After"), "one in half a second comes back, in whole seconds")
	require.Equal(t, "0", res.Header.Get("X-RateLimit-Remaining"))
	require.Equal(t, strconv.FormatInt(time.Date(2026, 11, 21, 12, 1, 0, 0, time.UTC).Unix(), 10), res.Header.Get("X-RateLimit-Reset"))
	require.Equal(t, 200, from("192.0.2.2").Status, "another address")
	require.Equal(t, 200, c.Do(t, "GET", "/api/v1/page", nil, "X-Forwarded-For", "192.0.2.1", "Authorization", ada).Status, "a user counts for themself")
	require.Equal(t, 429, c.Do(t, "GET", "/api/v1/nowhere", nil, "X-Forwarded-For", "192.0.2.1").Status, "what is not there counts as a public read")
	forward(time.Second)
	require.Equal(t, 200, from("192.0.2.1").Status)
}

func TestLimitOfIPv6Networks(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 0.1)
	for i := range 12 {
		require.Equal(t, 200, c.Do(t, "GET", "/api/v1/page", nil, "X-Forwarded-For", "2001:db8::"+strconv.Itoa(i)).Status)
	}
	require.Equal(t, 429, c.Do(t, "GET", "/api/v1/page", nil, "X-Forwarded-For", "2001:db8::ffff").Status, "of the same /64")
	require.Equal(t, 200, c.Do(t, "GET", "/api/v1/page", nil, "X-Forwarded-For", "2001:db8:0:1::1").Status)
}

func TestLimitOfWhatTheBrowserHas(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 0.1)
	tag := c.Do(t, "GET", "/api/v1/page", nil).Header.Get("ETag")
	require.NotEmpty(t, tag)
	for range 50 {
		res := c.Do(t, "GET", "/api/v1/page", nil, "If-None-Match", tag)
		require.Equal(t, 304, res.Status)
		require.Empty(t, res.Body)
		require.Equal(t, "11", res.Header.Get("X-RateLimit-Remaining"), "a 304 does not count")
	}
}

// TestLimitOfFilesThatTheBrowserHas: a file is looked up or drawn before anybody knows whether the client has it
// already, so a 304 counts as any other answer.
func TestLimitOfFilesThatTheBrowserHas(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 0.1) // 3 strict requests a minute
	for i := range 5 {
		res := c.Do(t, "GET", "/api/v1/orders/7/print", nil, "If-None-Match", "*")
		require.Equal(t, map[bool]int{true: 304, false: 429}[i < 3], res.Status)
	}
}

func TestLimitOfSignIns(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 1)
	login := func(email, address string, more ...string) int {
		return c.Do(t, "POST", "/api/v1/login", `{"email":"`+email+`"}`, append(more, "X-Forwarded-For", address)...).Status
	}
	for range 20 {
		require.Equal(t, 200, login("ada@example.org", "203.0.113.1"))
	}
	require.Equal(t, 429, login("ada@example.org", "203.0.113.1"))
	require.Equal(t, 200, login("ada@example.org", "203.0.113.2"), "a stranger's tries lock nobody out")
	for i := range 179 {
		require.Equal(t, 200, login("ada@example.org", "192.0.2."+strconv.Itoa(i)))
	}
	require.Equal(t, 429, login("ADA@example.org", "192.0.2.199"), "one e-mail from many addresses")
	require.Equal(t, 429, login("ada@example.org", "192.0.2.198", "Authorization", ada), "signed in or not")
	for i := range 20 {
		require.Equal(t, 200, login("u"+strconv.Itoa(i)+"@example.org", "198.51.100.1"))
	}
	require.Equal(t, 429, login("new@example.org", "198.51.100.1"), "many e-mails from one address")
	for range 20 {
		require.Equal(t, 400, c.Do(t, "POST", "/api/v1/login", `{}`, "X-Forwarded-For", "198.51.100.2").Status)
	}
	require.Equal(t, 429, c.Do(t, "POST", "/api/v1/login", `{}`, "X-Forwarded-For", "198.51.100.2").Status, "what is not valid counts")
}

func TestLimitOfOrders(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 1)
	pay := func(id, token string) int {
		return c.Do(t, "POST", "/api/v1/orders/"+id+"/pay", `{"token":"`+token+`"}`).Status
	}
	for range 30 {
		require.Equal(t, 200, c.Do(t, "POST", "/api/v1/place", nil).Status)
	}
	require.Equal(t, 429, c.Do(t, "POST", "/api/v1/place", nil).Status, "guests count by address")
	for range 30 {
		require.Equal(t, 200, pay("a", "of-a"), "who has an order's token counts by the order")
	}
	require.Equal(t, 429, pay("a", "of-a"))
	require.Equal(t, 200, pay("b", "of-b"))
	require.Equal(t, 429, pay("c", "guessed"), "a wrong token counts by address")
	require.Equal(t, 429, c.Do(t, "POST", "/api/v1/orders/c/pay", `{`).Status, "so does what is not valid")
	require.Equal(t, 200, c.Do(t, "POST", "/api/v1/place", nil, "Authorization", ada).Status)
}

// TestLimitOfFiles: what answers with a file counts like what answers with JSON.
func TestLimitOfFiles(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 1)
	look := func(id string) int { return c.Do(t, "GET", "/api/v1/orders/"+id+"/print?token=of-"+id, nil).Status }
	for range 30 {
		require.Equal(t, 200, look("a"))
	}
	require.Equal(t, 429, look("a"))
	require.Equal(t, 200, look("b"))
}

func TestLimitOfDevices(t *testing.T) {
	t.Parallel()
	c, _ := limited(t, 0.1)
	scan := func(device string) int {
		return c.Do(t, "POST", "/api/v1/scan", `{"device":"`+device+`"}`, "Authorization", ada).Status
	}
	for range 12 {
		require.Equal(t, 200, scan("gate-1"))
	}
	require.Equal(t, 429, scan("gate-1"))
	require.Equal(t, 200, scan("gate-2"))
	for range 12 {
		require.Equal(t, 401, c.Do(t, "POST", "/api/v1/scan", `{}`, "Authorization", "Bearer eve").Status)
	}
	require.Equal(t, 429, c.Do(t, "POST", "/api/v1/scan", `{}`, "Authorization", "Bearer eve").Status, "guessed credentials count by address")
}

func TestHeadersOfEveryAnswer(t *testing.T) {
	t.Parallel()
	c := edgetest.NewClient(t, server.Config{Ops: limitedTable(), Origins: []string{"https://shop.example"}, HTTPS: true})
	for _, res := range []edgetest.Response{
		c.Do(t, "GET", "/api/v1/page", nil, "Origin", "https://shop.example"),
		c.Do(t, "GET", "/api/v1/nowhere", nil, "Origin", "https://shop.example"),
		c.Do(t, "OPTIONS", "/api/v1/login", nil, "Origin", "https://shop.example", "Access-Control-Request-Method", "POST"),
	} {
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "no-referrer", res.Header.Get("Referrer-Policy"))
		require.Equal(t, "DENY", res.Header.Get("X-Frame-Options"))
		require.Equal(t, "default-src 'none'; frame-ancestors 'none'", res.Header.Get("Content-Security-Policy"))
		require.True(t, strings.HasPrefix(res.Header.Get("Strict-Transport-Security"), "max-age="))
		require.Equal(t, "https://shop.example", res.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, res.Header.Get("Access-Control-Expose-Headers"), "X-RateLimit-Remaining")
		require.Empty(t, res.Header.Get("Access-Control-Allow-Credentials"))
		require.Empty(t, res.Header.Get("Server"))
	}
	preflight := c.Do(t, "OPTIONS", "/api/v1/login", nil, "Origin", "https://shop.example", "Access-Control-Request-Method", "POST")
	require.Equal(t, 204, preflight.Status)
	require.Contains(t, preflight.Header.Get("Access-Control-Allow-Headers"), "Idempotency-Key")
	require.Empty(t, c.Do(t, "GET", "/api/v1/page", nil, "Origin", "https://evil.example").Header.Get("Access-Control-Allow-Origin"))
	open := edgetest.NewClient(t, server.Config{Ops: limitedTable(), Origins: []string{"*"}})
	res := open.Do(t, "GET", "/api/v1/page", nil, "Origin", "https://any.example")
	require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, res.Header.Get("Strict-Transport-Security"))
}

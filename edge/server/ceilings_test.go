package server_test

import (
	"context"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/edgetest"
	"boxoffice/edge/route"
	"boxoffice/edge/server"
	"boxoffice/edge/server/buckets"
	"boxoffice/engine"
)

// TestCeilings sends with another credential each time: however many there are of a network, of an
// organization's keys or of accounts whose mailbox is not proven, they pass no more than their ceiling.
func TestCeilings(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		credential, path, body string
		from                   func(i int) []string
		scale                  float64
		most                   int
	}{
		"proven users of a network":       {"user", "place", ``, always(from("192.0.2.1")), 0.05, 15}, // 30 * 10 * 0.05
		"keys of an organization":         {"key", "place", ``, anywhere(), 0.05, 15},
		"accounts that nobody has proven": {"stranger", "place", ``, always(from("192.0.2.2")), 0.05, 2},
		"gates of a network":              {"user", "scan", `{"device":"one"}`, always(from("192.0.2.3")), 0.0001, 12}, // 12,000 * 10 * 0.0001
		"gates of an organization's keys": {"key", "scan", `{"device":"one"}`, anywhere(), 0.0001, 12},
		"reads of an organization's keys": {"key", "own", ``, anywhere(), 0.005, 30},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := ceiled(t, one.scale)
			method := map[bool]string{true: "GET", false: "POST"}[one.path == "own"]
			for i := range one.most + 5 {
				status := c.Do(t, method, "/api/v1/"+one.path, one.body, as(one.credential, i+1, one.from(i))...).Status
				require.Equal(t, i >= one.most, status == 429, "request %d: %d", i+1, status)
			}
		})
	}
}

// TestCeilingsCountAllOrNone: what one bucket refuses, or is answered with a 304, counts in none.
func TestCeilingsCountAllOrNone(t *testing.T) {
	t.Parallel()
	c := ceiled(t, 0.05) // 2 strict writes of a user and 15 of a network; 6 reads of a user and 60 of a network
	address := from("192.0.2.1")
	for range 50 {
		c.Do(t, "POST", "/api/v1/place", ``, as("user", 1, address)...)
	}
	require.Equal(t, 200, c.Do(t, "POST", "/api/v1/place", ``, as("user", 2, address)...).Status, "user 1 alone is refused")

	tag := c.Do(t, "GET", "/api/v1/drawing", nil).Header.Get("ETag")
	require.NotEmpty(t, tag)
	for i := range 100 {
		res := c.Do(t, "GET", "/api/v1/drawing", nil, append(as("key", i%30+1, address), "If-None-Match", tag)...)
		require.Equal(t, 304, res.Status)
		require.Equal(t, "6", res.Header.Get("X-RateLimit-Remaining"))
	}
}

// as sends with a credential.
func as(kind string, n int, more []string) []string {
	return append(slices.Clone(more), "Authorization", "Bearer "+kind+"-"+strconv.Itoa(n))
}

// ceiled is a server of ruledTable that knows anyone, and whose clock stands.
func ceiled(t *testing.T, scale float64) *edgetest.Client {
	t.Helper()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	return edgetest.NewClient(t, server.Config{
		Ops: append(ruledTable(), route.Op{
			Method: "GET", Path: "/api/v1/drawing", ID: "drawing", Summary: "Read", Tag: "tests", Auth: route.Public | route.Key, Scope: route.EventsRead,
			Tier: route.TierPublic, Versioned: true, Status: 200, Errors: []engine.Code{}, Handler: same[route.None](),
		}), Authenticate: anyone, Now: func() time.Time { return now },
		Limits:         buckets.New(scale, func(string, string) (string, bool) { return "", false }),
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0")},
	})
}

// anyone knows as many users, strangers and keys as are named.
func anyone(_ context.Context, c route.Credentials) (route.Principal, error) {
	kind, text, _ := strings.Cut(c.Bearer, "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return route.Principal{}, engine.Refuse(engine.Unauthorized, nil)
	}
	if kind == "key" {
		return route.Principal{Kinds: route.Key, Key: n, Grants: []route.Grant{{Org: 1, Scopes: route.EventsRead}}}, nil
	}
	return route.Principal{Kinds: route.User, User: n, EmailProven: kind == "user"}, nil
}

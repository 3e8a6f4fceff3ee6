package api

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

var requestFields = nodetest.Words(`requestId keyId method route status latencyMs clientAddress at kept`)

// logged lists requests, once there are as many as are expected.
func logged(s *nodetest.Shop, query string, n int) (items []nodetest.Object) {
	s.T.Helper()
	path := "/organizer/integrations/org/" + s.Org() + "/requests?limit=100&" + query
	require.Eventually(s.T, func() bool {
		items = nil
		for _, item := range s.Own("GET", path, nil).Is(200, "").Data("items").([]any) {
			items = append(items, item.(nodetest.Object))
		}
		return len(items) >= n
	}, time.Minute, 20*time.Millisecond)
	require.Len(s.T, items, n)
	return items
}

// TestRequestLog shows the requests of API keys, and of nobody else, to those who manage
// the organization.
func TestRequestLog(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event := s.Draft(nil)
	first, second := s.Key(nil), s.Key(nodetest.Object{"scopes": []string{"events:read"}})
	a, b := s.As(first.Str("secret")), s.As(second.Str("secret"))

	r := a.Raw("GET", "/organizer/events", "", "", a.Bearer()...).Is(t, 200)
	a.Own("GET", "/organizer/events/"+event, nil).Is(200, "")
	a.Own("GET", "/organizer/events/no-such", nil).Is(404, "EVENT_NOT_FOUND")
	b.Own("POST", "/organizer/events", nodetest.EventBody()).Is(403, "FORBIDDEN")
	b.Call("GET", "/events", nil, b.Bearer()...).Is(200, "")
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	s.Call("GET", "/events", nil).Is(200, "")

	all := logged(s, "", 5)
	route := func(i int) string { return fmt.Sprint(all[i]["method"], " ", all[i]["route"], " ", all[i]["status"]) }
	require.Equal(t, []string{
		"GET /api/v1/events 200", "POST /api/v1/organizer/events 403", "GET /api/v1/organizer/events/{id} 404",
		"GET /api/v1/organizer/events/{id} 200", "GET /api/v1/organizer/events 200",
	}, []string{route(0), route(1), route(2), route(3), route(4)})
	oldest := all[4]
	require.ElementsMatch(t, requestFields, slices.Collect(maps.Keys(oldest)))
	require.Equal(t, r.Header.Get("X-Request-Id"), oldest["requestId"])
	require.Equal(t, first.Str("id"), oldest["keyId"])
	require.Equal(t, "127.0.0.1", oldest["clientAddress"])
	require.Positive(t, oldest["latencyMs"])
	at, err := time.Parse(time.RFC3339, oldest["at"].(string))
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), at, time.Minute)

	t.Log("filters, each alone and together")
	for query, n := range map[string]int{
		"keyId=" + first.Str("id"): 3, "keyId=" + second.Str("id"): 2,
		"route=/api/v1/organizer/events": 2, "route=/api/v1/nowhere": 0, "route=/api/v1/organizer/events&status=403": 1,
		"status=404": 1, "status=4xx": 2, "status=2xx": 3, "status=5xx": 0,
		"from=" + nodetest.Stamp(time.Hour): 0, "to=" + nodetest.Stamp(-time.Hour): 0,
		"from=" + nodetest.Stamp(-time.Hour) + "&to=" + nodetest.Stamp(time.Hour): 5, "from=" + time.Now().Add(-time.Hour).UTC().Format(time.DateOnly): 5, // the day before, shortly after midnight
	} {
		require.Len(t, logged(s, query, n), n, query)
	}

	t.Log("pages stay where they were, whatever comes meanwhile")
	path := "/organizer/integrations/org/" + s.Org() + "/requests"
	page := s.Own("GET", path+"?limit=2", nil).Is(200, "")
	a.Own("GET", "/organizer/events", nil).Is(200, "")
	logged(s, "", 6)
	next := s.Own("GET", path+"?limit=3&cursor="+page.Str("nextCursor"), nil).Is(200, "")
	require.Nil(t, next.Data("nextCursor"))
	for i := range 3 {
		require.Equal(t, all[i+2]["requestId"], next.Str(fmt.Sprintf("items.%d.requestId", i)))
	}
}

// TestRequestLogRefuses holds the log to its bounds and to its organization.
func TestRequestLogRefuses(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := "/organizer/integrations/org/" + s.Org()
	for query, issue := range map[string][2]string{
		"status=20":                     {"status", "format"},
		"status=6xx":                    {"status", "format"},
		"status=-99":                    {"status", "format"},
		"status=1000":                   {"status", "max_length"},
		"limit=101":                     {"limit", "maximum"},
		"limit=0":                       {"limit", "minimum"},
		"cursor=nonsense":               {"cursor", "format"},
		"from=soon":                     {"from", "type"},
		"from=2026-02-02&to=2026-02-01": {"to", "minimum"},
		"route=/" + nodetest.Text(200):  {"route", "max_length"},
		"keyId=1234567890123456789012345678901234567890x": {"keyId", "max_length"},
	} {
		s.Own("GET", path+"/requests?"+query, nil).Invalid(issue[0], issue[1])
	}
	s.Own("GET", path+"/metrics?interval=year", nil).Invalid("interval", "enum")

	other := s.Register("other@example.org")
	foreign, key := other.Key(nil), s.Key(nil)
	for _, id := range []string{foreign.Str("id"), "999999", "x"} {
		s.Own("GET", path+"/requests?keyId="+id, nil).Is(404, "NOT_FOUND")
	}
	blind := s.Key(nodetest.Object{"scopes": []string{"orders:read"}})
	s.Invite("kim@example.org", "member")
	member := s.Buyer("kim@example.org")
	for _, route := range []string{"/requests", "/metrics"} {
		other.Own("GET", path+route, nil).Is(404, "NOT_FOUND")
		member.Own("GET", path+route, nil).Is(200, "")
		s.As(key.Str("secret")).Own("GET", path+route, nil).Is(200, "")
		s.As(blind.Str("secret")).Own("GET", path+route, nil).Refused(403, "FORBIDDEN", nodetest.Object{"required": []any{"analytics:read"}, "granted": []any{"orders:read"}})
		s.Call("GET", path+route, nil).Is(401, "UNAUTHORIZED")
	}
}

// TestRequestMetrics counts by route what keys and agents have asked.
func TestRequestMetrics(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	path := "/organizer/integrations/org/" + s.Org() + "/metrics"
	none := s.Own("GET", path, nil).Is(200, "")
	require.Equal(t, []any{"day", "0", "0", []any{}}, []any{none.Data("interval"), none.Str("total.requests"), none.Str("total.errorRate"), none.Data("routes")})

	a := s.Agent("events:read")
	for range 3 {
		a.Own("GET", "/organizer/events/no-such", nil).Is(404, "EVENT_NOT_FOUND")
	}
	_, _, isError := a.Tool("list_own_events", nodetest.Object{"limit": 1})
	require.False(t, isError)
	logged(s, "", 5)
	for _, interval := range []string{"hour", "day", "week"} {
		m := s.Own("GET", path+"?interval="+interval, nil).Is(200, "")
		require.Equal(t, []string{"5", "3", "0", "0.6"}, []string{m.Str("total.requests"), m.Str("total.clientErrors"), m.Str("total.serverErrors"), m.Str("total.errorRate")})
		byRoute := map[string]string{}
		for i := range m.Data("routes").([]any) {
			of := fmt.Sprintf("routes.%d.", i)
			byRoute[m.Str(of+"method")+" "+m.Str(of+"route")] = m.Str(of+"requests") + " " + m.Str(of+"errorRate")
			require.LessOrEqual(t, m.Data(of+"p50Ms"), m.Data(of+"p95Ms"))
			require.LessOrEqual(t, m.Data(of+"p95Ms"), m.Data(of+"p99Ms"))
		}
		require.Equal(t, map[string]string{
			"GET /api/v1/organizer/events/{id}": "3 1", "GET /api/v1/organizer/events": "1 0", "POST /mcp": "1 0",
		}, byRoute)
	}
}

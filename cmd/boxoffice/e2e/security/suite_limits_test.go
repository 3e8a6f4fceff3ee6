package security

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// TestTiers meets the limit of every tier that the route table uses, on a row of
// it: as many requests as X-RateLimit-Remaining says, then 429, and still none
// for somebody else.
func TestTiers(t *testing.T) {
	t.Parallel()
	w := openWorld(t, func(c *node.Config) { c.LimitsScale, c.TrustedProxies = 1, []string{"127.0.0.1"} })
	none := engine.NumberedID(nodetest.Number(t, w.eventID), 999_999_999).String()
	// Sessions of a proven mailbox: those of others share the limit of their address.
	owner, other := bearer(w.Buyer("owner@example.org").Token), bearer(w.Buyer(strangerEmail).Token)
	for tier, row := range map[route.Tier]struct {
		perMinute     int
		op            string
		mine, another attempt // neither changes anything
	}{
		route.TierPublic:   {120, "discoverEvents", attempt{}, attempt{auth: owner}},
		route.TierAuth:     {20, "logout", attempt{raw: `{"refreshToken":"x"}`}, attempt{raw: `{"refreshToken":"x"}`, headers: []string{"X-Forwarded-For", "2001:db8::1"}}},
		route.TierStrict:   {30, "placeOrder", attempt{request: request{body: nodetest.OrderBody(w.email(), none, 1)}}, attempt{auth: owner, request: request{body: nodetest.OrderBody(w.email(), none, 1)}}},
		route.TierProvider: {300, "receivePaystackNotice", attempt{request: w.request(w.operation("receivePaystackNotice"))}, attempt{headers: []string{"X-Forwarded-For", "2001:db8::2"}}},
		route.TierCheckin:  {120, "getGateStats", attempt{auth: owner, request: naming("id", w.eventID)}, attempt{auth: other, request: naming("id", w.stranger.eventID)}},
		route.TierAdmin:    {600, "listOwnEvents", attempt{auth: owner}, attempt{auth: other}},
	} {
		t.Run(string(tier), func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			op := w.operation(row.op)
			require.Equal(t, tier, op.Tier)
			begun := time.Now()
			first := w.send(op, &row.mine)
			require.Equal(t, strconv.Itoa(row.perMinute), first.Header.Get("X-Ratelimit-Limit"))
			left, err := strconv.Atoi(first.Header.Get("X-Ratelimit-Remaining"))
			require.NoError(t, err)
			var limited nodetest.Reply
			status, code := 429, `"RATE_LIMITED"`
			if tier == route.TierProvider { // which sends again
				status, code = 503, `"OVERLOADED"`
			}
			for sent := 0; limited.Status != status; sent++ {
				limited = w.send(op, &row.mine)
				refilled := time.Since(begun).Minutes() * float64(row.perMinute)
				require.LessOrEqual(t, sent, left+1+int(refilled))
				require.False(t, limited.Status == status && sent < left, "%d of %d", sent, left)
			}
			require.Contains(t, limited.Body, code)
			require.NotEmpty(t, limited.Header.Get("Retry-After"))
			require.Equal(t, "0", limited.Header.Get("X-Ratelimit-Remaining"))
			require.NotContains(t, w.send(op, &row.another).Body, code, "somebody else")
		})
	}
	for _, op := range w.Areas().Routes() {
		require.Contains(t, []route.Tier{route.TierPublic, route.TierAuth, route.TierStrict, route.TierProvider, route.TierCheckin, route.TierAdmin}, op.Tier, "%s: give its tier a row here", op.ID)
	}
}

// TestOrderRulesBindWhatTheyName sends each strict write about an order by the order's token, every time from
// another network: all of them count for the order.
func TestOrderRulesBindWhatTheyName(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(25, 10))
	id, token := s.Place("ada@example.org", ids[0], 1)
	body := nodetest.Encode(t, nodetest.Object{"token": token})
	begun, sent := time.Now(), 0
	for _, op := range s.Areas().Routes() {
		path, about := strings.CutPrefix(op.Path, "/api/v1/orders/{id}")
		if !about || op.Method == "GET" || op.Tier != route.TierStrict || !op.Auth.Has(route.OrderToken) {
			continue
		}
		for range 2 {
			r := s.Raw(op.Method, "/orders/"+id+path, "application/json", body, "X-Forwarded-For", apart(21, sent))
			sent++
			left, err := strconv.Atoi(r.Header.Get("X-Ratelimit-Remaining"))
			require.NoError(t, err, op.ID)
			most := route.Limits[op.Tier].PerMinute
			refilled := int(time.Since(begun).Minutes() * float64(most))
			require.LessOrEqual(t, left, most-sent+refilled, "%s: %s", op.ID, r.Body)
		}
	}
	require.Positive(t, sent)
	t.Logf("limits: %d requests about an order", sent)
}

// operation is the row of an id.
func (w *world) operation(id string) *route.Op {
	w.T.Helper()
	for _, op := range w.Areas().Routes() {
		if op.ID == id {
			return &op
		}
	}
	require.Fail(w.T, "no such operation", id)
	return nil
}

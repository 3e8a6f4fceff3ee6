package money

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// disputed buys with a provider, and returns the order and the attempt's reference.
func disputed(s *nodetest.Shop, ticketType, provider string) (order, token, reference string) {
	s.T.Helper()
	order, token = s.Place("ada@example.org", ticketType, 2)
	a := payWith(s, order, token, nodetest.Object{"provider": provider}).Is(200, "")
	s.Settle(a.Str("authorizationUrl"), "success")
	s.Becomes("completed", s.Status(order, token))
	return order, token, a.Str("reference")
}

// withoutCodes is an order's answer without the codes of its tickets that change with the minute.
func withoutCodes(answer any) any {
	for _, t := range answer.(map[string]any)["tickets"].([]any) {
		delete(t.(map[string]any), "qr")
		delete(t.(map[string]any), "qrExpiresAt")
	}
	return answer
}

// TestDisputes has banks dispute payments at the providers that tell of it, with notices that come twice and in any
// order. The organizer reads of each and its owner gets one letter; the order, its tickets and the wallet stay.
func TestDisputes(t *testing.T) {
	t.Parallel()
	s := allProviders(t)
	modes(s, "duplicate=2,reorder=100ms")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	list := func(by *nodetest.Shop, query string) nodetest.Answer {
		return by.Own("GET", "/organizer/disputes"+query, nil).Is(200, "")
	}
	require.Empty(t, list(s, "").Data("items"))
	owner := s.Own("GET", "/users/me", nil).Str("email")
	wallet := func() string {
		return s.Own("GET", "/organizer/wallets", nil).Is(200, "").Str("items.0.pendingBalance")
	}
	for i, provider := range []string{"stripe", "mollie", "paypal"} {
		begun := time.Now()
		order, token, reference := disputed(s, ids[0], provider)
		s.Becomes([]string{"50.00", "100.00", "150.00"}[i], wallet)
		stands := func() any { return withoutCodes(s.Order(order, token).Get("data")) }
		was := stands()

		require.True(t, s.Sim().MoveDispute(reference, "needs_response"))
		first := func(field string) func() string {
			return func() string {
				l := list(s, "")
				if items, ok := l.Data("items").([]any); !ok || len(items) <= i {
					return ""
				}
				return l.Str("items.0." + field)
			}
		}
		s.Becomes("open", first("status"))
		open := list(s, "")
		require.Equal(t, provider+" "+order+" "+reference, open.Str("items.0.provider")+" "+open.Str("items.0.orderId")+" "+open.Str("items.0.reference"))
		require.Equal(t, "52.50 USD", open.Str("items.0.amount")+" "+open.Str("items.0.currency"))
		require.NotEmpty(t, open.Str("items.0.reason"))
		require.Nil(t, open.Data("items.0.closedAt"))
		require.Equal(t, provider == "mollie", open.Data("items.0.dueBy") == nil, "Mollie tells no day")
		text := s.Mail(t, owner, "payment_disputed", begun).Text
		require.Contains(t, text, "$52.50")
		require.Contains(t, text, open.Str("items.0.reason"))

		for _, status := range []string{"under_review", "won"} {
			require.True(t, s.Sim().MoveDispute(reference, status))
		}
		s.Becomes("won", first("status"))
		require.NotNil(t, list(s, "").Data("items.0.closedAt"))
		require.Equal(t, was, stands(), "the order stays as it is")
		require.Equal(t, []string{"50.00", "100.00", "150.00"}[i], wallet(), "the wallet does not move")
	}

	t.Log("one that is lost")
	_, _, reference := disputed(s, ids[0], "stripe")
	require.True(t, s.Sim().MoveDispute(reference, "lost"))
	s.Becomes("lost", func() string { return list(s, "?limit=1").Str("items.0.status") })

	t.Log("the newest first, page by page, and each organization its own")
	var seen []string
	for query := "?limit=1"; query != ""; {
		page := list(s, query)
		seen = append(seen, page.Str("items.0.provider")+" "+page.Str("items.0.status"))
		if query = ""; page.Data("nextCursor") != nil {
			query = "?limit=1&cursor=" + page.Str("nextCursor")
		}
	}
	require.Equal(t, []string{"stripe lost", "paypal won", "mollie won", "stripe won"}, seen)
	require.Empty(t, list(s.Register("bob@example.org"), "").Data("items"))
	s.Own("GET", "/organizer/disputes?cursor=x", nil).Is(400, "VALIDATION_ERROR")

	var letters int
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM river_job WHERE kind = 'mail' AND args->>'mail' = 'payment_disputed'`).Scan(&letters))
	require.Equal(t, 3, letters, "one for each that opened")
}

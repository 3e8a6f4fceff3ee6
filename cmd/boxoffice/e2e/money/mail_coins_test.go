package money

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestMailOfSeenCoins has coins come that are confirmed later: their buyer hears of it once,
// however often the provider says so.
func TestMailOfSeenCoins(t *testing.T) {
	t.Parallel()
	s, began := allProviders(t), time.Now()
	modes(s, "pending=4")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	s.Settle(deposit(s, payWith(s, id, token, nodetest.Object{}).Is(200, "")), "success")
	require.Equal(t, "processing", s.Verify(id, token).Is(200, "").Str("status"))
	m := s.Mail(t, "ada@example.org", "payment_seen", began)
	require.Contains(t, m.Subject, "We have seen your payment")
	require.Equal(t, "processing", s.Verify(id, token).Is(200, "").Str("status"))
	s.Becomes("completed", func() string { return s.Verify(id, token).Is(200, "").Str("status") })
	require.Equal(t, map[string]int{"payment_seen": 1, "order_confirmation": 1}, s.MailCounts("ada@example.org"))
}

// TestMailOfMissingCoins has less come than was asked for: the mail says what is missing.
func TestMailOfMissingCoins(t *testing.T) {
	t.Parallel()
	s, began := allProviders(t), time.Now()
	modes(s, "short")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	s.Settle(deposit(s, payWith(s, id, token, nodetest.Object{"payCurrency": "usdcbsc"}).Is(200, "")), "success")
	m := s.Mail(t, "ada@example.org", "payment_seen", began)
	require.Contains(t, m.Subject, "is not complete")
	require.Contains(t, m.Text, "13.12 USDCBSC of 26.25 USDCBSC has come")
	require.Contains(t, m.Text, "13.13 USDCBSC is missing")

	t.Log("a card that comes short is another matter: its money goes back by itself")
	bob, token := s.Place("bob@example.org", ids[0], 1)
	s.Settle(payWith(s, bob, token, nodetest.Object{"provider": "paystack"}).Is(200, "").Str("authorizationUrl"), "success")
	s.Verify(bob, token).Is(200, "")
	require.Zero(t, s.MailCounts("bob@example.org")["payment_seen"])
}

package outward

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestLanguageOfMails: a buyer's mails are in the language that the order was placed in, and in that
// of the buyer's account once it names one; other readers' are in the deployment's.
func TestLanguageOfMails(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.Sell(nil, nodetest.TypeBody(10, 100))
	place := func(to, languages string) nodetest.Answer {
		return s.Call("POST", "/orders", nodetest.OrderBody(to, ids[0], 1), "Accept-Language", languages).Is(201, "")
	}
	said := func(to, kind, want string, began time.Time) {
		t.Helper()
		require.Contains(t, s.Mail(t, to, kind, began).Text, want)
	}
	began := time.Now()
	german := place("de@example.org", "de-AT,de;q=0.9,en;q=0.5")
	s.Settle(s.Checkout(german.Str("id"), german.Str("accessToken")), "success")
	s.Verify(german.Str("id"), german.Str("accessToken")).Is(200, "")
	said("de@example.org", "order_confirmation", "Summe: 10,50\u00a0$", began)

	s.Call("POST", "/auth/token/request", nodetest.Object{"email": "new@example.org"}, "Accept-Language", "de").Is(200, "")
	said("new@example.org", "login_code", "Dein Code zum Anmelden", began)

	t.Log("what an account says counts more, and is asked when the mail is written")
	s.Buyer("de@example.org").Own("PUT", "/users/me", nodetest.Object{"locale": "en-GB"}).Is(200, "")
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "storm"}).Is(200, "")
	said("de@example.org", "event_cancelled", "does not take place", began)
}

// TestLanguageOfDeployment: who asks for no language of ours reads the deployment's, and who asks
// for another than that reads the other.
func TestLanguageOfDeployment(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.Language = "de" })
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 100))
	began := time.Now()
	for to, c := range map[string][2]string{"fr@example.org": {"fr", "ist abgeschlossen"}, "en@example.org": {"en-GB", "is complete"}, "de@example.org": {"de", "ist abgeschlossen"}} {
		s.Call("POST", "/orders", nodetest.OrderBody(to, ids[0], 1), "Accept-Language", c[0]).Is(201, "")
		require.Contains(t, s.Mail(t, to, "order_confirmation", began).Text, c[1])
	}
}

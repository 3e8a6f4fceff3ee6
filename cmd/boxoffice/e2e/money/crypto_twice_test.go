package money

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// openAgain opens a payment at the provider under a reference that has one, as a node does that
// dies before it notes it, and returns the provider's page of its address.
func openAgain(s *nodetest.Shop, reference, price string) string {
	s.T.Helper()
	body := fmt.Sprintf(`{"price_amount":%s,"price_currency":"usd","pay_currency":"usdcbsc","order_id":%q,"ipn_callback_url":%q}`,
		price, reference, s.URL+"/payments/webhook/nowpayments")
	req, err := http.NewRequestWithContext(s.T.Context(), http.MethodPost, s.Sim().URL()+"/v1/payment", strings.NewReader(body))
	require.NoError(s.T, err)
	req.Header.Set("X-Api-Key", node.SimKey)
	res, err := http.DefaultClient.Do(req)
	require.NoError(s.T, err)
	var made struct {
		Address string `json:"pay_address"`
	}
	require.NoError(s.T, json.NewDecoder(res.Body).Decode(&made))
	require.NoError(s.T, res.Body.Close())
	require.NotEmpty(s.T, made.Address)
	return s.Sim().URL() + "/checkout/" + made.Address
}

// TestCryptoOpenedTwice has two payments at the provider under one reference. Money to the one that
// the order has not noted goes back by hand, once, and the other one buys the tickets as ever.
func TestCryptoOpenedTwice(t *testing.T) {
	t.Parallel()
	s, began := allProviders(t), time.Now()
	modes(s, "duplicate=3")
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place("ada@example.org", ids[0], 1)
	a := payWith(s, id, token, nodetest.Object{"payCurrency": "usdcbsc"}).Is(200, "")
	s.Settle(openAgain(s, a.Str("reference"), "26.25"), "success")
	s.Becomes("26.25", func() string {
		refunds, _ := s.Order(id, token).Data("refunds").([]any)
		if len(refunds) == 0 {
			return ""
		}
		return s.Order(id, token).Str("refunds.0.amount")
	})
	o := s.Order(id, token)
	require.Equal(t, "pending pending", o.Str("status")+" "+o.Str("payments.0.status"))
	listed := s.Own("GET", "/organizer/refunds?status=processing", nil).Is(200, "")
	require.Equal(t, "deposit true", listed.Str("items.0.reason")+" "+fmt.Sprint(listed.Data("items.0.manual")))

	told := s.Mail(t, "ada@example.org", "refund_due", began).Text
	require.Contains(t, told, " sends it by hand")
	require.NotContains(t, told, "the way it came")

	t.Log("the buyer's own payment counts, also when a person has sent the other one back")
	s.Own("POST", "/organizer/refunds/"+listed.Str("items.0.id")+"/complete", nodetest.Object{"providerRef": "0xabc"}).Is(200, "")
	require.Equal(t, "pending pending", s.Order(id, token).Str("status")+" "+s.Order(id, token).Str("payments.0.status"))
	s.Settle(deposit(s, a), "success")
	s.Becomes("completed", s.Status(id, token))
	o = s.Order(id, token)
	require.Equal(t, "succeeded 26.25", o.Str("payments.0.status")+" "+o.Str("payments.0.received"))
	require.Len(t, o.Data("refunds"), 1)
}

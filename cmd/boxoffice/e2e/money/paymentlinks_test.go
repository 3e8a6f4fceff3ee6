package money

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

const ada = "ada@example.org"

// linkFor asks for the payment link of an order, and returns its token.
func linkFor(s *nodetest.Shop, id, token string) string {
	s.T.Helper()
	address := s.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{"token": token}).Is(200, "").Str("url")
	_, secret, ok := strings.Cut(address, "/pay/")
	require.True(s.T, ok, address)
	return secret
}

// TestPaymentLinkPays has somebody else pay an order by its link, who reads nothing of the buyer.
func TestPaymentLinkPays(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 10))
	id, token := s.Place(ada, ids[0], 2)
	s.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{}).Is(401, "UNAUTHORIZED")
	s.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{"token": "of-somebody-else"}).Is(404, "ORDER_NOT_FOUND")
	link := linkFor(s, id, token)
	require.Equal(t, link, linkFor(s, id, token), "an order has one link")

	page := "/payment-links/" + link
	read := func() nodetest.Answer {
		t.Helper()
		v := s.Call("GET", page, nil).Is(200, "")
		for _, hidden := range []string{ada, id, token, s.Order(id, token).Str("orderNumber")} {
			require.NotContains(t, fmt.Sprint(v.Body), hidden)
		}
		return v
	}
	v := read()
	require.Equal(t, "pending 2 25.00 52.50", strings.Join([]string{v.Str("status"), v.Str("items.0.quantity"), v.Str("items.0.unitPrice"), v.Str("total")}, " "))
	require.NotEmpty(t, v.Data("methods"))
	require.Empty(t, v.Data("payments"))

	t.Log("the provider's page that the buyer has opened is not shown to the payer, and the payer's is not to the buyer")
	buyers := payWith(s, id, token, nodetest.Object{"provider": "paystack"}).Is(200, "")
	require.Empty(t, read().Data("payments"))
	s.Call("POST", page+"/pay", nodetest.Object{"provider": "paystack"}).Is(400, "VALIDATION_ERROR")
	body := nodetest.Object{"provider": "paystack", "email": "grace@example.org"}
	paying := s.Call("POST", page+"/pay", body).Is(200, "")
	payers := paying.Str("payments.0.authorizationUrl")
	require.NotEqual(t, buyers.Str("authorizationUrl"), payers)
	require.Equal(t, payers, s.Call("POST", page+"/pay", body).Is(200, "").Str("payments.0.authorizationUrl"), "one attempt is open")
	require.Equal(t, payers, read().Str("payments.0.authorizationUrl"))
	payment := s.Order(id, token).Str("payments.1.reference")
	require.Contains(t, payment, "-P-2")
	require.NotContains(t, fmt.Sprint(s.Order(id, token).Body), "grace")

	t.Log("the link opens nothing else")
	for _, door := range []string{"GET /orders/" + id, "GET /payments/" + id, "GET /orders/" + id + "/tickets.pdf", "GET /orders/" + id + "/calendar.ics"} {
		method, path, _ := strings.Cut(door, " ")
		s.Call(method, path+"?token="+link, nil).Is(404, "ORDER_NOT_FOUND")
	}
	for _, door := range []string{"/cancel", "/extend", "/pay", "/withdraw", "/payment-link"} {
		s.Call("POST", "/orders/"+id+door, nodetest.Object{"token": link}).Is(404, "ORDER_NOT_FOUND")
	}
	s.Call("POST", "/payments/verify", nodetest.Object{"orderId": id, "token": link}).Is(404, "ORDER_NOT_FOUND")
	other, _ := s.Place("bob@example.org", ids[0], 1)
	require.NotEqual(t, other, id)
	s.Call("GET", "/payment-links/"+link[:len(link)-2]+"AA", nil).Is(404, "ORDER_NOT_FOUND")
	s.Call("GET", "/payment-links/"+token, nil).Is(404, "ORDER_NOT_FOUND")

	t.Log("paid, it says so and pays no more")
	s.Settle(payers, "success")
	require.Equal(t, "pending", read().Str("status"), "nobody has asked the provider")
	require.Equal(t, "paid", s.Call("POST", page+"/verify", nil).Is(200, "").Str("status"))
	require.Equal(t, "paid", read().Str("status"))
	require.Equal(t, "completed succeeded", s.Order(id, token).Str("status")+" "+s.Order(id, token).Str("payments.1.status"))
	require.Empty(t, read().Data("payments"))
	s.Call("POST", page+"/pay", body).Is(409, "ALREADY_PAID")
	s.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{"token": token}).Is(409, "ALREADY_PAID")
}

// TestPaymentLinkEnds gives an order up that somebody else was to pay, and one that is free.
func TestPaymentLinkEnds(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, ids := s.OnSale(nodetest.TypeBody(25, 10), nodetest.TypeBody(0, 10))
	id, token := s.Place(ada, ids[0], 1)
	link := linkFor(s, id, token)
	s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
	v := s.Call("GET", "/payment-links/"+link, nil).Is(200, "")
	require.Equal(t, "cancelled", v.Str("status"))
	require.Empty(t, v.Data("methods"))
	s.Call("POST", "/payment-links/"+link+"/pay", nodetest.Object{"provider": "paystack", "email": ada}).Is(409, "ORDER_NOT_PAYABLE")
	s.Call("POST", "/orders/"+id+"/payment-link", nodetest.Object{"token": token}).Is(409, "ORDER_NOT_PAYABLE")
	free, its := s.Place(ada, ids[1], 1)
	s.Call("POST", "/orders/"+free+"/payment-link", nodetest.Object{"token": its}).Is(409, "NOTHING_TO_PAY")
}

// TestPaymentLinkPage pays on the link's page, which needs no script.
func TestPaymentLinkPage(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.PaysimProviders = []string{"nowpayments", "paystack", "stripe", "transfer"} })
	_, ids := s.Sell(
		nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
		nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(3 * 24 * time.Hour)}))
	id, token := s.Place(ada, ids[0], 1)
	root, path := s.AtRoot(), "/pay/"+linkFor(s, id, token)
	see := func(status int, headers ...string) string {
		t.Helper()
		r := root.Raw("GET", path, "", "", headers...)
		require.Equal(t, status, r.Status, r.Body)
		require.NotContains(t, r.Body, ada)
		require.NotContains(t, r.Body, id)
		return r.Body
	}
	send := func(form url.Values) nodetest.Reply {
		t.Helper()
		return root.Raw("POST", path, "application/x-www-form-urlencoded", form.Encode())
	}
	page := see(200)
	require.Contains(t, page, "26.25")
	for _, way := range []string{"nowpayments", "paystack", "stripe"} {
		require.Contains(t, page, `value="`+way+`"`)
	}
	require.NotContains(t, page, `value="transfer"`, "the buyer has not chosen it")
	payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(200, "")
	require.Contains(t, see(200), `value="transfer"`)
	require.Contains(t, see(200, "Accept-Language", "de"), "Für jemand anderen bezahlen")
	require.Equal(t, 404, root.Raw("GET", "/pay/nothing", "", "").Status)
	require.Contains(t, send(url.Values{"provider": {"paystack"}, "email": {"nobody"}}).Body, "That did not work")

	for _, way := range []string{"paystack", "nowpayments", "transfer"} {
		r := send(url.Values{"provider": {way}, "email": {"grace@example.org"}})
		require.Equal(t, 200, r.Status, r.Body)
		require.NotContains(t, r.Body, "<strong>That", "it leads back to the page")
	}
	page = see(200)
	o := s.Order(id, token)
	require.Contains(t, page, `href="http`)
	require.Contains(t, page, o.Str("payments.2.payAddress"))
	require.Contains(t, page, o.Str("payments.0.transfer.reference"))
	_, card, _ := strings.Cut(page, `<p><a href="`)
	card, _, _ = strings.Cut(card, `"`)
	s.Settle(card, "success")
	page = see(200)
	require.Contains(t, page, "It is paid", "the page has asked the provider")
	require.NotContains(t, page, "<form")
}

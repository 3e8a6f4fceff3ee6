package orders

import (
	"encoding/csv"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/engine"
)

// inCurrencies is a node that sells in yen and dinars too, with Stripe simulated.
func inCurrencies(c *node.Config) {
	c.Currencies, c.PaysimProviders = []string{"JPY", "KWD", "EUR", "USD"}, []string{"stripe"}
}

// minor reads a decimal that an answer shows, which must have all places of its currency.
func minor(t *testing.T, text, currency string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.Replace(text, ".", "", 1), 10, 64)
	require.NoError(t, err, text)
	require.Equal(t, engine.Decimal(n, currency), text)
	return n
}

// TestSaleInYen sells for amounts drawn by chance, by Stripe, with a code and fees, and gives a
// ticket's money back: every sum is exact to the yen.
func TestSaleInYen(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, inCurrencies)
	draw := rand.New(rand.NewPCG(54, 29))
	var sold, fees, back int64
	var csvPath, faces string
	for round := range 4 {
		price, percent, quantity := 100+draw.Int64N(20_000), 1+draw.Int64N(50), 1+draw.Int64N(4)
		event, types := s.Sell(nodetest.Object{"currency": "JPY"}, nodetest.TypeBody(price, 10))
		code := fmt.Sprintf("ROUND-%d", round)
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": code, "eventId": event, "discountValue": percent})).Is(201, "")
		body := nodetest.With(nodetest.OrderBody("yuki@example.org", types[0], int(quantity)), nodetest.Object{"promoCode": code})
		o := s.Call("POST", "/orders", body).Is(201, "")
		id, token := o.Str("id"), o.Str("accessToken")

		face := price - (price*percent+50)/100
		fee := (face*5 + 50) / 100
		require.Equal(t, quantity*price, minor(t, o.Str("subtotal"), "JPY"))
		require.Equal(t, quantity*(price-face), minor(t, o.Str("discount"), "JPY"))
		require.Equal(t, quantity*fee, minor(t, o.Str("fees"), "JPY"))
		require.Equal(t, quantity*(face+fee), minor(t, o.Str("total"), "JPY"))

		paying := s.Call("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "stripe", "token": token}).Is(200, "")
		s.Settle(paying.Str("authorizationUrl"), "success")
		require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))
		paid := s.Order(id, token)
		require.Equal(t, o.Str("total"), paid.Str("payments.0.received"))
		sold, fees = sold+quantity*face, fees+quantity*fee

		s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"amount": 1.5, "reason": "late"}).Invalid("amount", "decimals")
		r := s.Own("POST", "/organizer/orders/"+id+"/refund", nodetest.Object{"amount": face / 2, "reason": "late"}).Is(200, "")
		require.Equal(t, face/2, minor(t, r.Str("amount"), "JPY"))
		back += face / 2
		csvPath, faces = "/organizer/events/"+event+"/attendees.csv", fmt.Sprint(face)
	}
	s.Becomes(fmt.Sprint(sold-back), func() string { return fmt.Sprint(pendingIn(s, "JPY")) })

	require.NoError(t, s.AwaitLists(t.Context()))
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(s.Raw("GET", csvPath, "", "", s.Bearer()...).Is(t, 200).Body, "\ufeff"))).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		require.Equal(t, faces+" JPY", row[13]+" "+row[14])
	}
}

// pendingIn is what of the organization's sales in a currency is not cleared yet, in minor units.
func pendingIn(s *nodetest.Shop, currency string) int64 {
	s.T.Helper()
	for _, one := range s.Own("GET", "/organizer/wallets", nil).Is(200, "").Data("items").([]any) {
		if w := one.(nodetest.Object); w["currency"] == currency {
			t := s.T.(*testing.T)
			return minor(t, w["pendingBalance"].(string), currency)
		}
	}
	return 0
}

// TestSaleInDinars sells at the organizer's desk, for amounts drawn by chance: the fee, the wallet and
// the tickets are exact to the thousandth.
func TestSaleInDinars(t *testing.T) {
	t.Parallel()
	s, root := nodetest.OpenWithAdmin(t, inCurrencies)
	root.Own("POST", "/admin/wallets/"+s.Org()+"/credit", nodetest.Object{"amount": 10.0005, "currency": "KWD"}).Invalid("amount", "decimals")
	root.Own("POST", "/admin/wallets/"+s.Org()+"/credit", nodetest.Object{"amount": 100.001, "currency": "KWD"}).Is(201, "")
	root.Own("POST", "/admin/wallets/"+s.Org()+"/credit", nodetest.Object{"amount": 1, "currency": "NGN"}).Invalid("currency", "enum")
	wallet := int64(100_001)
	draw := rand.New(rand.NewPCG(54, 30))
	for range 3 {
		price, quantity := 1+draw.Int64N(50_000), 1+draw.Int64N(4)
		event, types := s.Sell(nodetest.Object{"currency": "KWD"}, nodetest.TypeBody(float64(price)/1000, 10))
		require.Equal(t, price, minor(t, s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items.0.price"), "KWD"))
		a := s.Own("POST", "/events/"+event+"/issue", nodetest.IssueBody(types[0], int(quantity))).Is(201, "")
		fee := (price*300 + 5_000) / 10_000 * quantity
		require.Equal(t, quantity*price, minor(t, a.Str("order.total"), "KWD"))
		require.Equal(t, fee, minor(t, a.Str("fee.amount"), "KWD"))
		require.Equal(t, price, minor(t, a.Str("tickets.0.faceValue"), "KWD"))
		wallet -= fee
		entry := s.Own("GET", "/organizer/wallets/KWD/entries?limit=1", nil).Is(200, "")
		require.Equal(t, wallet, minor(t, entry.Str("items.0.balance"), "KWD"))
	}
}

// TestAmountsFitTheirCurrency refuses decimals that a currency does not have, and currencies that the
// deployment does not sell in; a code of the whole organization takes its amount off in each.
func TestAmountsFitTheirCurrency(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, inCurrencies)
	s.Own("POST", "/organizer/events", nodetest.With(nodetest.EventBody(), nodetest.Object{"currency": "NGN"})).Invalid("currency", "enum")
	s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"code": "WIDE", "discountType": "flat", "discountValue": 1.235})).Is(201, "")
	for currency, want := range map[string]struct {
		price, tooFine float64
		shown, off     string
	}{
		"JPY": {500, 500.5, "500", "1"}, "USD": {12.5, 12.505, "12.50", "1.24"}, "KWD": {1.5, 1.5005, "1.500", "1.235"},
	} {
		event := s.Draft(nodetest.Object{"currency": currency})
		path := "/organizer/events/" + event + "/tickets"
		s.Own("POST", path, nodetest.TypeBody(want.tooFine, 10)).Invalid("price", "decimals")
		typ := s.Own("POST", path, nodetest.TypeBody(want.price, 10)).Is(201, "")
		require.Equal(t, want.shown, typ.Str("price"))
		s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"eventId": event, "code": "FINE", "discountType": "flat", "discountValue": want.tooFine})).Invalid("discountValue", "decimals")
		own := s.Own("POST", nodetest.PromosPath, nodetest.PromoBody(nodetest.Object{"eventId": event, "code": "OWN", "discountType": "flat", "discountValue": want.price, "minOrderValue": want.price})).Is(201, "")
		require.Equal(t, want.shown+" "+want.shown, own.Str("discountValue")+" "+own.Str("minOrderValue"))
		s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
		ask := nodetest.Object{"code": "WIDE", "items": nodetest.Lines(typ.Str("id"), 2)}
		require.Equal(t, want.off, s.Call("POST", "/tickets/promo/validate", ask).Is(200, "").Str("discount"))
		o := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("ann@example.org", typ.Str("id"), 2), nodetest.Object{"promoCode": "WIDE"})).Is(201, "")
		require.Equal(t, want.off, o.Str("discount"))
	}
}

// TestPublishingWarns tells an organizer that nobody takes the currency of an event, which is published all
// the same.
func TestPublishingWarns(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, inCurrencies)
	for currency, want := range map[string]string{"KWD": "CURRENCY_NOT_SUPPORTED", "EUR": ""} {
		event := s.Draft(nodetest.Object{"currency": currency})
		s.Own("POST", "/organizer/events/"+event+"/tickets", nodetest.TypeBody(5, 10)).Is(201, "")
		published := s.Own("POST", "/organizer/events/"+event+"/publish", nil).Is(200, "")
		require.Len(t, published.Data("warnings"), len(want)/len("CURRENCY_NOT_SUPPORTED"), currency)
		if want != "" {
			require.Equal(t, want, published.Str("warnings.0.code"))
		}
		require.Equal(t, "published", published.Str("status"))
	}
}

package money

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// stranger has the payment link of somebody else's order, and nothing else of it.
type stranger struct {
	*nodetest.Shop
	page string
}

func (g *stranger) pay(body nodetest.Object) nodetest.Answer {
	g.T.Helper()
	return g.Call("POST", g.page+"/pay", nodetest.With(nodetest.Object{"email": "grace@example.org"}, body))
}

// payInManyCoins begins in one coin after the other until no attempt is left, and returns how many there were.
func (g *stranger) payInManyCoins() (begun int) {
	g.T.Helper()
	coins := []string{"xrp", "eth", "btc"}
	for {
		a := g.pay(nodetest.Object{"provider": "nowpayments", "payCurrency": coins[begun%len(coins)]})
		if a.Status != 200 {
			a.Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "pending", "reason": "too many payment attempts"})
			return begun
		}
		begun++
		require.Less(g.T, begun, 20)
	}
}

// TestPaymentLinkTakesNothingFromTheBuyer does with a payment link whatever it opens, and looks whether the buyer
// can do what the buyer could do before.
func TestPaymentLinkTakesNothingFromTheBuyer(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.PaysimProviders = []string{"nowpayments", "paystack", "stripe", "transfer"} })
	_, ids := s.Sell(
		nodetest.Object{"startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
		nodetest.With(nodetest.TypeBody(25, 1000), nodetest.Object{"maxPerCustomer": 100, "saleEnd": nodetest.Stamp(3 * 24 * time.Hour)}))
	actions := map[string]func(g *stranger){
		"nothing": func(*stranger) {},
		"begins at each provider": func(g *stranger) {
			for _, p := range []string{"nowpayments", "paystack", "stripe"} {
				g.pay(nodetest.Object{"provider": p}).Is(200, "")
			}
		},
		"begins in other coins until no attempt is left": func(g *stranger) { require.Equal(g.T, 5, g.payInManyCoins()) },
		"fails at the provider": func(g *stranger) {
			a := g.pay(nodetest.Object{"provider": "paystack"}).Is(200, "")
			for _, p := range a.Data("payments").([]any) {
				if page, ok := p.(map[string]any)["authorizationUrl"].(string); ok {
					g.Settle(page, "failed")
				}
			}
			g.Call("POST", g.page+"/verify", nil).Is(200, "")
		},
		"asks for a transfer": func(g *stranger) {
			g.pay(nodetest.Object{"provider": "transfer"}).Refused(409, "ORDER_NOT_PAYABLE", nodetest.Object{"status": "pending", "reason": "its buyer has not chosen a transfer"})
			for _, m := range g.Call("GET", g.page, nil).Is(200, "").Data("methods").([]any) {
				require.NotEqual(g.T, "transfer", m.(map[string]any)["provider"])
			}
		},
	}
	for name, act := range actions {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			link := func(id, token string) *stranger { return &stranger{s, "/payment-links/" + linkFor(s, id, token)} }

			t.Log("the order gets no more time, and the buyer's first attempt still gives it the provider's")
			id, token := s.Place(ada, ids[0], 1)
			until := s.Order(id, token).Str("expiresAt")
			act(link(id, token))
			require.Equal(t, until, s.Order(id, token).Str("expiresAt"))
			payWith(s, id, token, nodetest.Object{"provider": "paystack"}).Is(200, "")
			require.Less(t, until, s.Order(id, token).Str("expiresAt"))

			t.Log("what the buyer has opened stays open, and pays")
			id, token = s.Place(ada, ids[0], 1)
			coins := payWith(s, id, token, nodetest.Object{"provider": "nowpayments", "payCurrency": "btc"}).Is(200, "")
			cards := payWith(s, id, token, nodetest.Object{"provider": "paystack"}).Is(200, "")
			until = s.Order(id, token).Str("expiresAt")
			act(link(id, token))
			require.Equal(t, until, s.Order(id, token).Str("expiresAt"))
			require.Equal(t, "pending pending", s.Order(id, token).Str("payments.0.status")+" "+s.Order(id, token).Str("payments.1.status"))
			require.Equal(t, coins.Str("payAddress"), payWith(s, id, token, nodetest.Object{"provider": "nowpayments"}).Is(200, "").Str("payAddress"))
			require.Equal(t, cards.Str("authorizationUrl"), payWith(s, id, token, nodetest.Object{"provider": "paystack"}).Is(200, "").Str("authorizationUrl"))
			s.Settle(cards.Str("authorizationUrl"), "success")
			require.Equal(t, "completed", s.Verify(id, token).Is(200, "").Str("status"))

			t.Log("the buyer has as many attempts as before")
			id, token = s.Place(ada, ids[0], 1)
			act(link(id, token))
			for i, coin := range []string{"btc", "xrp", "eth", "btc", "xrp", "eth", "btc", "xrp", "eth", "btc", "xrp", "eth", "btc", "xrp", "eth"} {
				require.Equal(t, 200, payWith(s, id, token, nodetest.Object{"provider": "nowpayments", "payCurrency": coin}).Status, "attempt %d", i)
			}
			payWith(s, id, token, nodetest.Object{"provider": "nowpayments", "payCurrency": "btc"}).Is(409, "ORDER_NOT_PAYABLE")

			t.Log("the buyer can choose a transfer, ask for more time and give the order up")
			id, token = s.Place(ada, ids[0], 1)
			g := link(id, token)
			act(g)
			s.Call("POST", "/orders/"+id+"/extend", nodetest.Object{"token": token}).Is(200, "")
			payWith(s, id, token, nodetest.Object{"provider": "transfer"}).Is(200, "")
			require.Less(t, nodetest.Stamp(24*time.Hour), s.Order(id, token).Str("expiresAt"))
			g.pay(nodetest.Object{"provider": "transfer"}).Is(200, "")
			last := len(s.Order(id, token).Data("payments").([]any)) - 1
			own := s.Order(id, token).Str(fmt.Sprintf("payments.%d.transfer.reference", last))
			require.Contains(t, fmt.Sprint(g.Call("GET", g.page, nil).Is(200, "").Body), own, "what the buyer has chosen the payer may send")
			s.Call("POST", "/orders/"+id+"/cancel", nodetest.Object{"token": token}).Is(200, "")
		})
	}
}

// TestPaymentLinkAsksLittle opens the page of a link after many attempts: only open ones are asked about.
func TestPaymentLinkAsksLittle(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t, func(c *node.Config) { c.PaysimProviders = []string{"nowpayments", "paystack"} })
	_, ids := s.OnSale(nodetest.TypeBody(25, 100))
	id, token := s.Place(ada, ids[0], 1)
	g := &stranger{s, "/payment-links/" + linkFor(s, id, token)}
	for _, coin := range []string{"btc", "xrp", "eth", "btc", "xrp", "eth"} {
		payWith(s, id, token, nodetest.Object{"provider": "nowpayments", "payCurrency": coin}).Is(200, "")
	}
	g.payInManyCoins()
	calls := func() (n int64) {
		for _, c := range s.Sim().Stats().Calls {
			n += c
		}
		return n
	}
	before := calls()
	g.Call("POST", g.page+"/verify", nil).Is(200, "")
	require.Equal(t, int64(2), calls()-before, "one of the buyer's, one of the payer's")
}

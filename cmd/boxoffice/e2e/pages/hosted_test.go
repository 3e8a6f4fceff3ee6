package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// hostedPages is a walk for each provider. An honest shop says that a payment has failed where the
// provider ends it with the refusal. Where another card may be tried on the same page, the payment is
// open still, and the shop must not call it failed.
var hostedPages = []struct {
	provider, currency string
	price              float64
	as                 size
	refused            string // what the shop says after a refusal at the provider
}{
	{"paystack", "ZAR", 249.99, laptop, "The payment did not go through"},
	{"flutterwave", "NGN", 12500, size{width: 390, height: 844, scale: 2, touch: true}, "The payment did not go through"},
	{"stripe", "JPY", 3490, size{width: 390, height: 844, scale: 2, touch: true, dark: true}, "Not paid yet"},
	{"mollie", "EUR", 19.99, size{width: 320, height: 640, scale: 2, touch: true}, "Not paid yet"},
	{"paypal", "GBP", 32.5, size{width: 390, height: 844, scale: 2, touch: true, dark: true}, "Not paid yet"},
	{"nowpayments", "USD", 39.5, laptop, "The payment did not go through"},
}

// TestHostedPages buys by clicks with each provider that has a page or an address to pay at, is refused
// there and pays then. The sum on the shop's button is the one at the provider, in the order and in the
// mail (make pages).
func TestHostedPages(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	whole := nodetest.Open(t, func(c *node.Config) {
		c.Currencies, c.PaysimCallbacks = []string{"USD", "ZAR", "NGN", "JPY", "EUR", "GBP"}, true
		c.PaysimProviders = []string{"nowpayments", "paystack", "flutterwave", "stripe", "mollie", "paypal", "transfer"}
	}).In(t)
	for _, walk := range hostedPages {
		t.Run(walk.provider, func(t *testing.T) {
			t.Parallel()
			s := whole.In(t)
			began, mail := time.Now(), walk.provider+"@example.org"
			event, _ := s.Sell(nodetest.Object{"currency": walk.currency}, nodetest.TypeBody(walk.price, 100))
			slug := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("slug")
			base := strings.TrimSuffix(s.URL, "/api/v1")
			b := &buyer{window: chromium.open(t, base+"/help", walk.as), shop: s, name: "hosted-" + walk.provider, axe: axe}
			b.order(slug, 1, 2, mail)
			b.chooseProvider(walk.provider)
			sum := digits(b.text("form button.wide"))
			b.choose("form button.wide")
			if walk.provider == "nowpayments" {
				b.payDeposit(chromium, walk.as)
			} else {
				b.payHosted(walk.provider, walk.currency, sum, walk.refused)
			}
			b.until(`location.pathname.startsWith("/o/") && !location.search && document.querySelectorAll(".tickets > li").length === 2`)
			b.step("paid", ".pass svg")
			require.Equal(t, sum, digits(b.text(".lines .sum strong")))
			b.forget() // the provider's page is another server's

			id := strings.TrimPrefix(fmt.Sprint(b.evaluate("location.pathname")), "/o/")
			o := s.Order(id, fmt.Sprint(b.evaluate(`localStorage.getItem("order:`+id+`")`)))
			require.Equal(t, "completed "+sum+" "+walk.currency, o.Str("status")+" "+o.Str("total")+" "+o.Str("currency"))
			paid := fmt.Sprintf("payments.%d.", len(o.Data("payments").([]any))-1)
			require.Equal(t, walk.provider+" succeeded "+sum, o.Str(paid+"provider")+" "+o.Str(paid+"status")+" "+o.Str(paid+"received"))
			require.Contains(t, strings.ReplaceAll(s.Mail(t, mail, "order_confirmation", began).Text, ",", ""), sum)
		})
	}
}

// digits is a sum of money without its currency and without marks between thousands, as the API writes it.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return r
		}
		return -1
	}, text)
}

// chooseProvider chooses how to pay.
func (b *buyer) chooseProvider(provider string) {
	b.t.Helper()
	b.choose(`input[value="` + provider + `"]`)
	b.step("chosen", `input[value="`+provider+`"]:checked`)
}

// payHosted is refused at the provider's page, sees what the shop says to that, and pays.
func (b *buyer) payHosted(provider, currency, sum, refused string) {
	b.t.Helper()
	b.step("provider", `button[value="failed"]`)
	require.Contains(b.t, b.text("p"), provider)
	require.Equal(b.t, currency+" "+sum, b.text("h1"), "the provider asks for what the button said")
	b.choose(`button[value="failed"]`)
	b.until(`location.pathname.startsWith("/o/")`)
	b.heads(refused)
	if refused == "The payment did not go through" {
		b.chooseProvider(provider)
	}
	b.step("refused", "main > button.wide:not(:disabled)")
	require.Zero(b.t, b.evaluate(`document.querySelectorAll(".pass").length`), "nothing is given for a refused payment")
	require.Equal(b.t, sum, digits(b.text("main > button.wide")))
	b.choose("main > button.wide")
	b.step("provider-again", `button[value="success"]`)
	require.Equal(b.t, currency+" "+sum, b.text("h1"))
	b.choose(`button[value="success"]`)
}

// payDeposit sends coins to the address that the shop shows, in the window of a wallet: nothing comes of
// the first deposit, and the second pays.
func (b *buyer) payDeposit(chromium *browser, as size) {
	b.t.Helper()
	for _, outcome := range []string{"failed", "success"} {
		b.step("address", ".address code")
		address := b.text(".address code")
		purse := &buyer{window: chromium.open(b.t, b.shop.Sim().URL()+"/checkout/"+address, as), shop: b.shop, name: b.name + "-purse", axe: b.axe}
		purse.step(outcome, `button[value="`+outcome+`"]`)
		purse.choose(`button[value="` + outcome + `"]`)
		if outcome == "failed" {
			b.heads("The payment did not go through")
			b.chooseProvider("nowpayments")
			b.choose("main > button.wide")
			b.until(`document.querySelector(".address code")?.innerText && document.querySelector(".address code").innerText !== "` + address + `"`)
		}
	}
}

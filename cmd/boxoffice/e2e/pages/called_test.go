package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestCalledOff: whoever has paid for an event that is cancelled reads that and why on its page, on that
// of the order and of the ticket, and can ask for the money there. Nothing in the reason is a link
// (make pages).
func TestCalledOff(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := nodetest.Open(t)
			base := strings.TrimSuffix(s.URL, "/api/v1")
			event, ids := s.OnSale(nodetest.With(nodetest.TypeBody(25, 10), nodetest.Object{"name": "Floor"}))
			order := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ids[0], 1)).Is(201, "")
			s.Settle(s.Checkout(order.Str("id"), order.Str("accessToken")), "success")
			s.Verify(order.Str("id"), order.Str("accessToken")).Is(200, "")
			s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "A storm is near.\nSee https://example.org"}).Is(200, "")

			b := &buyer{window: chromium.open(t, base+"/e/"+event, as), shop: s, name: "called-" + name, axe: axe}
			reads := func(step, what string) {
				b.step(step, what)
				require.Equal(t, true, b.evaluate(`document.querySelector(".called blockquote").innerText.includes("A storm is near.\nSee https://example.org") && !document.querySelector(".called a")`), step)
			}
			reads("event", ".called blockquote")
			b.load(base + "/o/" + order.Str("id") + "#token=" + order.Str("accessToken"))
			reads("order", ".called blockquote")
			b.enterWallet(base)
			b.step("mine", ".why")
			b.choose(".large a, li.called a")
			reads("ticket", `[data-verb="money"]`)
			b.faultless()
		})
	}
}

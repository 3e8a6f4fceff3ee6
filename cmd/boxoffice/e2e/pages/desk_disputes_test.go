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

// TestDeskDisputes looks at the payments that banks took back, under the organizer's money: nothing is said of disputes
// until there is one.
func TestDeskDisputes(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "disputes-"+name, as, func(c *node.Config) { c.PaysimProviders, c.PaysimCallbacks = []string{"stripe"}, true })
			_, ids := o.shop.OnSale(nodetest.TypeBody(25, 100))
			disputed := func(status string) {
				id, token := o.shop.Place("ada@example.org", ids[0], 1)
				at := o.shop.Call("POST", "/orders/"+id+"/pay?token="+token, nodetest.Object{"provider": "stripe"}).Is(200, "")
				o.shop.Settle(at.Str("authorizationUrl"), "success")
				o.shop.Becomes("completed", o.shop.Status(id, token))
				require.True(t, o.shop.Sim().MoveDispute(at.Str("reference"), status))
				require.Eventually(t, func() bool {
					return strings.Contains(fmt.Sprint(o.shop.Own("GET", "/organizer/disputes", nil).Is(200, "").Body), id)
				}, time.Minute, 20*time.Millisecond)
			}
			o.load(o.origin + "organizer/settings/wallets")
			o.there("#no-payouts")
			o.until(`!document.querySelector("#disputes")`)
			disputed("needs_response")
			disputed("lost")
			o.load(o.origin + "organizer/settings/wallets")
			o.step("disputes", "#disputes tbody tr:nth-child(2)")
			o.until(`document.querySelectorAll("#disputes .state.warn, #disputes .state.bad").length === 2`)
			said := "fraudulent"
			if name == "german" {
				said = "Betrug"
			}
			require.Equal(t, said, o.text("#disputes td.words"), "as the letter about it says")
			o.faultless()
		})
	}
}

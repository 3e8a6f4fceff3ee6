package pages

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
)

// TestDeskTransfers books money that came by bank transfer at the organizer's desk: by a statement of the bank
// and by hand, and looks at what fits no order.
func TestDeskTransfers(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "transfers-"+name, as, func(c *node.Config) { c.PaysimProviders = []string{"transfer"} })
			_, ids := o.shop.Sell(
				nodetest.Object{"title": "Jazz on the quay", "startDate": nodetest.Stamp(20 * 24 * time.Hour), "endDate": nodetest.Stamp(21 * 24 * time.Hour)},
				nodetest.With(nodetest.TypeBody(25, 100), nodetest.Object{"saleEnd": nodetest.Stamp(3 * 24 * time.Hour)}))
			o.bringStatement(ids[0])
			o.bookRestOfTransfer()
			o.faultless()
		})
	}
}

// bringStatement brings a statement with too little for one order, enough for another, and money of nobody.
func (o *organizer) bringStatement(ticketType string) {
	o.t.Helper()
	awaited := func(email string) string {
		id, token := o.shop.Place(email, ticketType, 1)
		return o.shop.Call("POST", "/orders/"+id+"/pay?token="+token, nodetest.Object{"provider": "transfer"}).Is(200, "").Str("transfer.reference")
	}
	ada, bob := awaited("ada@example.org"), awaited("bob@example.org")
	o.load(o.origin + "organizer/orders")
	o.choose(`main nav a[href="/organizer/orders/transfers"]`)
	o.step("no-receipts", ".none")
	bring := func(file string) {
		o.evaluate(fmt.Sprintf(`(() => {
			const t = new DataTransfer(), f = document.querySelector("#statement");
			t.items.add(new File([%q], "statement.csv", {type: "text/csv"}));
			f.files = t.files;
			f.dispatchEvent(new Event("change", {bubbles: true}));
		})()`, file))
		o.choose("#bring-statement")
	}
	bring("hello")
	o.step("no-statement", ".note.warn")
	o.forget() // the refusal is in the browser's log
	bring("TransferWise ID,Date,Amount,Currency,Payer Name,Payment Reference\n" +
		"T-1,01-03-2027,20.00,USD,Ada Obi," + ada + "\nT-2,01-03-2027,26.25,USD,Bob Musa," + bob + "\nT-3,01-03-2027,5.00,USD,Nobody Known,rent\n")
	o.there("#read li:nth-child(3)")
	o.there("#receipts tbody tr:nth-child(2)")
	o.step("statement", "#receipts")
	require.Contains(o.t, o.text("#receipts"), "20")
	require.Contains(o.t, o.text("#receipts"), "rent")
}

// bookRestOfTransfer marks an order as paid by hand, after a statement with less than its total.
func (o *organizer) bookRestOfTransfer() {
	o.t.Helper()
	o.choose(`#receipts a[href*="?id="]`)
	o.choose("#seen")
	require.Equal(o.t, "6.25", o.evaluate(`document.querySelector("#came").value`))
	o.fill("#came-note", "seen at the bank")
	o.step("awaited", "#book")
	o.choose("#book")
	o.there("#resend")
	o.step("booked", "#resend")
	o.load(o.origin + "organizer/orders/transfers")
	o.until(`document.querySelectorAll("#receipts tbody tr").length === 1`)
}

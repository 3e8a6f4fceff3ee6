package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestDeskGuests gives tickets away, looks after guests and customers, writes to them, and gives all
// money of a cancelled event back, at the organizer's desk.
func TestDeskGuests(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	axe := readAxe(t)
	for name, as := range map[string]size{
		"desktop": laptop, "phone": {width: 390, height: 844, scale: 2, touch: true, dark: true}, "german": {width: 320, height: 640, scale: 2, touch: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openDesk(t, chromium, axe, "guests-"+name, as)
			event, ids := o.shop.Sell(nodetest.Object{"title": "Jazz on the quay"}, nodetest.TypeBody(20, 100))
			o.issueComps(event)
			o.lookAfterGuest(event)
			o.writeToGuests(event)
			o.lookAfterCustomer(event, ids[0])
			o.refundEverybody(event)
			o.faultless()
		})
	}
}

// issueComps issues tickets to two guests by hand and to one from a CSV file that has a wrong row.
func (o *organizer) issueComps(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/attendees")
	o.choose("#give-away")
	o.fill("#give-0-name", "Ada Obi")
	o.fill("#give-0-email", "ada@example.org")
	o.choose("#another")
	o.fill("#give-1-email", "ada@example.org")
	o.choose("#give")
	o.step("given-twice", ".panel .note.warn")
	o.forget()
	o.fill("#give-1-email", "bob@example.org")
	o.choose("#give")
	o.until(`document.querySelectorAll(".panel fieldset").length === 1`)
	o.evaluate(`(() => {
		const t = new DataTransfer(), f = document.querySelector("#give-file");
		t.items.add(new File(["name,email\nCarol,carol@example.org\nNobody,nowhere\n"], "guests.csv", {type: "text/csv"}));
		f.files = t.files;
		f.dispatchEvent(new Event("change", {bubbles: true}));
	})()`)
	o.until(`!document.querySelector("#bring").disabled`)
	o.choose("#bring")
	o.there("#imported li")
	o.evaluate(`document.querySelector("#imported").scrollIntoView({block: "center"})`)
	o.step("imported", "#imported li")
	require.Contains(o.t, o.text("#imported li"), "3")
	o.choose("#close")
	o.until(`document.querySelectorAll(".rows tbody tr").length === 3`)
}

// lookAfterGuest names another guest on a ticket, tags it, lets the guest in and undoes that.
func (o *organizer) lookAfterGuest(event string) {
	o.t.Helper()
	o.evaluate(`[...document.querySelectorAll(".rows .link")].find((e) => e.innerText === "Ada Obi").click()`)
	o.fill("#guest-name", "Ada Lovelace")
	o.choose("#save-guest")
	o.until(`document.querySelector(".rows").innerText.includes("Ada Lovelace")`)
	for _, tag := range []string{"Press", "Table 4"} {
		o.fill("#new-tag", tag)
		o.choose("#add-tag")
		o.until(fmt.Sprintf(`document.querySelector(".panel .tags")?.innerText.includes(%q)`, strings.ToLower(tag)))
	}
	o.step("guest", "#admit")
	o.choose(".panel .tags li:nth-child(2) button")
	o.until(`document.querySelectorAll(".panel .tags li").length === 1`)
	o.choose("#admit")
	o.choose("#undo")
	o.choose("#sure-yes")
	o.there("#admit")
	o.choose("#close")
	o.shop.Becomes("Ada Lovelace issued", func() string {
		guests := o.shop.Own("GET", "/organizer/events/"+event+"/attendees?tag=press", nil).Is(200, "")
		return guests.Str("items.0.name") + " " + guests.Str("items.0.status")
	})
}

// writeToGuests sends a mail to those with a tag, and finds it among what was sent.
func (o *organizer) writeToGuests(event string) {
	o.t.Helper()
	o.load(o.origin + "organizer/events/" + event + "/mails")
	o.until(`document.querySelector("#reached")?.innerText.includes("3")`)
	o.fill("#subject", "Doors open early")
	o.fill("#body", "Come at seven.\nThere is <b>tea</b>.")
	o.fill("#tag", "press")
	o.step("mail", ".columns .card")
	require.Equal(o.t, "Come at seven.\nThere is tea.", o.text(".columns .card .text"))
	o.choose("#send-mail")
	o.step("mail-sure", "#sure-yes")
	o.choose("#sure-yes")
	o.there(".mailed")
	o.choose(".mailed summary")
	o.step("mails", ".mailed .text")
	require.Equal(o.t, 1., o.shop.Own("GET", "/organizer/growth/events/"+event+"/broadcasts", nil).Is(200, "").Data("items.0.recipients"))
}

// lookAfterCustomer writes to one who has paid, tags what they hold, and sends their tickets again.
func (o *organizer) lookAfterCustomer(event, ticketType string) {
	o.t.Helper()
	id, token := o.shop.Place("dora@example.org", ticketType, 1)
	o.shop.Settle(o.shop.Checkout(id, token), "success")
	o.shop.Verify(id, token).Is(200, "")
	o.shop.Becomes("dora@example.org", func() string { // the list follows the order
		return o.shop.Own("GET", "/organizer/customers?q=dora", nil).Is(200, "").Str("items.0.email")
	})
	o.load(o.origin + "organizer/customers?q=dora")
	o.choose(".rows .link")
	o.choose("#contact")
	o.fill("#contact-subject", "Your seats")
	o.fill("#contact-body", "We have moved you to the front row.")
	o.step("contact", "#send-contact")
	o.choose("#send-contact")
	o.there("#contact")
	o.fill("#new-tag", "vip")
	o.choose("#add-tag")
	o.there(".panel .tags li")
	o.step("customer", ".panel .tags li")
	o.load(o.origin + "organizer/orders?id=" + id)
	began := time.Now()
	o.choose("#resend")
	o.until(`document.body.innerText.includes("dora@example.org")`)
	o.step("order", "#resend")
	o.shop.Mail(o.t, "dora@example.org", "order_confirmation", began)
}

// refundEverybody cancels an event, and gives the money of all its orders back.
func (o *organizer) refundEverybody(event string) {
	o.t.Helper()
	o.shop.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "flood"}).Is(200, "")
	o.load(o.origin + "organizer/events/" + event)
	o.there("#refund-all")
	o.forget() // nobody has begun it, which the browser's log has as a 404
	o.evaluate(`document.querySelector("#refund-all").scrollIntoView({block: "center"})`)
	o.choose("#refund-all")
	o.fill("#sure-reason", "The quay is under water.")
	o.step("refund-all-sure", "#sure-yes")
	o.choose("#sure-yes")
	o.there(`#refund-run[data-status="finished"]`)
	o.evaluate(`document.querySelector("#refund-run").scrollIntoView({block: "center"})`)
	o.step("refund-all", "#refund-run")
}

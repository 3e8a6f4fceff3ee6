package pages

import (
	"strings"
	"testing"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestFixedDate: a holder is offered another date of a reservation, until the organizer says that dates
// are fixed (make pages).
func TestFixedDate(t *testing.T) {
	t.Parallel()
	chromium := openBrowser(t)
	w := openTower(t, 0)
	w.take("ada@example.org", w.day, w.evening, 1)
	base := strings.TrimSuffix(w.shop.URL, "/api/v1")
	b := &buyer{window: chromium.open(t, base+"/help", laptop), shop: w.shop, name: "fixed-date"}
	b.enterWallet(base)
	b.choose(".large a")
	b.there(`[data-verb="date"]`)
	w.shop.Own("PUT", "/organizer/events/"+w.event, nodetest.Object{"rescheduling": false}).Is(200, "")
	b.do("Page.reload", nil)
	b.until(`document.querySelector('[data-verb="message"]') && !document.querySelector('[data-verb="date"]')`)
	b.step("fixed", `[data-verb="message"]`)
	b.faultless()
}

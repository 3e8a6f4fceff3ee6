package pages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestOrdersCsv saves the orders of an event that has more of them than a file takes: the page says that there are
// more, and no name is a formula (make pages).
func TestOrdersCsv(t *testing.T) {
	t.Parallel()
	o := openDesk(t, openBrowser(t), readAxe(t), "orders-german", size{width: 390, height: 844, scale: 2, touch: true})
	_, ids := o.shop.OnSale(nodetest.With(nodetest.TypeBody(0, 10), nodetest.Object{"type": "free"}))
	o.shop.Call("POST", "/orders", nodetest.With(nodetest.OrderBody("ada@example.org", ids[0], 1), nodetest.Object{"guestName": "＝1+1"})).Is(201, "")
	require.NoError(t, o.shop.AwaitLists(t.Context()))
	o.copyOrder(5_001)
	o.load(o.origin + "organizer/orders")
	o.there(".rows tbody tr")
	file := o.saved("#orders-csv")
	require.Equal(t, 1+5_000, strings.Count(file, "\r\n"), "the heads of the columns, and the orders")
	require.Contains(t, file, ",'＝1+1,ada@example.org,", "a spreadsheet takes the sign for a formula's")
	o.there("#orders-missing")
	require.Contains(t, o.text("#orders-missing"), "sind die neuesten 5.000 Bestellungen, und es gibt mehr.")
	o.evaluate(`document.querySelector("#orders-missing").scrollIntoView({block: "center"})`)
	o.step("missing", "#orders-missing")
	o.faultless()
}

// copyOrder copies the only order in the lists until there are so many.
func (o *organizer) copyOrder(orders int) {
	o.t.Helper()
	const copied = `
INSERT INTO orders (id, event_id, customer, total, created_at, updated_at, status, currency, email, record)
SELECT encode(c.id, 'hex')::uuid, event_id, customer, total, created_at, updated_at, status, currency, email, overlay(record PLACING c.id FROM position(uuid_send(o.id) IN record))
FROM (SELECT * FROM orders ORDER BY id LIMIT 1) AS o, generate_series((SELECT count(*)::int FROM orders), $1 - 1) AS n,
  LATERAL (SELECT overlay(uuid_send(o.id) PLACING int4send(n) FROM 13) AS id) AS c`
	_, err := o.shop.Pool().Exec(o.t.Context(), copied, orders)
	require.NoError(o.t, err)
}

package orders

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
)

// TestListedOrders finds an organization's order by what people know of it: its number,
// its buyer, and when it was made, as a day or as a moment.
func TestListedOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 100))
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 1)).Is(201, "")
	o := s.Call("POST", "/orders", nodetest.OrderBody(ada, ids[0], 1)).Is(201, "")
	made, err := time.Parse(time.RFC3339, o.Str("createdAt"))
	require.NoError(t, err)
	list := func(name, value string) nodetest.Answer {
		return s.Own("GET", "/organizer/orders?"+url.Values{name: {value}}.Encode(), nil)
	}
	for _, q := range []string{o.Str("orderNumber"), o.Str("id"), "ADA@"} {
		found := list("q", q).Is(200, "")
		require.Equal(t, o.Str("id"), found.Str("items.0.id"), q)
		require.Len(t, found.Get("data.items"), 1, q)
	}
	at := func(d time.Duration) string { return made.Add(d).Format(time.RFC3339) }
	// Bob's order may have been made on the day before, if it was just before midnight.
	day := func(d time.Duration) string { return made.Add(d).UTC().Format(time.DateOnly) }
	for _, c := range []struct {
		name, value string
		orders      int
	}{
		{"from", at(-time.Hour), 2},
		{"from", at(time.Hour), 0},
		{"from", day(-time.Hour), 2},
		{"to", at(time.Hour), 2},
		{"to", at(-time.Hour), 0},
		{"to", day(0), 2},
		{"to", "2020-01-01", 0},
	} {
		require.Len(t, list(c.name, c.value).Is(200, "").Get("data.items"), c.orders, c.name+" "+c.value)
	}
	list("from", "yesterday").Invalid("from", "type")
}

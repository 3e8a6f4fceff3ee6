package orders

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/web"
	"boxoffice/engine"
	"boxoffice/engine/order"
)

const ada = "ada@example.org"

// A buyer in a session whose address is proven opens own orders without their
// tokens. A session that has not proven it, and another buyer's, do not.
func TestOwnOrders(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(25, 100))
	const grace = "grace@example.org"
	id, _ := s.Place("Grace@Example.org", ids[0], 1)
	squatter := s.Register(grace)
	read := func(who *nodetest.Shop) nodetest.Answer { return who.Own("GET", "/orders/"+id, nil) }
	read(squatter).Is(404, "ORDER_NOT_FOUND")
	read(s.Buyer("eve@example.org")).Is(404, "ORDER_NOT_FOUND")

	buyer := s.Buyer(grace)
	require.Equal(t, id, read(buyer).Is(200, "").Str("id"))
	buyer.Own("GET", "/payments/"+id, nil).Is(200, "")
	pay := buyer.Own("POST", "/orders/"+id+"/pay", nodetest.Object{"provider": "paystack"}).Is(200, "")
	require.Equal(t, "pending", buyer.Own("POST", "/payments/verify", nodetest.Object{"orderId": id}).Is(200, "").Str("status"))
	s.Settle(pay.Str("authorizationUrl"), "success")
	require.Equal(t, "completed", buyer.Own("POST", "/payments/verify", nodetest.Object{"orderId": id}).Is(200, "").Str("status"))
	other, _ := s.Place(grace, ids[0], 1)
	squatter.Own("POST", "/orders/"+other+"/cancel", nodetest.Object{}).Is(401, "UNAUTHORIZED")
	require.Equal(t, "cancelled", buyer.Own("POST", "/orders/"+other+"/cancel", nodetest.Object{}).Is(200, "").Str("status"))
	buyer.Own("GET", "/orders/x", nil).Is(404, "ORDER_NOT_FOUND")
}

// An order's token ends 30 days after its event, or 400 days after the completion of
// an order for a product without an end; a mailed link lasts 30 days at least.
func TestOrderTokensEnd(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		changes nodetest.Object
		until   time.Duration
	}{
		"event":   {nil, 30*time.Hour + 30*day},
		"product": {nodetest.Object{"category": "e-books", "endDate": nil}, 400 * day},
	} {
		_, ids := s.Sell(c.changes, nodetest.TypeBody(0, 100))
		o := s.Call("POST", "/orders", nodetest.OrderBody(ada, ids[0], 1)).Is(201, "")
		id, err := engine.ParseID(o.Str("id"))
		require.NoError(t, err)
		opens := func(token string, in time.Duration) string {
			v, err := s.Areas().Sales.OrderPage(t.Context(), id.String(), token, 0, "", time.Now().Add(in))
			if r, ok := errors.AsType[*engine.Refusal](err); ok {
				return string(r.Code)
			}
			require.NoError(t, err)
			return v.Status
		}
		token := o.Str("accessToken")
		require.NoError(t, s.AwaitTold(t.Context()))
		require.Equal(t, order.StatusCompleted, opens(token, 0), name)
		require.Equal(t, order.StatusCompleted, opens(token, c.until-time.Minute), name)
		require.Equal(t, "UNAUTHORIZED", opens(token, c.until+time.Minute), name)
		mailed := s.Secrets().RenewedToken(id, time.Now().Add(c.until+day))
		require.Equal(t, order.StatusCompleted, opens(mailed, c.until+time.Minute), name)
		require.Equal(t, "UNAUTHORIZED", opens(mailed, c.until+2*day), name)
		early := s.Secrets().RenewedToken(id, time.Now().Add(day))
		require.Equal(t, order.StatusCompleted, opens(early, 2*day), "%s: a link ends no sooner than the order's token", name)
		require.Equal(t, "ORDER_NOT_FOUND", opens("r1.9999999999."+token, 0), name)
	}
}

// The mailed link opens a page that needs no script, shows nothing to others, and
// has what people typed as text.
func TestOrderPage(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	_, ids := s.Sell(nodetest.Object{"title": "Night " + evil}, nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"name": "Floor " + evil, "maxPerOrder": 60, "maxPerCustomer": 60}))
	o := s.Call("POST", "/orders", nodetest.With(nodetest.OrderBody(ada, ids[0], 51), nodetest.Object{"guestName": evil})).Is(201, "")
	link := nodetest.OrderLink.FindStringSubmatch(s.Confirmation(o).Text)[1]
	pages := *s
	pages.URL = strings.TrimSuffix(s.URL, "/api/v1")
	page := pages.Raw("GET", link, "", "")
	require.Equal(t, 200, page.Status)
	require.NotContains(t, page.Body, "<script")
	require.NotContains(t, page.Body, "<img src=x")
	for _, part := range []string{"&lt;script&gt;", o.Str("orderNumber"), o.Str("tickets.0.shortCode"), o.Str("tickets.49.shortCode"), "data:image/png;base64,", "noindex"} {
		require.Contains(t, page.Body, part)
	}
	require.NotContains(t, page.Body, o.Str("tickets.50.shortCode"))
	require.Contains(t, pages.Raw("GET", link+"&from=50", "", "").Body, o.Str("tickets.50.shortCode"))
	for name, want := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Content-Security-Policy": web.Policy,
	} {
		require.Equal(t, want, page.Header.Get(name))
	}
	other := s.Call("POST", "/orders", nodetest.OrderBody("eve@example.org", ids[0], 1)).Is(201, "")
	for _, wrong := range []string{
		"/orders/" + o.Str("id") + "?token=x", "/orders/" + o.Str("id") + "?token=" + other.Str("accessToken"), "/orders/x?token=y",
	} {
		r := pages.Raw("GET", wrong, "", "")
		require.Equal(t, 404, r.Status, wrong)
		require.NotContains(t, r.Body, o.Str("orderNumber"))
	}
}

// A payer whom the provider leads back without the order's token reads that the
// mail has what opens it, and everybody reads the same of every id.
func TestOrderPageOfReturningPayer(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	_, ids := s.Sell(nil, nodetest.TypeBody(0, 100))
	o := s.Call("POST", "/orders", nodetest.OrderBody(ada, ids[0], 1)).Is(201, "")
	pages := *s
	pages.URL = strings.TrimSuffix(s.URL, "/api/v1")
	own := pages.Raw("GET", "/orders/"+o.Str("id"), "", "")
	require.Contains(t, own.Body, "Open your order by the link in our mail")
	for _, path := range []string{
		"/orders/" + o.Str("id"), "/orders/" + o.Str("id") + "?trxref=a&reference=b", "/orders/" + o.Str("id") + "?token=",
		"/orders/00000000-0001-8000-8000-000000000009", "/orders/x",
	} {
		r := pages.Raw("GET", path, "", "")
		require.Equal(t, 200, r.Status, path)
		require.Equal(t, own.Body, r.Body, path)
		for name, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Content-Security-Policy": web.Policy,
		} {
			require.Equal(t, want, r.Header.Get(name), path)
		}
		require.NotEmpty(t, r.Header.Get("X-Ratelimit-Remaining"), "it is counted")
	}
}

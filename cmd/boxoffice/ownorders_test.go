package main

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/web"
	"boxoffice/engine"
	"boxoffice/engine/event"
)

// A buyer in a session whose address is proven opens own orders without their
// tokens. A session that has not proven it, and another buyer's, do not.
func TestOwnOrders(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(nil, typeBody(25, 100))
	const grace = "grace@example.org"
	id, _ := s.place("Grace@Example.org", ids[0], 1)
	squatter := s.register(grace)
	read := func(who *shop) answer { return who.own("GET", "/orders/"+id, nil) }
	read(squatter).is(404, "ORDER_NOT_FOUND")
	read(s.buyer("eve@example.org")).is(404, "ORDER_NOT_FOUND")

	buyer := s.buyer(grace)
	require.Equal(t, id, read(buyer).is(200, "").str("id"))
	buyer.own("GET", "/payments/"+id, nil).is(200, "")
	pay := buyer.own("POST", "/orders/"+id+"/pay", object{"provider": "paystack"}).is(200, "")
	require.Equal(t, "pending", buyer.own("POST", "/payments/verify", object{"orderId": id}).is(200, "").str("status"))
	s.settle(pay.str("authorizationUrl"), "success")
	require.Equal(t, "completed", buyer.own("POST", "/payments/verify", object{"orderId": id}).is(200, "").str("status"))
	other, _ := s.place(grace, ids[0], 1)
	squatter.own("POST", "/orders/"+other+"/cancel", object{}).is(401, "UNAUTHORIZED")
	require.Equal(t, "cancelled", buyer.own("POST", "/orders/"+other+"/cancel", object{}).is(200, "").str("status"))
	buyer.own("GET", "/orders/x", nil).is(404, "ORDER_NOT_FOUND")
}

// An order's token ends 30 days after its event, or 400 days after the completion of
// an order for a product without an end; a mailed link lasts 30 days at least.
func TestOrderTokensEnd(t *testing.T) {
	t.Parallel()
	s := open(t)
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		changes object
		until   time.Duration
	}{
		"event":   {nil, 30*time.Hour + 30*day},
		"product": {object{"category": "e-books", "endDate": nil}, 400 * day},
	} {
		_, ids := s.sell(c.changes, typeBody(0, 100))
		o := s.call("POST", "/orders", orderBody(ada, ids[0], 1)).is(201, "")
		id, err := engine.ParseID(o.str("id"))
		require.NoError(t, err)
		opens := func(token string, in time.Duration) string {
			v, err := s.areas.Sales.OrderPage(t.Context(), id.String(), token, 0, time.Now().Add(in))
			if r, ok := errors.AsType[*engine.Refusal](err); ok {
				return string(r.Code)
			}
			require.NoError(t, err)
			return v.Status
		}
		token := o.str("accessToken")
		require.NoError(t, s.passed(t.Context(), s.telling))
		require.Equal(t, event.Completed, opens(token, 0), name)
		require.Equal(t, event.Completed, opens(token, c.until-time.Minute), name)
		require.Equal(t, "UNAUTHORIZED", opens(token, c.until+time.Minute), name)
		mailed := s.secrets.RenewedToken(id, time.Now().Add(c.until+day))
		require.Equal(t, event.Completed, opens(mailed, c.until+time.Minute), name)
		require.Equal(t, "UNAUTHORIZED", opens(mailed, c.until+2*day), name)
		early := s.secrets.RenewedToken(id, time.Now().Add(day))
		require.Equal(t, event.Completed, opens(early, 2*day), "%s: a link ends no sooner than the order's token", name)
		require.Equal(t, "ORDER_NOT_FOUND", opens("r1.9999999999."+token, 0), name)
	}
}

// The mailed link opens a page that needs no script, shows nothing to others, and
// has what people typed as text.
func TestOrderPage(t *testing.T) {
	t.Parallel()
	s := open(t)
	evil := `"><script>alert(1)</script><img src=x onerror=alert(1)>`
	_, ids := s.sell(object{"title": "Night " + evil}, with(typeBody(0, 100), object{"name": "Floor " + evil, "maxPerOrder": 60, "maxPerCustomer": 60}))
	o := s.call("POST", "/orders", with(orderBody(ada, ids[0], 51), object{"guestName": evil})).is(201, "")
	link := orderLink.FindStringSubmatch(s.confirmation(o).Text)[1]
	pages := *s
	pages.url = strings.TrimSuffix(s.url, "/api/v1")
	page := pages.raw("GET", link, "", "")
	require.Equal(t, 200, page.status)
	require.NotContains(t, page.body, "<script")
	require.NotContains(t, page.body, "<img src=x")
	for _, part := range []string{"&lt;script&gt;", o.str("orderNumber"), o.str("tickets.0.shortCode"), o.str("tickets.49.shortCode"), "data:image/png;base64,", "noindex"} {
		require.Contains(t, page.body, part)
	}
	require.NotContains(t, page.body, o.str("tickets.50.shortCode"))
	require.Contains(t, pages.raw("GET", link+"&from=50", "", "").body, o.str("tickets.50.shortCode"))
	for name, want := range map[string]string{
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Content-Security-Policy": web.Policy,
	} {
		require.Equal(t, want, page.header.Get(name))
	}
	other := s.call("POST", "/orders", orderBody("eve@example.org", ids[0], 1)).is(201, "")
	for _, wrong := range []string{
		"/orders/" + o.str("id") + "?token=x", "/orders/" + o.str("id") + "?token=" + other.str("accessToken"), "/orders/x?token=y",
	} {
		r := pages.raw("GET", wrong, "", "")
		require.Equal(t, 404, r.status, wrong)
		require.NotContains(t, r.body, o.str("orderNumber"))
	}
}

// A payer whom the provider leads back without the order's token reads that the
// payment is being confirmed, and everybody reads the same of every id.
func TestOrderPageOfReturningPayer(t *testing.T) {
	t.Parallel()
	s := open(t)
	_, ids := s.sell(nil, typeBody(0, 100))
	o := s.call("POST", "/orders", orderBody(ada, ids[0], 1)).is(201, "")
	pages := *s
	pages.url = strings.TrimSuffix(s.url, "/api/v1")
	own := pages.raw("GET", "/orders/"+o.str("id"), "", "")
	require.Contains(t, own.body, "Your payment is being confirmed")
	for _, path := range []string{
		"/orders/" + o.str("id"), "/orders/" + o.str("id") + "?trxref=a&reference=b", "/orders/" + o.str("id") + "?token=",
		"/orders/00000000-0001-8000-8000-000000000009", "/orders/x",
	} {
		r := pages.raw("GET", path, "", "")
		require.Equal(t, 200, r.status, path)
		require.Equal(t, own.body, r.body, path)
		for name, want := range map[string]string{
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Robots-Tag": "noindex", "Content-Security-Policy": web.Policy,
		} {
			require.Equal(t, want, r.header.Get(name), path)
		}
		require.NotEmpty(t, r.header.Get("X-Ratelimit-Remaining"), "it is counted")
	}
}

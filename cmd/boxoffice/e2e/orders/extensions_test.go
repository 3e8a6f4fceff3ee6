package orders

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/limit"
)

// expiry is when an answer says that an order or a hold ends.
func expiry(t *testing.T, a nodetest.Answer) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, a.Str("expiresAt"))
	require.NoError(t, err)
	return at
}

// TestExtendedOrder asks for more time for an order: by its own window, ten times, once a key, and for
// whoever may open it.
func TestExtendedOrder(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(20, 50))
	placed := s.Call("POST", "/orders", nodetest.OrderBody(ada, ids[0], 2)).Is(201, "")
	path, body := "/orders/"+placed.Str("id")+"/extend", nodetest.Object{"token": placed.Str("accessToken")}
	const window = 15 * time.Minute // the default

	s.Call("POST", path, nodetest.Object{}).Is(401, "UNAUTHORIZED")
	s.Call("POST", path, nodetest.Object{"token": "of-somebody-else"}).Is(404, "ORDER_NOT_FOUND")
	key := uuid.NewString()
	first := s.Call("POST", path, body, "Idempotency-Key", key).Is(200, "")
	require.Equal(t, expiry(t, placed).Add(window), expiry(t, first))
	again := s.Call("POST", path, body, "Idempotency-Key", key).Is(200, "")
	require.Equal(t, expiry(t, first), expiry(t, again), "one key gives more time once")
	_, err := s.Pool().Exec(t.Context(), `UPDATE idempotency SET answer = NULL, lease_until = now() - interval '1 second'`)
	require.NoError(t, err)
	again = s.Call("POST", path, body, "Idempotency-Key", key).Is(200, "")
	require.Equal(t, expiry(t, first), expiry(t, again), "also when its node died before the answer was kept")
	for n := 2; n <= 10; n++ {
		next := s.Call("POST", path, body).Is(200, "")
		require.Equal(t, expiry(t, placed).Add(time.Duration(n)*window), expiry(t, next))
	}
	s.Call("POST", path, body).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "last"})
	s.Restart()
	s.Call("POST", path, body).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "last"})
	require.Equal(t, "pending", s.Order(placed.Str("id"), placed.Str("accessToken")).Str("status"))

	s.Call("POST", "/orders/"+placed.Str("id")+"/cancel", body).Is(200, "")
	s.Call("POST", path, body).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "over"})

	bob, token := s.Place("bob@example.org", ids[0], 1)
	off := s.Own("PUT", "/organizer/events/"+event, nodetest.Object{"extensions": false}).Is(200, "")
	require.Equal(t, false, off.Data("extensions"))
	s.Call("POST", "/orders/"+bob+"/extend", nodetest.Object{"token": token}).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "off"})
}

// TestExtendedOrderEnds lets the time of an order run out that was given more: what it took is its own
// until then, and for sale again after it.
func TestExtendedOrderEnds(t *testing.T) {
	t.Parallel()
	s := nodetest.Open(t)
	event, ids := s.OnSale(nodetest.TypeBody(20, 2))
	s.Window(event, 3*time.Second)
	id, token := s.Place(ada, ids[0], 2)
	longer := expiry(t, s.Call("POST", "/orders/"+id+"/extend", nodetest.Object{"token": token}).Is(200, ""))
	s.Call("POST", "/orders", nodetest.OrderBody("bob@example.org", ids[0], 1)).Is(409, "TICKET_SOLD_OUT")
	s.Becomes("expired", s.Status(id, token))
	ended, err := time.Parse(time.RFC3339, s.Order(id, token).Str("updatedAt"))
	require.NoError(t, err)
	require.False(t, ended.Before(longer), "it ended at %s, and had time until %s", ended, longer)
	s.Becomes("2", func() string { return s.Available(event, 0) })
}

// TestExtendedOrderEndsWithTheSale gives no time past the end of a ticket type's sale.
func TestExtendedOrderEndsWithTheSale(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	_, ids := s.OnSale(nodetest.With(nodetest.TypeBody(20, 50), nodetest.Object{"saleEnd": nodetest.Stamp(20 * time.Minute)}))
	id, token := s.Place(ada, ids[0], 1)
	body := nodetest.Object{"token": token}
	longer := expiry(t, s.Call("POST", "/orders/"+id+"/extend", body).Is(200, ""))
	require.Less(t, time.Until(longer), 20*time.Minute+time.Second)
	s.Call("POST", "/orders/"+id+"/extend", body).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "last"})
}

// TestExtensionsOfOneNetwork has one network keep stock for nothing: what it asks for beyond the rule is refused, of
// another event and of the organization's own orders it is not, and a refused extension counts for nothing.
func TestExtensionsOfOneNetwork(t *testing.T) {
	t.Parallel()
	s := nodetest.Guarded(t)
	_, ids := s.OnSale(nodetest.TypeBody(20, 50))
	_, others := s.OnSale(nodetest.TypeBody(20, 50))
	extend := func(id, token string) nodetest.Answer {
		return s.Call("POST", "/orders/"+id+"/extend", nodetest.Object{"token": token})
	}
	ask := func(email string, most int) (id, token string) {
		id, token = s.Place(email, ids[0], 1)
		for range most {
			extend(id, token).Is(200, "")
		}
		return id, token
	}
	first, firstToken := ask(ada, 10)
	extend(first, firstToken).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "last"})
	ask("bob@example.org", limit.RuleExtensions.Most-10)
	id, token := ask("eve@example.org", 0)
	extend(id, token).Is(429, "RATE_LIMITED")
	require.Equal(t, "pending", s.Order(id, token).Str("status"))
	other, otherToken := s.Place("eve@example.org", others[0], 1)
	extend(other, otherToken).Is(200, "")
	own := s.Own("POST", "/orders", nodetest.OrderBody("ann@example.org", ids[0], 1)).Is(201, "")
	extend(own.Str("id"), own.Str("accessToken")).Is(200, "")
}

// TestExtendedSeats asks for more time for held seats: by the time of a hold, ten times, once a key, and
// for whoever knows the holder.
func TestExtendedSeats(t *testing.T) {
	t.Parallel()
	h := nodetest.SeatedIn(nodetest.Open(t))
	extend := func(holder string, headers ...string) nodetest.Answer {
		return h.Call("POST", h.Path+"seats/extend", nodetest.Object{"holder": holder}, headers...)
	}
	key := uuid.NewString()
	extend(nodetest.AdaHolds).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "over"})
	extend("short").Invalid("holder", "min_length")
	held := h.Hold(nodetest.AdaHolds, "stalls-A-1", "stalls-A-2").Is(200, "")
	first := extend(nodetest.AdaHolds, "Idempotency-Key", key).Is(200, "")
	require.Equal(t, []any{"stalls-A-1", "stalls-A-2"}, first.Data("held"))
	require.Equal(t, expiry(t, held).Add(5*time.Minute), expiry(t, first))
	require.Equal(t, expiry(t, first), expiry(t, extend(nodetest.AdaHolds, "Idempotency-Key", key).Is(200, "")))
	for range 9 {
		extend(nodetest.AdaHolds).Is(200, "")
	}
	extend(nodetest.AdaHolds).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "last"})
	more := h.Hold(nodetest.AdaHolds, "stalls-A-1", "stalls-A-2", "stalls-A-3").Is(200, "")
	require.Equal(t, expiry(t, held).Add(50*time.Minute), expiry(t, more), "a change keeps the time that was given")
	h.Restart()
	extend(nodetest.AdaHolds).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "last"})
	h.Buy(nodetest.AdaHolds, h.Stalls, "stalls-A-1", "stalls-A-2").Is(201, "")

	h.Hold(nodetest.BobHolds, "stalls-B-1", "stalls-B-2").Is(200, "")
	h.Own("PUT", "/organizer/events/"+h.Event, nodetest.Object{"extensions": false}).Is(200, "")
	h.Becomes("409", func() string { // a node's record of the event is a moment old
		return fmt.Sprint(extend(nodetest.BobHolds).Status)
	})
	extend(nodetest.BobHolds).Refused(409, "EXTENSION_NOT_POSSIBLE", nodetest.Object{"reason": "off"})
}

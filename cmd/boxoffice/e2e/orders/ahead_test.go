package orders

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/secrets"
)

// TestCodesAhead reads the codes of the next hours, for a screen that will have no network: each is the one
// that the ticket shows at its moment and admits then alone. Nobody gets those of a ticket whose codes
// they don't see, and orders of more tickets than one person shows have none.
func TestCodesAhead(t *testing.T) {
	t.Parallel()
	s := nodetest.Shared(t)
	event, ids := s.OnSale(nodetest.TypeBody(0, 100))
	id, token := s.Place(s.Email("ada"), ids[0], 2)
	read := func(hours string) nodetest.Answer {
		return s.Call("GET", "/orders/"+id+"?token="+token+"&ahead="+hours, nil)
	}
	require.Nil(t, s.Order(id, token).Data("tickets.0.qrAhead"), "nobody asked for codes ahead")
	o := read("6").Is(200, "")
	codes := s.Secrets().Event(nodetest.Number(t, event))
	expires, err := time.Parse(time.RFC3339, o.Str("tickets.0.qrExpiresAt"))
	require.NoError(t, err)
	for i := range 2 {
		serial, version, ok := codes.FromShort(o.Str(fmt.Sprintf("tickets.%d.shortCode", i)))
		require.True(t, ok)
		ahead := o.Data(fmt.Sprintf("tickets.%d.qrAhead", i)).([]any)
		require.Len(t, ahead, 6*secrets.QRPerHour)
		for k, code := range ahead {
			want, _ := codes.QR(serial, version, expires.Add(time.Duration(k)*30*time.Second))
			require.Equal(t, want, code)
		}
	}
	require.Equal(t, "denied_expired", s.Scan(event, o.Str("tickets.0.qrAhead.700"), "gate-1").Str("status"))
	require.Equal(t, "success", s.Scan(event, o.Str("tickets.0.qrAhead.0"), "gate-1").Str("status"), "a gate takes one step on each side")
	read("7").Is(400, "VALIDATION_ERROR")
	read("-1").Is(400, "VALIDATION_ERROR")

	t.Log("who reads the order without its codes, and whose event is called off")
	key := s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret")
	limited := s.As(key).Own("GET", "/orders/"+id+"?ahead=1", nil).Is(200, "")
	require.Nil(t, limited.Data("tickets.0.qr"))
	require.Nil(t, limited.Data("tickets.0.qrAhead"))
	s.Own("DELETE", "/organizer/events/"+event, nodetest.Object{"reason": "A storm is near."}).Is(200, "")
	s.Becomes("<nil>", func() string { return read("1").Is(200, "").Str("tickets.1.qr") })
	require.Nil(t, read("1").Data("tickets.1.qrAhead"))

	t.Log("a school class prints")
	_, many := s.OnSale(nodetest.With(nodetest.TypeBody(0, 100), nodetest.Object{"maxPerOrder": 20, "maxPerCustomer": 20}))
	id, token = s.Place(s.Email("bob"), many[0], 11)
	require.Nil(t, read("1").Is(200, "").Data("tickets.0.qrAhead"))
}

package edge

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// TestOrderID: a repeat within a day finds the order by its id or its alias, and
// one that comes when the ledger may have forgotten it makes another id.
func TestOrderID(t *testing.T) {
	t.Parallel()
	op := &route.Op{Method: "POST", Path: "/api/v1/orders"}
	at := func(key string, now time.Time) (id, alias engine.OrderID) {
		c := route.NewCall(t.Context(), op, now)
		defer c.End()
		c.IdempotencyKey, c.Client = key, netip.MustParseAddr("192.0.2.1")
		return orderID(c, 42)
	}
	const key = "0190b6c1-0000-4000-8000-000000000001"
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for made := range 49 {
		first := start.Add(time.Duration(made) * time.Hour / 2)
		id, _ := at(key, first)
		require.EqualValues(t, 42, id.Event())
		for _, later := range []time.Duration{0, time.Second, time.Hour, 12 * time.Hour, 24*time.Hour - clockSkew - time.Second} {
			again, alias := at(key, first.Add(later))
			require.True(t, again == id || alias == id, "%s later", later)
		}
		for _, skew := range []time.Duration{-clockSkew, clockSkew} { // the repeat comes to another node
			again, alias := at(key, first.Add(skew))
			require.True(t, again == id || alias == id, "%s beside", skew)
		}
		later, alias := at(key, first.Add(48*time.Hour))
		require.NotEqual(t, id, later)
		require.NotEqual(t, id, alias)
		require.NotEqual(t, secrets.OrderNumber(id), secrets.OrderNumber(later), "payments are told apart by it")
	}
	id, alias := at("", start)
	again, _ := at("", start)
	require.NotEqual(t, id, again)
	require.Zero(t, alias)
}

func TestClientHash(t *testing.T) {
	t.Parallel()
	m, err := secrets.New(make([]byte, secrets.KeySize))
	require.NoError(t, err)
	other, err := secrets.New(append(make([]byte, secrets.KeySize-1), 1))
	require.NoError(t, err)
	hash := func(m *secrets.Master, address string) uint64 {
		return m.Client(route.Network(netip.MustParseAddr(address)))
	}
	require.Equal(t, hash(m, "192.0.2.1"), hash(m, "192.0.2.1"))
	require.NotEqual(t, hash(m, "192.0.2.1"), hash(m, "192.0.2.2"))
	require.NotEqual(t, hash(m, "192.0.2.1"), hash(other, "192.0.2.1"), "keyed")
	require.Equal(t, hash(m, "2001:db8:1:2::1"), hash(m, "2001:db8:1:2:ff::1"), "one network")
	require.NotEqual(t, hash(m, "2001:db8:1:2::1"), hash(m, "2001:db8:1:3::1"))
	require.NotZero(t, hash(m, "::"))
}

package sales

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
)

// named is the command of a guest's request with its ids.
func named(t *testing.T, m *secrets.Master, op *route.Op, key, address string, now time.Time) (cmd ledger.Place) {
	t.Helper()
	c := route.NewCall(t.Context(), op, now)
	defer c.End()
	c.Env, c.IdempotencyKey, c.Client = "test", key, netip.MustParseAddr(address)
	(&Handlers{Deps: Deps{Secrets: m}}).nameOrder(c, 42, &cmd)
	return cmd
}

// TestOrderIDNeedsTheMasterKey makes sure that who knows all of a request can't
// compute the id of its order; that the address does not matter; and that
// requests without a key have nothing in common.
func TestOrderIDNeedsTheMasterKey(t *testing.T) {
	t.Parallel()
	op := &route.Op{Method: "POST", Path: "/api/v1/orders"}
	const key = "0190b6c1-0000-4000-8000-000000000001"
	at := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	one, err := secrets.New(make([]byte, secrets.KeySize))
	require.NoError(t, err)
	two, err := secrets.New(append(make([]byte, secrets.KeySize-1), 1))
	require.NoError(t, err)
	a, b := named(t, one, op, key, "192.0.2.1", at), named(t, two, op, key, "192.0.2.1", at)
	require.NotEqual(t, a.Order, b.Order)
	require.NotEqual(t, a.Alias, b.Alias)

	elsewhere := named(t, one, op, key, "198.51.100.7", at)
	require.Equal(t, a.Order, elsewhere.Order, "a phone that has changed its network")
	require.Equal(t, a.Alias, elsewhere.Alias)
	require.NotEqual(t, named(t, one, op, "", "192.0.2.1", at).Order, named(t, one, op, "", "192.0.2.1", at).Order, "without a key each is an order of its own")
}

// TestOrderNumbersAreInjective changes each bit of an order's id: no two orders of one
// number are possible, and the number still begins as the release before showed it.
func TestOrderNumbersAreInjective(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	zero := engine.NewID(42, make([]byte, 10))
	for bit := range 80 {
		tail := make([]byte, 10)
		tail[bit/8] = 1 << (bit % 8)
		if id := engine.NewID(42, tail); id != zero {
			seen[secrets.OrderNumber(id)]++
			read, ok := secrets.ReadOrderNumber(strings.ToLower(secrets.OrderNumber(id)))
			require.True(t, ok)
			require.Equal(t, id, read)
		}
	}
	require.Len(t, seen, 74, "each free bit of the id is in the number")
	require.True(t, strings.HasPrefix(secrets.OrderNumber(engine.NumberedID(42, 12345)), "16-22222222EV9-"), secrets.OrderNumber(engine.NumberedID(42, 12345)))
	for _, text := range []string{"", "ada@example.org", "16-22222222EV9", "16-ZZZZZZZZZZZ-22222", "16-22222222EV9-ZZZZZ", "-16-22222222EV9-22222", "ZZZZZZZZZZZZ-22222222EV9-22222"} {
		_, ok := secrets.ReadOrderNumber(text)
		require.False(t, ok, text)
	}
}

// TestOrderID: a repeat within a day finds the order by its id or its alias, and
// one that comes when the ledger may have forgotten it makes another id.
func TestOrderID(t *testing.T) {
	t.Parallel()
	op := &route.Op{Method: "POST", Path: "/api/v1/orders"}
	m, err := secrets.New(make([]byte, secrets.KeySize))
	require.NoError(t, err)
	at := func(key string, now time.Time) (id, alias engine.OrderID) {
		cmd := named(t, m, op, key, "192.0.2.1", now)
		return cmd.Order, cmd.Alias
	}
	const key, apart = "0190b6c1-0000-4000-8000-000000000001", 5 * time.Second // apart: two nodes' clocks
	start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for made := range 49 {
		first := start.Add(time.Duration(made) * time.Hour / 2)
		id, _ := at(key, first)
		require.EqualValues(t, 42, id.Event())
		for _, later := range []time.Duration{0, time.Second, time.Hour, 12 * time.Hour, 24*time.Hour - apart - time.Second} {
			again, alias := at(key, first.Add(later))
			require.True(t, again == id || alias == id, "%s later", later)
		}
		for _, skew := range []time.Duration{-apart, apart} { // the repeat comes to another node
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

package cluster

import (
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/persisttest"
)

// withJournal gives a node a Postgres for its journal alone.
func withJournal(url string) func(*node.Config) {
	return func(c *node.Config) { c.JournalURL = url }
}

// TestAJournalApart makes sure that nodes whose journal is in a database of its own sell, start again
// and take over from one another. Open audits each node's journal at the end.
func TestAJournalApart(t *testing.T) {
	t.Parallel()
	entries := persisttest.Empty(t)
	a := nodetest.Open(t, nodetest.Clustered("a", "", withJournal(entries)))
	b := nodetest.Open(t, nodetest.Clustered("b", a.Config().DatabaseURL, withJournal(entries)))
	settles(t, a, b)
	var types []string
	for range 4 {
		_, ticketType := free(a, 100_000)
		types = append(types, ticketType)
	}
	sellThroughRestart(t, a, b, types)
	var followed, streams int
	require.NoError(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM followers`).Scan(&followed))
	require.NoError(t, a.JournalPools()[0].QueryRow(t.Context(), `SELECT count(*) FROM streams`).Scan(&streams))
	require.Positive(t, followed)
	require.Positive(t, streams)
	require.Error(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM streams`).Scan(&streams), "no journal is at home")
}

// TestADeadNodesWritersApart makes sure that what a node has left that died without stopping is
// closed, and that the other one sells on.
func TestADeadNodesWritersApart(t *testing.T) {
	t.Parallel()
	entries := persisttest.Empty(t)
	a := nodetest.Open(t, nodetest.Clustered("a", "", withJournal(entries)))
	event, ticketType := free(a, 100)
	_, err := a.Pool().Exec(t.Context(), `INSERT INTO nodes (id, name, link, http) VALUES ('dead#1', 'dead', '127.0.0.1:1', '127.0.0.1:1')`)
	require.NoError(t, err)
	var writer int32
	require.NoError(t, a.JournalPools()[0].QueryRow(t.Context(), `
WITH w AS (INSERT INTO writers (node) VALUES ('dead#1') RETURNING writer) INSERT INTO tails (writer) SELECT writer FROM w RETURNING writer`).Scan(&writer))
	require.Eventually(t, func() bool { // its lease is over
		var closed bool
		err := a.JournalPools()[0].QueryRow(t.Context(), `SELECT closed_at IS NOT NULL FROM writers WHERE writer = $1`, writer).Scan(&closed)
		return err == nil && closed
	}, time.Minute, 20*time.Millisecond)
	a.Becomes("0", func() string {
		var n int
		require.NoError(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM burials`).Scan(&n))
		return fmt.Sprint(n)
	})
	surely(a, "POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1), 201)
	a.Becomes("99", func() string {
		return a.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Str("items.0.available")
	})
}

// TestTheJournalIsAway kills the journal's Postgres under load, and keeps it away for seconds. Sales
// answer 503 with Retry-After, lists and searches go on, and everything is back after it: no order
// fails that is repeated as told, and each has one effect.
func TestTheJournalIsAway(t *testing.T) {
	t.Parallel()
	journal := persisttest.StartOwn(t, nil)
	s := nodetest.Open(t, withJournal(journal.URL()))
	event, ticketType := free(s, 100_000)
	title := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("title")
	r := startRush(t, 4, []string{ticketType}, func() string { return s.URL })
	r.atLeast(30)

	journal.Signal(syscall.SIGSTOP) // it answers nobody
	journal.Signal(syscall.SIGSTOP) // nor does what it had begun to start meanwhile
	key := "00000000-0000-4000-8000-000000000001"
	away := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1), "Idempotency-Key", key)
	require.Equal(t, http.StatusServiceUnavailable, away.Status, "%v", away.Body)
	require.NoError(t, s.Pool().Ping(t.Context()))
	s.Call("GET", "/events/"+event, nil).Is(200, "")
	require.Contains(t, fmt.Sprint(s.Call("GET", "/events?q="+url.QueryEscape(title), nil).Is(200, "").Body), event)
	require.Eventually(t, func() bool { return s.Ready() != nil }, time.Minute, 20*time.Millisecond)
	journal.Signal(syscall.SIGKILL) // and then its processes are gone, and it is started again
	r.atLeast(30)
	s.Becomes("true", func() string { return fmt.Sprint(s.Ready() == nil) })
	s.Patient("POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1), "Idempotency-Key", key).Is(201, "")
	r.end()
	sold, _ := r.sold.Load(ticketType)
	left := fmt.Sprint(100_000 - sold.(*atomic.Int64).Load() - 1)
	s.Becomes(left, func() string {
		return fmt.Sprint(s.Call("GET", "/events/"+event+"/tickets", nil).Is(200, "").Data("items.0.available"))
	})
	require.NoError(t, s.Settled(t.Context()))
	var orders int64
	require.NoError(t, s.Pool().QueryRow(t.Context(), `SELECT count(*) FROM orders`).Scan(&orders))
	require.Equal(t, sold.(*atomic.Int64).Load()+1, orders, "the read model at home has each once")
}

package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/node"
	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/persistence/embedded"
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
	var leads atomic.Pointer[nodetest.Shop]
	leads.Store(a)
	r := startRush(t, 4, types, func() string { return leads.Load().URL })
	r.atLeast(30)
	leads.Store(b)
	a.HandOver(t.Context())
	a.Restart()
	settles(t, a, b)
	leads.Store(a)
	r.atLeast(30)
	r.end()
	a.Becomes(fmt.Sprint(r.total.Load()), func() string { // the read model at home has each once
		var orders int64
		require.NoError(t, a.Pool().QueryRow(t.Context(), `SELECT count(*) FROM orders`).Scan(&orders))
		return fmt.Sprint(orders)
	})
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
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755)) // for the user whom root drops to
	start, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server, err := embedded.Start(start, embedded.Config{Dir: dir, Log: slog.New(slog.DiscardHandler), Settings: map[string]string{"shared_buffers": "64MB"}})
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, server.Stop(ctx))
	})
	s := nodetest.Open(t, withJournal(server.URL()))
	event, ticketType := free(s, 100_000)
	title := s.Call("GET", "/events/"+event, nil).Is(200, "").Str("title")
	r := startRush(t, 4, []string{ticketType}, func() string { return s.URL })
	r.atLeast(30)

	signal := func(sig syscall.Signal) {
		for _, pid := range server.Pids() {
			_ = syscall.Kill(pid, sig)
		}
	}
	t.Cleanup(func() { signal(syscall.SIGCONT) }) // if the test fails before it has killed them
	signal(syscall.SIGSTOP)                       // it answers nobody
	signal(syscall.SIGSTOP)                       // nor does what it had begun to start meanwhile
	key := "00000000-0000-4000-8000-000000000001"
	away := s.Call("POST", "/orders", nodetest.OrderBody("ada@example.org", ticketType, 1), "Idempotency-Key", key)
	require.Equal(t, http.StatusServiceUnavailable, away.Status, "%v", away.Body)
	require.NoError(t, s.Pool().Ping(t.Context()))
	s.Call("GET", "/events/"+event, nil).Is(200, "")
	require.Contains(t, fmt.Sprint(s.Call("GET", "/events?q="+url.QueryEscape(title), nil).Is(200, "").Body), event)
	require.Eventually(t, func() bool { return s.Ready() != nil }, time.Minute, 20*time.Millisecond)
	signal(syscall.SIGKILL) // and then its processes are gone, and it is started again
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

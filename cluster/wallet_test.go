package cluster_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cluster"
	"boxoffice/engine"
	"boxoffice/engine/wallet"
)

var purse = engine.WalletRef(7, "USD")

func movement(n int) wallet.EntryID { return engine.NumberedID(7, int64(n)) }

// TestAWalletIsNeverOverdrawn has many take from one wallet at once, each of them
// twice, with a crash in between.
func TestAWalletIsNeverOverdrawn(t *testing.T) {
	t.Parallel()
	const debits, each, covered = 50, 300, 20
	w := newWorld()
	n, j := w.node(t, func(c *cluster.Config) { c.SnapshotEvery = 7 })
	ask(t, n, purse, wallet.Credit{ID: movement(0), Amount: covered*each + each - 1})

	var mu sync.Mutex
	made := make(map[wallet.EntryID]wallet.Entry)
	rush := func(n *cluster.Node, times int) (refused int) {
		var wg sync.WaitGroup
		for i := range times * debits {
			wg.Go(func() {
				c := wallet.Debit{ID: movement(1 + i%debits), Amount: each, Reason: wallet.Payout}
				r, err := n.Ask(t.Context(), purse, c)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					require.ErrorContains(t, err, string(engine.InsufficientFunds))
					refused++
					return
				}
				e := r.(*wallet.Reply).Entry
				if first, again := made[c.ID]; again {
					require.Equal(t, first, e)
				}
				require.GreaterOrEqual(t, e.Balance, int64(0))
				made[c.ID] = e
			})
		}
		wg.Wait()
		return refused
	}
	require.Equal(t, 2*(debits-covered), rush(n, 2))
	require.Len(t, made, covered)
	j.Crash()
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_ = n.Stop(gone) // a crash puts nothing away

	n, j = w.node(t, nil)
	defer stop(t, n, j)
	require.Equal(t, debits-covered, rush(n, 1))
	require.Len(t, made, covered)
	require.Equal(t, &wallet.Record{
		Ref: purse, Balance: each - 1, LifetimePayout: covered * each, Entries: 1 + covered,
	}, ask(t, n, purse, wallet.Get{}))
}

// TestAnIdleWalletComesBack puts a wallet away and asks it again.
func TestAnIdleWalletComesBack(t *testing.T) {
	t.Parallel()
	w := newWorld()
	n, j := w.node(t, func(c *cluster.Config) { c.IdleAfter = 20 * time.Millisecond })
	defer stop(t, n, j)
	ask(t, n, purse, wallet.Credit{ID: movement(1), Amount: 500, Pending: true})
	first := ask(t, n, purse, wallet.Credit{ID: movement(2), Amount: 300}).(*wallet.Reply)
	require.Eventually(t, func() bool { return n.Actors() == 0 }, time.Minute, 10*time.Millisecond)
	again := ask(t, n, purse, wallet.Credit{ID: movement(2), Amount: 300}).(*wallet.Reply)
	require.True(t, again.Known)
	require.Equal(t, first.Entry, again.Entry)
	require.EqualValues(t, 800, ask(t, n, purse, wallet.Clear{ID: movement(1)}).(*wallet.Reply).Wallet.Balance)
	at, noted := w.shelf.parkedAt(purse)
	require.True(t, noted)
	require.True(t, at.IsZero(), "a wallet wants no Wake")
}

func (s *shelf) parkedAt(ref engine.Ref) (time.Time, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.parked[ref]
	return at, ok
}

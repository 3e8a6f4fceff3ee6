package readmodel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/engine"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/readmodel"
)

// enter has a wallet make an entry, and returns it as the wallet tells it.
func (w *world) enter(ref engine.Ref, c engine.Command) wallet.Entry {
	w.t.Helper()
	r := w.do(ref, c)
	require.IsType(w.t, new(wallet.Reply), r, "%v", r)
	return r.(*wallet.Reply).Entry
}

func movement(n int64) wallet.EntryID { return engine.NumberedID(7, n) }

// TestWallets compares the tables with what the wallets say, whether entries come
// one at a time or many at once.
func TestWallets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	none := []readmodel.Wallet{{Currency: "USD"}, {Currency: "NGN"}, {Currency: "ZAR"}}
	all, err := w.model.Wallets(ctx, 7, engine.Currencies)
	require.NoError(t, err)
	require.Equal(t, none, all)
	entries, err := w.model.WalletEntries(ctx, 7, "USD", 0, 10)
	require.NoError(t, err)
	require.Empty(t, entries)

	usd, ngn, other := engine.WalletRef(7, "USD"), engine.WalletRef(7, "NGN"), engine.WalletRef(8, "USD")
	var ledger []wallet.Entry
	enter := func(c engine.Command) {
		ledger = append(ledger, w.enter(usd, c))
		w.now = w.now.Add(time.Second)
	}
	enter(wallet.Credit{ID: movement(1), Amount: 10_000, Reason: wallet.TopUp, Reference: "r-1", Note: "by wire", By: "user/1"})
	w.settled()
	w.enter(ngn, wallet.Credit{ID: movement(1), Amount: 1, Pending: true})
	w.enter(other, wallet.Credit{ID: movement(1), Amount: 2})
	enter(wallet.Credit{ID: movement(2), Amount: 500, Pending: true})
	enter(wallet.Debit{ID: movement(3), Amount: 300, Reason: wallet.Payout})
	enter(wallet.Clear{ID: movement(2), By: "user/2"})
	w.do(usd, wallet.Clear{ID: movement(2)})                    // again
	w.do(usd, wallet.Debit{ID: movement(9), Amount: 1_000_000}) // refused
	enter(wallet.Credit{ID: movement(4), Amount: 700, Pending: true})
	w.settled()
	enter(wallet.Void{ID: movement(4)})
	enter(wallet.Debit{ID: movement(5), Amount: 200, Reason: wallet.Payout})
	enter(wallet.Debit{ID: movement(6), Amount: 50})
	enter(wallet.Credit{ID: movement(7), Amount: 40, Pending: true})
	w.settled()

	all, err = w.model.Wallets(ctx, 7, engine.Currencies)
	require.NoError(t, err)
	require.Equal(t, []readmodel.Wallet{
		{Currency: "USD", Balance: 9_950, Pending: 40, LifetimePayout: 500}, {Currency: "NGN", Pending: 1}, {Currency: "ZAR"},
	}, all)
	r := w.do(usd, wallet.Get{}).(*wallet.Record)
	require.Equal(t, [3]int64{r.Balance, r.Pending, r.LifetimePayout}, [3]int64{all[0].Balance, all[0].Pending, all[0].LifetimePayout})
	all, err = w.model.Wallets(ctx, 8, engine.Currencies)
	require.NoError(t, err)
	require.EqualValues(t, 2, all[0].Balance)
	all, err = w.model.Wallets(ctx, 9, engine.Currencies)
	require.NoError(t, err)
	require.Equal(t, none, all)

	var pages []wallet.Entry
	for before := int64(0); ; {
		page, err := w.model.WalletEntries(ctx, 7, "USD", before, 3)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page), 3)
		if len(page) == 0 {
			break
		}
		pages, before = append(pages, page...), page[len(page)-1].Number
	}
	require.Len(t, pages, len(ledger))
	for i, e := range pages {
		require.Equal(t, ledger[len(ledger)-1-i], e)
	}
	for _, c := range []string{"ZAR", "EUR"} {
		entries, err = w.model.WalletEntries(ctx, 7, c, 0, 10)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
}

// TestWalletTakesAnyText has the ledger take text that Postgres refuses.
func TestWalletTakesAnyText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad := "a\x00b\xff"
	w.enter(engine.WalletRef(7, "USD"), wallet.Credit{ID: movement(1), Amount: 1, Reason: bad, Reference: bad, Note: bad, By: bad})
	w.settled()
	entries, err := w.model.WalletEntries(t.Context(), 7, "USD", 0, 10)
	require.NoError(t, err)
	require.Len(t, entries, 1)
	clean := "a\uFFFDb\uFFFD"
	require.Equal(t, [4]string{clean, clean, clean, clean}, [4]string{entries[0].Reason, entries[0].Reference, entries[0].Note, entries[0].By})
}

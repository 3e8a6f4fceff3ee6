package readmodel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"boxoffice/engine"
	"boxoffice/engine/wallet"
)

// ledgers are the entries of wallets in the batches that are being written, in the order of the batches.
type ledgers struct {
	refs    []engine.Ref // for each entry, its wallet
	entries []*wallet.Entry
}

func (l *ledgers) reset() {
	clear(l.entries) // lets the facts go
	l.refs, l.entries = l.refs[:0], l.entries[:0]
}

func (l *ledgers) add(ref engine.Ref, e *wallet.Entry) {
	l.refs, l.entries = append(l.refs, ref), append(l.entries, e)
}

// insert queues the new entries, and the wallets as the last entry of each leaves them.
func (l *ledgers) insert(b *pgx.Batch) {
	if len(l.entries) == 0 {
		return
	}
	const entries = `
INSERT INTO wallet_entries (org, currency, number, id, kind, amount, balance, pending, at, reason, reference, note, actor)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[],
  $9::timestamptz[], $10::text[], $11::text[], $12::text[], $13::text[])`
	n := len(l.entries)
	orgs, currencies, numbers := make([]int64, n), make([]int64, n), make([]int64, n)
	ids, kinds, at := make([][16]byte, n), make([]int16, n), make([]time.Time, n)
	amounts, balances, pending := make([]int64, n), make([]int64, n), make([]int64, n)
	reasons, references, notes, actors := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	for i, e := range l.entries {
		orgs[i], currencies[i], numbers[i] = l.refs[i].Home, l.refs[i].ID, e.Number
		ids[i], kinds[i], at[i] = e.ID, int16(e.Kind), time.UnixMilli(e.At)
		amounts[i], balances[i], pending[i] = e.Amount, e.Balance, e.Pending
		reasons[i], references[i], notes[i], actors[i] = text(e.Reason), text(e.Reference), text(e.Note), text(e.By)
	}
	b.Queue(entries, orgs, currencies, numbers, ids, kinds, amounts, balances, pending, at, reasons, references, notes, actors)
	l.upsert(b)
}

// upsert queues the sums of the wallets that have new entries. Each entry has the balance after it, and what is
// pending then, so the last entry of a wallet is enough; only payouts are added up.
func (l *ledgers) upsert(b *pgx.Batch) {
	const wallets = `
INSERT INTO wallets AS w (org, currency, balance, pending, lifetime_payout, updated_at)
SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::timestamptz[])
ON CONFLICT (org, currency) DO UPDATE
SET balance = excluded.balance, pending = excluded.pending, lifetime_payout = w.lifetime_payout + excluded.lifetime_payout,
  updated_at = excluded.updated_at`
	// Postgres refuses a statement that meets one row twice, so each wallet has one row here.
	index := make(map[engine.Ref]int)
	var orgs, currencies, balances, pending, paid []int64
	var at []time.Time
	for i, e := range l.entries {
		ref := l.refs[i]
		j, ok := index[ref]
		if !ok {
			j = len(orgs)
			index[ref] = j
			orgs, currencies = append(orgs, ref.Home), append(currencies, ref.ID)
			balances, pending, paid, at = append(balances, 0), append(pending, 0), append(paid, 0), append(at, time.Time{})
		}
		balances[j], pending[j], at[j] = e.Balance, e.Pending, time.UnixMilli(e.At)
		if e.PaysOut() {
			paid[j] += e.Amount
		}
	}
	b.Queue(wallets, orgs, currencies, balances, pending, paid, at)
}

// Wallet is an organization's money in one currency, in minor units.
type Wallet struct {
	Currency       string
	Balance        int64
	Pending        int64
	LifetimePayout int64
}

// Wallets lists an organization's money in some currencies, with zeros where it has no wallet, and then in all other
// currencies in which it has one.
func (m *Model) Wallets(ctx context.Context, org int64, currencies []engine.Currency) ([]Wallet, error) {
	var all []Wallet
	for i := range currencies {
		all = append(all, Wallet{Currency: currencies[i].Code})
	}
	rows, _ := m.pool.Query(ctx, `SELECT currency, balance, pending, lifetime_payout FROM wallets WHERE org = $1 ORDER BY currency`, org) // ForEachRow returns its error
	var currency int64
	var w Wallet
	_, err := pgx.ForEachRow(rows, []any{&currency, &w.Balance, &w.Pending, &w.LifetimePayout}, func() error {
		c, ok := engine.CurrencyNumbered(currency)
		if !ok {
			return fmt.Errorf("currency %d", currency)
		}
		w.Currency = c.Code
		if i := slices.IndexFunc(currencies, func(of engine.Currency) bool { return of.Number == currency }); i >= 0 {
			all[i] = w
		} else {
			all = append(all, w)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("wallets of organization %d: %w", org, err)
	}
	return all, nil
}

// WalletEntries lists the entries of a wallet, the newest first. Before is the number of the last entry of the page
// before, and 0 for the first page.
func (m *Model) WalletEntries(ctx context.Context, org int64, currency string, before int64, limit int) ([]wallet.Entry, error) {
	const find = `
SELECT number, id, kind, amount, balance, pending, at, reason, reference, note, actor FROM wallet_entries
WHERE org = $1 AND currency = $2 AND number < $3 ORDER BY number DESC LIMIT $4`
	if before == 0 {
		before = math.MaxInt64
	}
	ref := engine.WalletRef(org, currency)
	rows, _ := m.pool.Query(ctx, find, ref.Home, ref.ID, before, limit) // CollectRows returns its error
	list, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (e wallet.Entry, err error) {
		var kind int16
		var at time.Time
		err = row.Scan(&e.Number, (*[16]byte)(&e.ID), &kind, &e.Amount, &e.Balance, &e.Pending, &at, &e.Reason, &e.Reference, &e.Note, &e.By)
		e.Kind, e.At = wallet.EntryKind(kind), at.UnixMilli()
		return e, err
	})
	if err != nil {
		return nil, fmt.Errorf("ledger of %s: %w", ref.Name(), err)
	}
	return list, nil
}

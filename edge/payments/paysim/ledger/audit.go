package ledger

import (
	"cmp"
	"time"
)

// Row is one transaction as an audit sees it. Amounts are in minor units.
type Row struct {
	ID        int64  `json:"id"`
	Provider  string `json:"provider"`
	Reference string `json:"reference"`
	Order     string `json:"order"`           // our reference, also where the provider has one of its own
	Parent    int64  `json:"parent,omitzero"` // number of the payment to whose address this money came later; 0: none
	Status    string `json:"status"`
	Currency  string `json:"currency"`
	Asked     int64  `json:"asked"`
	Paid      int64  `json:"paid"` // 0 until the money is there
	Refunded  int64  `json:"refunded"`
}

// AuditPage is how many rows Rows returns at most, and how many transactions a method here visits before it lets
// go of the lock for a moment.
const AuditPage = 10_000

// Rows returns up to limit rows, and at most AuditPage, in the order of their ids, beginning with the id from.
// A status other than "" selects only its transactions. The next page begins at next, which is 0 after the last
// page. Rows takes the lock.
func (l *Ledger) Rows(from int64, status string, limit int) (rows []Row, next int64) {
	now := l.cfg.Now()
	limit = min(limit, AuditPage)
	for {
		l.Lock()
		for range AuditPage {
			t, n := l.txs.next(from)
			if t == nil {
				l.Unlock()
				return rows, 0
			}
			if len(rows) == limit {
				l.Unlock()
				return rows, n
			}
			from = n + 1
			if st := t.Status(now); status == "" || st == status {
				row := Row{
					ID: t.ID, Provider: cmp.Or(t.Provider, "paystack"), Reference: t.Reference, Order: cmp.Or(t.Order, t.Reference), Parent: t.Parent,
					Status: st, Currency: t.Currency, Asked: t.Asked, Refunded: t.SumRefunded(now),
				}
				if Arrived(st) {
					row.Paid = t.Paid
				}
				rows = append(rows, row)
			}
		}
		l.Unlock()
	}
}

// Total is money of one currency, in minor units.
type Total struct {
	Asked    int64 `json:"asked"`
	Paid     int64 `json:"paid"`
	Refunded int64 `json:"refunded"`
}

// Tally counts transactions by status and their money by currency.
type Tally struct {
	Statuses map[string]int64 `json:"statuses"`
	Totals   map[string]Total `json:"totals"`
}

func newTally() Tally {
	return Tally{Statuses: make(map[string]int64), Totals: make(map[string]Total)}
}

// addTransaction adds a transaction as it is at a time. Money counts as paid once it has arrived.
func (y Tally) addTransaction(t *Transaction, now time.Time) {
	st := t.Status(now)
	y.Statuses[st]++
	sum := y.Totals[t.Currency]
	sum.Asked += t.Asked
	if Arrived(st) {
		sum.Paid += t.Paid
	}
	sum.Refunded += t.SumRefunded(now)
	y.Totals[t.Currency] = sum
}

// add adds the counts of another tally.
func (y Tally) add(o Tally) {
	for st, n := range o.Statuses {
		y.Statuses[st] += n
	}
	for currency, v := range o.Totals {
		sum := y.Totals[currency]
		y.Totals[currency] = Total{sum.Asked + v.Asked, sum.Paid + v.Paid, sum.Refunded + v.Refunded}
	}
}

// Tally counts all transactions that there ever were, and how many of them are forgotten. A forgotten
// transaction counts as it was when it was dropped. Tally takes the lock several times, so its counts are not of
// a single moment.
func (l *Ledger) Tally() (all Tally, forgotten int64) {
	all = newTally()
	now := l.cfg.Now()
	l.Lock()
	forgotten = l.forgot
	all.add(l.dropped)
	l.Unlock()
	for from := int64(0); ; {
		l.Lock()
		for range AuditPage {
			t, n := l.txs.next(from)
			if t == nil {
				l.Unlock()
				return all, forgotten
			}
			all.addTransaction(t, now)
			from = n + 1
		}
		l.Unlock()
	}
}

// Package ledger keeps what the payment simulator charges: transactions, their refunds and their
// disputes, and decides what the modes (see the package faults) make of each.
//
// It knows no provider's API: the simulator's parts, one a provider, read requests into its records
// and write its records in their provider's words.
//
// One lock guards everything, for microseconds at a time. A Ledger is bounded: it forgets the oldest
// transactions that are settled, and keeps their sums. It has no goroutine and nothing to stop: what
// time changes is worked out when it is read.
package ledger

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/edge/payments/paysim/faults"
)

// Config says what to keep, and whom to tell.
type Config struct {
	Limit   int   // the most transactions that are kept, above 0
	FirstID int64 // the number of the first transaction, and of the first refund
	Dice    *faults.Dice
	Now     func() time.Time

	// Charge and Refund announce what the shop is told by webhooks, in so much time from now. They
	// are called under the lock, and must not take it.
	Charge func(t *Transaction, m faults.Modes, in time.Duration)
	Refund func(r *Refund, m faults.Modes, in time.Duration)
}

// Ledger is every transaction that is kept. Make it with New.
type Ledger struct {
	sync.Mutex // guards all fields below but modes, and the fields of every Transaction and Refund

	cfg     Config
	modes   atomic.Pointer[faults.Modes]
	byRef   map[string]*Transaction
	txs     ring[Transaction]
	refunds ring[Refund]
	dropped Tally // sums of the forgotten transactions, as they were when each was dropped
	forgot  int64 // counts the forgotten transactions
}

// New makes an empty ledger.
func New(cfg Config) *Ledger {
	return &Ledger{
		cfg:     cfg,
		byRef:   make(map[string]*Transaction),
		txs:     ring[Transaction]{base: cfg.FirstID},
		refunds: ring[Refund]{base: cfg.FirstID},
		dropped: newTally(),
	}
}

// SetModes replaces the modes of transactions without their own, at once. It takes no lock.
func (l *Ledger) SetModes(m faults.Modes) { l.modes.Store(&m) }

// ModesOf is how the transaction misbehaves; of nil, the modes of the process. It takes no lock.
func (l *Ledger) ModesOf(t *Transaction) faults.Modes {
	if t != nil {
		if own := t.Modes.Load(); own != nil {
			return *own
		}
	}
	return *l.modes.Load()
}

// Add stores a new transaction and gives it its number. The mode "auto" pays it at once. It returns
// false if its reference is taken. The ledger is locked.
func (l *Ledger) Add(t *Transaction) bool {
	if !l.storeTransaction(t) {
		return false
	}
	if set, ok := l.cfg.Dice.Struck(l.ModesOf(t), "auto", t.Reference); ok {
		l.Settle(t, Success, t.Created.Add(set.Span))
	}
	return true
}

// storeTransaction keeps a new transaction under its number and its reference. A full ledger forgets one for it. It returns
// false if the reference is taken.
func (l *Ledger) storeTransaction(t *Transaction) bool {
	if l.byRef[t.Reference] != nil {
		return false
	}
	if l.txs.live >= l.cfg.Limit {
		l.forgetOne(t.Created)
	}
	t.ID = l.txs.add(t)
	l.byRef[t.Reference] = t
	return true
}

// forgetOne drops the oldest that is settled among the 64 oldest, else the oldest.
func (l *Ledger) forgetOne(now time.Time) {
	var victim *Transaction
	t, n := l.txs.next(0)
	for range 64 {
		if t == nil {
			break
		}
		settled := t.Status(now) == Success || t.Status(now) == Failed || t.Status(now) == Reversed
		if victim == nil || settled {
			victim = t
		}
		if settled {
			break
		}
		t, n = l.txs.next(n + 1)
	}
	if victim == nil {
		return
	}
	l.dropped.addTransaction(victim, now)
	l.forgot++
	delete(l.byRef, victim.Reference)
	l.txs.drop(victim.ID)
	for _, r := range victim.Refunds {
		l.refunds.drop(r.ID)
	}
}

// ByReference finds a transaction by its reference, nil if there is none. The ledger is locked.
func (l *Ledger) ByReference(reference string) *Transaction { return l.byRef[reference] }

// ByID finds a transaction by its number, nil if there is none. The ledger is locked.
func (l *Ledger) ByID(id int64) *Transaction { return l.txs.get(id) }

// RefundByID finds a refund by its number, nil if there is none. The ledger is locked.
func (l *Ledger) RefundByID(id int64) *Refund { return l.refunds.get(id) }

// Find looks a transaction up by its reference or its number. It takes the lock.
func (l *Ledger) Find(which string) *Transaction {
	l.Lock()
	defer l.Unlock()
	if t := l.byRef[which]; t != nil {
		return t
	}
	id, err := strconv.ParseInt(which, 10, 64)
	if err != nil {
		return nil
	}
	return l.txs.get(id)
}

// FindPrefixed finds a provider's transaction by an id that is a prefix and our number. It takes
// the lock.
func (l *Ledger) FindPrefixed(provider, id, prefix string) *Transaction {
	number, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return nil
	}
	if t := l.Find(number); t != nil && t.Provider == provider && number != t.Reference {
		return t
	}
	return nil
}

// EachTransaction visits transactions from the newest on, until visit says no. The ledger is locked.
func (l *Ledger) EachTransaction(visit func(*Transaction) bool) {
	l.txs.eachFromNewest(visit)
}

// EachRefund visits refunds from the newest on, until visit says no: all of them if which is empty, else
// the refunds of t, the transaction that which names, or none if t is nil. The ledger is locked.
func (l *Ledger) EachRefund(which string, t *Transaction, visit func(*Refund) bool) {
	if which == "" {
		l.refunds.eachFromNewest(visit)
		return
	}
	for i := 0; t != nil && i < len(t.Refunds); i++ {
		if !visit(t.Refunds[len(t.Refunds)-1-i]) {
			return
		}
	}
}

// CountRead counts a read of a transaction. The mode "pending" hides money from the first reads; with the
// last of these the webhook about it goes out. Read the answer before you call it. The ledger is locked.
func (l *Ledger) CountRead(t *Transaction) {
	if t.Status(l.cfg.Now()) != Pending || t.PendingLeft == 0 {
		return
	}
	if t.PendingLeft--; t.PendingLeft == 0 {
		l.cfg.Charge(t, l.ModesOf(t), 0)
	}
}

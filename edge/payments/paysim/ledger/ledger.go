// Package ledger keeps the transactions of the payment simulator, with their refunds and disputes. It decides
// how the modes (package faults) change what happens to each.
//
// It knows no provider's API: for each provider, the simulator has a part that makes the ledger's records from
// requests, and answers from the records.
//
// One lock guards everything, for microseconds at a time. A Ledger is bounded: when it is full, it forgets an old
// transaction, if possible one that has ended (forgetOne), and keeps the sums. It has no goroutine and nothing to
// stop: a status that changes with time is computed when it is read.
package ledger

import (
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/edge/payments/paysim/faults"
)

// Config says how much to keep, and how webhooks are announced.
type Config struct {
	Limit   int   // the most transactions that are kept, above 0
	FirstID int64 // the number of the first transaction, and of the first refund
	Dice    *faults.Dice
	Now     func() time.Time

	// Charge and Refund queue the webhooks about a payment and about a refund, to be sent after the duration in.
	// They are called under the lock, and must not take it.
	Charge func(t *Transaction, m faults.Modes, in time.Duration)
	Refund func(r *Refund, m faults.Modes, in time.Duration)
}

// Ledger keeps transactions. Make it with New.
type Ledger struct {
	sync.Mutex // guards the fields below except cfg and modes, and what is in the records (see Transaction)

	cfg     Config
	modes   atomic.Pointer[faults.Modes]
	byRef   map[string]*Transaction
	txs     ring[Transaction]
	refunds ring[Refund]
	dropped Tally // sums of the forgotten transactions, as they were when each was dropped
	forgot  int64 // counts the forgotten transactions
}

// New makes an empty ledger. It has no modes yet: SetModes must be called before anything else.
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

// ModesOf returns a transaction's own modes, or the modes that SetModes has set if t is nil or has none. It
// takes no lock.
func (l *Ledger) ModesOf(t *Transaction) faults.Modes {
	if t != nil {
		if own := t.Modes.Load(); own != nil {
			return *own
		}
	}
	return *l.modes.Load()
}

// Add stores a new transaction and gives it its number. With the mode "auto" it also ends the checkout with a
// payment, whose money comes after the mode's time. It returns false if the reference is taken. The ledger is
// locked.
func (l *Ledger) Add(t *Transaction) bool {
	if !l.storeTransaction(t) {
		return false
	}
	if set, ok := l.cfg.Dice.Struck(l.ModesOf(t), "auto", t.Reference); ok {
		l.Settle(t, Success, t.Created.Add(set.Span))
	}
	return true
}

// storeTransaction keeps a new transaction under its number and its reference. If the ledger is full, it first
// forgets another one (forgetOne). It returns false if the reference is taken.
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

// forgetOne drops a transaction: of the 64 oldest the first one that has succeeded, failed or been reversed, and
// the oldest one if there is none like that. Its refunds go with it. The sums of l.dropped keep what it was, so that
// the totals stay right. It does nothing if there is no transaction.
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

// Find looks a transaction up by its reference or its number, and returns nil if there is none. It takes the
// lock.
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

// FindPrefixed finds a provider's transaction by an id that consists of a prefix and our number, or returns nil.
// It takes the lock.
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

// EachTransaction visits transactions from the newest on, until visit returns false. The ledger is locked.
func (l *Ledger) EachTransaction(visit func(*Transaction) bool) {
	l.txs.eachFromNewest(visit)
}

// EachRefund visits refunds from the newest on, until visit returns false. If which is empty, it visits all
// refunds. Otherwise it visits the refunds of t, which is the transaction that which names, or none if t is nil.
// The ledger is locked.
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

// CountRead counts a read of a transaction. The mode "pending" hides the money from the first reads. After the
// last of these reads, the webhook about the money is sent. So the caller must make its answer before it calls
// CountRead. The ledger is locked.
func (l *Ledger) CountRead(t *Transaction) {
	if t.Status(l.cfg.Now()) != Pending || t.PendingLeft == 0 {
		return
	}
	if t.PendingLeft--; t.PendingLeft == 0 {
		l.cfg.Charge(t, l.ModesOf(t), 0)
	}
}

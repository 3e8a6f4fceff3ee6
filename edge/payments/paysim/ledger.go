package paysim

import (
	"cmp"
	"encoding/json"
	"sync/atomic"
	"time"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/outbox"
)

// Paystack's words for a transaction and a refund.
const (
	success   = "success"
	failed    = "failed"
	abandoned = "abandoned"
	pending   = "pending"
	reversed  = "reversed"

	refundProcessing = "processing"
	refundProcessed  = "processed"
)

// The providers beside Paystack.
const (
	nowpayments = "nowpayments"
	flutterwave = "flutterwave"
	stripe      = "stripe"
	mollie      = "mollie"
	paypal      = "paypal"
)

// firstID keeps ids beyond 32 bits, as live ones are.
const firstID = 4_400_000_000

// transaction is one charge. The function status works out how far it has come by
// a moment; this is not stored, so nothing has to wake up for it.
type transaction struct {
	id        int64
	provider  string // "" is Paystack
	coin      *coin  // of NOWPayments
	order     string // there, whose reference is ours
	parent    int64  // there, the payment to whose address it came later; 0 of one that was asked for
	hook      string // there, where it is told
	reference string
	email     string
	currency  string
	callback  string
	metadata  json.RawMessage // an object, or nil
	asked     int64           // minor units
	created   time.Time
	modes     atomic.Pointer[faults.Modes] // its own; nil: the process's

	outcome     string // at checkout: "" until then, or the status it was left in
	paid        int64  // with outcome success
	paidAt      time.Time
	pendingLeft int64 // times that verify still answers pending
	refunds     []*refund
	dispute     *dispute // nil: none
	refused     int64    // calls for a refund, for the balance was too small
}

// refund is money going back, known from its created time on.
type refund struct {
	id           int64
	of           *transaction
	amount       int64
	created      time.Time
	step         time.Duration // pending for one, processing for one
	end          string
	customerNote string
	merchantNote string
}

func (t *transaction) status(now time.Time) string {
	switch {
	case t.outcome == "":
		return abandoned
	case t.outcome != success:
		return t.outcome
	case now.Before(t.paidAt):
		return abandoned
	case t.pendingLeft > 0:
		return pending
	case t.paid > 0 && t.sumRefunded(now) >= t.paid:
		return reversed
	}
	return success
}

// arrived reports whether the status tells of money.
func arrived(status string) bool { return status == success || status == reversed }

// sumRefunded is what has gone back.
func (t *transaction) sumRefunded(now time.Time) (sum int64) {
	for _, r := range t.refunds {
		if r.status(now) == refundProcessed {
			sum += r.amount
		}
	}
	return sum
}

// refundable is what has not gone back and is not going.
func (t *transaction) refundable(now time.Time) int64 {
	left := t.paid - t.chargedBack()
	for _, r := range t.refunds {
		if st := r.status(now); st != "" && st != failed {
			left -= r.amount
		}
	}
	return left
}

// status is empty before the refund exists.
func (r *refund) status(now time.Time) string {
	switch age := now.Sub(r.created); {
	case age < 0:
		return ""
	case age < r.step || r.end == pending:
		return pending
	case age < 2*r.step || r.end == refundProcessing:
		return refundProcessing
	}
	return r.end
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

func (y Tally) count(t *transaction, now time.Time) {
	st := t.status(now)
	y.Statuses[st]++
	sum := y.Totals[t.currency]
	sum.Asked += t.asked
	if arrived(st) {
		sum.Paid += t.paid
	}
	sum.Refunded += t.sumRefunded(now)
	y.Totals[t.currency] = sum
}

func (y Tally) add(o Tally) {
	for st, n := range o.Statuses {
		y.Statuses[st] += n
	}
	for currency, v := range o.Totals {
		sum := y.Totals[currency]
		y.Totals[currency] = Total{sum.Asked + v.Asked, sum.Paid + v.Paid, sum.Refunded + v.Refunded}
	}
}

// ledger is every transaction that is kept. Sim.mu guards it.
type ledger struct {
	limit   int
	step    time.Duration
	byRef   map[string]*transaction
	txs     ring[transaction]
	refunds ring[refund]
	dropped Tally // what the forgotten ones came to, at the time
	forgot  int64
}

func newLedger(limit int, first int64, step time.Duration) ledger {
	return ledger{
		limit:   limit,
		step:    step,
		byRef:   make(map[string]*transaction),
		txs:     ring[transaction]{base: first},
		refunds: ring[refund]{base: first},
		dropped: newTally(),
	}
}

// add stores a new transaction; false if its reference is taken.
func (l *ledger) add(t *transaction) bool {
	if l.byRef[t.reference] != nil {
		return false
	}
	if l.txs.live >= l.limit {
		l.forget(t.created)
	}
	t.id = l.txs.add(t)
	l.byRef[t.reference] = t
	return true
}

// forget drops the oldest that is settled among the 64 oldest, else the oldest.
func (l *ledger) forget(now time.Time) {
	var victim *transaction
	t, n := l.txs.next(0)
	for range 64 {
		if t == nil {
			break
		}
		settled := t.status(now) == success || t.status(now) == failed || t.status(now) == reversed
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
	l.dropped.count(victim, now)
	l.forgot++
	delete(l.byRef, victim.reference)
	l.txs.drop(victim.id)
	for _, r := range victim.refunds {
		l.refunds.drop(r.id)
	}
}

// refund adds a refund to the transaction.
func (l *ledger) refund(t *transaction, r *refund) {
	r.of = t
	r.id = l.refunds.add(r)
	t.refunds = append(t.refunds, r)
}

// modesOf is how the transaction misbehaves.
func (s *Sim) modesOf(t *transaction) faults.Modes {
	if t != nil {
		if own := t.modes.Load(); own != nil {
			return *own
		}
	}
	return *s.modes.Load()
}

// settle ends a checkout at that time, which may be still to come. A
// transaction once paid stays so; a failed or abandoned one may be tried again,
// as at the real checkout. Sim.mu is held.
func (s *Sim) settle(t *transaction, outcome string, at time.Time) {
	if t.outcome == success {
		return
	}
	m := s.modesOf(t)
	if outcome == success {
		for _, instead := range []string{failed, abandoned} {
			if _, ok := s.dice.Struck(m, instead, t.reference); ok {
				outcome = instead
			}
		}
	}
	t.outcome = outcome
	if outcome == success {
		s.collectMoney(t, m, at)
	}
}

// collectMoney fixes how much money arrives and when, and what is told about it.
func (s *Sim) collectMoney(t *transaction, m faults.Modes, at time.Time) {
	t.paid, t.paidAt, t.pendingLeft = t.asked, at, 0
	if set, ok := s.dice.Struck(m, "short", t.reference); ok {
		less := set.Number
		if less == 0 {
			less = (t.asked + 1) / 2
		}
		t.paid = max(t.asked-less, 0)
	}
	if set, ok := s.dice.Struck(m, "over", t.reference); ok {
		more := set.Number
		if more == 0 {
			more = (t.asked + 1) / 2
		}
		t.paid = t.asked + more
	}
	if set, ok := s.dice.Struck(m, "currency", t.reference); ok {
		t.currency = set.Word
	}
	if set, ok := s.dice.Struck(m, "late", t.reference); ok {
		t.paidAt = at.Add(set.Span)
	}
	if set, ok := s.dice.Struck(m, "pending", t.reference); ok {
		t.pendingLeft = set.Number
	}
	if set, ok := s.dice.Struck(m, "again", t.reference); ok && t.provider == nowpayments {
		s.depositAgain(t, at.Add(set.Span))
	}
	now := s.cfg.Now()
	if t.pendingLeft == 0 {
		s.hooks.announceCharge(t, m, t.paidAt.Sub(now))
	}
	if set, ok := s.dice.Struck(m, "reversed", t.reference); ok && t.paid > 0 {
		r := &refund{amount: t.paid, created: t.paidAt.Add(set.Span), end: refundProcessed, merchantNote: "reversed by the provider"}
		s.ledger.refund(t, r)
		s.hooks.announceRefund(r, m, r.created.Sub(now))
	}
}

// Row is one transaction as an audit sees it. Amounts are in minor units.
type Row struct {
	ID        int64  `json:"id"`
	Provider  string `json:"provider"`
	Reference string `json:"reference"`
	Order     string `json:"order"`           // our reference, also where the provider has one of its own
	Parent    int64  `json:"parent,omitzero"` // the payment to whose address the money came later
	Status    string `json:"status"`
	Currency  string `json:"currency"`
	Asked     int64  `json:"asked"`
	Paid      int64  `json:"paid"` // 0 until the money is there
	Refunded  int64  `json:"refunded"`
}

// auditPage is the most rows, and visits, under one hold of the mutex.
const auditPage = 10_000

// Transactions returns up to limit rows in order of id, of that status or of
// any, from the id from on. The next page starts at next; 0 ends it.
func (s *Sim) Transactions(from int64, status string, limit int) (rows []Row, next int64) {
	now := s.cfg.Now()
	limit = min(limit, auditPage)
	for {
		s.mu.Lock()
		for range auditPage {
			t, n := s.ledger.txs.next(from)
			if t == nil {
				s.mu.Unlock()
				return rows, 0
			}
			if len(rows) == limit {
				s.mu.Unlock()
				return rows, n
			}
			from = n + 1
			if st := t.status(now); status == "" || st == status {
				row := Row{
					ID: t.id, Provider: cmp.Or(t.provider, "paystack"), Reference: t.reference, Order: cmp.Or(t.order, t.reference), Parent: t.parent,
					Status: st, Currency: t.currency, Asked: t.asked, Refunded: t.sumRefunded(now),
				}
				if arrived(st) {
					row.Paid = t.paid
				}
				rows = append(rows, row)
			}
		}
		s.mu.Unlock()
	}
}

// Stats is what the simulator did since it started. Money is counted over all
// transactions ever, the forgotten ones as they were when they were dropped.
// Taken while calls go on, it is no single moment's picture.
type Stats struct {
	Tally
	Transactions int64            `json:"transactions"`
	Forgotten    int64            `json:"forgotten"`
	Calls        map[string]int64 `json:"calls"`
	Webhooks     outbox.Stats     `json:"webhooks"`
	Modes        string           `json:"modes"`
}

// Stats counts everything.
func (s *Sim) Stats() Stats {
	out := Stats{
		Tally: newTally(), Calls: s.calls.snapshot(), Webhooks: s.hooks.box.Stats(), Modes: s.modes.Load().String(),
	}
	now := s.cfg.Now()
	s.mu.Lock()
	out.Forgotten = s.ledger.forgot
	out.add(s.ledger.dropped)
	s.mu.Unlock()
	for from := int64(0); ; {
		s.mu.Lock()
		for range auditPage {
			t, n := s.ledger.txs.next(from)
			if t == nil {
				s.mu.Unlock()
				for _, n := range out.Statuses {
					out.Transactions += n
				}
				return out
			}
			out.count(t, now)
			from = n + 1
		}
		s.mu.Unlock()
	}
}

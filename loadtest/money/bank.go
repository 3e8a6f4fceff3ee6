package money

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// bank is the account to which buyers transfer money. It does nothing by itself: its owner imports
// its statements into the service and sends refunds by hand.
type bank struct {
	mu       sync.Mutex
	lines    []bankLine
	accounts map[string]*Row // by the reference of the attempt to pay
	// How many of the lines have been imported.
	told int

	// The organizer's session. An API key will not do, because only a person may tell that money
	// has come.
	session string
	since   time.Time // when the session was opened
}

// bankLine is one line of a statement: money that has come.
type bankLine struct {
	// number is the line's own, by which a statement that repeats it is recognized. word is the reference that the
	// payer wrote.
	number                 int
	amount, currency, word string
}

// transferTo is what a buyer is told who pays by transfer: the amount and the reference to write.
type transferTo struct{ Amount, Currency, Reference string }

// payIn transfers what a buyer's story demands: everything that is owed, half of it, or half more.
// In a late story the bank needs some seconds. again marks a second transfer for the same attempt.
func (m *market) payIn(ctx context.Context, attempt string, to transferTo, modes string, again bool) {
	if strings.HasPrefix(modes, "late") {
		rig.Wait(ctx, 3*time.Second)
	}
	m.bank.mu.Lock()
	defer m.bank.mu.Unlock()
	// The first transfer for an attempt opens its row. The audit reads it like a payment at a provider.
	row := m.bank.accounts[attempt]
	if row == nil {
		row = &Row{Order: attempt, Currency: to.Currency, Provider: transfer, Asked: parseMinor(to.Amount)}
		m.bank.accounts[attempt] = row
	}
	amount := row.Asked
	switch {
	// A second transfer after one that was too small pays the rest. After any other it pays everything once more,
	// which must go back.
	case again && row.Paid < row.Asked:
		amount -= row.Paid
	case again:
	case strings.HasPrefix(modes, "short"):
		amount /= 2
	case strings.HasPrefix(modes, "over"):
		amount += amount / 2
	}
	row.Paid += amount
	// The service hears of the money only by the next statement that has this line.
	m.bank.lines = append(m.bank.lines, bankLine{len(m.bank.lines) + 1, writeMinor(amount, to.Currency), to.Currency, to.Reference})
}

// giveBack transfers money back to a buyer. It reports whether the attempt was paid by transfer at
// all.
func (b *bank) giveBack(attempt string, amount int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	row := b.accounts[attempt]
	if row != nil {
		row.Refunded += amount
	}
	return row != nil
}

// rows returns the accounts in the form in which the audit reads the providers' payments.
func (b *bank) rows() (all []Row) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, row := range b.accounts {
		all = append(all, *row)
	}
	return all
}

// overlap is how many lines of the statement before a statement repeats, as real ones do. The
// service must count each line once.
const overlap = 5

// importStatements imports a statement every second, until the context ends.
func (m *market) importStatements(ctx context.Context) {
	for ctx.Err() == nil {
		m.importStatement(ctx)
		rig.Wait(ctx, time.Second)
	}
}

// importStatement imports the lines that no statement has had yet, together with some that one has
// had.
func (m *market) importStatement(ctx context.Context) {
	m.bank.mu.Lock()
	// The statement is sent without the lock, so that buyers can transfer money at the same time.
	lines, told := slices.Clone(m.bank.lines), m.bank.told
	m.bank.mu.Unlock()
	if told == len(lines) {
		return
	}
	file := []byte("TransferWise ID,Date,Amount,Currency,Payer Name,Payment Reference\n")
	for _, l := range lines[max(0, told-overlap):] {
		file = fmt.Appendf(file, "TRANSFER-%d,%s,%s,%s,Load Buyer,%s\n", l.number, time.Now().Format("02-01-2006"), l.amount, l.currency, l.word)
	}
	a := m.insistAs(ctx, m.findSession(ctx), client.Call{Method: "POST", Path: "/organizer/statements", ContentType: "text/csv", Body: file}, nil)
	if !a.OK() {
		m.log.Warn("money: a statement was refused", slog.Any("error", a.Err()))
		return
	}
	m.bank.mu.Lock()
	// Only a statement that was accepted counts. The lines of a refused one come again with the next.
	m.bank.told = len(lines)
	m.bank.mu.Unlock()
}

// findSession returns the organizer's session. It opens a new one shortly before the old one ends
// after ten minutes. Only the goroutine that imports statements calls it.
func (m *market) findSession(ctx context.Context) string {
	if time.Since(m.bank.since) < 8*time.Minute {
		return m.bank.session
	}
	var session struct{ AccessToken string }
	in := map[string]string{"email": m.organizer.Email, "password": m.organizer.Password}
	if m.insistAsGuest(ctx, client.Call{Method: "POST", Path: "/auth/login", Body: rush.Encode(in)}, &session).OK() {
		m.bank.session, m.bank.since = session.AccessToken, time.Now()
	}
	return m.bank.session
}

// allowTransfers lets the organization be paid by transfer, as an operator would.
func (m *market) allowTransfers(ctx context.Context) error {
	if m.node == nil {
		return nil // the account of the target's simulator is everybody's
	}
	if err := m.node.Process.Command(ctx, "transfer", "allow", m.organizer.Organization).Run(); err != nil {
		return fmt.Errorf("money: allow transfers: %w", err)
	}
	return nil
}

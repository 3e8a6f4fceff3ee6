package money

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	iso "github.com/Rhymond/go-money"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
)

// Books are the three sets of books that must agree: the providers', the orders' and the wallets'.
// All amounts are in minor units.
type Books struct {
	// What the providers say that they took and returned.
	Provider []Row
	// What the orders say, by their ids.
	Orders map[string]*Order
	// What the wallets say, by currency.
	Wallets map[string]*Wallet
	// The fees that the organization was told when it issued orders, by currency.
	Fees map[string]int64
	// How often promo codes say that they were used.
	Codes []Code
}

// Row is one payment at a provider.
type Row struct {
	ID int64
	// The payment to whose address these coins came later; 0 for a payment of its own.
	Parent int64
	// Our reference of the attempt to pay.
	Order            string
	Status, Currency string
	// Asked is the amount of the attempt, Paid what came, and Refunded what the provider sent back.
	Asked, Paid, Refunded int64
	Provider              string
}

// Order is an order as its record shows it.
type Order struct {
	Status, Currency, Code string
	Total, Fees            int64
	// The organization has issued the order, and nobody pays it.
	Issued bool
	// The number of tickets that the order is for, that it has, and that were given back.
	Wanted, Tickets, Ended int
	Payments               []Payment
	Refunds                []Refund
}

// Payment is one attempt to pay an order.
type Payment struct {
	Reference, Status string
	Received          int64 // what the order says has come
}

// Refund is money that an order gives back.
type Refund struct {
	Reference, Currency, Reason, Status string
	Deposit                             int64 // the number of the later deposit that it gives back; 0: it gives back no such deposit
	Amount                              int64
}

// Wallet is an organization's money in one currency, with its entries.
type Wallet struct {
	Balance, Pending int64
	Entries          []Entry // the oldest comes first
}

// Entry is one movement of a wallet.
type Entry struct {
	Number int64 // counts the wallet's entries from 1
	Kind   string
	// The amount of the movement, and the sums of the wallet after it.
	Amount, Balance, Pending int64
}

// Code is a promo code of an event.
type Code struct {
	Event, Name string
	// How often the code was used and may be used. A Max of 0 means that there is no limit.
	Used, Max int64
}

// isFinal reports whether an order in this status is at its end.
func isFinal(status string) bool { return status != "pending" && status != "processing" }

// parseMinor reads a decimal that has all places of its currency, as minor units.
func parseMinor(decimal string) int64 {
	n, err := strconv.ParseInt(strings.Replace(decimal, ".", "", 1), 10, 64)
	if err != nil {
		// No sum agrees with -1, so the comparison will report the amount.
		return -1
	}
	return n
}

// writeMinor writes minor units as a decimal with all places of the currency.
func writeMinor(minor int64, currency string) string {
	decimals := decimalsOf(currency)
	if decimals == 0 {
		return strconv.FormatInt(minor, 10)
	}
	digits := fmt.Sprintf("%0*d", decimals+1, minor)
	return digits[:len(digits)-decimals] + "." + digits[len(digits)-decimals:]
}

// decimalsOf returns how many decimals a currency has, by ISO 4217.
func decimalsOf(currency string) int { return iso.GetCurrency(currency).Fraction }

// compareAtRest repeats the comparison until the books agree or the configured time is over.
// Notices, statements and refunds need a while to arrive.
func (m *market) compareAtRest(ctx context.Context) (*Books, []report.Check, error) {
	for deadline := time.Now().Add(m.cfg.Rest); ; rig.Wait(ctx, 3*time.Second) {
		// Money that came at the end of the sale may be in no statement yet, and refunds may wait for a decision.
		// Both would never come to rest by themselves.
		m.importStatement(ctx)
		m.decideOnce(ctx)
		b, err := m.readBooks(ctx)
		if err != nil {
			return nil, nil, err
		}
		checks := Compare(b)
		if !slices.ContainsFunc(checks, func(c report.Check) bool { return c.Failed > 0 }) || time.Now().After(deadline) || ctx.Err() != nil {
			return b, checks, context.Cause(ctx)
		}
	}
}

// readBooks reads all books. It reads the orders before the wallets, because the wallets follow the
// orders.
func (m *market) readBooks(ctx context.Context) (*Books, error) {
	// If money moves while the books are read, they differ, and the comparison is repeated. So the books need not
	// be read at one moment.
	rows, err := m.readProviders(ctx)
	if err != nil {
		return nil, err
	}
	b := &Books{Provider: append(rows, m.bank.rows()...), Orders: make(map[string]*Order), Wallets: make(map[string]*Wallet), Fees: make(map[string]int64)}
	if err := m.readOrders(ctx, b); err != nil {
		return nil, err
	}
	for _, currency := range m.currencies() {
		if b.Wallets[currency], err = m.readWallet(ctx, currency); err != nil {
			return nil, err
		}
	}
	var codes struct {
		PromoCodes []struct {
			Code      string
			EventID   string
			UsedCount int64
			MaxUses   *int64
		}
	}
	if a := m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "GET", Path: "/organizer/promo-codes?limit=100"}, &codes); !a.OK() {
		return nil, fmt.Errorf("money: promo codes: %w", a.Err())
	}
	for _, c := range codes.PromoCodes {
		code := Code{Event: c.EventID, Name: c.Code, Used: c.UsedCount}
		if c.MaxUses != nil {
			code.Max = *c.MaxUses
		}
		b.Codes = append(b.Codes, code)
	}
	return b, nil
}

// readProviders reads all payments at the simulators, page by page.
func (m *market) readProviders(ctx context.Context) (all []Row, err error) {
	for from := int64(0); ; {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.cfg.Paysim+"/_sim/transactions?limit=10000&from="+strconv.FormatInt(from, 10), nil)
		if err != nil {
			return nil, fmt.Errorf("money: providers: %w", err)
		}
		var page struct {
			Transactions []Row
			Next         int64
		}
		res, err := m.web.Do(req)
		if err != nil {
			return nil, fmt.Errorf("money: providers: %w", err)
		}
		text, err := io.ReadAll(res.Body)
		if err := errors.Join(err, res.Body.Close(), json.Unmarshal(text, &page)); err != nil {
			return nil, fmt.Errorf("money: providers: %w", err)
		}
		all = append(all, page.Transactions...)
		if from = page.Next; from == 0 {
			return all, nil
		}
	}
}

// readOrders reads every order, with eight readers: buyers' orders as their buyers do, and issued
// ones as the organization does.
func (m *market) readOrders(ctx context.Context, b *Books) error {
	var mu sync.Mutex
	var failed error
	// take reads one order into the books. The codes of two events may have the same name, so the event is put
	// before it.
	take := func(issued bool, call client.Call, event string) {
		var r record
		a := m.insistAs(ctx, call.Bearer, call, &r)
		mu.Lock()
		defer mu.Unlock()
		if !a.OK() {
			failed = fmt.Errorf("money: order: %w", a.Err())
			return
		}
		o := r.toOrder(issued)
		if o.Code != "" {
			o.Code = event + " " + o.Code
		}
		b.Orders[r.ID] = o
	}
	calls := make(chan func())
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for call := range calls {
				call()
			}
		})
	}
	for _, o := range m.orders {
		calls <- func() {
			take(false, client.Call{Method: "GET", Path: "/orders/" + o.id + "?token=" + url.QueryEscape(o.token)}, o.sale.event)
		}
	}
	// The fee is what the organization was told when it issued the order. The wallet must have paid exactly that.
	for _, o := range m.issued {
		b.Fees[o.currency] += o.fee
		calls <- func() {
			take(true, client.Call{Method: "GET", Path: "/organizer/orders/" + o.id, Bearer: m.organizer.Bearer}, "")
		}
	}
	close(calls)
	readers.Wait()
	return failed
}

// toOrder returns the parts of a record that the comparison needs.
func (r *record) toOrder(issued bool) *Order {
	o := &Order{
		Status: r.Status, Currency: r.Currency, Total: parseMinor(r.Total), Fees: parseMinor(r.Fees), Issued: issued, Tickets: len(r.Tickets),
	}
	if r.PromoCode != nil {
		o.Code = *r.PromoCode
	}
	for _, i := range r.Items {
		o.Wanted += int(i.Quantity)
	}
	for _, t := range r.Tickets {
		if t.Status == "refunded" {
			o.Ended++
		}
	}
	for _, p := range r.Payments {
		o.Payments = append(o.Payments, Payment{p.Reference, p.Status, parseMinor(p.Received)})
	}
	for _, f := range r.Refunds {
		back := Refund{Reference: f.Reference, Currency: f.Currency, Reason: f.Reason, Status: f.Status, Amount: parseMinor(f.Amount)}
		// A deposit has its number only in the text of the refund's message.
		if f.Reason == "deposit" && f.Message != nil {
			back.Deposit, _ = strconv.ParseInt(strings.TrimPrefix(*f.Message, "Deposit "), 10, 64)
		}
		o.Refunds = append(o.Refunds, back)
	}
	return o
}

// readWallet reads a wallet with all its entries and sorts them by number, the oldest first.
func (m *market) readWallet(ctx context.Context, currency string) (*Wallet, error) {
	var all struct {
		Items []struct{ Currency, Balance, PendingBalance string }
	}
	if a := m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "GET", Path: "/organizer/wallets"}, &all); !a.OK() {
		return nil, fmt.Errorf("money: wallets: %w", a.Err())
	}
	// The sums are read before the entries. An entry that comes between would make them differ, and the comparison
	// would be repeated.
	w := &Wallet{}
	for _, i := range all.Items {
		if i.Currency == currency {
			w.Balance, w.Pending = parseMinor(i.Balance), parseMinor(i.PendingBalance)
		}
	}
	for cursor := ""; ; {
		var page struct {
			Items []struct {
				Number                                int64
				Kind, Amount, Balance, PendingBalance string
			}
			NextCursor *string
		}
		a := m.insistAs(ctx, m.organizer.Bearer, client.Call{
			Method: "GET", Path: "/organizer/wallets/" + currency + "/entries?limit=100&cursor=" + url.QueryEscape(cursor),
		}, &page)
		if !a.OK() {
			return nil, fmt.Errorf("money: entries: %w", a.Err())
		}
		for _, e := range page.Items {
			w.Entries = append(w.Entries, Entry{e.Number, e.Kind, parseMinor(e.Amount), parseMinor(e.Balance), parseMinor(e.PendingBalance)})
		}
		if page.NextCursor == nil {
			slices.SortFunc(w.Entries, func(a, b Entry) int { return cmp.Compare(a.Number, b.Number) })
			return w, nil
		}
		cursor = *page.NextCursor
	}
}

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

// Books are the three sets of books that must agree: the providers', the orders' and the wallets'. Amounts are in
// minor units.
type Books struct {
	Provider []Row              // what the providers say that they took and returned
	Orders   map[string]*Order  // what the orders say, by their ids
	Wallets  map[string]*Wallet // what the wallets say, by currency
	Fees     map[string]int64   // the fees that the organization was told for what it issued, by currency
	Codes    []Code             // how often promo codes say that they were used
}

// Row is one payment at a provider.
type Row struct {
	ID               int64
	Parent           int64  // the payment to whose address these coins came later; 0: it is a payment of its own
	Order            string // our reference of the attempt to pay
	Status, Currency string
	// Asked is the amount of the attempt, Paid what came, and Refunded what the provider sent back.
	Asked, Paid, Refunded int64
	Provider              string
}

// Order is an order as its record shows it.
type Order struct {
	Status, Currency, Code string
	Total, Fees            int64
	Issued                 bool // the organization has issued it, and nobody pays it
	Wanted, Tickets, Ended int  // how many tickets it is for, it has, and were given back
	Payments               []Payment
	Refunds                []Refund
}

// Payment is an attempt to pay an order.
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

// Wallet is an organization's money in a currency, with its entries.
type Wallet struct {
	Balance, Pending int64
	Entries          []Entry // the oldest comes first
}

// Entry is a line of a wallet.
type Entry struct {
	Number                   int64 // counts the wallet's entries from 1
	Kind                     string
	Amount, Balance, Pending int64 // what the entry is about, and the wallet after it
}

// Code is a promo code of an event.
type Code struct {
	Event, Name string
	Used, Max   int64 // how often it was used, and may be; Max 0: there is no limit
}

// isFinal reports whether an order of the status has nothing more to come.
func isFinal(status string) bool { return status != "pending" && status != "processing" }

// parseMinor reads a decimal with all decimals of its currency, as minor units.
func parseMinor(decimal string) int64 {
	n, err := strconv.ParseInt(strings.Replace(decimal, ".", "", 1), 10, 64)
	if err != nil {
		return -1 // no sum agrees with it, so the comparison finds it
	}
	return n
}

// writeMinor writes minor units with all decimals of their currency.
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

// compareAtRest compares the books again and again until they agree or the time for that is over, because notices,
// statements and refunds need a while to arrive.
func (m *market) compareAtRest(ctx context.Context) (*Books, []report.Check, error) {
	for deadline := time.Now().Add(m.cfg.Rest); ; rig.Wait(ctx, 3*time.Second) {
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

// readBooks reads all books. The orders are read before the wallets, which follow them.
func (m *market) readBooks(ctx context.Context) (*Books, error) {
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

// readProviders lists all payments at the simulators.
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

// readOrders reads each order; orders of buyers as the buyers do.
func (m *market) readOrders(ctx context.Context, b *Books) error {
	var mu sync.Mutex
	var failed error
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
		if f.Reason == "deposit" && f.Message != nil {
			back.Deposit, _ = strconv.ParseInt(strings.TrimPrefix(*f.Message, "Deposit "), 10, 64)
		}
		o.Refunds = append(o.Refunds, back)
	}
	return o
}

// readWallet reads a wallet and all of its entries.
func (m *market) readWallet(ctx context.Context, currency string) (*Wallet, error) {
	var all struct {
		Items []struct{ Currency, Balance, PendingBalance string }
	}
	if a := m.insistAs(ctx, m.organizer.Bearer, client.Call{Method: "GET", Path: "/organizer/wallets"}, &all); !a.OK() {
		return nil, fmt.Errorf("money: wallets: %w", a.Err())
	}
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

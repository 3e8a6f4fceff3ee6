package rush

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
)

// KeepsTickets reports whether an order in this status keeps its tickets from others.
func KeepsTickets(status string) bool {
	return status == Pending || status == processing || status == Completed
}

// checkCaps checks that no order and no customer has more tickets than the caps allow. Only orders
// that keep their tickets count.
func (a *Audit) checkCaps() {
	orders, over := a.Check("caps per order")
	customers, greedy := a.Check("caps per customer")
	// The cap of a customer counts over all orders under one e-mail address, for each ticket type.
	type holding struct{ email, ticketType string }
	held := make(map[holding]int)
	for _, c := range a.Claims {
		if !KeepsTickets(c.Found.Status) {
			continue
		}
		orders.Checked++
		for ticketType, n := range CountItems(c.Found.Items) {
			held[holding{c.email, ticketType}] += n
			if n > MaxPerOrder {
				over("order %s has %d of type %s, more than %d", c.Order, n, ticketType, MaxPerOrder)
			}
		}
	}
	for h, n := range held {
		customers.Checked++
		if n > MaxPerCustomer {
			greedy("%s has %d of type %s, more than %d", h.email, n, h.ticketType, MaxPerCustomer)
		}
	}
}

// untilAgreed repeats a comparison until it agrees or the configured time is over. The service may
// show things as they were a second ago. Orders may also expire or be refunded in the meantime, so open orders
// are read again each time.
func (a *Audit) untilAgreed(ctx context.Context, compare func() bool) {
	for deadline := time.Now().Add(a.Rush.Config.Agree); !compare() && time.Now().Before(deadline); {
		select {
		case <-time.After(500 * time.Millisecond):
		case <-ctx.Done():
			return
		}
		a.ReadOrders(ctx, a.openClaims())
	}
}

// openClaims returns the claims whose orders may still change.
func (a *Audit) openClaims() []*Claim {
	var open []*Claim
	for _, c := range a.Claims {
		if s := c.Found.Status; s == Pending || s == processing || s == expired {
			open = append(open, c)
		}
	}
	return open
}

// CheckStock checks that exactly the tickets that orders keep are gone from the stock of each type,
// and that orders keep no more than there were.
func (a *Audit) CheckStock(ctx context.Context) {
	c, found := a.Check("stock: gone = paid + free + pending, never more than there was")
	var held, gone map[string]int
	var err error
	a.untilAgreed(ctx, func() bool {
		held = a.heldByType()
		gone, err = a.goneByType(ctx)
		for _, t := range a.allTypes() {
			if err != nil || held[t.ID] != gone[t.ID] {
				return false
			}
		}
		return true
	})
	if err != nil {
		found("the ticket types could not be read: %v", err)
		return
	}
	for _, t := range a.allTypes() {
		c.Checked += int64(held[t.ID])
		if held[t.ID] != gone[t.ID] {
			found("%s: %d of %d are gone and orders hold %d", t.Name, gone[t.ID], t.Quantity, held[t.ID])
		}
		if held[t.ID] > t.Quantity {
			found("%s is oversold: orders hold %d of %d", t.Name, held[t.ID], t.Quantity)
		}
	}
}

// heldByType returns how many tickets of each type the orders keep from others.
func (a *Audit) heldByType() map[string]int {
	held := make(map[string]int)
	for _, c := range a.Claims {
		if KeepsTickets(c.Found.Status) {
			for ticketType, n := range CountItems(c.Found.Items) {
				held[ticketType] += n
			}
		}
	}
	return held
}

// allSales returns all sales that clients of this run could order from.
func (a *Audit) allSales() []*Sale { return append([]*Sale{a.Rush.Sale}, a.Rush.AlsoOnSale...) }

// allTypes returns the ticket types of all these sales.
func (a *Audit) allTypes() (all []SaleType) {
	for _, s := range a.allSales() {
		all = append(all, s.Types...)
	}
	return all
}

// goneByType returns how many tickets of each type are gone, as the service tells it.
func (a *Audit) goneByType(ctx context.Context) (map[string]int, error) {
	gone := make(map[string]int)
	for _, s := range a.allSales() {
		var types ticketTypes
		path := "/events/" + url.PathEscape(s.EventID) + "/tickets"
		if ans := a.Ask(ctx, a.Rush.Network.Source(0), client.Call{Method: "GET", Path: path}, &types); !ans.OK() {
			return nil, ans.Err()
		}
		for _, t := range types.Items {
			// A type without a limit has no stock that could be wrong.
			if t.Available != nil {
				gone[t.ID] = t.QuantityTotal - *t.Available
			}
		}
	}
	return gone, nil
}

// errNoSimulator means that buyers pay at a provider that does not list its payments, so money
// cannot be compared.
var errNoSimulator = errors.New("not compared: the provider is no simulator")

// transaction is one row of the payment simulator's list.
type transaction struct {
	Reference string `json:"reference"`
	Paid      int64  `json:"paid"` // minor units, as Refunded is
	Refunded  int64  `json:"refunded"`
}

// CheckMoney compares what the provider kept of this sale with the totals of completed orders,
// order by order.
func (a *Audit) CheckMoney(ctx context.Context, paysim string) {
	c, found := a.Check("money: what the provider kept = completed orders")
	if paysim == "" {
		c.Note = "no buyer was sent to pay"
		return
	}
	var kept map[*Claim]int64
	var wrong []string
	var err error
	a.untilAgreed(ctx, func() bool {
		kept, err = a.keptByClaim(ctx, paysim)
		// A provider that is no simulator will not become one, so there is nothing to wait for.
		wrong = a.wrongSums(kept)
		return errors.Is(err, errNoSimulator) || err == nil && len(wrong) == 0
	})
	switch {
	case errors.Is(err, errNoSimulator):
		c.Note = err.Error()
		return
	case err != nil:
		found("the provider's list could not be read: %v", err)
		return
	}
	var sum int64
	for _, n := range kept {
		sum += n
	}
	c.Checked, c.Note = int64(len(a.Claims)), "kept "+formatMinorUnits(sum)
	for _, text := range wrong {
		found("%s", text)
	}
}

// wrongSums describes every order whose total differs from what the provider kept for it. Only
// completed orders should have cost anything. Partly refunded orders are left out, because their
// totals do not tell what went back.
func (a *Audit) wrongSums(kept map[*Claim]int64) []string {
	var wrong []string
	for _, c := range a.Claims {
		o := c.Found
		if o.ID == "" || o.Status == partlyRefunded {
			continue
		}
		var due int64
		if o.Status == Completed {
			var err error
			if due, err = parseMinorUnits(o.Total); err != nil {
				wrong = append(wrong, fmt.Sprintf("order %s: %v", o.ID, err))
				continue
			}
		}
		if kept[c] != due {
			wrong = append(wrong, fmt.Sprintf("order %s is %s over %s %s and the provider kept %s",
				o.ID, o.Status, o.Total, o.Currency, formatMinorUnits(kept[c])))
		}
	}
	return wrong
}

// keptByClaim returns for each order what the provider took and did not give back, in minor units.
// A transaction belongs to the order that lists its reference, or else to the order whose number
// the reference begins with.
func (a *Audit) keptByClaim(ctx context.Context, paysim string) (map[*Claim]int64, error) {
	transactions, err := a.readTransactions(ctx, paysim)
	if err != nil {
		return nil, err
	}
	byReference, byNumber := make(map[string]*Claim), make(map[string]*Claim)
	for _, c := range a.Claims {
		// A reference begins with the number of its order, which helps if the order does not list the reference.
		byNumber[c.Found.OrderNumber] = c
		for _, p := range c.Found.Payments {
			byReference[p.Reference] = c
		}
	}
	kept := make(map[*Claim]int64)
	for _, t := range transactions {
		c := byReference[t.Reference]
		if i := strings.LastIndexByte(t.Reference, '-'); c == nil && i > 0 {
			c = byNumber[t.Reference[:i]]
		}
		if c != nil { // a payment of another sale has no order here
			kept[c] += t.Paid - t.Refunded
		}
	}
	return kept, nil
}

// readTransactions reads the simulator's whole list of payments, page by page.
func (a *Audit) readTransactions(ctx context.Context, paysim string) ([]transaction, error) {
	sim, err := client.ParseTarget(paysim)
	if err != nil {
		return nil, err
	}
	var all []transaction
	for from := int64(0); ; {
		var resp fasthttp.Response
		path := fmt.Sprintf("/_sim/transactions?limit=10000&from=%d", from)
		req := &client.Request{Method: "GET", Host: sim.Host, Path: path}
		if err := a.Rush.Network.Source(0).Do(ctx, req, &resp); err != nil {
			return nil, err
		}
		if resp.StatusCode() != 200 {
			return nil, fmt.Errorf("%w: GET %s answers %d", errNoSimulator, path, resp.StatusCode())
		}
		var page struct {
			Transactions []transaction `json:"transactions"`
			Next         int64         `json:"next"`
		}
		if err := json.Unmarshal(resp.Body(), &page); err != nil {
			return nil, fmt.Errorf("GET %s: %w", path, err)
		}
		all = append(all, page.Transactions...)
		// The simulator answers 0 on the last page. A cursor that does not move would be an endless loop.
		if page.Next <= from {
			return all, nil
		}
		from = page.Next
	}
}

// parseMinorUnits reads a decimal of two places as minor units. It uses exact fractions, because a
// float would lose cents.
func parseMinorUnits(amount string) (int64, error) {
	r, ok := new(big.Rat).SetString(amount)
	if !ok {
		return 0, fmt.Errorf("amount %q is no decimal", amount)
	}
	r.Mul(r, big.NewRat(100, 1))
	if !r.IsInt() || !r.Num().IsInt64() {
		return 0, fmt.Errorf("amount %q has no whole minor units", amount)
	}
	return r.Num().Int64(), nil
}

// formatMinorUnits writes minor units with two decimals.
func formatMinorUnits(minor int64) string { return big.NewRat(minor, 100).FloatString(2) }

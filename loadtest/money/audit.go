package money

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"boxoffice/loadtest/report"
)

// Compare compares the three sets of books. Correct books in which no money is under way have no findings. The
// checks do not depend on each other: one fault may be found by several.
func Compare(b *Books) []report.Check {
	return []report.Check{
		checkReceived(b), checkReturned(b), checkKept(b), checkRest(b), checkEntries(b), checkProceeds(b), checkFees(b), checkCodes(b), checkTotals(b),
	}
}

// isSold reports whether the order has got its tickets, even if they were given back since.
func (o *Order) isSold() bool {
	return o.Status == "completed" || o.Status == "partially_refunded" || o.Status == "refunded" && o.Tickets > 0
}

// isOwn reports whether a refund is of the money that paid the order's price. Money that came
// beyond the price, in another currency or a second time is not own: it goes back by itself.
func (r *Refund) isOwn(o *Order) bool { return r.Reason != "deposit" && r.Currency == o.Currency }

// isAlive reports whether a refund's money has gone back or will go back.
func (r *Refund) isAlive() bool {
	return r.Status != "denied" && r.Status != "cancelled" && r.Status != "requested"
}

// isByItself reports whether the service began a refund without anybody asking for it.
func (r *Refund) isByItself() bool {
	return slices.Contains([]string{"late", "underpaid", "overpaid", "twice", "cancelled", "currency", "deposit"}, r.Reason)
}

// indexAttempts returns the orders and the payments of all attempts to pay, by their references.
func (b *Books) indexAttempts() (of map[string]*Order, at map[string]*Payment) {
	of, at = make(map[string]*Order), make(map[string]*Payment)
	for _, o := range b.Orders {
		for i := range o.Payments {
			of[o.Payments[i].Reference], at[o.Payments[i].Reference] = o, &o.Payments[i]
		}
	}
	return of, at
}

// checkReceived checks that the orders have received exactly what the providers took.
func checkReceived(b *Books) report.Check {
	c := report.Check{Name: "what the providers took, the orders received"}
	orders, attempts := b.indexAttempts()
	// told has the references that a provider knows, so that money which only an order knows of is found as well.
	told := make(map[string]bool)
	for i := range b.Provider {
		row := &b.Provider[i]
		// Nobody has paid this attempt, so there is nothing to compare.
		if row.Paid == 0 {
			continue
		}
		c.Checked++
		o := orders[row.Order]
		switch {
		case o == nil:
			c.Found("%d %s of %s, which no order knows", row.Paid, row.Currency, row.Order)
		// Coins that come again to an address that was paid buy nothing. They must go back whole.
		case row.Parent != 0:
			if !slices.ContainsFunc(o.Refunds, func(r Refund) bool { return r.Deposit == row.ID && r.Amount == row.Paid }) {
				c.Found("deposit %d of %d %s, which came to the paid address of %s, goes back by no refund", row.ID, row.Paid, row.Currency, row.Order)
			}
		// Money in another currency pays for nothing either.
		case row.Currency != o.Currency:
			if !slices.ContainsFunc(o.Refunds, func(r Refund) bool {
				return r.Reference == row.Order && r.Currency == row.Currency && r.Amount == row.Paid
			}) {
				c.Found("%d %s of %s goes back by no refund", row.Paid, row.Currency, row.Order)
			}
		case attempts[row.Order].Received+o.sumExtra(row.Order) != row.Paid:
			c.Found("%s: the provider took %d %s, the order received %d and %d more", row.Order, row.Paid, row.Currency, attempts[row.Order].Received, o.sumExtra(row.Order))
		}
		told[row.Order] = true
	}
	for reference, p := range attempts {
		if p.Received > 0 && !told[reference] {
			c.Found("%s: the order received %d, the provider took nothing", reference, p.Received)
		}
	}
	return c
}

// sumExtra adds up the bank transfers that came for an attempt after it was paid. Such a transfer
// has no number of its own.
func (o *Order) sumExtra(reference string) (sum int64) {
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Reference == reference && r.Reason == "deposit" && r.Deposit == 0 {
			sum += r.Amount
		}
	}
	return sum
}

// checkReturned checks that the providers returned exactly what the refunds say has gone back.
func checkReturned(b *Books) report.Check {
	c := report.Check{Name: "what the refunds say went back, the providers returned"}
	back, deposits := make(map[string]int64), make(map[int64]int64)
	for _, o := range b.Orders {
		for i := range o.Refunds {
			r := &o.Refunds[i]
			switch {
			// Only refunds that the service calls done must be at the provider.
			case r.Status != "processed":
			case r.Deposit != 0:
				deposits[r.Deposit] += r.Amount
			case r.Reference != "":
				back[r.Reference] += r.Amount
			}
		}
	}
	// A node that dies while it opens a deposit opens another one under the same reference, and the
	// buyer is told only of the second. So the deposits of a reference are added up.
	returned := make(map[string]int64)
	for i := range b.Provider {
		row := &b.Provider[i]
		c.Checked++
		// Coins that came later have a refund of their own by their number. All other refunds go by the reference.
		if row.Parent == 0 {
			returned[row.Order] += row.Refunded
		} else if said := deposits[row.ID]; said != row.Refunded {
			c.Found("deposit %d of %s: the provider returned %d %s, the refunds say %d", row.ID, row.Order, row.Refunded, row.Currency, said)
		}
	}
	for reference, sum := range returned {
		if said := back[reference]; said != sum {
			c.Found("%s: the provider returned %d, the refunds say %d", reference, sum, said)
		}
		// At the end, back has only refunds that no provider knows of.
		delete(back, reference)
	}
	for reference, said := range back {
		c.Found("%s: the refunds say that %d went back, and no provider knows of it", reference, said)
	}
	return c
}

// checkKept checks that an order with tickets keeps its price, less the refunds that somebody asked
// for, and that an order without tickets keeps nothing.
func checkKept(b *Books) report.Check {
	c := report.Check{Name: "money that was kept has its tickets"}
	for id, o := range b.Orders {
		// An issued order is paid by nobody: its fee is compared with the wallets instead.
		if o.Issued {
			continue
		}
		c.Checked++
		var kept, want int64
		for _, p := range o.Payments {
			kept += p.Received
		}
		if o.isSold() {
			want = o.Total
		}
		for i := range o.Refunds {
			r := &o.Refunds[i]
			if !r.isOwn(o) || !r.isAlive() {
				continue
			}
			kept -= r.Amount
			// A refund that somebody asked for lowers what the order should keep. A refund that the service began
			// by itself gives back what the order should never have kept.
			if !r.isByItself() {
				want -= r.Amount
			}
		}
		if kept != want {
			c.Found("order %s, %s: %d kept instead of %d: %+v %+v", id, o.Status, kept, want, o.Payments, o.Refunds)
		}
		// An order keeps the tickets that were given back on its list, so a sold order has all of them.
		if o.isSold() && o.Tickets != o.Wanted || !o.isSold() && o.Tickets != 0 {
			c.Found("order %s, %s, of %d tickets has %d", id, o.Status, o.Wanted, o.Tickets)
		}
	}
	return c
}

// checkRest checks that no order and no refund is waiting for something.
func checkRest(b *Books) report.Check {
	c := report.Check{Name: "nothing is stuck"}
	for id, o := range b.Orders {
		c.Checked++
		if !isFinal(o.Status) {
			c.Found("order %s is %s: %+v", id, o.Status, o.Payments)
		}
		for _, r := range o.Refunds {
			if r.Status != "processed" && r.Status != "denied" && r.Status != "cancelled" {
				c.Found("order %s: a refund of %d %s (%s) is %s", id, r.Amount, r.Currency, r.Reason, r.Status)
			}
		}
	}
	return c
}

// checkEntries replays the entries of each wallet and checks that they add up to the wallet's sums.
func checkEntries(b *Books) report.Check {
	c := report.Check{Name: "the entries of the wallets add up"}
	for _, currency := range slices.Sorted(maps.Keys(b.Wallets)) {
		w := b.Wallets[currency]
		var balance, pending int64
		for i, e := range w.Entries {
			c.Checked++
			switch e.Kind {
			// The proceeds of a sale are pending at first, and are cleared later. A run is too short for that.
			case "sale":
				pending += e.Amount
			case "refund": // it is taken from what is pending first
				off := min(e.Amount, max(pending, 0))
				pending, balance = pending-off, balance-(e.Amount-off)
			case "issue_fee", "debit":
				balance -= e.Amount
			case "credit":
				balance += e.Amount
			}
			if e.Number != int64(i)+1 || e.Balance != balance || e.Pending != pending {
				c.Found("%s, entry %d: %d and %d pending instead of %d and %d", currency, e.Number, e.Balance, e.Pending, balance, pending)
				// The replay goes on from what the wallet says, so that one fault is reported once.
				balance, pending = e.Balance, e.Pending
			}
		}
		if w.Balance != balance || w.Pending != pending {
			c.Found("%s: the wallet has %d and %d pending, its entries lead to %d and %d", currency, w.Balance, w.Pending, balance, pending)
		}
	}
	return c
}

// sumEntries adds up the entries of one kind.
func (w *Wallet) sumEntries(kind string) (sum int64) {
	for _, e := range w.Entries {
		if e.Kind == kind {
			sum += e.Amount
		}
	}
	return sum
}

// checkProceeds checks that the wallets got what paid orders have earned, less what was given back.
// Fees are not the organization's.
func checkProceeds(b *Books) report.Check {
	c := report.Check{Name: "the wallets' proceeds are the orders'"}
	earned, back := make(map[string]int64), make(map[string]int64)
	for _, o := range b.Orders {
		if o.Issued || !o.isSold() {
			continue
		}
		c.Checked++
		earned[o.Currency] += o.Total - o.Fees
		// The organization gives back at most what it has earned; the fees on top are not its money.
		back[o.Currency] += min(o.askedBack(), o.Total-o.Fees)
	}
	for _, currency := range slices.Sorted(maps.Keys(b.Wallets)) {
		w := b.Wallets[currency]
		if got := w.sumEntries("sale"); got != earned[currency] {
			c.Found("%s: sales of %d in the wallet, the orders earned %d", currency, got, earned[currency])
		}
		if got := w.sumEntries("refund"); got != back[currency] {
			c.Found("%s: refunds of %d in the wallet, the orders gave %d back", currency, got, back[currency])
		}
	}
	return c
}

// askedBack returns how much of an order's money has gone back because somebody asked for it.
func (o *Order) askedBack() (sum int64) {
	for i := range o.Refunds {
		if r := &o.Refunds[i]; r.Status == "processed" && !r.isByItself() {
			sum += r.Amount
		}
	}
	return sum
}

// checkFees checks that the wallets paid the fees of issued orders, and of no others.
func checkFees(b *Books) report.Check {
	c := report.Check{Name: "the wallets paid the fees of what was issued"}
	for _, currency := range slices.Sorted(maps.Keys(b.Wallets)) {
		c.Checked++
		if paid := b.Wallets[currency].sumEntries("issue_fee"); paid != b.Fees[currency] {
			c.Found("%s: fees of %d in the wallet, the issued orders had %d", currency, paid, b.Fees[currency])
		}
	}
	return c
}

// checkCodes checks that a promo code counts exactly the orders that name it and still have a
// ticket.
func checkCodes(b *Books) report.Check {
	c := report.Check{Name: "the uses of promo codes are the orders'"}
	uses := make(map[string]int64)
	for _, o := range b.Orders {
		// The use of a code is given back with the last ticket of its order.
		if o.Code != "" && o.isSold() && o.Ended < o.Wanted {
			uses[o.Code]++
		}
	}
	for _, code := range b.Codes {
		c.Checked++
		if n := uses[code.Event+" "+code.Name]; n != code.Used {
			c.Found("%s: %d uses, %d orders", code.Name, code.Used, n)
		}
	}
	return c
}

// total is what one set of books says about one currency, in minor units.
type total struct{ took, returned int64 }

// providerTotals returns what the providers took and returned, by currency.
func (b *Books) providerTotals() map[string]total {
	sums := make(map[string]total)
	for i := range b.Provider {
		row := &b.Provider[i]
		t := sums[row.Currency]
		sums[row.Currency] = total{t.took + row.Paid, t.returned + row.Refunded}
	}
	return sums
}

// orderTotals returns what the orders received and gave back, by currency. A refund in another
// currency, or of a deposit, counts as received too, because no payment of the order has it.
func (b *Books) orderTotals() map[string]total {
	sums := make(map[string]total)
	add := func(currency string, took, returned int64) {
		t := sums[currency]
		sums[currency] = total{t.took + took, t.returned + returned}
	}
	for _, o := range b.Orders {
		for _, p := range o.Payments {
			add(o.Currency, p.Received, 0)
		}
		for i := range o.Refunds {
			r := &o.Refunds[i]
			if !r.isOwn(o) {
				add(r.Currency, r.Amount, 0)
			}
			if r.Status == "processed" && r.Reference != "" {
				add(r.Currency, 0, r.Amount)
			}
		}
	}
	return sums
}

// listCurrencies returns the currencies of two sets of sums in alphabetical order.
func listCurrencies(theirs, ours map[string]total) []string {
	both := maps.Clone(theirs)
	maps.Copy(both, ours)
	return slices.Sorted(maps.Keys(both))
}

// checkTotals compares the sums of the providers and of the orders, by currency.
func checkTotals(b *Books) report.Check {
	c := report.Check{Name: "the sums by currency are the same"}
	theirs, ours := b.providerTotals(), b.orderTotals()
	for _, currency := range listCurrencies(theirs, ours) {
		c.Checked++
		if theirs[currency] != ours[currency] {
			c.Found("%s: the providers took %d and returned %d, the orders %d and %d",
				currency, theirs[currency].took, theirs[currency].returned, ours[currency].took, ours[currency].returned)
		}
	}
	return c
}

// sayTotals returns two lines for each currency: the sums of the providers and of the orders, and
// the sums of the wallet.
func (b *Books) sayTotals() string {
	var out strings.Builder
	theirs, ours := b.providerTotals(), b.orderTotals()
	for _, currency := range listCurrencies(theirs, ours) {
		amount := func(minor int64) string { return writeMinor(minor, currency) }
		fmt.Fprintf(&out, "%s: the providers took %s and returned %s; the orders %s and %s\n", currency,
			amount(theirs[currency].took), amount(theirs[currency].returned), amount(ours[currency].took), amount(ours[currency].returned))
		if w := b.Wallets[currency]; w != nil {
			fmt.Fprintf(&out, "%s: the wallet got %s of sales, gave %s back, paid %s in fees, and has %s and %s pending\n", currency,
				amount(w.sumEntries("sale")), amount(w.sumEntries("refund")), amount(w.sumEntries("issue_fee")), amount(w.Balance), amount(w.Pending))
		}
	}
	return out.String()
}

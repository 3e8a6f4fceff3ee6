package money

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// books makes small and correct books in which nothing is under way: an order that paid too much
// and gave a ticket back, an order whose money was of another currency, and an order that was paid
// with coins twice.
func books() *Books {
	return &Books{
		Provider: []Row{
			{ID: 1, Order: "A-1", Currency: "USD", Paid: 5500, Refunded: 250 + 2500},
			{ID: 2, Order: "B-1", Currency: "ZAR", Paid: 2625, Refunded: 2625},
			{ID: 3, Order: "C-1", Currency: "USD", Paid: 2363},
			{ID: 4, Order: "C-1", Parent: 3, Currency: "USD", Paid: 2363, Refunded: 2363},
			{ID: 5, Order: "D-1", Currency: "USD"},
			{ID: 6, Order: "C-1", Currency: "USD"},
		},
		Orders: map[string]*Order{
			"a": {
				Status: "partially_refunded", Currency: "USD", Total: 5250, Fees: 250, Wanted: 2, Tickets: 2, Ended: 1,
				Payments: []Payment{{"A-1", "succeeded", 5500}},
				Refunds: []Refund{
					{Reference: "A-1", Currency: "USD", Reason: "overpaid", Status: "processed", Amount: 250},
					{Reference: "A-1", Currency: "USD", Reason: "ill", Status: "processed", Amount: 2500},
					{Reference: "", Currency: "USD", Reason: "ill", Status: "denied", Amount: 2500},
				},
			},
			"b": {
				Status: "refunded", Currency: "USD", Total: 2625, Fees: 125, Wanted: 1, Payments: []Payment{{"B-1", "refunded", 0}},
				Refunds: []Refund{{Reference: "B-1", Currency: "ZAR", Reason: "currency", Status: "processed", Amount: 2625}},
			},
			"c": {
				Status: "completed", Currency: "USD", Code: "e TENTH", Total: 2363, Fees: 113, Wanted: 1, Tickets: 1, Payments: []Payment{{"C-1", "succeeded", 2363}},
				Refunds: []Refund{{Reference: "C-1", Currency: "USD", Reason: "deposit", Status: "processed", Deposit: 4, Amount: 2363}},
			},
			"d": {Status: "cancelled", Currency: "USD", Total: 2625, Fees: 125, Wanted: 1, Payments: []Payment{{"D-1", "cancelled", 0}}},
			"i": {Status: "completed", Currency: "USD", Total: 2500, Issued: true, Wanted: 1, Tickets: 1},
		},
		Wallets: map[string]*Wallet{"USD": {
			Balance: 10_000 - 75, Pending: 5000 + 2250 - 2500,
			Entries: []Entry{
				{1, "credit", 10_000, 10_000, 0}, {2, "sale", 5000, 10_000, 5000}, {3, "issue_fee", 75, 9925, 5000}, {4, "sale", 2250, 9925, 7250}, {5, "refund", 2500, 9925, 4750},
			},
		}},
		Fees:  map[string]int64{"USD": 75},
		Codes: []Code{{Event: "e", Name: "TENTH", Used: 1}},
	}
}

// failed returns the names of the checks that found something.
func failed(b *Books) (names []string) {
	for _, c := range Compare(b) {
		if c.Failed > 0 {
			names = append(names, c.Name)
		}
	}
	return names
}

func TestRightBooksAgree(t *testing.T) {
	t.Parallel()
	for _, c := range Compare(books()) {
		require.Empty(t, c.Findings, c.Name)
		require.Positive(t, c.Checked, c.Name)
	}
}

// TestWrongBooksAreFound plants one mistake at a time.
func TestWrongBooksAreFound(t *testing.T) {
	t.Parallel()
	for what, plant := range map[string]struct {
		found string
		spoil func(b *Books)
	}{
		"a cent more at the provider":            {"what the providers took, the orders received", func(b *Books) { b.Provider[0].Paid++ }},
		"money that no order knows":              {"what the providers took, the orders received", func(b *Books) { b.Provider[4].Order, b.Provider[4].Paid = "X-1", 1 }},
		"money that no provider took":            {"what the providers took, the orders received", func(b *Books) { b.Orders["d"].Payments[0].Received = 2625 }},
		"foreign money that stays":               {"what the providers took, the orders received", func(b *Books) { b.Orders["b"].Refunds = nil }},
		"coins that came again and stay":         {"what the providers took, the orders received", func(b *Books) { b.Orders["c"].Refunds = nil }},
		"a refund sent twice":                    {"what the refunds say went back, the providers returned", func(b *Books) { b.Provider[0].Refunded += 2500 }},
		"a refund that was never sent":           {"what the refunds say went back, the providers returned", func(b *Books) { b.Provider[1].Refunded = 0 }},
		"a refund of nothing":                    {"what the refunds say went back, the providers returned", func(b *Books) { b.Orders["a"].Refunds[1].Reference = "Z-1" }},
		"a deposit that was never sent back":     {"what the refunds say went back, the providers returned", func(b *Books) { b.Provider[3].Refunded = 0 }},
		"money without tickets":                  {"money that was kept has its tickets", func(b *Books) { b.Orders["c"].Status, b.Orders["c"].Tickets = "expired", 0 }},
		"tickets without money":                  {"money that was kept has its tickets", func(b *Books) { b.Orders["d"].Status, b.Orders["d"].Tickets = "completed", 1 }},
		"a ticket too few":                       {"money that was kept has its tickets", func(b *Books) { b.Orders["a"].Tickets-- }},
		"a surplus that stays":                   {"money that was kept has its tickets", func(b *Books) { b.Orders["a"].Refunds = b.Orders["a"].Refunds[1:] }},
		"an order that waits":                    {"nothing is stuck", func(b *Books) { b.Orders["d"].Status = "processing" }},
		"a refund that waits":                    {"nothing is stuck", func(b *Books) { b.Orders["b"].Refunds[0].Status = "failed" }},
		"an entry that is missing":               {"the entries of the wallets add up", func(b *Books) { b.Wallets["USD"].Entries = slices.Delete(b.Wallets["USD"].Entries, 1, 2) }},
		"a balance that no entry made":           {"the entries of the wallets add up", func(b *Books) { b.Wallets["USD"].Balance++ }},
		"a sale that the wallet was not told of": {"the wallets' proceeds are the orders'", func(b *Books) { b.Orders["c"].Total += 100 }},
		"a refund that the wallet bore twice":    {"the wallets' proceeds are the orders'", func(b *Books) { b.Wallets["USD"].Entries[4].Amount = 5000 }},
		"a fee without tickets":                  {"the wallets paid the fees of what was issued", func(b *Books) { b.Fees["USD"] = 0 }},
		"tickets without a fee":                  {"the wallets paid the fees of what was issued", func(b *Books) { b.Fees["USD"] += 75 }},
		"a use consumed twice":                   {"the uses of promo codes are the orders'", func(b *Books) { b.Codes[0].Used = 2 }},
		"a use that did not come back":           {"the uses of promo codes are the orders'", func(b *Books) { b.Orders["c"].Ended = 1 }},
		"returned money of another currency":     {"the sums by currency are the same", func(b *Books) { b.Provider[1].Currency = "NGN" }},
		"a currency that only an order has":      {"the sums by currency are the same", func(b *Books) { b.Orders["d"].Currency, b.Orders["d"].Payments[0].Received = "NGN", 1 }},
	} {
		b := books()
		plant.spoil(b)
		require.Contains(t, failed(b), plant.found, what)
	}
}

// TestTotalsTellEveryCurrency has a currency that only an order took.
func TestTotalsTellEveryCurrency(t *testing.T) {
	t.Parallel()
	b := books()
	b.Orders["d"].Currency, b.Orders["d"].Payments[0].Received = "NGN", 100
	require.Contains(t, b.sayTotals(), "NGN: the providers took 0.00 and returned 0.00; the orders 1.00 and 0.00\n")
}

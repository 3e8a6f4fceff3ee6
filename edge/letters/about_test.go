package letters

import (
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/engine/order"
	"boxoffice/persistence/mailqueue"
)

// TestEqualRefundsAreToldApart: of two equal amounts that go back, one by a card's provider and one by hand, each letter
// says what is so of its own.
func TestEqualRefundsAreToldApart(t *testing.T) {
	t.Parallel()
	back := func(reference string) order.Refund {
		return order.Refund{Reference: reference, Amount: 500, Reason: order.BackOverpaid}
	}
	o := &order.Order{
		Attempts: []order.Attempt{{Reference: "coins", Deposit: order.Deposit{Address: "bc1"}}, {Reference: "card"}},
		Refunds:  []order.Refund{{Ask: &order.Ask{}}, back("coins"), back("card")},
	}
	due := func(refund int) *mailqueue.Mail {
		return &mailqueue.Mail{Template: mailqueue.RefundDue, Reason: order.BackOverpaid, Amount: 500, Refund: refund}
	}
	require.True(t, isByHand(due(1), o))
	require.False(t, isByHand(due(2), o))
	require.True(t, isByHand(due(0), o), "a letter from before names none")
	require.False(t, isByHand(due(3), &order.Order{}))
}

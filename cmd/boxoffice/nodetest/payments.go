package nodetest

import (
	"github.com/stretchr/testify/require"

	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/ledger"
)

// Checkout opens an attempt to pay an order. It returns the address of the page where the buyer
// pays.
func (s *Shop) Checkout(id, token string) string {
	s.T.Helper()
	return s.Pay(id, token).Is(200, "").Str("authorizationUrl")
}

// BuyPaid has somebody order tickets of a type and pay for them. It returns the order. The simulator
// will process refunds of the payment almost at once.
func (s *Shop) BuyPaid(email, ticketType string, quantity int) Answer {
	s.T.Helper()
	id, token := s.Place(email, ticketType, quantity)
	s.Settle(s.Checkout(id, token)+"?paysim=refundslow=1ms", "success")
	return s.Verify(id, token).Is(200, "")
}

// ShortCheckout is Checkout, except that its attempt to pay does not extend the time in which the
// order can be paid.
func (s *Shop) ShortCheckout(id, token string) string {
	s.T.Helper()
	order, err := engine.ParseID(id)
	require.NoError(s.T, err)
	_, err = s.Cluster().Ask(s.T.Context(), engine.EventRef(order.Event()), ledger.BeginPayment{
		Order: order, Provider: "paystack", Number: secrets.OrderNumber(order),
	})
	require.NoError(s.T, err)
	return s.Checkout(id, token)
}

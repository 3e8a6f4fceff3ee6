package nodetest

// Checkout opens an attempt to pay an order. It returns the address of the page where the buyer
// pays.
func (s *Shop) Checkout(id, token string) string {
	s.T.Helper()
	return s.Pay(id, token).Is(200, "").Str("authorizationUrl")
}

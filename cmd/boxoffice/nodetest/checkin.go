package nodetest

// Scan scans a code at the gate called North, as the device with the given id.
func (s *Shop) Scan(event, code, device string, headers ...string) Answer {
	s.T.Helper()
	body := Object{"eventId": event, "qrData": code, "gateName": "North", "deviceId": device}
	return s.Call("POST", "/checkin/scan", body, append(headers, s.Bearer()...)...)
}

// FreeTickets makes an event with free tickets, with changes to its usual body, and orders a number
// of them. It returns the order.
func (s *Shop) FreeTickets(changes Object, quantity int) (event string, order Answer) {
	s.T.Helper()
	event, ids := s.Sell(changes, With(TypeBody(0, 1000), Object{"maxPerOrder": 1000, "maxPerCustomer": 1000}))
	body := OrderBody("ada@example.org", ids[0], quantity)
	body["guestName"] = "Ada"
	return event, s.Call("POST", "/orders", body).Is(201, "")
}

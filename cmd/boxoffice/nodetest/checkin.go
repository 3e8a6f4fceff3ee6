package nodetest

// Scan scans a code at the gate called North, as the device with the given id.
func (s *Shop) Scan(event, code, device string, headers ...string) Answer {
	s.T.Helper()
	body := Object{"eventId": event, "qrData": code, "gateName": "North", "deviceId": device}
	return s.Call("POST", "/checkin/scan", body, append(headers, s.Bearer()...)...)
}

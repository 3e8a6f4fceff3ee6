package nodetest

// Refresh exchanges a refresh token for new tokens, and returns the answer unchecked.
func (s *Shop) Refresh(token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/refresh", Object{"refreshToken": token})
}

// Works returns the status of a request with an access token. It is 200 as long as the token is
// valid.
func (s *Shop) Works(access string) int {
	s.T.Helper()
	return s.Call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+access).Status
}

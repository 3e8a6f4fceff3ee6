package nodetest

func (s *Shop) Refresh(token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/refresh", Object{"refreshToken": token})
}

// Works returns the status of a request with an access token, which is 200 while the token is
// valid.
func (s *Shop) Works(access string) int {
	s.T.Helper()
	return s.Call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+access).Status
}

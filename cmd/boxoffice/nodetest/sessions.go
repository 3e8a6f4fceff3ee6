package nodetest

func (s *Shop) Refresh(token string) Answer {
	s.T.Helper()
	return s.Call("POST", "/auth/refresh", Object{"refreshToken": token})
}

// Works says whether an access token still opens something.
func (s *Shop) Works(access string) int {
	s.T.Helper()
	return s.Call("GET", "/auth/sessions", nil, "Authorization", "Bearer "+access).Status
}

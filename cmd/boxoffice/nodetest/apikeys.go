package nodetest

// Org returns the number of the organizer's only organization.
func (s *Shop) Org() string {
	s.T.Helper()
	return s.Own("GET", "/users/me", nil).Is(200, "").Str("organizations.0.id")
}

// Keys returns the path of the organizer's API keys.
func (s *Shop) Keys() string { return "/organizer/integrations/org/" + s.Org() + "/api-keys" }

// Key makes an API key.
func (s *Shop) Key(changes Object) Answer {
	s.T.Helper()
	return s.Own("POST", s.Keys(), With(Object{"name": "Box office", "environment": "test"}, changes)).Is(201, "")
}

// As returns the shop for a caller with a token or an API key.
func (s *Shop) As(token string) *Shop {
	c := *s
	c.Token = token
	return &c
}

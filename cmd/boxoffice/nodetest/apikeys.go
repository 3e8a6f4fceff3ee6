package nodetest

// Org returns the number of the organizer's only organization.
func (s *Shop) Org() string {
	s.T.Helper()
	return s.Own("GET", "/users/me", nil).Is(200, "").Str("organizations.0.id")
}

// Keys returns the path at which the organizer's API keys are managed.
func (s *Shop) Keys() string { return "/organizer/integrations/org/" + s.Org() + "/api-keys" }

// Key makes an API key with a usual body, to which the changes are applied.
func (s *Shop) Key(changes Object) Answer {
	s.T.Helper()
	return s.Own("POST", s.Keys(), With(Object{"name": "Box office", "environment": "test"}, changes)).Is(201, "")
}

// As returns the same shop for a caller with another token or with an API key.
func (s *Shop) As(token string) *Shop {
	c := *s
	c.Token = token
	return &c
}

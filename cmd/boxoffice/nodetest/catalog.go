package nodetest

// ToldOf counts the facts of a type in the organization's feed.
func (s *Shop) ToldOf(kind string) int {
	s.T.Helper()
	items, _ := s.Own("GET", "/organizer/facts?limit=100&types="+kind, nil).Is(200, "").Data("items").([]any)
	return len(items)
}

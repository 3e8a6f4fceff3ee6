package nodetest

// ToldOf returns how many public facts of a type the organization's feed has, up to 100.
func (s *Shop) ToldOf(kind string) int {
	s.T.Helper()
	items, _ := s.Own("GET", "/organizer/facts?limit=100&types="+kind, nil).Is(200, "").Data("items").([]any)
	return len(items)
}

package nodetest

// Metric returns the text of /metrics.
func (s *Shop) Metric() string {
	s.T.Helper()
	c := *s
	c.URL = "http://" + s.Config().Listen
	return c.Raw("GET", "/metrics", "", "").Body
}

package server

// OpenConnections is how many connections the listener counts.
func (s *Server) OpenConnections() int {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	return len(s.listener.open)
}

// SetBodyBudget replaces the budget of announced bodies, in bytes.
func (s *Server) SetBodyBudget(n int) { s.bodies.budget = n }

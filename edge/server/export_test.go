package server

// OpenConnections is how many connections the listener counts.
func (s *Server) OpenConnections() int { return s.listener.Open() }

// SetBodyBudget replaces the budget of announced bodies, in bytes.
func (s *Server) SetBodyBudget(n int) { s.bodies.budget = n }

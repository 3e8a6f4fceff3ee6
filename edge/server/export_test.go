package server

// OpenConnections is how many connections the listener counts.
func (s *Server) OpenConnections() int { return s.listener.Open() }

// SetBodyBudget replaces the budget of announced bodies, in bytes.
func (s *Server) SetBodyBudget(n int) { s.bodies.budget = n }

// EnterCrowd reports whether one more request that begins a purchase may be handled. LeaveCrowd follows.
func (s *Server) EnterCrowd() bool { return s.crowd.Enter(s.cfg.Now()) }

// LeaveCrowd ends a request that has entered.
func (s *Server) LeaveCrowd() { s.crowd.Leave() }

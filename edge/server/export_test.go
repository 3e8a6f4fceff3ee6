package server

import (
	"io"
	"net"
	"time"
)

// OpenConnections is how many connections the listener counts.
func (s *Server) OpenConnections() int {
	s.listener.mu.Lock()
	defer s.listener.mu.Unlock()
	return len(s.listener.open)
}

// SetBodyBudget replaces the budget of announced bodies, in bytes.
func (s *Server) SetBodyBudget(n int) { s.bodies.budget = n }

// ReadSteadily reads a body of a known length from a connection, on a clock.
func ReadSteadily(conn net.Conn, length int64, now func() time.Time) error {
	_, err := io.Copy(io.Discard, &steadyBody{conn: conn, from: conn, left: length, now: now, began: now()})
	return err
}

package live

import (
	"encoding/binary"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// RequestOf returns the name by which an actor recognizes a repeated request. It is the zero value
// if the client sent no Idempotency-Key. Print is a hash of the body: two different bodies have the
// same Print with a probability of one in 2^64.
func RequestOf(c *route.Call, m *secrets.Master) engine.Request {
	if c.IdempotencyKey == "" {
		return engine.Request{}
	}
	name, body := m.Request(c.Scope()), c.BodyHash()
	return engine.Request{ID: engine.ID(name[:16]), Print: binary.BigEndian.Uint64(body[:8])}
}

// NetworkOf returns a hash of the caller's network, by which velocity rules count orders at an
// organization's event. It returns 0, which is not counted, for a caller who acts for the
// organization.
func NetworkOf(c *route.Call, m *secrets.Master, org int64) uint64 {
	if _, own := c.Principal.Grant(org); own {
		return 0
	}
	return m.Client(route.Network(c.Client))
}

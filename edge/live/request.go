package live

import (
	"encoding/binary"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// RequestOf names a request to an actor that remembers its answers, if the client sent an
// Idempotency-Key. Two different bodies have the same print with a probability of one in 2^64.
func RequestOf(c *route.Call, m *secrets.Master) engine.Request {
	if c.IdempotencyKey == "" {
		return engine.Request{}
	}
	name, body := m.Request(c.Scope()), c.BodyHash()
	return engine.Request{ID: engine.ID(name[:16]), Print: binary.BigEndian.Uint64(body[:8])}
}

// NetworkOf returns a hash of the client's network, for which the velocity rules count an order. It returns 0 for a
// caller who acts for the organization that sells, because that caller is no buyer.
func NetworkOf(c *route.Call, m *secrets.Master, org int64) uint64 {
	if _, own := c.Principal.Grant(org); own {
		return 0
	}
	return m.Client(route.Network(c.Client))
}

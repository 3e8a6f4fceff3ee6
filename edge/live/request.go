package live

import (
	"encoding/binary"

	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
)

// RequestOf names a request to an actor that knows its answers, if the client sent an
// Idempotency-Key. One in 2^64 bodies has the print of another.
func RequestOf(c *route.Call, m *secrets.Master) engine.Request {
	if c.IdempotencyKey == "" {
		return engine.Request{}
	}
	name, body := m.Request(c.Scope()), c.BodyHash()
	return engine.Request{ID: engine.ID(name[:16]), Print: binary.BigEndian.Uint64(body[:8])}
}

package live

import (
	"crypto/sha256"
	"encoding/binary"

	"boxoffice/edge/route"
	"boxoffice/persistence/numbers"
)

// NumberOf returns a new number for what a request creates, such as an event; parent is what the number belongs to. With
// an Idempotency-Key, every attempt with the same body gets the same number, so that an attempt after the node has
// died finds what was created before.
func NumberOf(c *route.Call, lease *numbers.Lease, parent int64) (int64, error) {
	if c.IdempotencyKey == "" {
		return lease.Next(c.Context)
	}
	scope, body := c.Scope(), c.BodyHash()
	return lease.ForCommand(c.Context, sha256.Sum256(binary.BigEndian.AppendUint64(append(scope[:], body[:]...), uint64(parent))))
}

package live

import (
	"crypto/sha256"
	"encoding/binary"

	"boxoffice/edge/route"
	"boxoffice/persistence/numbers"
)

// NumberOf is the number of what a request makes within parent. With an Idempotency-Key it is the
// same on every attempt with the same body, so that an attempt after the node has died finds what
// was made and makes nothing more.
func NumberOf(c *route.Call, lease *numbers.Lease, parent int64) (int64, error) {
	if c.IdempotencyKey == "" {
		return lease.Next(c.Context)
	}
	scope, body := c.Scope(), c.BodyHash()
	return lease.ForCommand(c.Context, sha256.Sum256(binary.BigEndian.AppendUint64(append(scope[:], body[:]...), uint64(parent))))
}

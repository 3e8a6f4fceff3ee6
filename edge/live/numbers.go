package live

import (
	"crypto/sha256"
	"encoding/binary"

	"boxoffice/edge/route"
	"boxoffice/persistence/numbers"
)

// NumberOf returns the number for the new thing that a request creates, such as an event of the
// organization parent. Every attempt with the same Idempotency-Key, body and parent gets the same
// number, so a repeat finds what an earlier attempt has created. Without a key, each call gets a
// new number.
func NumberOf(c *route.Call, lease *numbers.Lease, parent int64) (int64, error) {
	if c.IdempotencyKey == "" {
		return lease.Next(c.Context)
	}
	scope, body := c.Scope(), c.BodyHash()
	return lease.ForCommand(c.Context, sha256.Sum256(binary.BigEndian.AppendUint64(append(scope[:], body[:]...), uint64(parent))))
}

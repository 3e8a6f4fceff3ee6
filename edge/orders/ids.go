package orders

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// clockSkew is how far apart two nodes' clocks may be.
const clockSkew = 5 * time.Second

// NewIDs returns the id that an order of the event with a number gets by a request that is made now, and
// the other id that the same request may have got on the day before, or at a node whose clock differs.
// name is the request's. Without an Idempotency-Key there is no other.
func NewIDs(c *route.Call, number int64, name [sha256.Size]byte) (id, alias engine.OrderID) {
	id = datedID(number, name, c.Now)
	if c.IdempotencyKey == "" {
		return id, alias
	}
	if alias = datedID(number, name, c.Now.Add(clockSkew)); alias == id {
		alias = datedID(number, name, c.Now.Add(-24*time.Hour))
	}
	return id, alias
}

// datedID is the id of a name on a day. Multiplied by an odd constant, no two days
// change the name in the same way.
func datedID(number int64, name [sha256.Size]byte, at time.Time) engine.OrderID {
	day := uint64(at.Unix() / (24 * 3600))
	tail := name[:10]
	binary.BigEndian.PutUint64(tail[2:], binary.BigEndian.Uint64(tail[2:])^day*0x9e3779b97f4a7c15)
	return engine.NewID(number, tail)
}

package orders

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// clockSkew is how far the clocks of two nodes may differ, at most.
const clockSkew = 5 * time.Second

// NewIDs returns the id for the order that a request places now at the event with a number, and an
// alias: the id that the same request, sent again, may have got earlier, because ids depend on the
// day. If the next day begins within clockSkew, the alias is that day's id, and otherwise
// yesterday's. name identifies the request. Without an Idempotency-Key, alias is the zero id.
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

// datedID returns the order id of a request's name on the day of at (UTC). The day is multiplied by
// an odd constant, so that different days change the name differently.
func datedID(number int64, name [sha256.Size]byte, at time.Time) engine.OrderID {
	day := uint64(at.Unix() / (24 * 3600))
	tail := name[:10]
	binary.BigEndian.PutUint64(tail[2:], binary.BigEndian.Uint64(tail[2:])^day*0x9e3779b97f4a7c15)
	return engine.NewID(number, tail)
}

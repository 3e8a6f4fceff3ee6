package orders

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// clockSkew is how much two nodes' clocks may differ.
const clockSkew = 5 * time.Second

// NewIDs returns the id that a request gives a new order of an event now, and the alias, the other id that the same
// request may have given it on the day before, or on a node whose clock differs. number is the event's, and name the
// request's (secrets.Master.Request). Without an Idempotency-Key there is no alias.
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

// datedID returns the id for a name on the day of at. It multiplies the day by an odd constant, so that each day changes
// the name in another way.
func datedID(number int64, name [sha256.Size]byte, at time.Time) engine.OrderID {
	day := uint64(at.Unix() / (24 * 3600))
	tail := name[:10]
	binary.BigEndian.PutUint64(tail[2:], binary.BigEndian.Uint64(tail[2:])^day*0x9e3779b97f4a7c15)
	return engine.NewID(number, tail)
}

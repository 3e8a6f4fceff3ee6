package engine

import (
	"encoding/hex"
	"errors"
)

// ID is a 128-bit public identifier in the form of a UUID of version 8 (RFC 9562 section 5.8). Its
// first 48 bits are the number of the event it belongs to, so that a request is routed without a
// look-up; the other 74 free bits tell it apart within the event.
type ID [16]byte

// OrderID, TicketID, TypeID and EventID say what an ID identifies.
type (
	// OrderID identifies an order. Its tail is derived from the idempotency key, or random.
	OrderID = ID
	// TypeID identifies a ticket type; its tail is the type's number.
	TypeID = ID
	// EventID is an event's public id; its tail is random.
	EventID = ID
	// TicketID identifies a ticket; its tail is its serial and a check.
	TicketID = ID
)

// ErrID says that a text is not one of our IDs.
var ErrID = errors.New("not an id")

// MaxEvent is the largest event number that an ID can hold.
const MaxEvent = 1<<48 - 1

// NewID makes an ID from the event's number and at least ten bytes of tail. The UUID's version and
// variant replace six bits of the tail.
func NewID(event int64, tail []byte) ID {
	var id ID
	for i := range 6 {
		id[i] = byte(event >> (40 - 8*i))
	}
	copy(id[6:], tail[:10])
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	return id
}

// NumberedID returns the ID of the thing with a number (up to 2^62-1) within an event, such as a
// ticket type.
func NumberedID(event, number int64) ID {
	var tail [10]byte
	for i := range 8 {
		tail[2+i] = byte(number >> (56 - 8*i))
	}
	return NewID(event, tail[:])
}

// Event returns the number of the event that the ID belongs to.
func (id ID) Event() int64 {
	var n int64
	for i := range 6 {
		n = n<<8 | int64(id[i])
	}
	return n
}

// Number returns the number of an ID that NumberedID made.
func (id ID) Number() int64 {
	n := int64(id[8] & 0x3f)
	for _, b := range id[9:] {
		n = n<<8 | int64(b)
	}
	return n
}

// Zero reports whether the ID is unset.
func (id ID) Zero() bool { return id == ID{} }

// String writes the ID as a UUID in lower case.
func (id ID) String() string { return string(id.AppendText36(make([]byte, 0, 36))) }

// AppendText36 appends the 36 characters of the UUID.
func (id ID) AppendText36(b []byte) []byte {
	b = hex.AppendEncode(b, id[:4])
	for _, part := range [][]byte{id[4:6], id[6:8], id[8:10], id[10:]} {
		b = append(b, '-')
		b = hex.AppendEncode(b, part)
	}
	return b
}

// ParseID parses a UUID of version 8, in either case. It returns ErrID for anything else.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return ID{}, ErrID
	}
	var packed [32]byte
	n := 0
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			continue
		}
		packed[n] = s[i]
		n++
	}
	if _, err := hex.Decode(id[:], packed[:]); err != nil {
		return ID{}, ErrID
	}
	if id[6]&0xf0 != 0x80 || id[8]&0xc0 != 0x80 {
		return ID{}, ErrID
	}
	return id, nil
}

// Request identifies a request that a client may send again, to a kind that remembers its answers
// (paged.Answers). The zero value is a request that is never repeated.
type Request struct {
	ID    ID     `cbor:"1,keyasint"` // derived from the client's key with the master key, so that nobody can make two keys with one ID
	Print uint64 `cbor:"2,keyasint"` // hash of the request's body; a request with the same ID and another Print is refused
}

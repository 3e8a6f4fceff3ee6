package admission

import "boxoffice/engine"

// These are the types of the facts below. They share one range of numbers with the other facts of an event's actor.
const (
	typeCheckedIn engine.FactType = 30
	typeDenied    engine.FactType = 31
	typeUndone    engine.FactType = 32

	typeGatePassed    engine.FactType = 33
	typePassageUndone engine.FactType = 34
)

// These facts are journaled. At is unix milliseconds.
type (
	// CheckedIn admits a ticket.
	CheckedIn struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
		Gate   string `cbor:"3,keyasint,omitempty"`
		Device string `cbor:"4,keyasint,omitempty"`
		Method string `cbor:"5,keyasint,omitempty"`
		Key    uint64 `cbor:"6,keyasint,omitempty"`
		// Request is nil for scans without an idempotency key.
		Request *engine.Request `cbor:"7,keyasint,omitempty"`
		// Late says that the ticket had ended before a device reported this admission. It is set only where
		// exits are counted.
		Late bool `cbor:"8,keyasint,omitempty"`
	}
	// GatePassed lets the holder of a ticket out or, after the first admission, in again.
	GatePassed struct {
		Ticket  uint32          `cbor:"1,keyasint"`
		Out     bool            `cbor:"2,keyasint,omitempty"`
		At      int64           `cbor:"3,keyasint"`
		Gate    string          `cbor:"4,keyasint,omitempty"`
		Device  string          `cbor:"5,keyasint,omitempty"`
		Method  string          `cbor:"6,keyasint,omitempty"`
		Key     uint64          `cbor:"7,keyasint,omitempty"`
		Request *engine.Request `cbor:"8,keyasint,omitempty"` // the scan's idempotency key and hash; nil without a key
	}
	// PassageUndone takes back the last of several passages of a ticket. CheckInUndone takes back the only one.
	PassageUndone struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
	}
	// CheckInDenied counts a refused scan.
	CheckInDenied struct {
		Ticket uint32 `cbor:"1,keyasint,omitempty"`
		Status string `cbor:"2,keyasint"`
		At     int64  `cbor:"3,keyasint"`
		Gate   string `cbor:"4,keyasint,omitempty"`
		Device string `cbor:"5,keyasint,omitempty"`
		// Request is nil and Reason is empty for scans without an idempotency key.
		Request *engine.Request `cbor:"6,keyasint,omitempty"`
		Reason  string          `cbor:"7,keyasint,omitempty"`
		Method  string          `cbor:"8,keyasint,omitempty"` // how the code was read, as in CheckedIn; empty in older facts
		Out     bool            `cbor:"9,keyasint,omitempty"` // whether somebody was to go out
		// Passed says that the person went through all the same, because a device decided alone. The ticket
		// remembers such a passage, by its Key.
		Passed bool   `cbor:"10,keyasint,omitempty"`
		Key    uint64 `cbor:"11,keyasint,omitempty"`
	}
	// CheckInUndone takes an admission back: the ticket may be admitted again.
	CheckInUndone struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*CheckedIn) FactType() engine.FactType     { return typeCheckedIn }
func (*CheckInDenied) FactType() engine.FactType { return typeDenied }
func (*CheckInUndone) FactType() engine.FactType { return typeUndone }
func (*GatePassed) FactType() engine.FactType    { return typeGatePassed }
func (*PassageUndone) FactType() engine.FactType { return typePassageUndone }

// Facts lists the facts that go to the journal, with their numbers and their public names. Changes of tickets with
// their orders have facts in package order.
var Facts = []engine.FactDef{
	{Type: typeCheckedIn, Name: "ticket.checked_in", New: func() engine.Fact { return new(CheckedIn) }},
	{Type: typeDenied, Name: "ticket.checkin_denied", New: func() engine.Fact { return new(CheckInDenied) }},
	{Type: typeUndone, Name: "ticket.checkin_undone", New: func() engine.Fact { return new(CheckInUndone) }},
	{Type: typeGatePassed, Name: "ticket.gate_passed", New: func() engine.Fact { return new(GatePassed) }},
	{Type: typePassageUndone, Name: "ticket.passage_undone", New: func() engine.Fact { return new(PassageUndone) }},
}

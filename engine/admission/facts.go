package admission

import "boxoffice/engine"

// These number the facts among the facts of events.
const (
	typeCheckedIn engine.FactType = 30
	typeDenied    engine.FactType = 31
	typeUndone    engine.FactType = 32
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
		Method  string          `cbor:"8,keyasint,omitempty"` // as of CheckedIn; empty in older facts
	}
	// CheckInUndone takes an admission back: the ticket may be admitted again.
	CheckInUndone struct {
		Ticket uint32 `cbor:"1,keyasint"`
		At     int64  `cbor:"2,keyasint"`
	}
)

// FactType numbers the facts.
func (*CheckedIn) FactType() engine.FactType     { return typeCheckedIn }
func (*CheckInDenied) FactType() engine.FactType { return typeDenied }
func (*CheckInUndone) FactType() engine.FactType { return typeUndone }

// Facts is the table of journaled facts. Changes of tickets with their orders have facts in
// package order.
var Facts = []engine.FactDef{
	{Type: typeCheckedIn, Name: "ticket.checked_in", New: func() engine.Fact { return new(CheckedIn) }},
	{Type: typeDenied, Name: "ticket.checkin_denied", New: func() engine.Fact { return new(CheckInDenied) }},
	{Type: typeUndone, Name: "ticket.checkin_undone", New: func() engine.Fact { return new(CheckInUndone) }},
}

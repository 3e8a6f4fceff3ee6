package seatmap

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/paged"
)

// These are the fact types of a seat map besides a keeper's.
const (
	typeAttached   engine.FactType = 1
	typeConfigured engine.FactType = 2
	typeDetached   engine.FactType = 3
	typePriced     engine.FactType = 4
	typeHeld       engine.FactType = 5
	typeDropped    engine.FactType = 6
	typeExpired    engine.FactType = 7
	typeBlocked    engine.FactType = 8
	typeReturned   engine.FactType = 9

	typeResized = engine.VolatileFrom + 1
	typeSeen    = engine.VolatileFrom + 2
)

// Facts name a seat by its index in the attached layout; lists of seats are ascending. A fact that changes the
// state of some seats lists all of them (Update says to which state). Times are unix milliseconds.
type (
	// AttachedFact attaches a map. All its seats are free, and no section is for sale.
	AttachedFact struct {
		Layout   *Layout `cbor:"1,keyasint"`
		Mode     string  `cbor:"2,keyasint"`
		HoldTime int64   `cbor:"3,keyasint"` // milliseconds that a selection is held
		At       int64   `cbor:"4,keyasint"`
	}
	// ConfiguredFact changes how the attached map is sold.
	ConfiguredFact struct {
		Mode     string `cbor:"1,keyasint"`
		HoldTime int64  `cbor:"2,keyasint"`
		At       int64  `cbor:"3,keyasint"`
	}
	// DetachedFact removes the map with its prices, holds and blocks.
	DetachedFact struct {
		At int64 `cbor:"1,keyasint"`
	}
	// PricedFact says which ticket type each section of the layout is sold as, in the layout's order; 0 stands
	// for not sold.
	PricedFact struct {
		Types paged.Column[int64] `cbor:"1,keyasint,omitempty"`
		At    int64               `cbor:"2,keyasint"`
	}
	// HeldFact changes a holder's selection and the time when it ends.
	HeldFact struct {
		Holder    string      `cbor:"1,keyasint"`
		Principal uint64      `cbor:"2,keyasint"`
		At        int64       `cbor:"3,keyasint"`
		Since     int64       `cbor:"4,keyasint"` // unix milliseconds at which the selection began
		Until     int64       `cbor:"5,keyasint"`
		Took      paged.Steps `cbor:"6,keyasint,omitempty"`
		Dropped   paged.Steps `cbor:"7,keyasint,omitempty"`
		Answered  *Answered   `cbor:"8,keyasint,omitempty"`
		Network   uint64      `cbor:"9,keyasint,omitempty"`  // keyed hash of the client's address; with 0 its seats are not counted
		Extended  int64       `cbor:"10,keyasint,omitempty"` // how often the shopper has asked for more time and got it
	}
	// DroppedFact takes seats out of a holder's selection, which still ends at the same time.
	DroppedFact struct {
		Holder   string      `cbor:"1,keyasint"`
		Seats    paged.Steps `cbor:"2,keyasint,omitempty"`
		At       int64       `cbor:"3,keyasint"`
		Answered *Answered   `cbor:"4,keyasint,omitempty"`
	}
	// ExpiredFact ends selections whose time is up.
	ExpiredFact struct {
		Seats paged.Steps `cbor:"1,keyasint,omitempty"`
		At    int64       `cbor:"2,keyasint"`
	}
	// BlockedFact withholds seats and puts others back on sale.
	BlockedFact struct {
		Block   paged.Steps `cbor:"1,keyasint,omitempty"`
		Unblock paged.Steps `cbor:"2,keyasint,omitempty"`
		At      int64       `cbor:"3,keyasint"`
	}
	// ReturnedFact gives sold seats back.
	ReturnedFact struct {
		Claim keeper.Claim `cbor:"1,keyasint"`
		Seats paged.Steps  `cbor:"2,keyasint,omitempty"`
		At    int64        `cbor:"3,keyasint"`
	}
	// ReservedFact gives seats to an order, even if others held them. Reservation.Left is not set. Types are
	// the ticket types that the seats are sold as, if they differ from the types of their sections. Freed are
	// further seats that an earlier reservation of the order had.
	ReservedFact struct {
		Reservation keeper.ReservedFact `cbor:"1,keyasint"`
		Seats       paged.Steps         `cbor:"2,keyasint,omitempty"`
		Types       paged.Column[int64] `cbor:"3,keyasint,omitempty"`
		Freed       paged.Steps         `cbor:"4,keyasint,omitempty"`
	}
	// ReleasedFact gives back a reservation's seats.
	ReleasedFact struct {
		Claim keeper.Claim  `cbor:"1,keyasint"`
		Floor keeper.Serial `cbor:"2,keyasint"`
		Seats paged.Steps   `cbor:"3,keyasint,omitempty"`
	}
	// ResizedFact (volatile) says that, at At, the ticket types that had not acknowledged their number of seats were
	// told it.
	ResizedFact struct{ At int64 }
	// SeenFact (volatile) says that a ticket type has acknowledged the Resize with this Revision.
	SeenFact struct{ Revision uint64 }
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*AttachedFact) FactType() engine.FactType   { return typeAttached }
func (*ConfiguredFact) FactType() engine.FactType { return typeConfigured }
func (*DetachedFact) FactType() engine.FactType   { return typeDetached }
func (*PricedFact) FactType() engine.FactType     { return typePriced }
func (*HeldFact) FactType() engine.FactType       { return typeHeld }
func (*DroppedFact) FactType() engine.FactType    { return typeDropped }
func (*ExpiredFact) FactType() engine.FactType    { return typeExpired }
func (*BlockedFact) FactType() engine.FactType    { return typeBlocked }
func (*ReturnedFact) FactType() engine.FactType   { return typeReturned }
func (*ReservedFact) FactType() engine.FactType   { return keeper.TypeReserved }
func (*ReleasedFact) FactType() engine.FactType   { return keeper.TypeReleased }
func (*ResizedFact) FactType() engine.FactType    { return typeResized }
func (*SeenFact) FactType() engine.FactType       { return typeSeen }

// Facts lists the facts that go to the journal, with their numbers and their public names. The kind has its own
// versions of those keeper facts that say which seats they are about.
var Facts = []engine.FactDef{
	{Type: typeAttached, Name: "seatmap.attached", New: func() engine.Fact { return new(AttachedFact) }},
	{Type: typeConfigured, Name: "seatmap.configured", New: func() engine.Fact { return new(ConfiguredFact) }},
	{Type: typeDetached, Name: "seatmap.detached", New: func() engine.Fact { return new(DetachedFact) }},
	{Type: typePriced, Name: "seatmap.priced", New: func() engine.Fact { return new(PricedFact) }},
	{Type: typeHeld, Name: "seats.held", New: func() engine.Fact { return new(HeldFact) }},
	{Type: typeDropped, Name: "seats.dropped", New: func() engine.Fact { return new(DroppedFact) }},
	{Type: typeExpired, Name: "seats.expired", New: func() engine.Fact { return new(ExpiredFact) }},
	{Type: typeBlocked, Name: "seats.blocked", New: func() engine.Fact { return new(BlockedFact) }},
	{Type: typeReturned, Name: "seats.returned", New: func() engine.Fact { return new(ReturnedFact) }},
	{Type: keeper.TypeReserved, Name: "seats.reserved", New: func() engine.Fact { return new(ReservedFact) }},
	{Type: keeper.TypeCommitted, Name: "seats.committed", New: func() engine.Fact { return new(keeper.CommittedFact) }},
	{Type: keeper.TypeReleased, Name: "seats.released", New: func() engine.Fact { return new(ReleasedFact) }},
}

// Update is what a fact changes for watchers of the map: indexes of seats by their new state. The
// other seats keep their state.
type Update struct {
	Available []int32 // seats that are free again after they were held or sold
	Held      []int32
	Sold      []int32
	Blocked   []int32
	Unblocked []int32 // seats that are free again after they were blocked
	Whole     bool    // whether the map itself has changed and has to be read again
}

// UpdateOf returns what watchers see of a journaled fact.
func UpdateOf(f engine.Fact) Update {
	switch f := f.(type) {
	case *AttachedFact, *DetachedFact, *PricedFact:
		return Update{Whole: true}
	case *HeldFact:
		return Update{Held: f.Took, Available: f.Dropped}
	case *DroppedFact:
		return Update{Available: f.Seats}
	case *ExpiredFact:
		return Update{Available: f.Seats}
	case *BlockedFact:
		return Update{Blocked: f.Block, Unblocked: f.Unblock}
	case *ReturnedFact:
		return Update{Available: f.Seats}
	case *ReservedFact:
		return Update{Sold: f.Seats, Available: f.Freed}
	case *ReleasedFact:
		return Update{Available: f.Seats}
	default:
		return Update{}
	}
}

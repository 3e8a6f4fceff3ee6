package queue

import (
	"boxoffice/engine"
	"boxoffice/engine/draw"
)

// These are the fact types of a waiting room.
const (
	typeOpened engine.FactType = iota + 1
	typeEnded
	typePaused
	typeJoined
	typeClosed
	typeDrawn
	typeVoided
	typeServed
	typeAdmitted
	typeDraining
	typeBound
)

// These facts are journaled. At is unix milliseconds.
type (
	// Opened sets the room's settings. Draw is another number than before if the room is new.
	Opened struct {
		Settings *Settings `cbor:"1,keyasint"`
		Draw     uint32    `cbor:"2,keyasint"`
		At       int64     `cbor:"3,keyasint"`
	}
	// Ended ends the room.
	Ended struct {
		At int64 `cbor:"1,keyasint"`
	}
	// PausedFact stops admissions or lets them go on.
	PausedFact struct {
		On bool  `cbor:"1,keyasint,omitempty"`
		At int64 `cbor:"2,keyasint"`
	}
	// Joined is an entry: its leaf, in the order of the tree.
	Joined struct {
		Leaf   draw.Hash  `cbor:"1,keyasint"`
		Class  draw.Class `cbor:"2,keyasint,omitempty"`
		Person uint64     `cbor:"3,keyasint,omitempty"`
	}
	// ClosedFact closes the list. For a draw, its content is published before the beacon's round; if it is too late
	// for that, Voided follows at once.
	ClosedFact struct {
		Count uint32    `cbor:"1,keyasint"`
		Root  draw.Hash `cbor:"2,keyasint"`
		At    int64     `cbor:"3,keyasint"`
	}
	// Drawn gives the places by the beacon's signature.
	Drawn struct {
		Signature []byte `cbor:"1,keyasint"`
		At        int64  `cbor:"2,keyasint"`
	}
	// Voided gives the places by arrival: the rules say so, the list was closed too late for the draw, or the beacon
	// did not come.
	Voided struct {
		At int64 `cbor:"1,keyasint"`
	}
	// Served admits all places below To.
	Served struct {
		To     uint32 `cbor:"1,keyasint"`
		Credit int64  `cbor:"2,keyasint,omitempty"`
		At     int64  `cbor:"3,keyasint"`
	}
	// Admitted begins the admission of one entry.
	Admitted struct {
		Index   uint32 `cbor:"1,keyasint"`
		Seconds uint32 `cbor:"2,keyasint"` // seconds from the room's opening to the admission, from 1
	}
	// DrainingFact lets nobody join any more.
	DrainingFact struct {
		At int64 `cbor:"1,keyasint"`
	}
	// Bound gives an admission to the buyer who uses it.
	Bound struct {
		Index  uint32 `cbor:"1,keyasint"`
		Person uint64 `cbor:"2,keyasint"`
	}
)

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Opened) FactType() engine.FactType       { return typeOpened }
func (*Ended) FactType() engine.FactType        { return typeEnded }
func (*PausedFact) FactType() engine.FactType   { return typePaused }
func (*Joined) FactType() engine.FactType       { return typeJoined }
func (*ClosedFact) FactType() engine.FactType   { return typeClosed }
func (*Drawn) FactType() engine.FactType        { return typeDrawn }
func (*Voided) FactType() engine.FactType       { return typeVoided }
func (*Served) FactType() engine.FactType       { return typeServed }
func (*Admitted) FactType() engine.FactType     { return typeAdmitted }
func (*DrainingFact) FactType() engine.FactType { return typeDraining }
func (*Bound) FactType() engine.FactType        { return typeBound }

// Facts lists the facts that go to the journal, with their numbers and their public names.
var Facts = []engine.FactDef{
	{Type: typeOpened, Name: "queue.opened", New: func() engine.Fact { return new(Opened) }},
	{Type: typeEnded, Name: "queue.ended", New: func() engine.Fact { return new(Ended) }},
	{Type: typePaused, Name: "queue.paused", New: func() engine.Fact { return new(PausedFact) }},
	{Type: typeJoined, Name: "queue.joined", New: func() engine.Fact { return new(Joined) }},
	{Type: typeClosed, Name: "queue.closed", New: func() engine.Fact { return new(ClosedFact) }},
	{Type: typeDrawn, Name: "queue.drawn", New: func() engine.Fact { return new(Drawn) }},
	{Type: typeVoided, Name: "queue.voided", New: func() engine.Fact { return new(Voided) }},
	{Type: typeServed, Name: "queue.served", New: func() engine.Fact { return new(Served) }},
	{Type: typeAdmitted, Name: "queue.admitted", New: func() engine.Fact { return new(Admitted) }},
	{Type: typeDraining, Name: "queue.draining", New: func() engine.Fact { return new(DrainingFact) }},
	{Type: typeBound, Name: "queue.bound", New: func() engine.Fact { return new(Bound) }},
}

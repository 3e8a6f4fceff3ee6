package wallet

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// The fact types of a wallet.
const (
	typeEntered engine.FactType = 1
	typeTold    engine.FactType = 2
)

// Entered adds an entry to the wallet.
type Entered struct {
	Entry Entry  `cbor:"1,keyasint"`
	Print uint64 `cbor:"2,keyasint,omitempty"` // hash of the movement's content; 0 in the fact that ends it
}

// Told notes the newest totals of an event, with the entries that follow from them.
type Told struct {
	Proceeds keeper.Proceeds `cbor:"1,keyasint"`
	Entries  []Entry         `cbor:"2,keyasint,omitempty"`
}

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Entered) FactType() engine.FactType { return typeEntered }

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Told) FactType() engine.FactType { return typeTold }

// Facts lists the facts that go to the journal, with their numbers and their public names.
var Facts = append([]engine.FactDef{
	{Type: typeEntered, Name: "wallet.entered", New: func() engine.Fact { return new(Entered) }},
	{Type: typeTold, Name: "wallet.told", New: func() engine.Fact { return new(Told) }},
}, keeper.Facts("wallet")...)

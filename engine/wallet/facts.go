package wallet

import "boxoffice/engine"

// The fact types of a wallet.
const typeEntered engine.FactType = 1

// Entered adds an entry to the ledger.
type Entered struct {
	Entry Entry  `cbor:"1,keyasint"`
	Print uint64 `cbor:"2,keyasint,omitempty"` // of the movement's content; 0 for its end
}

// FactType numbers the facts.
func (*Entered) FactType() engine.FactType { return typeEntered }

// Facts is the table of journaled facts.
var Facts = []engine.FactDef{
	{Type: typeEntered, Name: "wallet.entered", New: func() engine.Fact { return new(Entered) }},
}

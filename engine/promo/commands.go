package promo

import "boxoffice/engine"

// These are the commands of a code besides a keeper's. Each is answered by *Record, or by
// the reply that its comment names.
type (
	// Create makes the code. The actor's number serves as the command's id: if the code exists, nothing
	// changes.
	Create struct{ Details Details }
	// Update replaces the terms, if they are still at Revision.
	Update struct {
		Details  Details
		Revision uint64
	}
	// Delete removes a code that no order has used or reserved, and disables any other.
	Delete struct{}
	// Get reads the code.
	Get struct{}
	// Validate asks whether the code is valid for a purchase, without using it. The answer is a *Verdict.
	Validate struct {
		Event    int64
		Types    []engine.TypeID // ticket types of the order; empty if they are not known
		Subtotal int64           // minor units; negative if it is not known
		Currency string          // currency of the event; the terms of the verdict are in its minor units
		Customer uint64          // hash of the buyer's address (order.CustomerOf); 0 if it is not known
	}
)

// Command makes the types above commands (engine.Command).
func (Create) Command()   {}
func (Update) Command()   {}
func (Delete) Command()   {}
func (Get) Command()      {}
func (Validate) Command() {}

// Verdict tells whether a code is valid, and its terms. It has no terms if there is no such code for the event.
type Verdict struct {
	Reason  string // why the code is not valid; "" if it is
	Details Details
}

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
var Def = engine.KindDef{
	Kind: engine.KindPromo, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{Create{}, Update{}, Delete{}, Get{}, Validate{}},
		Replies:  []engine.Reply{&Record{}, &Verdict{}},
	},
}

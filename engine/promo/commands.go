package promo

import "boxoffice/engine"

// The commands of a code besides the keeper's. Each is answered by *Record, or by the
// reply that its comment names.
type (
	// Create makes the code. The actor's number is the command's id.
	Create struct{ Details Details }
	// Update replaces the terms, if they are still at Revision.
	Update struct {
		Details  Details
		Revision uint64
	}
	// Delete removes a code that no order has named, and disables any other.
	Delete struct{}
	// Get reads the code.
	Get struct{}
	// Validate asks whether the code holds for a purchase, and consumes nothing.
	// *Verdict.
	Validate struct {
		Event    int64
		Types    []engine.TypeID // none: whatever they are
		Subtotal int64           // minor units; negative: nobody says
		Customer uint64          // 0: nobody says
	}
)

// Command marks the commands.
func (Create) Command()   {}
func (Update) Command()   {}
func (Delete) Command()   {}
func (Get) Command()      {}
func (Validate) Command() {}

// Verdict reports whether a code holds, and on which terms.
type Verdict struct {
	Reason  string // "" when it holds
	Details Details
}

// Def is the kind's row of the list of kinds.
var Def = engine.KindDef{
	Kind: engine.KindPromo, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{Create{}, Update{}, Delete{}, Get{}, Validate{}},
		Replies:  []engine.Reply{&Record{}, &Verdict{}},
	},
}

package inventory

import "boxoffice/engine"

// Def is the kind's row of the list of kinds.
var Def = engine.KindDef{
	Kind: engine.KindInventory, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{
			Create{}, Update{}, Get{},
		},
		Replies: []engine.Reply{&Record{}},
		Details: []any{
			OrderCap{}, CustomerCap{}, Floor{},
		},
	},
}

package inventory

import "boxoffice/engine"

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
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

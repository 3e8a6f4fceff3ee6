package wallet

import "boxoffice/engine"

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
var Def = engine.KindDef{
	Kind: engine.KindWallet, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{
			Credit{}, Debit{}, Clear{}, Void{}, Get{},
		},
		Replies: []engine.Reply{&Record{}, &Reply{}},
		Details: []any{
			Funds{}, Range{}, Ended{},
		},
	},
}

package wallet

import "boxoffice/engine"

// Def is the kind's row of the list of kinds.
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

package seatmap

import "boxoffice/engine"

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
var Def = engine.KindDef{
	Kind: engine.KindSeatmap, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{
			Attach{}, Detach{}, Price{}, Hold{}, Release{}, Extend{}, Block{}, BestAvailable{}, View{}, Get{},
		},
		Replies: []engine.Reply{&Record{}, &Selection{}, &Released{}, &Blocking{}, &Best{}, &Map{}},
		Details: []any{
			Seats{}, Room{}, HoldLimit{},
		},
	},
}

package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/velocity"
	"boxoffice/engine/waitlist"
)

// Def describes this kind of actor to the engine (engine/all): its facts, its messages, and how a state is made.
var Def = engine.KindDef{
	Kind: engine.KindEvent, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: slices.Concat([]engine.Command{
			Create{},
			Update{},
			Move{},
			Delete{},
			Get{},
			GetType{},
			Touch{},
			Erase{},
		}, ledger.Messages.Commands, admission.Messages.Commands, waitlist.Messages.Commands),
		Replies: slices.Concat([]engine.Reply{&Record{}, &TypeReply{}}, ledger.Messages.Replies, admission.Messages.Replies, waitlist.Messages.Replies),
		Details: slices.Concat([]any{
			Transition{}, Category{}, keeper.Issues{}, velocity.Exceeded{}, TypeLimit{},
		}, ledger.Messages.Details, admission.Messages.Details, waitlist.Messages.Details),
	},
}

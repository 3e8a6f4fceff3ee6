package event

import "boxoffice/engine"

// Def is the kind's row of the list of kinds.
var Def = engine.KindDef{
	Kind: engine.KindEvent, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: []engine.Command{
			Create{},
			Update{},
			Move{},
			Delete{},
			Get{},
			GetType{},
			Place{},
			GetOrder{},
			CancelOrder{},
			BeginPayment{},
			OpenPayment{},
			ReportPayment{},
			ReportRefund{},
			Scan{},
			GateStats{},
		},
		Replies: []engine.Reply{&Record{}, &TypeReply{}, &OrderReply{}, &ScanReply{}, &Stats{}},
		Details: []any{
			Transition{}, Category{}, Issues{}, OrderState{}, VelocityLimit{}, TypeLimit{},
		},
	},
}

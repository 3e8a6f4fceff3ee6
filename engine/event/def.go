package event

import (
	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/waitlist"
)

// Def is the kind's row of the list of kinds.
var Def = engine.KindDef{
	Kind: engine.KindEvent, Facts: Facts, New: New, Frozen: func() any { return new(Frozen) }, Thaw: Thaw,
	Messages: engine.Messages{
		Commands: append([]engine.Command{
			Create{},
			Update{},
			Move{},
			Delete{},
			Get{},
			GetType{},
			Place{},
			PlaceAll{},
			GetOrder{},
			CancelOrder{},
			BeginPayment{},
			OpenPayment{},
			ReportPayment{},
			ReportDeposit{},
			ReportRefund{},
			AskRefund{},
			DecideRefund{},
			Reschedule{},
			Scan{},
			ScanBatch{},
			GateRoster{},
			UndoScan{},
			GateStats{},
			Touch{},
			Transfer{},
			RevokeTransfer{},
			ClaimTransfer{},
			Erase{},
		}, waitlist.Messages.Commands...),
		Replies: append([]engine.Reply{&Record{}, &TypeReply{}, &OrderReply{}, &AllReply{}, &ScanReply{}, &BatchReply{}, &Roster{}, &Stats{}, &TransferReply{}}, waitlist.Messages.Replies...),
		Details: append([]any{
			Transition{}, Category{}, keeper.Issues{}, OrderState{}, NotEligible{}, VelocityLimit{}, TypeLimit{}, NotTransferable{},
		}, waitlist.Messages.Details...),
	},
}

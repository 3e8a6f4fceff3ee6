package all

import (
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/wallet"
)

// Commands lists every command, for it may come from another node. Its name there
// is the type's, such as "event.Place": renamed, it is another command to a node
// of another release.
var Commands = []engine.Command{
	engine.Wake{},
	event.Create{},
	event.Update{},
	event.Move{},
	event.Delete{},
	event.Get{},
	event.GetType{},
	event.Place{},
	event.GetOrder{},
	event.CancelOrder{},
	event.BeginPayment{},
	event.OpenPayment{},
	event.ReportPayment{},
	event.ReportRefund{},
	event.Scan{},
	event.GateStats{},

	inventory.Create{},
	inventory.Update{},
	inventory.Get{},

	wallet.Credit{},
	wallet.Debit{},
	wallet.Clear{},
	wallet.Void{},
	wallet.Get{},

	seatmap.Attach{},
	seatmap.Detach{},
	seatmap.Price{},
	seatmap.Hold{},
	seatmap.Release{},
	seatmap.Block{},
	seatmap.BestAvailable{},
	seatmap.View{},
	seatmap.Get{},

	keeper.Reserve{},
	keeper.Commit{},
	keeper.Release{},
	keeper.Confirmed{},
	keeper.OfferSeen{},
	keeper.Granted{},
	keeper.Refused{},
	keeper.Closed{},
	keeper.Inquire{},
	keeper.Offer{},
	keeper.Resize{},
	keeper.ResizeSeen{},
	keeper.Return{},
	keeper.Returned{},
}

// Replies lists every reply but the refusals, which all kinds share.
var Replies = []engine.Reply{
	&event.Record{}, &event.TypeReply{}, &event.OrderReply{}, &event.ScanReply{}, &event.Stats{},
	&inventory.Record{},
	&wallet.Record{}, &wallet.Reply{},
	&seatmap.Record{}, &seatmap.Selection{}, &seatmap.Released{}, &seatmap.Blocking{}, &seatmap.Best{}, &seatmap.Map{},
}

// Details lists the details of refusals.
var Details = []any{
	event.Transition{},
	event.Category{},
	event.Issues{},
	event.OrderState{},
	event.VelocityLimit{},
	event.Which{},
	event.Full{},
	event.Blocked{},
	inventory.Stock{},
	inventory.OrderCap{},
	inventory.CustomerCap{},
	inventory.Closed{},
	inventory.Which{},
	inventory.Floor{},
	wallet.Funds{},
	wallet.Range{},
	wallet.Ended{},
	seatmap.Seats{},
	seatmap.Room{},
	seatmap.HoldLimit{},
	event.TypeLimit{},
}

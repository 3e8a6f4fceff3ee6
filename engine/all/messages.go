package all

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Commands lists every command, because any of them may come from another node. Nodes name a command
// by its Go type, such as "ledger.Place", so FormerNames must list a type that is renamed: a node of another
// release would not know its command.
var Commands = collect([]engine.Command{engine.Wake{}}, func(m *engine.Messages) []engine.Command { return m.Commands })

// Replies lists every reply except refusals, which all kinds share.
var Replies = collect(nil, func(m *engine.Messages) []engine.Reply { return m.Replies })

// Details lists the details of refusals.
var Details = collect(nil, func(m *engine.Messages) []any { return m.Details })

// FormerNames are the names that types had in the previous release. For one release, these types
// are sent under the former names and understood under both. If a type has two former names, it is
// sent under the first.
var FormerNames = map[string][]string{
	"velocity.Exceeded": {"event.VelocityLimit"},

	"admission.Scan":            {"event.Scan"},
	"admission.ScanBatch":       {"event.ScanBatch"},
	"admission.GateRoster":      {"event.GateRoster"},
	"admission.UndoScan":        {"event.UndoScan"},
	"admission.GateStats":       {"event.GateStats"},
	"admission.Transfer":        {"event.Transfer"},
	"admission.RevokeTransfer":  {"event.RevokeTransfer"},
	"admission.ClaimTransfer":   {"event.ClaimTransfer"},
	"admission.ScanReply":       {"event.ScanReply"},
	"admission.BatchReply":      {"event.BatchReply"},
	"admission.Roster":          {"event.Roster"},
	"admission.Stats":           {"event.Stats"},
	"admission.TransferReply":   {"event.TransferReply"},
	"admission.NotTransferable": {"event.NotTransferable"},

	"ledger.Place":         {"event.Place"},
	"ledger.PlaceAll":      {"event.PlaceAll"},
	"ledger.GetOrder":      {"event.GetOrder"},
	"ledger.CancelOrder":   {"event.CancelOrder"},
	"ledger.BeginPayment":  {"event.BeginPayment"},
	"ledger.OpenPayment":   {"event.OpenPayment"},
	"ledger.ReportPayment": {"event.ReportPayment"},
	"ledger.ReportDeposit": {"event.ReportDeposit"},
	"ledger.ReportRefund":  {"event.ReportRefund"},
	"ledger.AskRefund":     {"event.AskRefund"},
	"ledger.DecideRefund":  {"event.DecideRefund"},
	"ledger.Reschedule":    {"event.Reschedule"},
	"ledger.OrderReply":    {"event.OrderReply"},
	"ledger.AllReply":      {"event.AllReply"},
	"ledger.OrderState":    {"event.OrderState"},
	"ledger.NotEligible":   {"event.NotEligible"},

	"keeper.OutOfStock": {"inventory.Stock", "event.Full"},
	"keeper.NotOnSale":  {"inventory.Closed", "event.Blocked"},
	"keeper.OfType":     {"inventory.Which", "event.Which"},
	"keeper.Issues":     {"event.Issues"},
}

// collect lists the messages of one sort: the first ones, which belong to no kind, then the messages of
// each kind, then the messages of the keepers' protocol.
func collect[T any](first []T, of func(*engine.Messages) []T) []T {
	for i := range Kinds {
		first = append(first, of(&Kinds[i].Messages)...)
	}
	return slices.Concat(first, of(&keeper.Messages))
}

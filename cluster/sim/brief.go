package sim

import (
	"fmt"
	"runtime/debug"
	"strings"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

func claimed(c keeper.Claim) string {
	return fmt.Sprintf("%s@%d.%d", enginetest.OrderName(c.Order), c.Serial.Epoch(), uint32(c.Serial))
}

// brief says in a few words what a command asks.
func brief(c engine.Command) string {
	switch c := c.(type) {
	case keeper.Reserve:
		return fmt.Sprintf("Reserve %s %d %v late=%t", claimed(c.Claim), c.Line.Quantity, c.Line.Seats, c.Line.Late)
	case keeper.Commit:
		return "Commit " + claimed(c.Claim)
	case keeper.Release:
		return "Release " + claimed(c.Claim)
	case keeper.Granted:
		return "Granted " + claimed(c.Claim) + " by " + c.Keeper.Name()
	case keeper.Refused:
		return "Refused " + claimed(c.Claim) + " by " + c.Keeper.Name() + ": " + string(c.Refusal.Code)
	case keeper.Closed:
		return "Closed " + claimed(c.Claim) + " by " + c.Keeper.Name()
	case keeper.Inquire:
		return "Inquire " + briefClaims(c.Claims) + " by " + c.Keeper.Name()
	case keeper.Confirmed:
		return "Confirmed " + briefClaims(c.Claims)
	case keeper.Resize:
		return fmt.Sprintf("Resize %d to %d", c.Revision, c.Quantity)
	case keeper.ResizeSeen:
		return fmt.Sprintf("ResizeSeen %d", c.Revision)
	case seatmap.Hold:
		return fmt.Sprintf("Hold %v for %s of %d", c.Seats, c.Holder, c.Principal)
	case seatmap.Release:
		return fmt.Sprintf("Drop %v of %s", c.Seats, c.Holder)
	case seatmap.BestAvailable:
		return fmt.Sprintf("BestAvailable %d for %s of %d", c.Quantity, c.Holder, c.Principal)
	case seatmap.Block:
		return fmt.Sprintf("Block %v, unblock %v", c.Block, c.Unblock)
	case event.Place:
		return fmt.Sprintf("Place %s print %x", enginetest.OrderName(c.Order), c.Fingerprint)
	case event.PlaceAll:
		return fmt.Sprintf("PlaceAll %s and %d", enginetest.OrderName(c.Orders[0].Order), len(c.Orders)-1)
	case event.CancelOrder:
		return "CancelOrder " + enginetest.OrderName(c.Order)
	case event.BeginPayment:
		return "BeginPayment " + enginetest.OrderName(c.Order)
	case event.OpenPayment:
		return "OpenPayment " + c.Reference
	case event.ReportDeposit:
		return fmt.Sprintf("ReportDeposit %s %s %d", c.Reference, c.Deposit, c.Received)
	case event.ReportPayment:
		return fmt.Sprintf("ReportPayment %s %s %d", c.Reference, c.Status, c.Received)
	case event.ReportRefund:
		return "ReportRefund " + c.Reference + " " + c.Status
	case event.AskRefund:
		return fmt.Sprintf("AskRefund %s %v approve=%t", enginetest.OrderName(c.Order), c.Tickets, c.Approve)
	case event.DecideRefund:
		return fmt.Sprintf("DecideRefund %s %d approve=%t", enginetest.OrderName(c.Order), c.Position, c.Approve)
	case event.Reschedule:
		return fmt.Sprintf("Reschedule %s %d to %s %s", enginetest.OrderName(c.Order), c.Ticket, c.Date, c.Slot)
	case event.Transfer:
		return fmt.Sprintf("Transfer %d of %d", c.Ticket, c.Version)
	case event.ClaimTransfer:
		return fmt.Sprintf("ClaimTransfer %d round %d", c.Ticket, c.Round)
	case event.Scan:
		return fmt.Sprintf("Scan %d of %d key %d at %s", c.Ticket, c.Version, c.Key, c.Gate)
	case engine.Wake:
		return fmt.Sprintf("Wake %d", c.Epoch)
	case event.Move:
		return "Move " + c.To
	default:
		return enginetest.CommandName(c)
	}
}

func briefClaims(cs []keeper.Claim) string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = claimed(c)
	}
	return strings.Join(names, " ")
}

func briefReply(r engine.Reply) string {
	switch r := r.(type) {
	case *engine.Refusal:
		return string(r.Code)
	case *event.OrderReply:
		return r.Status
	case *event.ScanReply:
		return r.Status
	case *event.Record:
		return r.Status
	case *inventory.Record:
		return fmt.Sprintf("%d sold, %d available", r.Sold, r.Available)
	case *seatmap.Selection:
		return fmt.Sprintf("held %v, failed %v %v", r.Held, r.Failed, r.Reasons)
	case *seatmap.Best:
		return fmt.Sprintf("held %v", r.Held)
	default:
		return fmt.Sprintf("%T", r)
	}
}

func trace() string {
	lines := strings.Split(string(debug.Stack()), "\n")
	return strings.Join(lines[min(len(lines), 7):min(len(lines), 25)], "\n")
}

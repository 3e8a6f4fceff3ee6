// Package brief describes commands and replies in a few words, for the log of a simulated world. When a run fails,
// somebody reads thousands of these lines, so each has only what tells one command from the next: whom it is about,
// and how much it asks for.
package brief

import (
	"fmt"
	"strings"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/queue"
	"boxoffice/engine/seatmap"
)

// Command describes a command. A kind of command that is not listed is left with its name alone.
func Command(c engine.Command) string {
	switch c := c.(type) {
	// The messages of the reservation protocol name the claim. The messages of a keeper also name the keeper,
	// because the ledger hears from several.
	case keeper.Reserve:
		return fmt.Sprintf("Reserve %s %d %v late=%t", enginetest.ClaimName(c.Claim), c.Line.Quantity, c.Line.Seats, c.Line.Late)
	case keeper.Commit:
		return "Commit " + enginetest.ClaimName(c.Claim)
	case keeper.Release:
		return "Release " + enginetest.ClaimName(c.Claim)
	case keeper.Granted:
		return "Granted " + enginetest.ClaimName(c.Claim) + " by " + c.Keeper.Name()
	case keeper.Refused:
		return "Refused " + enginetest.ClaimName(c.Claim) + " by " + c.Keeper.Name() + ": " + string(c.Refusal.Code)
	case keeper.Closed:
		return "Closed " + enginetest.ClaimName(c.Claim) + " by " + c.Keeper.Name()
	case keeper.Inquire:
		return "Inquire " + nameClaims(c.Claims) + " by " + c.Keeper.Name()
	case keeper.Confirmed:
		return "Confirmed " + nameClaims(c.Claims)
	case keeper.Resize:
		return fmt.Sprintf("Resize %d to %d", c.Revision, c.Quantity)
	case keeper.ResizeSeen:
		return fmt.Sprintf("ResizeSeen %d", c.Revision)
	// A shopper's commands name the holder. Drop is a shopper's release, to tell it from a keeper's.
	case seatmap.Hold:
		return fmt.Sprintf("Hold %v for %s of %d", c.Seats, c.Holder, c.Principal)
	case seatmap.Release:
		return fmt.Sprintf("Drop %v of %s", c.Seats, c.Holder)
	case seatmap.Extend:
		return "Extend what " + c.Holder + " holds"
	case seatmap.BestAvailable:
		return fmt.Sprintf("BestAvailable %d for %s of %d", c.Quantity, c.Holder, c.Principal)
	case seatmap.Block:
		return fmt.Sprintf("Block %v, unblock %v", c.Block, c.Unblock)
	// The commands of buyers and providers name the order, or the reference of the payment.
	case ledger.Place:
		return fmt.Sprintf("Place %s print %x", enginetest.OrderName(c.Order), c.Fingerprint)
	// The command of a cart has several orders; the first one's name is enough to find it.
	case ledger.PlaceAll:
		return fmt.Sprintf("PlaceAll %s and %d", enginetest.OrderName(c.Orders[0].Order), len(c.Orders)-1)
	case ledger.CancelOrder:
		return "CancelOrder " + enginetest.OrderName(c.Order)
	case ledger.ExtendOrder:
		return fmt.Sprintf("ExtendOrder %s after %d", enginetest.OrderName(c.Order), c.After)
	case ledger.BeginPayment:
		return "BeginPayment " + enginetest.OrderName(c.Order)
	case ledger.OpenPayment:
		return "OpenPayment " + c.Reference
	case ledger.ReportDeposit:
		return fmt.Sprintf("ReportDeposit %s %s %d", c.Reference, c.Deposit, c.Received)
	case ledger.ReportPayment:
		return fmt.Sprintf("ReportPayment %s %s %d", c.Reference, c.Status, c.Received)
	case ledger.ReportRefund:
		return "ReportRefund " + c.Reference + " " + c.Status
	case ledger.AskRefund:
		return fmt.Sprintf("AskRefund %s %v approve=%t", enginetest.OrderName(c.Order), c.Tickets, c.Approve)
	case ledger.DecideRefund:
		return fmt.Sprintf("DecideRefund %s %d approve=%t", enginetest.OrderName(c.Order), c.Position, c.Approve)
	case ledger.Reschedule:
		return fmt.Sprintf("Reschedule %s %d to %s %s", enginetest.OrderName(c.Order), c.Ticket, c.Date, c.Slot)
	// The commands about tickets name the ticket's serial, and the version of the holder whose code it is.
	case admission.Transfer:
		return fmt.Sprintf("Transfer %d of %d", c.Ticket, c.Version)
	case admission.ClaimTransfer:
		return fmt.Sprintf("ClaimTransfer %d round %d", c.Ticket, c.Round)
	case admission.Scan:
		return fmt.Sprintf("Scan %d of %d key %d at %s, out %t", c.Ticket, c.Version, c.Key, c.Gate, c.Out)
	case admission.ScanBatch:
		return fmt.Sprintf("ScanBatch %d", len(c.Scans))
	case engine.Wake:
		return fmt.Sprintf("Wake %d", c.Epoch)
	case event.Move:
		return "Move " + c.To
	default:
		return tellRoomCommand(c)
	}
}

// tellRoomCommand describes a command to a waiting room. Of a leaf and a signature only the first characters are
// shown, which tell them apart within one run.
func tellRoomCommand(c engine.Command) string {
	name := enginetest.CommandName(c)
	switch c := c.(type) {
	case queue.Join:
		return fmt.Sprintf("%s %.8s of person %d", name, c.Leaf, c.Person)
	case queue.Look:
		return fmt.Sprintf("%s %.8s", name, c.Leaf)
	case queue.Admit:
		return fmt.Sprintf("%s %.8s", name, c.Leaf)
	case queue.Prove:
		return fmt.Sprintf("%s %.8s", name, c.Leaf)
	case queue.Bring:
		return fmt.Sprintf("%s %.4x", name, c.Signature)
	case queue.Pause:
		return fmt.Sprintf("%s %t", name, c.On)
	default:
		return name
	}
}

// nameClaims returns the names of claims, with spaces between them.
func nameClaims(cs []keeper.Claim) string {
	names := make([]string, len(cs))
	for i, c := range cs {
		names[i] = enginetest.ClaimName(c)
	}
	return strings.Join(names, " ")
}

// Reply describes a reply. A type that is not listed is left with its Go type.
func Reply(r engine.Reply) string {
	switch r := r.(type) {
	case *engine.Refusal:
		return string(r.Code)
	case *ledger.OrderReply:
		return r.Status
	case *admission.ScanReply:
		return r.Status
	case *event.Record:
		return r.Status
	case *inventory.Record:
		return fmt.Sprintf("%d sold, %d available", r.Sold, r.Available)
	case *seatmap.Selection:
		return fmt.Sprintf("held %v, failed %v %v", r.Held, r.Failed, r.Reasons)
	case *seatmap.Best:
		return fmt.Sprintf("held %v", r.Held)
	case *queue.Placed:
		return fmt.Sprintf("draw %d, entry %d, place %d of which %d are served", r.Draw, r.Index, r.Place, r.Served)
	case *queue.Record:
		return fmt.Sprintf("%s, draw %d, %d entries, %d served", r.Phase, r.Draw, r.Count, r.Served)
	default:
		return fmt.Sprintf("%T", r)
	}
}

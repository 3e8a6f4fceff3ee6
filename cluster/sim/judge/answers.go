package judge

import (
	"fmt"
	"reflect"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/waitlist"
)

// Answer judges an answer that leaves an actor. An answer may tell only what is durable, and must be the same each
// time when the same command is repeated. Current is true if the activation that answers still owns its stream; a
// stale activation may refuse a command that its successor has accepted.
func (t *Truth) Answer(ref engine.Ref, cmd engine.Command, reply engine.Reply, current bool) error {
	if ref.Kind == engine.KindQueue {
		return t.rooms.Answer(ref, cmd, reply, current)
	}
	b := t.bookOf(ref.Home)
	switch r := reply.(type) {
	case *ledger.OrderReply:
		return describeAnswer(b.judgeOrderReply(cmd, r), "answered %q", r.Status)
	// Without a proven address the answer must not depend on whether this person waits already, because anybody can
	// type somebody else's address. It tells no place in line.
	case *waitlist.Placed:
		if j, is := cmd.(waitlist.Join); is && j.Unproven {
			if r.Entry.Status != waitlist.StatusUnconfirmed || r.Position != 0 {
				return fmt.Errorf("answered %+v, though nobody has proven the address", *r)
			}
			return nil
		}
		return describeAnswer(t.notePlaced(ref, r), "answered %+v", *r)
	case *seatmap.Selection:
		return describeAnswer(t.judgePicked(ref, cmd, r.Held, r.ExpiresAt), "answered %v", r.Held)
	case *seatmap.Best:
		return describeAnswer(t.judgePicked(ref, cmd, r.Held, r.ExpiresAt), "answered %v", r.Held)
	case *admission.ScanReply:
		return describeAnswer(b.judgeScanReply(cmd, r), "answered %+v", *r)
	case *admission.BatchReply:
		return describeAnswer(b.judgeBatchReply(cmd, r), "answered %+v", *r)
	case *engine.Refusal:
		// Somebody who was refused believes that no order was made. A current activation must not say so of an order
		// that is in the journal. Unavailable is no such promise: it says that nobody knows.
		p, place := cmd.(ledger.Place)
		if _, made := b.prints[p.Fingerprint]; place && made && current && !t.early[p.Order] && r.Code != engine.Unavailable {
			return fmt.Errorf("answered %s, and has made an order", r.Code)
		}
	}
	return nil
}

// describeAnswer names the answer that an error is about.
func describeAnswer(err error, format string, answer any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", answer, err)
}

// NoteRefusals notes each Place command that is refused while the journal has no order under its id. The refusal may
// be slow and leave only after the same Place, sent again, has made the order; Answer accepts it then. A refusal
// counts here whether it is the reply to the command itself or comes later, after a keeper has refused. Waiting rooms
// note likewise what they refuse to a visitor who is not entered yet.
func (t *Truth) NoteRefusals(ref engine.Ref, cmd engine.Command, d *engine.Decision) {
	if ref.Kind == engine.KindQueue {
		t.rooms.NoteRefusal(ref, cmd, d.Reply)
		return
	}
	note := func(id engine.OrderID, reply engine.Reply) {
		if _, refused := reply.(*engine.Refusal); refused && t.Order(ref.Home, id) == nil {
			t.early[id] = true
		}
	}
	if p, place := cmd.(ledger.Place); place {
		note(p.Order, d.Reply)
	}
	for _, answer := range d.Answers {
		note(answer.Key, answer.Reply)
	}
}

// judgePicked makes sure that the seats and the end of a selection that a shopper is told of are those that the
// journal has for this shopper.
func (t *Truth) judgePicked(ref engine.Ref, cmd engine.Command, held []string, until int64) error {
	holder := ""
	switch c := cmd.(type) {
	case seatmap.Hold:
		holder = c.Holder
	case seatmap.Extend:
		holder = c.Holder
	case seatmap.BestAvailable:
		holder = c.Holder
	}
	return t.seats.CheckTold(ref, holder, held, until)
}

// judgeOrderReply returns an error if a reply tells something of an order that the journal never said. The reply may
// be older than the newest fact, so an earlier status and fewer payments are right. A state that the order has not
// reached yet is wrong.
func (b *book) judgeOrderReply(cmd engine.Command, r *ledger.OrderReply) error {
	id, print := orderOf(cmd)
	sl := b.orders[id]
	// An answer may be about another order than the one that the command names, so the order in the answer decides.
	if r.Order != nil {
		sl = b.orders[r.Order.ID]
	}
	switch {
	case sl == nil:
		return fmt.Errorf("order %s is not in the journal", enginetest.OrderName(id))
	case print != 0 && sl.order.Fingerprint != print:
		return fmt.Errorf("the order was made by another command, %x", sl.order.Fingerprint)
	case !sl.statuses[r.Status]:
		return fmt.Errorf("the order is %s, and never was so", sl.order.Status)
	case r.Order == nil:
		return nil
	case r.Order.FirstTicket != 0 && r.Order.FirstTicket != sl.order.FirstTicket:
		return fmt.Errorf("its tickets begin with %d", sl.order.FirstTicket)
	case r.Order.Extensions > sl.order.Extensions:
		return fmt.Errorf("it was extended %d times", sl.order.Extensions)
	case len(r.Order.Attempts) > len(sl.order.Attempts) || len(r.Order.Refunds) > len(sl.order.Refunds):
		return fmt.Errorf("it has the payments %+v %+v", sl.order.Attempts, sl.order.Refunds)
	}
	// A Place that is repeated must be answered as it was the first time, whatever has happened to the order since.
	if _, place := cmd.(ledger.Place); place {
		told := *r.Order
		if told.Serial = 0; sl.told == nil { // the keepers' serial is told to nobody
			sl.told = &told
		}
		if !reflect.DeepEqual(sl.eraseFrom(&told), sl.eraseFrom(sl.told)) {
			return fmt.Errorf("its Place was answered %+v, and now %+v", *sl.told, told)
		}
	}
	// A reply to a cancellation is no refusal, so it must say that the order is cancelled.
	if _, cancel := cmd.(ledger.CancelOrder); cancel && r.Status != order.StatusCancelled {
		return fmt.Errorf("a cancelled order is %s", sl.order.Status)
	}
	return nil
}

// judgeScanReply returns an error if a scan was answered with an admission or a duplicate that the journal does not
// have. Other verdicts admit nobody, and are not judged here.
func (b *book) judgeScanReply(cmd engine.Command, r *admission.ScanReply) error {
	scan, is := cmd.(admission.Scan)
	if !is || r.Status != admission.ScanSuccess && r.Status != admission.ScanDuplicate {
		return nil
	}
	h := b.handOf(r.Ticket)
	if h.wasPassed(scan, r) {
		return nil
	}
	for _, in := range h.admitted {
		// A success must be about an admission by this very scan. A duplicate must be about an admission by another
		// one.
		if in.At != r.At || in.Gate != r.Gate || (in.Key == scan.Key) != (r.Status == admission.ScanSuccess) {
			continue
		}
		// The code that was scanned carries the version of a holder. A former holder's code must not admit anybody.
		if r.Status == admission.ScanSuccess && scan.Version != 0 && scan.Version != in.version {
			return fmt.Errorf("a code of holder %d admits, the ticket was holder %d's", scan.Version, in.version)
		}
		return nil
	}
	return fmt.Errorf("the ticket's admissions are %+v", h.admitted)
}

// orderOf returns the order that a command is about, or the zero id. Print is the fingerprint of a Place, which is the
// same in each repeat of one request, and 0 of every other command.
func orderOf(c engine.Command) (id engine.OrderID, print uint64) {
	switch c := c.(type) {
	case ledger.Place:
		return c.Order, c.Fingerprint
	case ledger.PlaceAll:
		return c.Orders[0].Order, 0
	case ledger.CancelOrder:
		return c.Order, 0
	case ledger.ExtendOrder:
		return c.Order, 0
	case ledger.BeginPayment:
		return c.Order, 0
	case ledger.OpenPayment:
		return c.Order, 0
	case ledger.ReportPayment:
		return c.Order, 0
	case ledger.ReportRefund:
		return c.Order, 0
	case ledger.AskRefund:
		return c.Order, 0
	case ledger.DecideRefund:
		return c.Order, 0
	case ledger.Reschedule:
		return c.Order, 0
	case ledger.GetOrder:
		return c.Order, 0
	case waitlist.Claim:
		return c.ID, 0
	default:
		return engine.OrderID{}, 0
	}
}

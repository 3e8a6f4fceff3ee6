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

// Answer judges an answer that leaves an actor: it tells only what is durable, and the same of the same command.
// Current is whether the activation that answers still owns its stream.
func (t *Truth) Answer(ref engine.Ref, cmd engine.Command, reply engine.Reply, current bool) error {
	if ref.Kind == engine.KindQueue {
		return t.rooms.Answer(ref, cmd, reply, current)
	}
	b := t.bookOf(ref.Home)
	switch r := reply.(type) {
	case *ledger.OrderReply:
		return describeAnswer(b.judgeOrderReply(cmd, r), "answered %q", r.Status)
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

// NoteRefusals notes each Place that is refused while no order was made by it, at once or
// after a keeper has refused: the refusal may leave after the same Place, sent again, has
// made one. The same goes for what a visitor of a waiting room asks before he is entered.
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

// judgePicked makes sure that a shopper is told of what is his.
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

// judgeOrderReply reports whether an order is as a reply tells.
func (b *book) judgeOrderReply(cmd engine.Command, r *ledger.OrderReply) error {
	id, print := orderOf(cmd)
	sl := b.orders[id]
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
	if _, place := cmd.(ledger.Place); place {
		told := *r.Order
		if told.Serial = 0; sl.told == nil { // the keepers' serial is told to nobody
			sl.told = &told
		}
		if !reflect.DeepEqual(sl.eraseFrom(&told), sl.eraseFrom(sl.told)) {
			return fmt.Errorf("its Place was answered %+v, and now %+v", *sl.told, told)
		}
	}
	if _, cancel := cmd.(ledger.CancelOrder); cancel && r.Status != order.StatusCancelled {
		return fmt.Errorf("a cancelled order is %s", sl.order.Status)
	}
	return nil
}

// judgeScanReply reports whether a verdict is the journal's.
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
		if in.At != r.At || in.Gate != r.Gate || (in.Key == scan.Key) != (r.Status == admission.ScanSuccess) {
			continue
		}
		if r.Status == admission.ScanSuccess && scan.Version != 0 && scan.Version != in.version {
			return fmt.Errorf("a code of holder %d admits, the ticket was holder %d's", scan.Version, in.version)
		}
		return nil
	}
	return fmt.Errorf("the ticket's admissions are %+v", h.admitted)
}

// orderOf is the order that a command is about, and a Place's fingerprint.
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

package judge

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// judgeRefundAsked judges a request for a refund. The order must be sold, and none of the tickets used, refunded or
// on offer to somebody. All requests together may not ask for more than the order's total.
func (t *Truth) judgeRefundAsked(b *book, f *order.RefundDue) error {
	sl := b.orders[f.ID]
	if sl == nil || !sl.order.Sold() || f.Refund.Status != order.RefundRequested {
		return fmt.Errorf("money is wanted of %s: %+v", enginetest.OrderName(f.ID), f.Refund)
	}
	for _, ticket := range f.Refund.Ask.Tickets {
		if h := b.handOf(ticket); b.orderOf(ticket) != f.ID || h.inside != nil || h.gone || h.offer != nil {
			return fmt.Errorf("the money of ticket %d is wanted, which is %+v", ticket, h)
		}
	}
	sl.foldFact(f)
	if sl.order.AskedBack(false) > sl.order.Total {
		return fmt.Errorf("of order %s %d is wanted, it was %d", enginetest.OrderName(f.ID), sl.order.AskedBack(false), sl.order.Total)
	}
	return nil
}

// judgeRefundDecided judges the decision about a request. Things may have changed since it was asked: a ticket whose
// money goes back must still be unused, and of a payment no more goes back than came in.
func (t *Truth) judgeRefundDecided(b *book, f *order.RefundDecided) error {
	sl := b.orders[f.ID]
	if sl == nil || f.Position >= len(sl.order.Refunds) || sl.order.Refunds[f.Position].Status != order.RefundRequested {
		return fmt.Errorf("decided about %s: %+v", enginetest.OrderName(f.ID), f)
	}
	wanted := sl.order.Refunds[f.Position].Ask.Tickets
	sl.foldFact(f)
	r := &sl.order.Refunds[f.Position]
	if !r.Approved() {
		t.world.Reach("refund", "denied")
		return nil
	}
	t.world.Reach("refund", "granted")
	// An approved refund takes the tickets out of the event's counts, and their seats may be sold again.
	for _, ticket := range wanted {
		h := b.handOf(ticket)
		if h.inside != nil || h.gone || h.offer != nil {
			return fmt.Errorf("the money of ticket %d goes back, which is %+v", ticket, h)
		}
		if h.version > 1 {
			t.world.Reach("refund", "of a claimed ticket")
		}
		h.gone, h.goneAt = true, f.At
		b.gone++
		line, _, _ := sl.order.LineOf(ticket)
		b.types[sl.order.Lines[line].Type]--
		if seat := sl.order.Seat(ticket); seat != "" {
			delete(b.seats, seat)
		}
	}
	// A reference names the payment from which the money goes back: it must be the one that paid for the order.
	if f.Reference != "" {
		if f.Reference != sl.paidBy {
			return fmt.Errorf("the money of %q goes back, and %q has paid", f.Reference, sl.paidBy)
		}
		sl.granted += f.Amount
		if got := t.world.Received(f.Reference); sl.granted > got {
			return fmt.Errorf("%d of %d goes back: %+v", sl.granted, got, f)
		}
	}
	// A provider has to send this money, so the simulated world does.
	if f.Status == order.RefundProcessing {
		t.world.PayBack(f.ID, f.Position, *r)
	}
	return nil
}

// unitsBack returns how many units a refund gives back to a keeper of units. The claim names the refund by its order
// and serial. A promo code gets its use back only with the last of the order's tickets, so for a code all refunds up
// to this one count.
func (t *Truth) unitsBack(ref engine.Ref, c keeper.Claim) (n int64) {
	sl := t.bookOf(c.Order.Event()).orders[c.Order]
	if sl == nil {
		return 0
	}
	if ref.Kind == engine.KindPromo {
		var gone int64
		for i := range sl.order.Refunds {
			if r := &sl.order.Refunds[i]; r.Approved() && r.Ask.Serial <= c.Serial {
				gone += int64(len(r.Ask.Tickets))
			}
		}
		if gone == sl.order.Tickets() {
			return 1
		}
		return 0
	}
	for i := range sl.order.Refunds {
		r := &sl.order.Refunds[i]
		if !r.Approved() || r.Ask.Serial != c.Serial {
			continue
		}
		for _, ticket := range r.Ask.Tickets {
			if line, _, _ := sl.order.LineOf(ticket); sl.order.Lines[line].Type == ref.ID {
				n++
			}
		}
	}
	return n
}

// takeReturned judges the fact that a keeper has taken back the units of a refund. It may happen once for each
// refund, and with the quantity that the refund has.
func (t *Truth) takeReturned(ref engine.Ref, st *stock, f *keeper.ReturnedFact) error {
	if st.ended[f.Claim] == "returned" {
		return fmt.Errorf("%s gives back twice", enginetest.ClaimName(f.Claim))
	}
	if n := t.unitsBack(ref, f.Claim); n == 0 || n != f.Quantity {
		return fmt.Errorf("%s gives back %d, its refund has %d", enginetest.ClaimName(f.Claim), f.Quantity, n)
	}
	st.ended[f.Claim] = "returned"
	st.sold -= f.Quantity
	st.buyers[f.Customer] -= f.Quantity
	if f.Left != st.forSale() {
		return fmt.Errorf("returned with %d left, not %d", f.Left, st.forSale())
	}
	return st.checkSold()
}

// judgeReturned judges the ledger's fact that a refund is over. By then each keeper of the order (ticket types,
// calendar, promo code, seat map) must have taken back what the refunded tickets took.
func (t *Truth) judgeReturned(ref engine.Ref, b *book, f *order.RefundReturned) error {
	sl := b.orders[f.ID]
	if sl == nil || f.Position >= len(sl.order.Refunds) || !sl.order.Refunds[f.Position].Approved() {
		return fmt.Errorf("returned to nobody: %+v", f)
	}
	claim := keeper.Claim{Order: f.ID, Serial: sl.order.Refunds[f.Position].Ask.Serial}
	for i := range sl.order.Lines {
		line := engine.InventoryRef(ref.Home, sl.order.Lines[i].Type)
		if t.unitsBack(line, claim) > 0 && t.stockOf(line).ended[claim] != "returned" {
			return fmt.Errorf("refund %d of %s has returned, and %s has nothing of it", f.Position, enginetest.OrderName(f.ID), line.Name())
		}
	}
	if n := t.backUnits(claim); sl.order.Books() && n > 0 && t.diaryOf(ref.Home).ended[claim] != "returned" {
		return fmt.Errorf("refund %d of %s has returned, and the calendar has nothing of it", f.Position, enginetest.OrderName(f.ID))
	}
	if p := sl.order.Promo; p != nil && t.unitsBack(p.Ref, claim) > 0 && t.stockOf(p.Ref).ended[claim] != "returned" {
		return fmt.Errorf("refund %d of %s has returned, and %s has nothing of it", f.Position, enginetest.OrderName(f.ID), p.Ref.Name())
	}
	hall := engine.SeatmapRef(ref.Home)
	for _, ticket := range sl.order.Refunds[f.Position].Ask.Tickets {
		seat := sl.order.Seat(ticket)
		if seat != "" && t.seats.OwnerOf(hall, seat) == f.ID {
			return fmt.Errorf("refund %d of %s has returned, and seat %s is not back", f.Position, enginetest.OrderName(f.ID), seat)
		}
	}
	sl.foldFact(f)
	return nil
}

// judgeRecalled judges an order that the ledger had dropped from its memory and has read back from its record. It
// must come back as it was.
func (t *Truth) judgeRecalled(b *book, f *ledger.OrderRecalled) error {
	sl := b.orders[f.Order.ID]
	if sl == nil || len(sl.order.Refunds) != len(f.Order.Refunds) || sl.order.Status != f.Order.Status || sl.order.FirstTicket != f.Order.FirstTicket {
		return fmt.Errorf("recalled as %+v: %+v", f.Order, sl)
	}
	t.world.Reach("refund", "recalled")
	return nil
}

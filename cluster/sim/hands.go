package sim

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// hands are what has become of a ticket by its facts.
type hands struct {
	version  byte                   // of its holder
	round    uint16                 // of its last offer
	offer    *order.TransferOffered // that may be claimed
	gone     bool                   // its money went back
	goneAt   int64                  // when it did
	inside   *event.CheckedIn       // its admission, or nil
	admitted []admission            // all that it ever had
}

// admission is when a ticket admitted somebody, and which of its holders that was.
type admission struct {
	*event.CheckedIn
	version byte
}

func (b *book) hand(ticket uint32) *hands {
	h := b.hands[ticket]
	if h == nil {
		h = &hands{version: 1}
		b.hands[ticket] = h
	}
	return h
}

// takeTicket judges the facts about one ticket and keeps them.
func (t *truth) takeTicket(b *book, f engine.Fact) error {
	switch f := f.(type) {
	case *event.CheckedIn:
		return t.checkedIn(b, f)
	case *event.CheckInUndone:
		h := b.hand(f.Ticket)
		if h.inside == nil {
			return fmt.Errorf("the admission of ticket %d is undone, which is not admitted", f.Ticket)
		}
		h.inside = nil
	case *order.TransferOffered:
		h := b.hand(f.Ticket)
		if h.offer != nil || f.Round != h.round+1 || h.inside != nil || h.gone || b.orderOf(f.Ticket) != f.ID {
			return fmt.Errorf("ticket %d is offered by %+v, and is %+v", f.Ticket, f, h)
		}
		h.offer, h.round = f, f.Round
	case *order.TransferRevoked:
		h := b.hand(f.Ticket)
		if h.offer == nil || h.round != f.Round {
			return fmt.Errorf("the offer of ticket %d is revoked by %+v, and it is %+v", f.Ticket, f, h)
		}
		h.offer = nil
	case *order.TicketTransferred:
		h := b.hand(f.Ticket)
		if h.offer == nil || h.round != f.Round || f.Version != h.version+1 || f.Email != h.offer.To || h.inside != nil || h.gone {
			return fmt.Errorf("ticket %d changes hands by %+v, and is %+v", f.Ticket, f, h)
		}
		h.offer, h.version = nil, f.Version
		b.orders[f.ID].fold(f)
	}
	return nil
}

func (b *book) orderOf(ticket uint32) engine.OrderID {
	if ticket == 0 || int(ticket) > len(b.tickets) {
		return engine.OrderID{}
	}
	return b.tickets[ticket-1]
}

func (t *truth) checkedIn(b *book, f *event.CheckedIn) error {
	h := b.hand(f.Ticket)
	switch {
	case b.orderOf(f.Ticket).Event() == 0:
		return fmt.Errorf("ticket %d of %d is admitted", f.Ticket, len(b.tickets))
	case h.inside != nil:
		return fmt.Errorf("ticket %d is admitted twice: %+v, then %+v", f.Ticket, h.inside, f)
	case h.gone && f.At >= h.goneAt: // an offline device may have let it in before
		return fmt.Errorf("ticket %d is admitted, and its money went back", f.Ticket)
	}
	h.inside, h.offer = f, nil
	h.admitted = append(h.admitted, admission{f, h.version})
	return nil
}

// asked judges a refund that somebody asks for.
func (t *truth) asked(b *book, f *order.RefundDue) error {
	sl := b.orders[f.ID]
	if sl == nil || !sl.order.Sold() || f.Refund.Status != order.RefundRequested {
		return fmt.Errorf("money is wanted of %s: %+v", enginetest.OrderName(f.ID), f.Refund)
	}
	for _, ticket := range f.Refund.Ask.Tickets {
		if h := b.hand(ticket); b.orderOf(ticket) != f.ID || h.inside != nil || h.gone || h.offer != nil {
			return fmt.Errorf("the money of ticket %d is wanted, which is %+v", ticket, h)
		}
	}
	sl.fold(f)
	if sl.order.AskedBack(false) > sl.order.Total {
		return fmt.Errorf("of order %s %d is wanted, it was %d", enginetest.OrderName(f.ID), sl.order.AskedBack(false), sl.order.Total)
	}
	return nil
}

// decided judges what was decided about it: a ticket whose money goes back is neither
// inside nor gone already, and of a payment goes back at most what came.
func (t *truth) decided(b *book, f *order.RefundDecided) error {
	sl := b.orders[f.ID]
	if sl == nil || f.Position >= len(sl.order.Refunds) || sl.order.Refunds[f.Position].Status != order.RefundRequested {
		return fmt.Errorf("decided about %s: %+v", enginetest.OrderName(f.ID), f)
	}
	wanted := sl.order.Refunds[f.Position].Ask.Tickets
	sl.fold(f)
	r := &sl.order.Refunds[f.Position]
	if !r.Approved() {
		t.sim.reach("refund", "denied")
		return nil
	}
	t.sim.reach("refund", "granted")
	for _, ticket := range wanted {
		h := b.hand(ticket)
		if h.inside != nil || h.gone || h.offer != nil {
			return fmt.Errorf("the money of ticket %d goes back, which is %+v", ticket, h)
		}
		if h.version > 1 {
			t.sim.reach("refund", "of a claimed ticket")
		}
		h.gone, h.goneAt = true, f.At
		b.gone++
		line, _, _ := sl.order.LineOf(ticket)
		b.types[sl.order.Lines[line].Type]--
		if seat := sl.order.Seat(ticket); seat != "" {
			delete(b.seats, seat)
		}
	}
	if f.Reference != "" {
		if f.Reference != sl.paidBy {
			return fmt.Errorf("the money of %q goes back, and %q has paid", f.Reference, sl.paidBy)
		}
		sl.granted += f.Amount
		if got := t.sim.cash.received(f.Reference); sl.granted > got {
			return fmt.Errorf("%d of %d goes back: %+v", sl.granted, got, f)
		}
	}
	if f.Status == order.RefundProcessing {
		t.sim.payBack(f.ID, f.Position, *r)
	}
	return nil
}

// back is what a refund gives back to a keeper of units. The use of a promo code comes back
// with the last of the order's tickets.
func (t *truth) back(ref engine.Ref, c keeper.Claim) (n int64) {
	sl := t.book(c.Order.Event()).orders[c.Order]
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

// takeReturned judges units that come back.
func (t *truth) takeReturned(ref engine.Ref, st *stock, f *keeper.ReturnedFact) error {
	if st.ended[f.Claim] == "returned" {
		return fmt.Errorf("%s gives back twice", claimed(f.Claim))
	}
	if n := t.back(ref, f.Claim); n == 0 || n != f.Quantity {
		return fmt.Errorf("%s gives back %d, its refund has %d", claimed(f.Claim), f.Quantity, n)
	}
	st.ended[f.Claim] = "returned"
	st.sold -= f.Quantity
	st.buyers[f.Customer] -= f.Quantity
	if f.Left != st.forSale() {
		return fmt.Errorf("returned with %d left, not %d", f.Left, st.forSale())
	}
	return st.check()
}

// takeSeatsReturned judges seats that come back.
func (t *truth) takeSeatsReturned(ref engine.Ref, st *seats, f *seatmap.ReturnedFact) error {
	sl := t.book(ref.Home).orders[f.Claim.Order]
	if sl == nil {
		return fmt.Errorf("%s gives seats back: %v", claimed(f.Claim), f.Seats)
	}
	gone := t.goneSeats(sl.order)
	for _, i := range f.Seats {
		if st.spots[i].claim != f.Claim || !gone[st.id(i)] {
			return fmt.Errorf("%s gives seat %s back: %+v", claimed(f.Claim), st.id(i), st.spots[i])
		}
		st.spots[i] = spot{}
	}
	return nil
}

// goneSeats are an order's seats whose tickets' money went back.
func (t *truth) goneSeats(o *order.Order) map[string]bool {
	gone := make(map[string]bool)
	for i := range uint32(o.Tickets()) {
		if ticket := o.FirstTicket + i; o.Sold() && t.book(o.ID.Event()).hand(ticket).gone {
			gone[o.Seat(ticket)] = true
		}
	}
	return gone
}

// returned judges a refund all of whose keepers say that they have back what its tickets
// took.
func (t *truth) returned(ref engine.Ref, b *book, f *order.RefundReturned) error {
	sl := b.orders[f.ID]
	if sl == nil || f.Position >= len(sl.order.Refunds) || !sl.order.Refunds[f.Position].Approved() {
		return fmt.Errorf("returned to nobody: %+v", f)
	}
	claim := keeper.Claim{Order: f.ID, Serial: sl.order.Refunds[f.Position].Ask.Serial}
	for i := range sl.order.Lines {
		line := engine.InventoryRef(ref.Home, sl.order.Lines[i].Type)
		if t.back(line, claim) > 0 && t.stock(line).ended[claim] != "returned" {
			return fmt.Errorf("refund %d of %s has returned, and %s has nothing of it", f.Position, enginetest.OrderName(f.ID), line.Name())
		}
	}
	if n := t.backUnits(claim); sl.order.Books() && n > 0 && t.diary(ref.Home).ended[claim] != "returned" {
		return fmt.Errorf("refund %d of %s has returned, and the calendar has nothing of it", f.Position, enginetest.OrderName(f.ID))
	}
	if p := sl.order.Promo; p != nil && t.back(p.Ref, claim) > 0 && t.stock(p.Ref).ended[claim] != "returned" {
		return fmt.Errorf("refund %d of %s has returned, and %s has nothing of it", f.Position, enginetest.OrderName(f.ID), p.Ref.Name())
	}
	hall := t.seat(engine.SeatmapRef(ref.Home))
	for _, ticket := range sl.order.Refunds[f.Position].Ask.Tickets {
		seat := sl.order.Seat(ticket)
		if seat != "" && hall.owner(seat) == f.ID {
			return fmt.Errorf("refund %d of %s has returned, and seat %s is not back", f.Position, enginetest.OrderName(f.ID), seat)
		}
	}
	sl.fold(f)
	return nil
}

// recalled judges the record of an order that the ledger has again.
func (t *truth) recalled(b *book, f *event.OrderRecalled) error {
	sl := b.orders[f.Order.ID]
	if sl == nil || len(sl.order.Refunds) != len(f.Order.Refunds) || sl.order.Status != f.Order.Status || sl.order.FirstTicket != f.Order.FirstTicket {
		return fmt.Errorf("recalled as %+v: %+v", f.Order, sl)
	}
	t.sim.reach("refund", "recalled")
	return nil
}

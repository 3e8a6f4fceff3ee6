package judge

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
	"boxoffice/engine/velocity"
)

// book is what the judge knows of an event, by its facts: the event's record, its orders, its tickets, its waitlist.
type book struct {
	status  string
	details event.Details
	// roomiest is the capacity before the last change, or a larger one of moments before. Orders that were under way
	// when an organizer lowered the capacity are judged by it.
	roomiest int64
	lowered  int64 // the simulated microsecond of that change
	removed  bool
	orders   map[engine.OrderID]*sale
	ids      []engine.OrderID // all orders, in the order in which they were made
	// prints are the orders by the fingerprint of the Place that made them. One command may make only one order.
	prints  map[uint64]engine.OrderID
	tickets []engine.OrderID          // by serial of a ticket: the order that it is of
	types   map[int64]int64           // by number of a ticket type: how many tickets were issued
	seats   map[string]engine.OrderID // by seat: the unpaid or completed order that has it
	hands   map[uint32]*hands         // by serial of a ticket; none before something has happened to it
	gone    int64                     // how many tickets have had their money go back
	line    line
}

// sale is what the judge knows of an order, by its facts.
type sale struct {
	order    *order.Order
	statuses map[string]bool  // all that the order has been: an answer may tell an earlier one, which was durable then
	ended    bool             // the order has ended without a sale; late money may still complete it
	closed   bool             // all its keepers have acknowledged how it ended
	paidBy   string           // the reference of the attempt that has paid it; "" before
	told     *order.Order     // the first answer to its Place, which every repeat must get again; nil before
	erasures []*order.Erased  // the people in it who have been forgotten since
	refunds  map[string]int64 // by reference of an attempt: what goes back without a request, in minor units
	granted  int64            // what goes back by granted requests, in minor units
}

// bookOf returns the book of an event, by the event's number.
func (t *Truth) bookOf(number int64) *book {
	b := t.books[number]
	if b == nil {
		b = &book{
			orders: make(map[engine.OrderID]*sale), prints: make(map[uint64]engine.OrderID),
			types: make(map[int64]int64), seats: make(map[string]engine.OrderID), hands: make(map[uint32]*hands), line: newLine(),
		}
		t.books[number] = b
	}
	return b
}

// judgeCreated judges a new order. Its event is on sale, its lines cost what the ticket types cost, its tickets fit
// the event's capacity, its buyer does not order too fast, and every keeper has reserved what it takes. An order that
// began as an offer of the waitlist was judged when it was offered; of its claim only judgeClaimed asks more.
func (t *Truth) judgeCreated(ref engine.Ref, b *book, f *order.Created) error {
	o := f.Order
	if sl := b.orders[o.ID]; sl != nil && sl.order.Status == order.StatusOffered {
		return b.judgeClaimed(o)
	} else if sl != nil {
		return fmt.Errorf("order %s is created twice", enginetest.OrderName(o.ID))
	}
	if other, ok := b.prints[o.Fingerprint]; ok {
		return fmt.Errorf("one command made the orders %s and %s", enginetest.OrderName(other), enginetest.OrderName(o.ID))
	}
	if o.Status != order.StatusPending || len(o.Lines) == 0 {
		return fmt.Errorf("order %s is created as %+v", enginetest.OrderName(o.ID), o)
	}
	if !slices.Contains(event.Public, b.status) {
		return fmt.Errorf("order %s is created while the event is %q", enginetest.OrderName(o.ID), b.status)
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		st := t.stockOf(engine.InventoryRef(ref.Home, l.Type))
		price := st.details.Price
		if o.Issue != nil && o.Issue.Comp {
			price = 0 // it is given away
		}
		if l.Quantity < 1 || l.UnitPrice != price {
			return fmt.Errorf("order %s has the line %+v, the price is %d", enginetest.OrderName(o.ID), l, price)
		}
	}
	// The organization's own orders pay other fees, and are held to no limit of price or discount.
	if o.Issue != nil {
		if err := t.judgeIssued(o); err != nil {
			return err
		}
	} else if err := t.judgePrice(o); err != nil {
		return err
	}
	if c := b.capacityAt(t.world.Now()); c != event.NoCapacity && b.liveUnits()+o.Tickets() > c {
		return fmt.Errorf("order %s: %d + %d exceed the capacity %d", enginetest.OrderName(o.ID), b.liveUnits(), o.Tickets(), c)
	}
	if err := t.judgePace(b, o); err != nil {
		return err
	}
	// The order is kept before its seats are checked, because CheckSold looks it up by its id.
	b.orders[o.ID] = &sale{order: o, statuses: map[string]bool{o.Status: true}, refunds: make(map[string]int64)}
	b.ids = append(b.ids, o.ID)
	b.prints[o.Fingerprint] = o.ID
	return t.judgeReserved(ref, b, o, o.Serial)
}

// judgePrice makes sure that an order's total is what its lines cost after the discount, with fees.
func (t *Truth) judgePrice(o *order.Order) error {
	total, err := t.judgeDiscount(o)
	if err != nil {
		return fmt.Errorf("order %s: %w", enginetest.OrderName(o.ID), err)
	}
	if total != o.Total {
		return fmt.Errorf("order %s costs %d, not %d", enginetest.OrderName(o.ID), total, o.Total)
	}
	return nil
}

// judgePace judges an order by the velocity rules: how many orders one buyer and one network may make within ten
// minutes, and how many unpaid ones a buyer may have. Unlike the ledger, which forgets, it looks at every order that
// was ever made. An offer of the waitlist counts only among the unpaid ones, because the buyer was asked to order.
func (t *Truth) judgePace(b *book, o *order.Order) error {
	if o.Client == 0 || t.world.Jumps { // with a clock that jumps, ten minutes are anything
		return nil
	}
	var buyer, address, open int64
	for _, id := range b.ids {
		was := b.orders[id].order
		// The rules count the orders of the ten minutes before this one, without those that came from no address
		// and those that an offer of the waitlist has made.
		late := was.Client == 0 || b.line.entries[id] != nil || was.CreatedAt > o.CreatedAt || was.CreatedAt <= o.CreatedAt-600_000
		if was.Customer == o.Customer && !late {
			buyer++
		}
		if was.Client == o.Client && !late {
			address++
		}
		if was.Customer == o.Customer && was.Client != 0 && was.Unpaid() {
			open++
		}
	}
	// A rule of the event that is 0 means the default, which is the third argument.
	within := func(n, own, rule int64) bool {
		switch own {
		case 0:
			return n < rule
		case velocity.Off:
			return true
		}
		return n < own
	}
	v := &b.details.Velocity
	if !within(buyer, v.OrdersPerBuyer, 10) || !within(address, v.OrdersPerAddress, 20) || !within(open, v.OpenOrdersPerBuyer, 5) {
		return fmt.Errorf("order %s is made after %d of its buyer, %d of its address and %d open ones: %+v", enginetest.OrderName(o.ID), buyer, address, open, *v)
	}
	return nil
}

// judgeReserved makes sure that all keepers of an order (ticket types, promo code, calendar, seat map) hold what the
// order takes under this serial, and that no other order has one of its seats.
func (t *Truth) judgeReserved(ref engine.Ref, b *book, o *order.Order, serial keeper.Serial) error {
	for i := range o.Lines {
		l := &o.Lines[i]
		h := t.stockOf(engine.InventoryRef(ref.Home, l.Type)).held[o.ID]
		if h == nil || h.Claim.Serial != serial || h.Quantity != quantityOf(o, l.Type) {
			return fmt.Errorf("order %s has nothing reserved for line %d: %+v", enginetest.OrderName(o.ID), i, h)
		}
		for _, seat := range l.Seats {
			if other, taken := b.seats[seat]; taken && other != o.ID {
				return fmt.Errorf("seat %s is of the orders %s and %s", seat, enginetest.OrderName(other), enginetest.OrderName(o.ID))
			}
			b.seats[seat] = o.ID
		}
	}
	if o.Books() {
		t.world.Reach("order", "with dates")
		if err := t.diaryOf(ref.Home).checkDatesOf(o, serial); err != nil {
			return err
		}
	}
	if o.Promo != nil {
		if h := t.stockOf(o.Promo.Ref).held[o.ID]; h == nil || h.Claim.Serial != serial {
			return fmt.Errorf("order %s has no use of its code reserved: %+v", enginetest.OrderName(o.ID), h)
		}
	}
	if !hasSeats(o.Lines) {
		return nil
	}
	t.world.Reach("order", "with seats")
	return t.seats.CheckSold(engine.SeatmapRef(ref.Home), o, serial)
}

// hasSeats returns whether an order has lines with seats, so that the seat map is one of its keepers.
func hasSeats(lines []order.Line) bool {
	return slices.ContainsFunc(lines, func(l order.Line) bool { return len(l.Seats) > 0 })
}

// goneSeats returns an order's seats that others may have again, because their tickets' money went back.
func (t *Truth) goneSeats(o *order.Order) map[string]bool {
	gone := make(map[string]bool)
	for i := range uint32(o.Tickets()) {
		if ticket := o.FirstTicket + i; o.Sold() && t.bookOf(o.ID.Event()).handOf(ticket).gone {
			gone[o.Seat(ticket)] = true
		}
	}
	return gone
}

// quantityOf returns how many units of a ticket type an order has. Several lines may be of one type, and its keeper
// reserves them together.
func quantityOf(o *order.Order, typ int64) (n int64) {
	for i := range o.Lines {
		if o.Lines[i].Type == typ {
			n += o.Lines[i].Quantity
		}
	}
	return n
}

// judgeCompleted judges the completion of an order and numbers its tickets. Unless it costs nothing or was issued, an
// attempt must have paid it in full, and the money of that attempt must not be on its way back. An order that had
// ended may be completed by late money, but only by a new reservation: the keepers have given its first one to
// others.
func (t *Truth) judgeCompleted(ref engine.Ref, b *book, f *order.Completed) error {
	sl := b.orders[f.ID]
	if sl == nil || sl.order.Status == order.StatusCompleted || sl.paidBy != "" {
		return fmt.Errorf("order %s can't be completed: %+v", enginetest.OrderName(f.ID), sl)
	}
	// Tickets are numbered without gaps over all orders of the event, so the next number is known.
	if int(f.First) != len(b.tickets)+1 {
		return fmt.Errorf("order %s has tickets from %d after %d", enginetest.OrderName(f.ID), f.First, len(b.tickets))
	}
	if b.status == event.StatusCancelled {
		return fmt.Errorf("order %s is completed and the event cancelled", enginetest.OrderName(f.ID))
	}
	o := sl.order
	if o.Total > 0 && o.Issue == nil {
		for _, a := range o.Attempts {
			if a.Status == order.AttemptSucceeded && a.Received >= a.Amount && sl.refunds[a.Reference] == 0 {
				sl.paidBy = a.Reference
			}
		}
		if sl.paidBy == "" {
			return fmt.Errorf("order %s is completed and not paid: %+v", enginetest.OrderName(f.ID), o.Attempts)
		}
	}
	// The serial names the reservation. The first reservation ended with the order, and completing by it would sell what
	// others may have by now.
	if sl.ended && f.Serial == o.Serial {
		return fmt.Errorf("order %s had ended, and is completed with its old reservation", enginetest.OrderName(f.ID))
	}
	for i := range o.Lines {
		b.types[o.Lines[i].Type] += o.Lines[i].Quantity
		for range o.Lines[i].Quantity {
			b.tickets = append(b.tickets, f.ID)
		}
	}
	if sl.ended {
		t.world.Reach("late money", "completed")
		if hasSeats(o.Lines) {
			t.world.Reach("late money", "completed with seats")
		}
	}
	// An order that had been closed is open again: its new reservation has to be acknowledged as sold.
	sl.closed = false
	sl.foldFact(f)
	return t.judgeReserved(ref, b, o, f.Serial)
}

// judgeEnded judges the end of an unpaid order. It may be cancelled at any time. It may expire or fail only after its
// payment window. If a payment is on its way, the ledger waits another 24 hours for it.
func (t *Truth) judgeEnded(b *book, f *order.Ended) error {
	sl := b.orders[f.ID]
	switch {
	case sl == nil || !sl.order.Unpaid():
		return fmt.Errorf("order %s can't end as %s: %+v", enginetest.OrderName(f.ID), f.Status, sl)
	case f.Status == order.StatusCancelled:
	case f.Status != order.StatusExpired && f.Status != order.StatusFailed:
		return fmt.Errorf("order %s ends as %s", enginetest.OrderName(f.ID), f.Status)
	case f.At < sl.order.ExpiresAt:
		return fmt.Errorf("order %s expires %d ms early", enginetest.OrderName(f.ID), sl.order.ExpiresAt-f.At)
	case f.At < sl.order.ExpiresAt+24*3600*1000 && slices.ContainsFunc(sl.order.Attempts, func(a order.Attempt) bool { return a.Status == order.AttemptProcessing }):
		return fmt.Errorf("order %s ends as %s with money in flight", enginetest.OrderName(f.ID), f.Status)
	}
	sl.ended = true
	sl.foldFact(f)
	// Others may take the seats from now on. If late money completes the order, judgeReserved asks for them again.
	for i := range sl.order.Lines {
		for _, seat := range sl.order.Lines[i].Seats {
			delete(b.seats, seat)
		}
	}
	return nil
}

// judgeClosed judges the fact that orders are closed: from then on the ledger asks and answers nothing about them any
// more. So each keeper must have acknowledged before how its part of the order ended.
func (t *Truth) judgeClosed(ref engine.Ref, b *book, f *ledger.OrderClosed) error {
	for _, id := range f.IDs {
		sl := b.orders[id]
		if sl == nil || sl.order.Unpaid() || sl.closed {
			return fmt.Errorf("order %s can't be closed: %+v", enginetest.OrderName(id), sl)
		}
		sl.closed = true
		keepers := []engine.Ref{}
		for i := range sl.order.Lines {
			keepers = append(keepers, engine.InventoryRef(ref.Home, sl.order.Lines[i].Type))
		}
		if p := sl.order.Promo; p != nil {
			keepers = append(keepers, p.Ref)
		}
		for _, k := range keepers {
			if err := t.stockOf(k).judgeClosed(sl.order); err != nil {
				return err
			}
		}
		if sl.order.Books() {
			if err := t.diaryOf(ref.Home).judgeClosed(sl.order); err != nil {
				return err
			}
		}
		if hasSeats(sl.order.Lines) {
			if err := t.seats.CheckClosed(engine.SeatmapRef(ref.Home), sl.order); err != nil {
				return err
			}
		}
	}
	return nil
}

// foldFact brings the order up to a fact, and notes the status that it has then.
func (sl *sale) foldFact(f engine.Fact) {
	sl.order = order.Fold(sl.order, f)
	sl.statuses[sl.order.Status] = true
}

// liveUnits returns how many units the event has in unpaid orders and in tickets that are still good. This is what
// the event's capacity limits.
func (b *book) liveUnits() int64 {
	n := int64(len(b.tickets)) - b.gone
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Unpaid() {
			n += o.Tickets()
		}
	}
	return n
}

// capacityAt is the event's, or the one of a moment ago when it was lowered.
func (b *book) capacityAt(now int64) int64 {
	if now-b.lowered < 20*second && (b.roomiest == event.NoCapacity || b.roomiest > b.details.Capacity) {
		return b.roomiest
	}
	return b.details.Capacity
}

// issuedBy returns whether an order was placed by the organization itself.
func (t *Truth) issuedBy(id engine.OrderID) bool {
	places := t.world.Places(id)
	return len(places) > 0 && places[0].Issue != nil
}

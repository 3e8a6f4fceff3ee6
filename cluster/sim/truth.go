package sim

import (
	"errors"
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// truth is what the journal says, kept by rules of its own: every fact that is
// committed is judged against all facts before it.
type truth struct {
	sim     *Sim
	stocks  map[engine.Ref]*stock
	books   map[int64]*book           // by event
	seats   map[int64]*seats          // by event
	diaries map[int64]*diary          // by event
	earned  map[int64]keeper.Proceeds // by event, as its wallet has it
	fees    map[string]int64          // taken, by order
}

func newTruth(s *Sim) *truth {
	return &truth{sim: s, stocks: make(map[engine.Ref]*stock), books: make(map[int64]*book), seats: make(map[int64]*seats), diaries: make(map[int64]*diary), earned: make(map[int64]keeper.Proceeds), fees: make(map[string]int64)}
}

// stock is a ticket type by its facts.
type stock struct {
	details inventory.Details
	terms   *keeper.Discount // of a promo code, whose uses it is
	shut    bool             // a code that is over
	sold    int64
	sized   uint64 // revision of the last Resize
	held    map[engine.OrderID]*keeper.ReservedFact
	ended   map[keeper.Claim]string // sold, released or replaced
	buyers  map[uint64]int64

	awaited  bool // somebody waits for it
	awaitRev uint64
}

// book is an event by its facts.
type book struct {
	status   string
	details  event.Details
	roomiest int64 // the capacity before the last change
	lowered  int64
	removed  bool
	orders   map[engine.OrderID]*sale
	ids      []engine.OrderID // in the order of their making
	prints   map[uint64]engine.OrderID
	tickets  []engine.OrderID          // by serial
	types    map[int64]int64           // tickets by type
	seats    map[string]engine.OrderID // of unpaid and completed orders
	hands    map[uint32]*hands         // by serial
	gone     int64                     // tickets whose money went back
	line     line
}

// sale is an order by its facts.
type sale struct {
	order    *order.Order
	statuses map[string]bool
	ended    bool // once without a sale
	closed   bool
	paidBy   string           // the attempt
	told     *order.Order     // what its Place was answered first
	erasures []*order.Erased  // of people in it
	refunds  map[string]int64 // by attempt, of those that nobody asked for
	granted  int64            // of those that somebody did
}

func (t *truth) stock(ref engine.Ref) *stock {
	st := t.stocks[ref]
	if st == nil {
		st = &stock{
			held: make(map[engine.OrderID]*keeper.ReservedFact), ended: make(map[keeper.Claim]string),
			buyers: make(map[uint64]int64),
		}
		t.stocks[ref] = st
	}
	return st
}

func (t *truth) book(number int64) *book {
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

// take judges a committed fact and keeps it.
func (t *truth) take(ref engine.Ref, f engine.Fact) error {
	switch ref.Kind { //nolint:exhaustive // the rest is the ledger's
	case engine.KindInventory:
		return t.takeStock(ref, t.stock(ref), f)
	case engine.KindCalendar:
		return t.takeDates(ref, t.diary(ref.Home), f)
	case engine.KindPromo:
		return t.takeCode(ref, t.stock(ref), f)
	case engine.KindSeatmap:
		return t.takeSeats(ref, t.seat(ref), f)
	case engine.KindWallet:
		return t.takeWallet(ref, f)
	}
	b := t.book(ref.Home)
	switch f := f.(type) {
	case *order.Created:
		return t.created(ref, b, f)
	case *order.Completed:
		return t.completed(ref, b, f)
	case *order.Ended:
		return t.ended(b, f)
	case *event.OrderClosed:
		return t.closed(ref, b, f)
	case *event.CheckedIn, *event.CheckInUndone, *order.TransferOffered, *order.TransferRevoked, *order.TicketTransferred:
		return t.takeTicket(b, f)
	case *order.TicketRescheduled:
		return t.rescheduled(ref, b, f)
	case *order.RescheduleSettled:
		return t.settledMove(ref, b, f)
	case *order.RefundDecided:
		return t.decided(b, f)
	case *order.RefundReturned:
		return t.returned(ref, b, f)
	case *event.OrderRecalled:
		return t.recalled(b, f)
	case *event.CheckInDenied:
		return nil
	case waitlist.Fact:
		return t.takeLine(ref, b, f)
	case *order.Erased:
		return b.judgeErased(f)
	case order.Fact:
		return t.money(b, f)
	default:
		return t.record(b, f)
	}
}

// record takes the facts about the event itself.
func (t *truth) record(b *book, f engine.Fact) error {
	switch f := f.(type) {
	case *event.Created:
		if b.status != "" || b.removed {
			return errors.New("the event is created twice")
		}
		b.status, b.details, b.roomiest = event.StatusDraft, *f.Details, f.Details.Capacity
	case *event.Updated:
		b.lowered, b.roomiest = t.sim.now, b.capacity(t.sim.now)
		b.details = *f.Details
	case *event.Moved:
		if f.From != b.status || f.From == f.To {
			return fmt.Errorf("moved from %s to %s, was %s", f.From, f.To, b.status)
		}
		if f.From == event.StatusCancelled || f.From == event.StatusCompleted {
			return fmt.Errorf("%s is final, and moved to %s", f.From, f.To)
		}
		b.status = f.To
	case *event.Removed:
		b.status, b.removed = "", true
	case *event.Offered, *event.Ripened:
	case *event.PersonErased:
		return b.judgePersonErased(f)
	case *waitlist.SetFact:
		b.line.byHand = b.line.byHand || !f.Auto
	default:
		return fmt.Errorf("unknown fact %T", f)
	}
	return nil
}

func (t *truth) created(ref engine.Ref, b *book, f *order.Created) error {
	o := f.Order
	if sl := b.orders[o.ID]; sl != nil && sl.order.Status == order.StatusOffered {
		return b.claimed(o)
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
		st := t.stock(engine.InventoryRef(ref.Home, l.Type))
		price := st.details.Price
		if o.Issue != nil && o.Issue.Comp {
			price = 0 // it is given away
		}
		if l.Quantity < 1 || l.UnitPrice != price {
			return fmt.Errorf("order %s has the line %+v, the price is %d", enginetest.OrderName(o.ID), l, price)
		}
	}
	if o.Issue != nil {
		if err := t.issued(o); err != nil {
			return err
		}
	} else if err := t.priced(o); err != nil {
		return err
	}
	if c := b.capacity(t.sim.now); c != event.NoCapacity && b.live()+o.Tickets() > c {
		return fmt.Errorf("order %s: %d + %d exceed the capacity %d", enginetest.OrderName(o.ID), b.live(), o.Tickets(), c)
	}
	if err := t.paced(b, o); err != nil {
		return err
	}
	b.orders[o.ID] = &sale{order: o, statuses: map[string]bool{o.Status: true}, refunds: make(map[string]int64)}
	b.ids = append(b.ids, o.ID)
	b.prints[o.Fingerprint] = o.ID
	return t.reserved(ref, b, o, o.Serial)
}

// priced makes sure that an order costs what its lines do.
func (t *truth) priced(o *order.Order) error {
	total, err := t.discounted(o)
	if err != nil {
		return fmt.Errorf("order %s: %w", enginetest.OrderName(o.ID), err)
	}
	if total != o.Total {
		return fmt.Errorf("order %s costs %d, not %d", enginetest.OrderName(o.ID), total, o.Total)
	}
	return nil
}

// paced judges an order by the velocity rules, over all that was ever made.
func (t *truth) paced(b *book, o *order.Order) error {
	if o.Client == 0 || t.sim.swarm.jumps { // with a clock that jumps, ten minutes are anything
		return nil
	}
	var buyer, address, open int64
	for _, id := range b.ids {
		was := b.orders[id].order
		late := was.Client == 0 || was.CreatedAt > o.CreatedAt || was.CreatedAt <= o.CreatedAt-600_000
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
	within := func(n, own, rule int64) bool {
		switch own {
		case 0:
			return n < rule
		case event.Off:
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

// reserved makes sure that all keepers hold what an order takes, and that no
// other order has one of its seats.
func (t *truth) reserved(ref engine.Ref, b *book, o *order.Order, serial keeper.Serial) error {
	for i := range o.Lines {
		l := &o.Lines[i]
		h := t.stock(engine.InventoryRef(ref.Home, l.Type)).held[o.ID]
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
		t.sim.reach("order", "with dates")
		if err := t.diary(ref.Home).has(o, serial); err != nil {
			return err
		}
	}
	if o.Promo != nil {
		if h := t.stock(o.Promo.Ref).held[o.ID]; h == nil || h.Claim.Serial != serial {
			return fmt.Errorf("order %s has no use of its code reserved: %+v", enginetest.OrderName(o.ID), h)
		}
	}
	if !hasSeats(o.Lines) {
		return nil
	}
	t.sim.reach("order", "with seats")
	st := t.seat(engine.SeatmapRef(ref.Home))
	if st.reserved[o.ID] == nil {
		return fmt.Errorf("order %s has no seats reserved", enginetest.OrderName(o.ID))
	}
	return st.has(o, serial, nil)
}

// quantityOf is how many units of a ticket type an order has.
func quantityOf(o *order.Order, typ int64) (n int64) {
	for i := range o.Lines {
		if o.Lines[i].Type == typ {
			n += o.Lines[i].Quantity
		}
	}
	return n
}

func (t *truth) completed(ref engine.Ref, b *book, f *order.Completed) error {
	sl := b.orders[f.ID]
	if sl == nil || sl.order.Status == order.StatusCompleted || sl.paidBy != "" {
		return fmt.Errorf("order %s can't be completed: %+v", enginetest.OrderName(f.ID), sl)
	}
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
		t.sim.reach("late money", "completed")
		if hasSeats(o.Lines) {
			t.sim.reach("late money", "completed with seats")
		}
	}
	sl.closed = false
	sl.fold(f)
	return t.reserved(ref, b, o, f.Serial)
}

func (t *truth) ended(b *book, f *order.Ended) error {
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
	sl.fold(f)
	for i := range sl.order.Lines {
		for _, seat := range sl.order.Lines[i].Seats {
			delete(b.seats, seat)
		}
	}
	return nil
}

func (t *truth) closed(ref engine.Ref, b *book, f *event.OrderClosed) error {
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
			if err := t.stock(k).closed(sl.order); err != nil {
				return err
			}
		}
		if sl.order.Books() {
			if err := t.diary(ref.Home).closed(sl.order); err != nil {
				return err
			}
		}
		if err := t.seat(engine.SeatmapRef(ref.Home)).closed(sl.order, t.goneSeats(sl.order)); err != nil {
			return err
		}
	}
	return nil
}

// closed reports whether an order's units are sold or released, as the order has ended.
func (st *stock) closed(o *order.Order) error {
	claim := keeper.Claim{Order: o.ID, Serial: o.Serial}
	if h := st.held[o.ID]; h != nil && h.Claim == claim {
		return fmt.Errorf("order %s is closed and still reserved", enginetest.OrderName(o.ID))
	}
	if sold := st.ended[claim] == "sold"; sold != o.Sold() {
		return fmt.Errorf("order %s is closed as %s, its reservation is %q", enginetest.OrderName(o.ID), o.Status, st.ended[claim])
	}
	return nil
}

// money takes the facts about payments and refunds.
func (t *truth) money(b *book, f order.Fact) error {
	id := f.OrderID()
	if f, due := f.(*order.RefundDue); due {
		if f.Refund.Ask != nil {
			return t.asked(b, f)
		}
		if sl := b.orders[id]; sl != nil {
			sl.refunds[f.Refund.Reference] += f.Refund.Amount
			got := t.sim.cash.received(f.Refund.Reference)
			if back := sl.refunds[f.Refund.Reference]; back > got || f.Refund.Amount < 1 {
				return fmt.Errorf("refund of %d, in all %d of %d received: %+v", f.Refund.Amount, back, got, f.Refund)
			}
			if sl.paidBy == f.Refund.Reference && got-sl.refunds[f.Refund.Reference] < sl.order.Total {
				return fmt.Errorf("order %s is completed and its money goes back: %+v", enginetest.OrderName(id), f.Refund)
			}
			t.sim.reach("refund", f.Refund.Reason)
		}
		if sl := b.orders[id]; sl != nil {
			t.sim.payBack(id, len(sl.order.Refunds), f.Refund)
		}
	}
	if b.orders[id] == nil {
		return fmt.Errorf("%T for an unknown order %s", f, enginetest.OrderName(id))
	}
	b.orders[id].fold(f)
	return nil
}

func (sl *sale) fold(f engine.Fact) {
	sl.order = order.Fold(sl.order, f)
	sl.statuses[sl.order.Status] = true
}

// live is how many units are in unpaid orders or issued.
func (b *book) live() int64 {
	n := int64(len(b.tickets)) - b.gone
	for _, id := range b.ids {
		if o := b.orders[id].order; o.Unpaid() {
			n += o.Tickets()
		}
	}
	return n
}

// capacity is the event's, or the one of a moment ago when it was lowered.
func (b *book) capacity(now int64) int64 {
	if now-b.lowered < 20*second && (b.roomiest == event.NoCapacity || b.roomiest > b.details.Capacity) {
		return b.roomiest
	}
	return b.details.Capacity
}

package sim

import (
	"fmt"
	"reflect"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/engine/waitlist"
)

// show is an event of the workload with its ticket types.
type show struct {
	ref    engine.Ref
	types  []engine.Ref
	seats  engine.Ref
	hall   *hall                 // nil without seats
	hidden map[engine.Ref]string // presale codes
	judged bool                  // by the velocity rules
	codes  []engine.Ref          // promo codes
	dates  *dates                // nil of tickets that are for no date of their own
	scans  uint64
}

func (s *Sim) millis(at int64) int64 { return enginetest.Epoch.UnixMilli() + at/millisecond }

// openShow makes an event with its ticket types, and the load on it.
func (s *Sim) openShow() {
	number := int64(len(s.shows) + 1)
	sh := &show{ref: engine.EventRef(number), seats: engine.SeatmapRef(number), hidden: make(map[engine.Ref]string)}
	s.shows = append(s.shows, sh)
	d := event.Details{
		Title: "show", Category: "music", Currency: "USD", Capacity: event.NoCapacity,
		OrderWindow: s.between(2*second, 20*second) / millisecond,
		StartAt:     s.millis(4 * 3600 * second), EndAt: s.millis(6 * 3600 * second),
	}
	if s.chance(.35) {
		d.OrderWindow = s.between(20*second, 120*second) / millisecond
	}
	if s.chance(.3) {
		d.Capacity = s.between(5, 60)
	}
	if sh.judged = s.chance(.3); sh.judged {
		d.Velocity = event.Velocity{
			OrdersPerBuyer: s.between(-1, 12), OrdersPerAddress: s.between(-1, 25), OpenOrdersPerBuyer: s.between(-1, 6),
			PresaleTries: s.between(-1, 5), PaymentAttempts: s.between(-1, 5),
		}
	}
	if s.chance(.25) {
		d.StartAt = s.millis(s.between(second, s.swarm.load))
		if s.chance(.3) {
			d.EndAt = d.StartAt + s.between(second, 10*second)/millisecond
		}
	}
	saleEnd := d.EndAt
	if s.hasDates() {
		d.Category, d.StartAt, d.EndAt = "reservations", 0, 0
		s.openDates(sh)
	}
	s.ask(sh.ref, event.Create{Details: d}, 0, func(engine.Reply) {
		for i := range 1 + s.rng.IntN(3) {
			s.openType(sh, int64(i+1), saleEnd)
		}
		s.publish(sh)
		if s.chance(.7) && sh.dates == nil {
			s.openHall(sh)
		}
	})
	s.openCodes(sh)
	s.openIssues(sh)
	for range s.swarm.orders {
		s.after(s.between(50*millisecond, s.swarm.load), func() { s.buy(sh) })
	}
	for range s.rng.IntN(6) {
		s.after(s.between(second, s.swarm.load), func() { s.organize(sh) })
	}
	if s.lines {
		s.openLine(sh)
	}
}

func (s *Sim) openType(sh *show, n, end int64) {
	ref := engine.InventoryRef(sh.ref.ID, n)
	t := inventory.Details{
		Name: fmt.Sprintf("type %d", n), Type: "paid", Currency: "USD", Quantity: s.between(1, 51),
		SaleStart: s.millis(-3600 * second), SaleEnd: end, MaxPerOrder: s.between(1, 6), MaxPerCustomer: s.between(2, 12),
	}
	if s.chance(.7) {
		t.Price = s.between(1, 10_000)
	}
	if s.chance(.2) {
		t.Quantity = inventory.Unlimited
	}
	if s.chance(.2) {
		t.SaleStart = s.millis(s.between(0, 10*second))
	}
	if s.chance(.2) {
		t.SaleEnd = s.millis(s.between(10*second, 20*second))
	}
	if s.chance(.15) {
		t.PresaleCode = "fans"
		sh.hidden[ref] = "fans"
	}
	t.WaitlistEnabled = s.lines
	sh.types = append(sh.types, ref)
	s.ask(ref, inventory.Create{Details: t}, 0, nil)
}

// publish tries until a ticket type has offered itself.
func (s *Sim) publish(sh *show) {
	s.ask(sh.ref, event.Move{To: event.StatusPublished}, 0, func(r engine.Reply) {
		if no, refused := r.(*engine.Refusal); refused && no.Code == engine.Validation {
			s.after(s.between(50*millisecond, second), func() { s.publish(sh) })
		}
	})
}

// organize is one change that the organizer makes.
func (s *Sim) organize(sh *show) {
	if len(sh.types) == 0 {
		return
	}
	switch s.rng.IntN(12) {
	case 0, 1, 2, 3:
		s.resize(sh.types[s.rng.IntN(len(sh.types))])
	case 4, 5:
		s.change(sh.ref, func(d *event.Details) { d.Capacity = s.between(1, 60) })
	case 6, 7:
		s.ask(sh.ref, event.Move{To: event.StatusDraft}, 4, func(engine.Reply) {
			s.after(s.between(millisecond, 5*second), func() { s.publish(sh) })
		})
	case 8:
		s.ask(sh.ref, event.Move{To: event.StatusCancelled, Reason: "rain"}, 4, nil)
	case 9:
		s.ask(sh.ref, event.Move{To: event.StatusDraft}, 4, func(engine.Reply) {
			s.ask(sh.ref, event.Delete{Reason: "rain"}, 4, nil)
		})
	case 10:
		s.ask(sh.ref, event.Delete{Reason: "rain"}, 2, nil)
	default:
		s.ask(sh.ref, event.GateStats{}, 2, nil)
	}
}

func (s *Sim) resize(ref engine.Ref) {
	s.ask(ref, inventory.Get{}, 3, func(r engine.Reply) {
		rec, ok := r.(*inventory.Record)
		if !ok {
			return
		}
		t := rec.Details
		if t.Quantity == inventory.Unlimited || s.chance(.1) {
			t.Quantity = s.between(1, 60)
		} else {
			t.Quantity = max(0, t.Quantity+s.between(-10, 10))
		}
		t.Hidden = s.chance(.1)
		s.ask(ref, inventory.Update{Details: t, Revision: rec.Revision}, 3, nil)
	})
}

func (s *Sim) change(ref engine.Ref, to func(*event.Details)) {
	s.ask(ref, event.Get{}, 3, func(r engine.Reply) {
		if rec, ok := r.(*event.Record); ok && rec.Details != nil {
			d := *rec.Details
			to(&d)
			s.ask(ref, event.Update{Details: d, Revision: rec.Revision}, 3, nil)
		}
	})
}

// buy places an order and does with it what buyers do.
func (s *Sim) buy(sh *show) {
	if len(sh.types) == 0 {
		return
	}
	p := s.newPlace(sh)
	first := s.rng.IntN(len(sh.types))
	for i := range sh.types {
		ref := sh.types[(first+i)%len(sh.types)]
		if sh.hall.sells(ref.ID) && !s.chance(.1) {
			continue
		}
		if len(p.Lines) == 0 || s.chance(.4) {
			p.Lines = append(p.Lines, order.Line{Type: ref.ID, Quantity: s.between(1, 4)})
		}
		if code := sh.hidden[ref]; code != "" && s.chance(.7) {
			p.PresaleCode = code
		}
	}
	if len(p.Lines) > 0 {
		s.order(sh, p)
	}
}

// newPlace is an order of a new buyer, without lines.
func (s *Sim) newPlace(sh *show) event.Place {
	s.orders++
	customer := 1 + s.rng.Uint64N(8)
	email := fmt.Sprintf("buyer%d@example.com", customer)
	p := event.Place{
		Order: engine.NumberedID(sh.ref.ID, int64(s.orders)), Fingerprint: s.orders << 8,
		Email: email, Name: "Buyer", Customer: order.CustomerOf(email),
	}
	if sh.judged && !s.chance(.1) {
		p.Client = 1 + customer%3
	}
	return p
}

// order places an order, at times more than once.
func (s *Sim) order(sh *show, p event.Place) {
	s.nameCode(sh, &p)
	s.nameDates(sh, &p)
	s.places[p.Order] = append(s.places[p.Order], &p)
	s.place(sh, p, 1+s.rng.IntN(5))
	seats := p.Lines[0].Seats
	if s.chance(.1) || len(seats) > 1 && s.chance(.3) { // the same id with another body
		other := p
		other.Fingerprint++
		other.Lines = []order.Line{{Type: p.Lines[0].Type, Quantity: 1}}
		if len(seats) > 0 {
			other.Lines[0].Seats = seats[:1]
		}
		s.places[p.Order] = append(s.places[p.Order], &other)
		s.after(s.between(0, 5*second), func() { s.place(sh, other, 2) })
	}
	if s.chance(.2) { // the same command again, much later
		s.after(s.between(second, 20*second), func() { s.ask(sh.ref, p, 3, nil) })
	}
	if s.chance(.15) {
		s.after(s.between(0, 15*second), func() { s.ask(sh.ref, event.CancelOrder{Order: p.Order}, 3, nil) })
	}
}

func (s *Sim) place(sh *show, p event.Place, limit int) {
	s.ask(sh.ref, p, limit, func(r engine.Reply) {
		reply, ok := r.(*event.OrderReply)
		if !ok || reply.Order == nil {
			return
		}
		switch o := reply.Order; {
		case o.Status == order.StatusCompleted:
			s.attend(sh, o)
		case o.Unpaid() && s.chance(.85):
			s.after(s.between(millisecond, 3*second), func() { s.pay(sh, o, "paystack") })
			if s.chance(.15) {
				s.after(s.between(millisecond, 9*second), func() { s.pay(sh, o, "nowpayments") })
			}
		}
	})
}

// attend scans an order's tickets, some of them at two gates, and lets happen to them what
// happens to tickets.
func (s *Sim) attend(sh *show, o *order.Order) {
	s.befall(sh, o)
	for i := range uint32(o.Tickets()) {
		for s.chance(.6) {
			sh.scans++
			scan := event.Scan{
				Ticket: o.FirstTicket + i, Gate: fmt.Sprintf("gate %d", s.rng.IntN(3)), Method: "qr",
				Device: fmt.Sprintf("device %d", sh.scans), Key: sh.scans,
			}
			if s.chance(.02) {
				scan.Ticket = s.rng.Uint32N(2) * 1_000_000
			}
			s.after(s.between(0, 4*second), func() { s.ask(sh.ref, scan, 1+s.rng.IntN(5), nil) })
		}
	}
}

// visible judges a reply that leaves an actor: it tells only what is durable,
// and the same of the same command.
func (s *Sim) visible(a *hosted, cmd engine.Command, reply engine.Reply) {
	if st := s.stream(a.Ref); st.epoch != a.claim.Epoch && a.settling == nil {
		s.reach("stale answer", enginetest.CommandName(cmd))
		if age := s.now - st.claimed[a.claim.Epoch]; age > second+millisecond && s.bug != NoFence {
			s.failf("%s is answered by epoch %d, %d us after epoch %d began", brief(cmd), a.claim.Epoch, age, a.claim.Epoch+1)
		}
	}
	b := s.truth.book(a.Ref.Home)
	switch r := reply.(type) {
	case *event.OrderReply:
		if err := b.shows(cmd, r); err != nil {
			s.failf("%s is answered %q: %w", brief(cmd), r.Status, err)
		}
	case *waitlist.Placed:
		if j, is := cmd.(waitlist.Join); is && j.Unproven {
			if r.Entry.Status != waitlist.StatusUnconfirmed || r.Position != 0 {
				s.failf("%s is answered %+v, though nobody has proven the address", brief(cmd), *r)
			}
			return
		}
		if err := s.truth.placed(a.Ref, r); err != nil {
			s.failf("%s is answered %+v: %w", brief(cmd), *r, err)
		}
	case *seatmap.Selection:
		s.judgePicked(a.Ref, cmd, r.Held, r.ExpiresAt)
	case *seatmap.Best:
		s.judgePicked(a.Ref, cmd, r.Held, r.ExpiresAt)
	case *event.ScanReply:
		if err := b.scanned(cmd, r); err != nil {
			s.failf("%s is answered %+v: %w", brief(cmd), *r, err)
		}
	case *engine.Refusal:
		p, place := cmd.(event.Place)
		current := s.stream(a.Ref).epoch == a.claim.Epoch
		if _, made := b.prints[p.Fingerprint]; place && made && current && !s.early[p.Order] && r.Code != engine.Unavailable {
			s.failf("%s is answered %s, and has made an order", brief(cmd), r.Code)
		}
	}
}

// noteRefusals notes each Place that is refused while no order was made by it, at once or
// after a keeper has refused: the refusal may leave after the same Place, sent again, has
// made one.
func (s *Sim) noteRefusals(a *hosted, cmd engine.Command, d *engine.Decision) {
	note := func(id engine.OrderID, reply engine.Reply) {
		if _, refused := reply.(*engine.Refusal); refused && s.truth.book(a.Ref.Home).orders[id] == nil {
			s.early[id] = true
		}
	}
	if p, place := cmd.(event.Place); place {
		note(p.Order, d.Reply)
	}
	for _, answer := range d.Answers {
		note(answer.Key, answer.Reply)
	}
}

// judgePicked makes sure that a shopper is told of what is his.
func (s *Sim) judgePicked(ref engine.Ref, cmd engine.Command, held []string, until int64) {
	holder := ""
	switch c := cmd.(type) {
	case seatmap.Hold:
		holder = c.Holder
	case seatmap.BestAvailable:
		holder = c.Holder
	}
	if err := s.truth.seat(ref).picked(holder, held, until); err != nil {
		s.failf("%s is answered %v: %w", brief(cmd), held, err)
	}
}

// shows reports whether an order is as a reply tells.
func (b *book) shows(cmd engine.Command, r *event.OrderReply) error {
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
	case len(r.Order.Attempts) > len(sl.order.Attempts) || len(r.Order.Refunds) > len(sl.order.Refunds):
		return fmt.Errorf("it has the payments %+v %+v", sl.order.Attempts, sl.order.Refunds)
	}
	if _, place := cmd.(event.Place); place {
		told := *r.Order
		if told.Serial = 0; sl.told == nil { // the keepers' serial is told to nobody
			sl.told = &told
		}
		if !reflect.DeepEqual(sl.eraseFrom(&told), sl.eraseFrom(sl.told)) {
			return fmt.Errorf("its Place was answered %+v, and now %+v", *sl.told, told)
		}
	}
	if _, cancel := cmd.(event.CancelOrder); cancel && r.Status != order.StatusCancelled {
		return fmt.Errorf("a cancelled order is %s", sl.order.Status)
	}
	return nil
}

// scanned reports whether a verdict is the journal's.
func (b *book) scanned(cmd engine.Command, r *event.ScanReply) error {
	scan, _ := cmd.(event.Scan)
	if r.Status != event.ScanSuccess && r.Status != event.ScanDuplicate {
		return nil
	}
	h := b.hand(r.Ticket)
	for _, in := range h.admitted {
		if in.At != r.At || in.Gate != r.Gate || (in.Key == scan.Key) != (r.Status == event.ScanSuccess) {
			continue
		}
		if r.Status == event.ScanSuccess && scan.Version != 0 && scan.Version != in.version {
			return fmt.Errorf("a code of holder %d admits, the ticket was holder %d's", scan.Version, in.version)
		}
		return nil
	}
	return fmt.Errorf("the ticket's admissions are %+v", h.admitted)
}

// orderOf is the order that a command is about, and a Place's fingerprint.
func orderOf(c engine.Command) (id engine.OrderID, print uint64) {
	switch c := c.(type) {
	case event.Place:
		return c.Order, c.Fingerprint
	case event.PlaceAll:
		return c.Orders[0].Order, 0
	case event.CancelOrder:
		return c.Order, 0
	case event.BeginPayment:
		return c.Order, 0
	case event.OpenPayment:
		return c.Order, 0
	case event.ReportPayment:
		return c.Order, 0
	case event.ReportRefund:
		return c.Order, 0
	case event.AskRefund:
		return c.Order, 0
	case event.DecideRefund:
		return c.Order, 0
	case event.Reschedule:
		return c.Order, 0
	case event.GetOrder:
		return c.Order, 0
	case waitlist.Claim:
		return c.ID, 0
	default:
		return engine.OrderID{}, 0
	}
}

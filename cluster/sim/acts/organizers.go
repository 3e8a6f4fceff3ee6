package acts

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/velocity"
)

// show is an event of the workload, with its other actors and what its people know of it.
type show struct {
	ref    engine.Ref               // the event
	types  []engine.Ref             // the inventories of its ticket types, those that the organizer has begun to make
	seats  engine.Ref               // the seat map, which is empty without a hall
	hall   *hall                    // nil: the show has no seats
	hidden map[engine.Ref]string    // the presale code of each ticket type that has one
	judged bool                     // the rules of velocity limit its orders
	codes  []engine.Ref             // the promo codes that its buyers may name
	dates  *dates                   // nil: its tickets are for no date of their own
	scans  uint64                   // how many scans there were; each scan has a device and a key of its own
	kept   [2][]admission.BatchScan // the scans that each device without a network has yet to send
}

// OpenShow makes an event with its ticket types, and draws who comes and what its organizer changes later.
func (s *Script) OpenShow() {
	number := int64(len(s.shows) + 1)
	sh := &show{ref: engine.EventRef(number), seats: engine.SeatmapRef(number), hidden: make(map[engine.Ref]string)}
	// The place of a show on the list follows from its number, by which DayAt finds it.
	s.shows = append(s.shows, sh)
	d := event.Details{
		Title: "show", Category: "music", Currency: "USD", Capacity: event.NoCapacity,
		// The order window is short, so that many orders expire while something is still under way.
		OrderWindow: s.Between(2*second, 20*second) / millisecond,
		StartAt:     s.Millis(4 * 3600 * second), EndAt: s.Millis(6 * 3600 * second),
	}
	// In a third of the shows, buyers have time to pay even if messages are lost on the way.
	if s.Chance(.35) {
		d.OrderWindow = s.Between(20*second, 120*second) / millisecond
	}
	// A small capacity of the whole show may be reached before any ticket type is sold out.
	if s.Chance(.3) {
		d.Capacity = s.Between(5, 60)
	}
	// Without extensions each request for more time must be refused.
	d.NoExtensions = s.Chance(.1)
	// A limit may be drawn as -1, which turns the rule off, or as 0, which stands for the rule's default.
	if sh.judged = s.Chance(.3); sh.judged {
		d.Velocity = velocity.Limits{
			OrdersPerBuyer: s.Between(-1, 12), OrdersPerAddress: s.Between(-1, 25), OpenOrdersPerBuyer: s.Between(-1, 6),
			PresaleTries: s.Between(-1, 5), PaymentAttempts: s.Between(-1, 5),
		}
	}
	// Some shows begin, and end, while people still buy.
	if s.Chance(.25) {
		d.StartAt = s.Millis(s.Between(second, s.load.Span))
		if s.Chance(.3) {
			d.EndAt = d.StartAt + s.Between(second, 10*second)/millisecond
		}
	}
	// Reservations have no dates of their own, so the end of their sale is kept before they are cleared.
	saleEnd := d.EndAt
	if s.hasDates() {
		d.Category, d.StartAt, d.EndAt = "reservations", 0, 0
		s.openDates(sh)
	}
	s.countExits(sh, &d)
	// Ticket types and seats follow once the event is created.
	s.ask(sh.ref, event.Create{Details: d}, 0, func(engine.Reply) {
		for i := range 1 + s.Rng.IntN(3) {
			s.openType(sh, int64(i+1), saleEnd)
		}
		s.publishShow(sh)
		if s.Chance(.7) && sh.dates == nil {
			s.openHall(sh)
		}
	})
	// Orders and changes begin before the show is ready, so early ones meet a show that is not on sale.
	s.openCodes(sh)
	s.openIssues(sh)
	for range s.load.Orders {
		s.After(s.Between(50*millisecond, s.load.Span), func() { s.buyTickets(sh) })
	}
	for range s.Rng.IntN(6) {
		s.After(s.Between(second, s.load.Span), func() { s.changeShow(sh) })
	}
	if s.lines {
		s.openLine(sh)
	}
	if s.rooms.on {
		s.openRoom(&room{ref: engine.QueueRef(number)})
	}
}

// openType makes the n-th ticket type of a show. Its draws cover what a sale can run into: free tickets, no limit,
// a window that begins late or ends early, and a presale code.
func (s *Script) openType(sh *show, n, end int64) {
	ref := engine.InventoryRef(sh.ref.ID, n)
	t := inventory.Details{
		Name: fmt.Sprintf("type %d", n), Type: "paid", Currency: "USD", Quantity: s.Between(1, 51),
		SaleStart: s.Millis(-3600 * second), SaleEnd: end, MaxPerOrder: s.Between(1, 6), MaxPerCustomer: s.Between(2, 12),
	}
	if s.Chance(.7) {
		t.Price = s.Between(1, 10_000)
	}
	if s.Chance(.2) {
		t.Quantity = inventory.Unlimited
	}
	if s.Chance(.2) {
		t.SaleStart = s.Millis(s.Between(0, 10*second))
	}
	if s.Chance(.2) {
		t.SaleEnd = s.Millis(s.Between(10*second, 20*second))
	}
	if s.Chance(.15) {
		t.PresaleCode = "fans"
		sh.hidden[ref] = "fans"
	}
	t.WaitlistEnabled = s.lines
	sh.types = append(sh.types, ref)
	s.ask(ref, inventory.Create{Details: t}, 0, nil)
}

// publishShow asks again while it is refused: a show can be published once a ticket type has told it of itself.
func (s *Script) publishShow(sh *show) {
	s.ask(sh.ref, event.Move{To: event.StatusPublished}, 0, func(r engine.Reply) {
		if no, refused := r.(*engine.Refusal); refused && no.Code == engine.Validation {
			s.After(s.Between(50*millisecond, second), func() { s.publishShow(sh) })
		}
	})
}

// changeShow makes one change as the organizer. Half of them are of stock or capacity; the others take the show
// back, cancel or delete it while people buy, or only look at the gates.
func (s *Script) changeShow(sh *show) {
	if len(sh.types) == 0 {
		return
	}
	switch s.Rng.IntN(12) {
	case 0, 1, 2, 3:
		s.resizeType(sh.types[s.Rng.IntN(len(sh.types))])
	case 4, 5:
		s.changeEvent(sh.ref, func(d *event.Details) { d.Capacity = s.Between(1, 60) })
	// A published show is taken back to a draft while people buy, and published again.
	case 6, 7:
		s.ask(sh.ref, event.Move{To: event.StatusDraft}, 4, func(engine.Reply) {
			s.After(s.Between(millisecond, 5*second), func() { s.publishShow(sh) })
		})
	case 8:
		s.ask(sh.ref, event.Move{To: event.StatusCancelled, Reason: "rain"}, 4, nil)
	case 9:
		// A draft that has sold nothing is removed by a deletion. Any other show, as in case 10, is cancelled by it.
		s.ask(sh.ref, event.Move{To: event.StatusDraft}, 4, func(engine.Reply) {
			s.ask(sh.ref, event.Delete{Reason: "rain"}, 4, nil)
		})
	case 10:
		s.ask(sh.ref, event.Delete{Reason: "rain"}, 2, nil)
	default:
		s.ask(sh.ref, admission.GateStats{}, 2, nil)
	}
}

// resizeType changes how many tickets of a type there are, also to fewer than are sold, which must be refused.
func (s *Script) resizeType(ref engine.Ref) {
	s.ask(ref, inventory.Get{}, 3, func(r engine.Reply) {
		rec, ok := r.(*inventory.Record)
		if !ok {
			return
		}
		// The new record is made from one that was read, so the update carries that record's revision. If the record
		// has changed since, the update is refused.
		t := rec.Details
		if t.Quantity == inventory.Unlimited || s.Chance(.1) {
			t.Quantity = s.Between(1, 60)
		} else {
			t.Quantity = max(0, t.Quantity+s.Between(-10, 10))
		}
		t.Hidden = s.Chance(.1)
		s.ask(ref, inventory.Update{Details: t, Revision: rec.Revision}, 3, nil)
	})
}

// changeEvent edits an event's record. If somebody else has edited it since, the edit is refused and not made
// again.
func (s *Script) changeEvent(ref engine.Ref, to func(*event.Details)) {
	s.ask(ref, event.Get{}, 3, func(r engine.Reply) {
		if rec, ok := r.(*event.Record); ok && rec.Details != nil {
			d := *rec.Details
			to(&d)
			s.ask(ref, event.Update{Details: d, Revision: rec.Revision}, 3, nil)
		}
	})
}

package acts

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/keeper"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// buyTickets places an order of one or more ticket types as a buyer would, seats only now and then.
func (s *Script) buyTickets(sh *show) {
	if len(sh.types) == 0 {
		return
	}
	p := s.newPlace(sh)
	// The types are gone through from a drawn one on, so that no type is first in every order.
	first := s.Rng.IntN(len(sh.types))
	for i := range sh.types {
		ref := sh.types[(first+i)%len(sh.types)]
		// Most seats are bought by shoppers after they have chosen seats. Only a few orders here name such a type,
		// and they name no seats.
		if sh.hall.sellsBySeat(ref.ID) && !s.Chance(.1) {
			continue
		}
		if len(p.Lines) == 0 || s.Chance(.4) {
			p.Lines = append(p.Lines, order.Line{Type: ref.ID, Quantity: s.Between(1, 4)})
		}
		if code := sh.hidden[ref]; code != "" && s.Chance(.7) {
			p.PresaleCode = code
		}
	}
	if len(p.Lines) > 0 {
		s.placeOrder(sh, p)
	}
}

// newPlace returns an order of a new buyer, without lines.
func (s *Script) newPlace(sh *show) ledger.Place {
	s.orders++
	// Few buyers place many orders, so that they reach the limits for each customer.
	customer := 1 + s.Rng.Uint64N(8)
	email := fmt.Sprintf("buyer%d@example.com", customer)
	p := ledger.Place{
		// The fingerprint stands for the request's body. Its low bits are free for other bodies under the same id.
		Order: engine.NumberedID(sh.ref.ID, int64(s.orders)), Fingerprint: s.orders << 8,
		Email: email, Name: "Buyer", Customer: order.CustomerOf(email),
	}
	// Client is the buyer's network. Without one the velocity rules don't count the order.
	if sh.judged && !s.Chance(.1) {
		p.Client = 1 + customer%3
	}
	return p
}

// placeOrder places an order, and draws what else its buyer does with it: send it again, send another body under the
// same id, ask for more time, cancel.
func (s *Script) placeOrder(sh *show, p ledger.Place) {
	s.nameCode(sh, &p)
	s.nameDates(sh, &p)
	// The judge accepts an order that fits any of the commands with its id.
	s.places[p.Order] = append(s.places[p.Order], &p)
	s.sendPlace(sh, p, 1+s.Rng.IntN(5))
	// An order for seats comes with another body more often, because the seats of both must not be sold.
	seats := p.Lines[0].Seats
	if s.Chance(.1) || len(seats) > 1 && s.Chance(.3) { // The same id comes with another body, which must be refused or be the only one that counts.
		other := p
		other.Fingerprint++
		other.Lines = []order.Line{{Type: p.Lines[0].Type, Quantity: 1}}
		if len(seats) > 0 {
			other.Lines[0].Seats = seats[:1]
		}
		s.places[p.Order] = append(s.places[p.Order], &other)
		s.After(s.Between(0, 5*second), func() { s.sendPlace(sh, other, 2) })
	}
	// The same command comes again, much later. The ledger must answer with the order that it made then.
	if s.Chance(.2) {
		s.After(s.Between(second, 20*second), func() { s.ask(sh.ref, p, 3, nil) })
	}
	if s.Chance(.2) {
		s.After(s.Between(0, 15*second), func() { s.askForTime(sh, p.Order, 0) })
	}
	if s.Chance(.15) {
		s.After(s.Between(0, 15*second), func() { s.ask(sh.ref, ledger.CancelOrder{Order: p.Order}, 3, nil) })
	}
}

// askForTime asks for more time for an order, at times again and again. After is how many extensions the buyer has
// seen on the order: the ledger gives none twice for the same number.
func (s *Script) askForTime(sh *show, id engine.OrderID, after int64) {
	s.ask(sh.ref, ledger.ExtendOrder{Order: id, After: after}, 1+s.Rng.IntN(4), func(r engine.Reply) {
		switch r := r.(type) {
		case *engine.Refusal:
			if why, ok := r.Details.(keeper.NotExtendable); ok {
				s.Reach("extension", why.Reason)
			}
		case *ledger.OrderReply:
			if r.Order != nil && s.Chance(.8) {
				s.After(s.Between(0, 4*second), func() { s.askForTime(sh, id, r.Order.Extensions) })
			}
		}
	})
}

// sendPlace sends the command that places an order, limit times at most. A buyer who is answered with an unpaid order
// mostly pays, and some pay with two providers at once.
func (s *Script) sendPlace(sh *show, p ledger.Place, limit int) {
	s.ask(sh.ref, p, limit, func(r engine.Reply) {
		reply, ok := r.(*ledger.OrderReply)
		if !ok || reply.Order == nil {
			return
		}
		switch o := reply.Order; {
		// Its tickets exist, so they can be shown at the gates.
		case o.Status == order.StatusCompleted:
			s.scanTickets(sh, o)
		case o.Unpaid() && s.Chance(.85):
			s.After(s.Between(millisecond, 3*second), func() { s.payOrder(sh, o, "paystack") })
			// The second payment may come when the order is paid already.
			if s.Chance(.15) {
				s.After(s.Between(millisecond, 9*second), func() { s.payOrder(sh, o, "nowpayments") })
			}
		}
	})
}

// scanTickets lets the holders of a completed order come: it shows its tickets at gates, some at two, and starts what
// else may happen to tickets.
func (s *Script) scanTickets(sh *show, o *order.Order) {
	s.playFates(sh, o)
	s.walkAbout(sh, o)
	for i := range uint32(o.Tickets()) {
		// A ticket is shown on average more than once, because a second scan of it must be denied.
		for s.Chance(.6) {
			sh.scans++
			scan := admission.Scan{
				Ticket: o.FirstTicket + i, Gate: fmt.Sprintf("gate %d", s.Rng.IntN(3)), Method: "qr",
				Device: fmt.Sprintf("device %d", sh.scans), Key: sh.scans,
			}
			// No ticket has the serial 0 or one this high.
			if s.Chance(.02) {
				scan.Ticket = s.Rng.Uint32N(2) * 1_000_000
			}
			s.After(s.Between(0, 4*second), func() { s.ask(sh.ref, scan, 1+s.Rng.IntN(5), nil) })
		}
	}
}

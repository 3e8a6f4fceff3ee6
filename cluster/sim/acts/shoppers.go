package acts

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// networks is how many client networks all shoppers share, so that they reach the limits for each network.
const networks = 8

// shopper is somebody who changes a selection of seats a few times, and then buys them or leaves.
type shopper struct {
	show   *show
	holder string // the name under which the seat map keeps the selection
	// The account and the network of the shopper. Several shoppers share each, and so its limits.
	principal uint64
	network   uint64
	picks     int      // how often the shopper will still change the selection
	held      []string // the seats that the shopper holds by the last answer
}

// sendShopper lets one more shopper come to a show with seats.
func (s *Script) sendShopper(sh *show) {
	s.shoppers++
	p := &shopper{
		show: sh, holder: fmt.Sprintf("shopper%d", s.shoppers), principal: 1 + s.Rng.Uint64N(6), picks: 1 + s.Rng.IntN(5),
		network: 1 + uint64(s.shoppers)%networks,
	}
	s.pickSeats(p)
}

// pickSeats makes one change of a shopper's selection and draws when the next follows. After the last one the shopper
// buys or leaves.
func (s *Script) pickSeats(p *shopper) {
	if p.picks--; p.picks < 0 {
		s.decideToBuy(p)
		return
	}
	var c engine.Command
	switch s.Rng.IntN(7) {
	case 0:
		c = seatmap.BestAvailable{
			Holder: p.holder, Principal: p.principal, Network: p.network, Scale: s.load.HoldScale,
			Quantity: 1 + s.Rng.IntN(4), Adjacent: s.Chance(.5), Accessible: s.Chance(.2),
		}
	case 1:
		drop := seatmap.Release{Holder: p.holder}
		if len(p.held) > 0 && s.Chance(.7) {
			drop.Seats = p.held[:1]
		}
		c = drop
	case 2:
		c = seatmap.Extend{Holder: p.holder}
	default:
		c = seatmap.Hold{
			Holder: p.holder, Principal: p.principal, Network: p.network, Scale: s.load.HoldScale,
			Seats: s.someSeats(p.show, 1+s.Rng.IntN(4)),
		}
	}
	// A selection that was never answered may exist nevertheless: the shopper's own list is only what was told
	// last.
	limit := 1 + s.Rng.IntN(4)
	s.ask(p.show.seats, c, limit, func(r engine.Reply) {
		switch r := r.(type) {
		case *seatmap.Selection:
			p.held = r.Held
		case *seatmap.Best:
			p.held = r.Held
		case *seatmap.Released:
			p.held = slices.DeleteFunc(slices.Clone(p.held), func(id string) bool { return slices.Contains(r.Seats, id) })
		case *engine.Refusal:
			if limit, ok := r.Details.(seatmap.HoldLimit); ok {
				s.Reach("seats", limit.Rule)
			}
		}
		s.After(s.Between(50*millisecond, 12*second), func() { s.pickSeats(p) })
	})
}

// decideToBuy lets a shopper order the seats that he holds. Some order other seats, or leave without ordering.
func (s *Script) decideToBuy(p *shopper) {
	if !s.Healed() && s.Rng.IntN(8) == 0 {
		return // The shopper leaves, and the time of the seats runs out.
	}
	seats, holder := p.held, p.holder
	switch s.Rng.IntN(8) {
	case 0:
		seats = s.someSeats(p.show, 1+s.Rng.IntN(3))
	case 1:
		holder = "" // The order is to find the seats by the account alone.
	}
	lines := p.show.hall.linesFor(seats)
	if len(lines) == 0 {
		return
	}
	if s.Chance(.05) {
		lines[0].Quantity++ // One ticket has no seat, which must be refused.
	}
	// Some add a ticket without a seat, so that an order has several keepers.
	if s.Chance(.2) {
		if other := p.show.types[s.Rng.IntN(len(p.show.types))].ID; !slices.ContainsFunc(lines, func(l order.Line) bool { return l.Type == other }) {
			lines = append(lines, order.Line{Type: other, Quantity: 1})
		}
	}
	order := s.newPlace(p.show)
	order.Lines, order.Holder, order.Principal = lines, holder, p.principal
	s.placeOrder(p.show, order)
}

package sim

import (
	"fmt"
	"slices"
	"strings"

	"boxoffice/engine"
	"boxoffice/engine/enginetest"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
)

// hall is the seating of a show, as its organizer has it.
type hall struct {
	layout  *seatmap.Layout
	version int32
	prices  map[string]int64 // ticket type by section
}

// sells reports whether a ticket type is sold by seat, as far as the organizer knows.
func (h *hall) sells(typ int64) bool {
	if h != nil {
		for _, priced := range h.prices {
			if priced == typ {
				return true
			}
		}
	}
	return false
}

// openHall seats a show, and sends shoppers to it.
func (s *Sim) openHall(sh *show) {
	sh.hall = &hall{prices: make(map[string]int64)}
	s.attach(sh)
	for range s.swarm.shoppers {
		s.after(s.between(100*millisecond, s.swarm.load), func() { s.shop(sh) })
	}
	for range s.rng.IntN(8) {
		s.after(s.between(second, s.swarm.load), func() { s.arrange(sh) })
	}
}

// attach puts a new map in place of the one there is, and prices it.
func (s *Sim) attach(sh *show) {
	sh.hall.version++
	var rows []string
	for r := range 1 + s.rng.IntN(4) {
		var row strings.Builder
		fmt.Fprintf(&row, "%s:%c=", [...]string{"floor", "balcony"}[r/2], 'A'+r)
		for range 2 + s.rng.IntN(8) {
			row.WriteByte("sssssssssswc|"[s.rng.IntN(13)])
		}
		row.WriteByte('s')
		rows = append(rows, row.String())
	}
	layout := enginetest.NewLayout(sh.hall.version, rows...)
	attach := seatmap.Attach{
		Layout: layout, Mode: [...]string{seatmap.Reserved, seatmap.GAMixed}[s.rng.IntN(2)], HoldTime: s.between(60_000, 80_000),
	}
	s.ask(sh.seats, attach, 0, func(r engine.Reply) {
		if rec, ok := r.(*seatmap.Record); ok && rec.Version == layout.Version {
			sh.hall.layout = layout
			s.price(sh)
		}
	})
}

// price gives most sections a ticket type.
func (s *Sim) price(sh *show) {
	var p seatmap.Price
	for _, section := range sh.hall.layout.Sections {
		if s.healed || !s.chance(.1) {
			p.Sections = append(p.Sections, seatmap.SectionPrice{Section: section.ID, Type: sh.types[s.rng.IntN(len(sh.types))].ID})
		}
	}
	s.ask(sh.seats, p, 0, func(r engine.Reply) {
		if rec, ok := r.(*seatmap.Record); ok {
			clear(sh.hall.prices)
			for _, one := range rec.Prices {
				sh.hall.prices[one.Section] = one.Type
			}
		}
	})
}

// arrange is one change of the seats that the organizer makes.
func (s *Sim) arrange(sh *show) {
	switch s.rng.IntN(10) {
	case 0, 1, 2:
		s.ask(sh.seats, seatmap.Block{Block: s.someSeats(sh, 1+s.rng.IntN(8))}, 3, nil)
	case 3, 4:
		s.ask(sh.seats, seatmap.Block{Unblock: s.someSeats(sh, 1+s.rng.IntN(20))}, 3, nil)
	case 5:
		s.ask(sh.seats, seatmap.Block{Block: s.someSeats(sh, 3), Unblock: s.someSeats(sh, 3)}, 3, nil)
	case 6:
		if sh.hall.layout != nil {
			s.price(sh)
		}
	case 7:
		s.attach(sh)
	case 8:
		if l := sh.hall.layout; l != nil {
			s.ask(sh.seats, seatmap.Attach{Layout: l, HoldTime: s.between(60_000, 80_000)}, 2, nil)
		}
	default:
		s.ask(sh.seats, seatmap.Detach{}, 2, func(engine.Reply) {
			s.after(s.between(millisecond, 2*second), func() { s.attach(sh) })
		})
	}
}

// someSeats are some of the map's seats, mostly neighbours.
func (s *Sim) someSeats(sh *show, n int) []string {
	if sh.hall.layout == nil {
		return nil
	}
	ids := sh.hall.layout.SeatIDs
	var list []string
	at := s.rng.IntN(len(ids))
	for range n {
		if s.rng.IntN(6) == 0 {
			at = s.rng.IntN(len(ids))
		}
		list = append(list, ids[at%len(ids)])
		at++
	}
	return list
}

// networks is how many client networks the shoppers share.
const networks = 8

// shopper picks seats a few times over, and then buys, or not.
type shopper struct {
	show      *show
	holder    string
	principal uint64
	network   uint64
	picks     int
	held      []string
}

func (s *Sim) shop(sh *show) {
	s.shoppers++
	p := &shopper{
		show: sh, holder: fmt.Sprintf("shopper%d", s.shoppers), principal: 1 + s.rng.Uint64N(6), picks: 1 + s.rng.IntN(5),
		network: 1 + uint64(s.shoppers)%networks,
	}
	s.pick(p)
}

// pick is a shopper's next selection.
func (s *Sim) pick(p *shopper) {
	if p.picks--; p.picks < 0 {
		s.decideToBuy(p)
		return
	}
	var c engine.Command
	switch s.rng.IntN(6) {
	case 0:
		c = seatmap.BestAvailable{
			Holder: p.holder, Principal: p.principal, Network: p.network, Scale: s.swarm.holdScale,
			Quantity: 1 + s.rng.IntN(4), Adjacent: s.chance(.5), Accessible: s.chance(.2),
		}
	case 1:
		drop := seatmap.Release{Holder: p.holder}
		if len(p.held) > 0 && s.chance(.7) {
			drop.Seats = p.held[:1]
		}
		c = drop
	default:
		c = seatmap.Hold{
			Holder: p.holder, Principal: p.principal, Network: p.network, Scale: s.swarm.holdScale,
			Seats: s.someSeats(p.show, 1+s.rng.IntN(4)),
		}
	}
	limit := 1 + s.rng.IntN(4)
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
				s.reach("seats", limit.Rule)
			}
		}
		s.after(s.between(50*millisecond, 12*second), func() { s.pick(p) })
	})
}

// decideToBuy has a shopper order what he holds; some order what they don't.
func (s *Sim) decideToBuy(p *shopper) {
	if !s.healed && s.rng.IntN(8) == 0 {
		return // he leaves, and his seats' time runs out
	}
	seats, holder := p.held, p.holder
	switch s.rng.IntN(8) {
	case 0:
		seats = s.someSeats(p.show, 1+s.rng.IntN(3))
	case 1:
		holder = "" // known by his account
	}
	lines := p.show.hall.lines(seats)
	if len(lines) == 0 {
		return
	}
	if s.chance(.05) {
		lines[0].Quantity++ // a ticket without its seat
	}
	if s.chance(.2) {
		if other := p.show.types[s.rng.IntN(len(p.show.types))].ID; !slices.ContainsFunc(lines, func(l order.Line) bool { return l.Type == other }) {
			lines = append(lines, order.Line{Type: other, Quantity: 1})
		}
	}
	order := s.newPlace(p.show)
	order.Lines, order.Holder, order.Principal = lines, holder, p.principal
	s.order(p.show, order)
}

// lines are the lines of an order for seats, as they are priced.
func (h *hall) lines(seats []string) []order.Line {
	var lines []order.Line
	for _, id := range seats {
		i := slices.Index(h.layout.SeatIDs, id)
		if i < 0 {
			continue
		}
		typ := h.prices[h.layout.Sections[h.layout.SectionOf(int32(i))].ID]
		if typ == 0 {
			continue
		}
		at := slices.IndexFunc(lines, func(l order.Line) bool { return l.Type == typ })
		if at < 0 {
			at = len(lines)
			lines = append(lines, order.Line{Type: typ})
		}
		lines[at].Quantity++
		lines[at].Seats = append(lines[at].Seats, id)
	}
	return lines
}

package acts

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
	version int32            // the version of the map that was attached last; each attachment has a new one
	prices  map[string]int64 // the number of the ticket type of each section that is priced
}

// sellsBySeat reports whether a ticket type is sold by seat, as far as the organizer knows.
func (h *hall) sellsBySeat(typ int64) bool {
	if h != nil {
		for _, priced := range h.prices {
			if priced == typ {
				return true
			}
		}
	}
	return false
}

// openHall gives a show seats, and sends shoppers to it.
func (s *Script) openHall(sh *show) {
	sh.hall = &hall{prices: make(map[string]int64)}
	s.attachMap(sh)
	for range s.load.Shoppers {
		s.After(s.Between(100*millisecond, s.load.Span), func() { s.sendShopper(sh) })
	}
	for range s.Rng.IntN(8) {
		s.After(s.Between(second, s.load.Span), func() { s.changeSeats(sh) })
	}
}

// attachMap draws a new seat map, puts it in place of the one there is, and prices it.
func (s *Script) attachMap(sh *show) {
	sh.hall.version++
	var rows []string
	for r := range 1 + s.Rng.IntN(4) {
		var row strings.Builder
		fmt.Fprintf(&row, "%s:%c=", [...]string{"floor", "balcony"}[r/2], 'A'+r)
		for range 2 + s.Rng.IntN(8) {
			// s is a seat, w one for a wheelchair, c one beside it, and | an aisle.
			row.WriteByte("sssssssssswc|"[s.Rng.IntN(13)])
		}
		row.WriteByte('s')
		rows = append(rows, row.String())
	}
	layout := enginetest.NewLayout(sh.hall.version, rows...)
	attach := seatmap.Attach{
		Layout: layout, Mode: [...]string{seatmap.Reserved, seatmap.GAMixed}[s.Rng.IntN(2)], HoldTime: s.Between(60_000, 80_000),
	}
	// The organizer knows the map only once its attachment is answered with the version. Until then shoppers choose
	// from the map before.
	s.ask(sh.seats, attach, 0, func(r engine.Reply) {
		if rec, ok := r.(*seatmap.Record); ok && rec.Version == layout.Version {
			sh.hall.layout = layout
			s.priceSections(sh)
		}
	})
}

// priceSections gives most sections of the map a ticket type, under which their seats are sold.
func (s *Script) priceSections(sh *show) {
	var p seatmap.Price
	for _, section := range sh.hall.layout.Sections {
		// Before the world heals, the organizer leaves some sections without a price.
		if s.Healed() || !s.Chance(.1) {
			p.Sections = append(p.Sections, seatmap.SectionPrice{Section: section.ID, Type: sh.types[s.Rng.IntN(len(sh.types))].ID})
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

// changeSeats makes one change of the seats as the organizer: it blocks or unblocks some, gives the sections other
// prices, or exchanges the map.
func (s *Script) changeSeats(sh *show) {
	switch s.Rng.IntN(10) {
	case 0, 1, 2:
		s.ask(sh.seats, seatmap.Block{Block: s.someSeats(sh, 1+s.Rng.IntN(8))}, 3, nil)
	case 3, 4:
		s.ask(sh.seats, seatmap.Block{Unblock: s.someSeats(sh, 1+s.Rng.IntN(20))}, 3, nil)
	case 5:
		s.ask(sh.seats, seatmap.Block{Block: s.someSeats(sh, 3), Unblock: s.someSeats(sh, 3)}, 3, nil)
	case 6:
		if sh.hall.layout != nil {
			s.priceSections(sh)
		}
	case 7:
		s.attachMap(sh)
	case 8:
		// The same map with another hold time changes only how long new holds last.
		if l := sh.hall.layout; l != nil {
			s.ask(sh.seats, seatmap.Attach{Layout: l, HoldTime: s.Between(60_000, 80_000)}, 2, nil)
		}
	default:
		s.ask(sh.seats, seatmap.Detach{}, 2, func(engine.Reply) {
			s.After(s.Between(millisecond, 2*second), func() { s.attachMap(sh) })
		})
	}
}

// someSeats draws seats of the map. Most of them are neighbours, because people sit together.
func (s *Script) someSeats(sh *show, n int) []string {
	if sh.hall.layout == nil {
		return nil
	}
	ids := sh.hall.layout.SeatIDs
	var list []string
	at := s.Rng.IntN(len(ids))
	for range n {
		if s.Rng.IntN(6) == 0 {
			at = s.Rng.IntN(len(ids))
		}
		list = append(list, ids[at%len(ids)])
		at++
	}
	return list
}

// linesFor returns the lines of an order for seats, one line for each ticket type, by the prices that the organizer
// knows. It leaves out seats without a price.
func (h *hall) linesFor(seats []string) []order.Line {
	var lines []order.Line
	// Seats of an older map are not on this one, so they are left out as well.
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

package enginetest

import (
	"fmt"
	"strconv"
	"strings"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// sayMap reads what the organizer does to the seats of the event. A row is written
// section:label=seats. Each seat is a letter, s, w(heelchair) or c(ompanion), and | is an aisle;
// the seats are called A1, A2... The stage is in front of the middle of the longest row.
//
//	map attaches floor:A=ss|ss floor:B=wcs [version=2] [hold=2m] [mode=ga_mixed]
//	map detaches    map prices floor=GA balcony=VIP    map blocks A1 A2    map unblocks A1
//	map is read     map hears Reserve ann@1.1 seats=A1,A2 types=GA holder=ann of=7 late=yes
//	map hears Return ann@1.1 A1                        map hears ResizeSeen Revision=1
func (w *story) sayMap(c *character, verb string, args []string) error {
	switch verb {
	case "attaches":
		return w.sayAttaches(c, args)
	case "detaches":
		return w.tell(c, seatmap.Detach{})
	case "prices":
		var p seatmap.Price
		for _, arg := range args {
			section, name, _ := strings.Cut(arg, "=")
			typ, err := w.actor(name)
			if err != nil {
				return err
			}
			p.Sections = append(p.Sections, seatmap.SectionPrice{Section: section, Type: typ.ref.ID})
		}
		return w.tell(c, p)
	case "blocks":
		return w.tell(c, seatmap.Block{Block: args})
	case "unblocks":
		return w.tell(c, seatmap.Block{Unblock: args})
	default: // is read
		return w.tell(c, seatmap.View{})
	}
}

// sayAttaches attaches a map to an event. Words with version=, mode= or hold= say how, and all others are its rows.
func (w *story) sayAttaches(c *character, args []string) error {
	a, version := seatmap.Attach{}, 1
	var rows []string
	for _, arg := range args {
		key, value, _ := strings.Cut(arg, "=")
		var err error
		switch key {
		case "version":
			version, err = strconv.Atoi(value)
		case "mode":
			a.Mode = value
		case "hold":
			err = w.set(&a, []string{"HoldTime=" + value})
		default:
			rows = append(rows, arg)
		}
		if err != nil {
			return err
		}
	}
	a.Layout = NewLayout(int32(version), rows...)
	return w.tell(c, a)
}

// NewLayout returns a seat map of rows such as "floor:A=ss|wc" (see sayMap). Rows and seats are ten units apart, and
// the point from which the best seats are reckoned is in front of the middle.
func NewLayout(version int32, rows ...string) *seatmap.Layout {
	l := &seatmap.Layout{Map: [16]byte{1}, Version: version}
	for r, text := range rows {
		name, seats, _ := strings.Cut(text, "=")
		section, label, _ := strings.Cut(name, ":")
		// The rows of a section follow one another in the sentence.
		if n := len(l.Sections); n == 0 || l.Sections[n-1].ID != section {
			l.Sections = append(l.Sections, seatmap.Section{ID: section, Name: section})
		}
		l.Rows = append(l.Rows, seatmap.Row{Section: int32(len(l.Sections) - 1), Label: label})
		// Seats are numbered from 1 within their row. Aisles have a place on the map and no number.
		number, gap := 0, false
		for x, kind := range seats {
			if kind == '|' {
				gap = true
				continue
			}
			number++
			l.SeatIDs = append(l.SeatIDs, label+strconv.Itoa(number))
			l.Labels = append(l.Labels, strconv.Itoa(number))
			l.SeatRow = append(l.SeatRow, int32(r))
			l.SeatX, l.SeatY = append(l.SeatX, int32(10*x+10)), append(l.SeatY, int32(10*r+10))
			l.SeatKind = append(l.SeatKind, seatmap.Kind(strings.IndexRune("swc", kind)))
			l.Gap = append(l.Gap, gap)
			gap = false
		}
		// The map ends ten units beyond its outermost seats.
		l.Width, l.Height = max(l.Width, int32(10*len(seats)+10)), int32(10*r+20)
	}
	l.Focus = [2]int32{l.Width / 2, 0}
	return l
}

// sayShopper reads what a shopper does. The shopper's name is also the holder of the selection.
//
//	ann holds A1 A2 [of=7] [net=3] [scale=0.5]      ann drops [A1]
//	ann keeps (what she holds, for longer)
//	ann seeks 4 [Adjacent=yes] [Accessible=yes] [type=GA] [Sections=floor,balcony]
func (w *story) sayShopper(name, verb string, args []string) error {
	c, err := w.actor("map")
	if err != nil {
		return err
	}
	switch verb {
	case "holds":
		h := seatmap.Hold{Holder: name}
		for _, arg := range args {
			if strings.Contains(arg, "=") {
				if err := w.set(&h, []string{arg}); err != nil {
					return err
				}
				continue
			}
			h.Seats = append(h.Seats, arg)
		}
		return w.tell(c, h)
	case "keeps":
		return w.tell(c, seatmap.Extend{Holder: name})
	case "drops":
		if len(args) == 0 {
			args = nil // all
		}
		return w.tell(c, seatmap.Release{Holder: name, Seats: args})
	}
	best := seatmap.BestAvailable{Holder: name}
	if best.Quantity, err = strconv.Atoi(args[0]); err != nil {
		return err
	}
	for _, arg := range args[1:] {
		if typ, ok := strings.CutPrefix(arg, "type="); ok {
			of, err := w.actor(typ)
			if err != nil {
				return err
			}
			best.Type = of.ref.ID
			continue
		}
		if err := w.set(&best, []string{arg}); err != nil {
			return err
		}
	}
	return w.tell(c, best)
}

// seatLine completes a line of a Reserve to a seat map: its quantity is the number of its seats, and the last ticket
// type that is named counts for the seats after it too.
func (w *story) seatLine(c *character, l *keeper.Line) {
	if c.ref.Kind != engine.KindSeatmap {
		return
	}
	l.Quantity = int64(len(l.Seats))
	for n := len(l.SeatTypes); n > 0 && n < len(l.Seats); n++ {
		l.SeatTypes = append(l.SeatTypes, l.SeatTypes[n-1])
	}
}

// seatNames writes seats, given by their indexes in the layout, as their ids.
func (w *story) seatNames(seats []int32) string {
	l := w.layout()
	names := make([]string, len(seats))
	for k, i := range seats {
		names[k] = strconv.Itoa(int(i))
		if l != nil && int(i) < l.Len() {
			names[k] = l.SeatIDs[i]
		}
	}
	return "[" + strings.Join(names, " ") + "]"
}

// layout returns the seat map of the story, or nil. Facts have indexes of seats only, so names need it.
func (w *story) layout() *seatmap.Layout {
	for _, c := range w.actors {
		if m, ok := c.state.Decide(seatmap.View{}, w.now).Reply.(*seatmap.Map); ok {
			return m.Layout
		}
	}
	return nil
}

// showMap writes a seat map with a character for each seat: . available, h held, x sold, b blocked.
func (w *story) showMap(m *seatmap.Map) string {
	if !m.Attached {
		return "no map"
	}
	b := []byte(fmt.Sprintf("%d available, %d held, %d sold, %d blocked", m.Available, m.Held, m.Sold, m.Blocked))
	for _, p := range m.Prices {
		b = fmt.Appendf(b, ", %s is %s", p.Section, w.nameOf(engine.InventoryRef(1, p.Type)))
	}
	row := int32(-1)
	for i := range m.Layout.Len() {
		if r := m.Layout.SeatRow[i]; r != row {
			b = fmt.Appendf(b, "\n      %s ", m.Layout.Rows[r].Label)
			row = r
		}
		if m.Layout.Gap[i] {
			b = append(b, '|')
		}
		b = append(b, ".hxb"[m.State(i)])
	}
	return string(b)
}

// showSelection writes which seats a holder has now, and which have failed.
func (w *story) showSelection(r *seatmap.Selection) string {
	b := fmt.Appendf(nil, "held %v", r.Held)
	for k, id := range r.Failed {
		b = fmt.Appendf(b, ", %s %s", id, r.Reasons[k])
	}
	if r.ExpiresAt != 0 {
		b = fmt.Appendf(b, ", until %s", w.clock(r.ExpiresAt))
	}
	return string(b)
}

// showAttached writes a new seat map by its size, because its whole content would fill pages.
func (w *story) showAttached(f *seatmap.AttachedFact) string {
	return fmt.Sprintf("version %d of %d seats, %s, held for %s", f.Layout.Version, f.Layout.Len(), f.Mode, w.span(f.HoldTime))
}

package venuemap

import (
	"fmt"
	"math"

	"boxoffice/edge/names"
	"boxoffice/edge/route"
	"boxoffice/engine/seatmap"
)

// kinds maps the names of kinds of seats in a document to the values in Layout.SeatKind. A seat without a kind is a
// standard one.
var kinds = map[string]uint8{"": seatmap.Standard, "standard": seatmap.Standard, "wheelchair": seatmap.Wheelchair, "companion": seatmap.Companion}

// Expand makes a layout with every seat of the document, in reading order, or returns issues. It relies on the rules in
// the fields' tags, which a request has passed; any other document must be checked against them first. The caller who
// publishes the layout fills in its Map and Version.
func (d *Document) Expand() (*seatmap.Layout, []route.Issue) {
	x := &expansion{doc: d, layout: &seatmap.Layout{
		Width: int32(d.Canvas.Width), Height: int32(d.Canvas.Height),
	}}
	// The seats are counted before room for them is made, because a few rows that repeat
	// could make millions.
	n := d.count()
	if n > seatmap.MaxSeats {
		x.reportIssue("sections", route.IssueMaxItems, "must have at most %d seats in all, and have %d", seatmap.MaxSeats, n)
		return nil, x.issues
	}
	x.reserveSeats(n)
	if x.checkInside("focus", d.Focus[0], d.Focus[1]) {
		x.layout.Focus = [2]int32{int32(d.Focus[0]), int32(d.Focus[1])}
	}
	x.expandElements()
	sections := map[string]bool{}
	for i := range d.Sections {
		s := &d.Sections[i]
		path := fmt.Sprintf("sections[%d]", i)
		switch {
		case !isIdentifier(s.ID): // Otherwise the ids of its seats would be wrong too.
			x.reportIssue(path+".id", route.IssueFormat, "must be made of "+idLetters)
		case sections[s.ID]:
			x.reportIssue(path+".id", route.IssueDuplicate, "is the id of another section")
		default:
			sections[s.ID] = true
			x.expandSection(path, s)
		}
	}
	if len(x.issues) > 0 {
		return nil, x.issues
	}
	return x.layout, nil
}

// count returns how many seats the document comes to, even if it has faults. It stops
// counting once there are more than seatmap.MaxSeats.
func (d *Document) count() int {
	n := 0
	for i := range d.Sections {
		for j := range d.Sections[i].Rows {
			r := &d.Sections[i].Rows[j]
			n += len(r.Seats)
			for k := range r.repeats() {
				if n > seatmap.MaxSeats {
					return n
				}
				n += r.seatsOf(k)
			}
		}
	}
	return n
}

// expansion is the state of Expand: the layout and the issues so far. Each map serves to check one rule that something
// is unique.
type expansion struct {
	doc     *Document
	layout  *seatmap.Layout
	issues  []route.Issue
	ids     map[string]struct{}   // all seats' ids
	points  map[[2]int32]struct{} // where all seats are
	printed map[[3]string]string  // where each seat is, by the names.Key of its section's name, row and label
	name    string                // the names.Key of the section at hand
	label   string                // the names.Key of the label of the row at hand
}

// reserveSeats makes room for n seats.
func (x *expansion) reserveSeats(n int) {
	l := x.layout
	l.SeatIDs, l.Labels = make([]string, 0, n), make([]string, 0, n)
	l.SeatRow, l.SeatX, l.SeatY = make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)
	l.SeatKind, l.Gap = make([]uint8, 0, n), make([]bool, 0, n)
	x.ids, x.points, x.printed = make(map[string]struct{}, n), make(map[[2]int32]struct{}, n), make(map[[3]string]string, n)
}

// reportIssue notes a fault of the document, up to route.MaxIssues of them.
func (x *expansion) reportIssue(path, code, format string, args ...any) {
	if len(x.issues) < route.MaxIssues {
		x.issues = append(x.issues, route.Issue{Path: path, Code: code, Message: fmt.Sprintf(format, args...)})
	}
}

// checkInside reports a point that is not on the canvas, and returns false for it.
func (x *expansion) checkInside(path string, px, py int) bool {
	if px >= 0 && py >= 0 && px <= x.doc.Canvas.Width && py <= x.doc.Canvas.Height {
		return true
	}
	x.reportIssue(path, route.IssueMaximum, "must be on the canvas; %d, %d is not", px, py)
	return false
}

// expandElements checks the elements. They have no place in the layout.
func (x *expansion) expandElements() {
	for i := range x.doc.Elements {
		e := &x.doc.Elements[i]
		path := fmt.Sprintf("elements[%d]", i)
		x.checkInside(path, e.X+e.Width, e.Y+e.Height)
		if e.Type == "text" && e.Label == "" {
			x.reportIssue(path+".label", route.IssueRequired, "is required of a text")
		}
	}
}

// expandSection adds a section with all of its rows. It stops early once there are route.MaxIssues issues.
func (x *expansion) expandSection(path string, s *Section) {
	x.layout.Sections = append(x.layout.Sections, seatmap.Section{ID: s.ID, Name: s.Name})
	x.name = names.Key(s.Name)
	for i := range s.Rows {
		if len(x.issues) >= route.MaxIssues {
			return
		}
		r := &s.Rows[i]
		path := fmt.Sprintf("%s.rows[%d]", path, i)
		if !x.checkForm(path, r) {
			continue
		}
		if r.Seats != nil {
			x.addListedRow(path, s, r)
			continue
		}
		x.addDrawnRows(path, s, r)
	}
}

// addListedRow adds a row whose seats the author lists. A seat without an id gets
// section-row-label as its id.
func (x *expansion) addListedRow(path string, s *Section, r *Row) {
	x.beginRow(r.Label)
	id := s.ID + "-" + r.idPart() + "-"
	for i := range r.Seats {
		t := &r.Seats[i]
		seat := seat{id: t.ID, label: t.Label, x: t.X, y: t.Y, kind: kinds[t.Kind], gap: t.AisleBefore && i > 0}
		if seat.id == "" {
			seat.id = id + t.Label
		}
		x.addSeat(fmt.Sprintf("%s.seats[%d]", path, i), r.Label, &seat)
	}
}

// beginRow begins a row in the section that was begun last. The seats that follow belong to
// it.
func (x *expansion) beginRow(label string) {
	x.label = names.Key(label)
	x.layout.Rows = append(x.layout.Rows, seatmap.Row{Section: int32(len(x.layout.Sections) - 1), Label: label})
}

// seat is one seat before addSeat puts it into the layout's columns.
type seat struct {
	id, label string
	x, y      int
	kind      uint8
	gap       bool // an aisle before it
}

// addSeat adds a seat to the row that was begun last. No other seat may have the same id, the same point, or the same
// names of section, row and seat, which are printed on tickets. It adds a seat with an issue too, so that the issues of
// later seats are found as well.
func (x *expansion) addSeat(path, row string, s *seat) {
	point := [2]int32{int32(s.x), int32(s.y)}
	if len(s.id) > maxID || !isIdentifier(s.id) {
		x.reportIssue(path, route.IssueFormat, "has the id %q; ids are made of "+idLetters+", at most %d", s.id, maxID)
	}
	if !add(x.ids, s.id) {
		x.reportIssue(path, route.IssueDuplicate, "has the id of another seat, %s", s.id)
	}
	seen := [3]string{x.name, x.label, names.Key(s.label)}
	if other, taken := x.printed[seen]; taken {
		x.reportIssue(path, route.IssueDuplicate, "looks like %s on a ticket: section %s, row %s, seat %s",
			other, x.layout.Sections[len(x.layout.Sections)-1].Name, row, s.label)
	} else {
		x.printed[seen] = s.id
	}
	if !add(x.points, point) {
		x.reportIssue(path, route.IssueDuplicate, "is on the point of another seat, %d, %d", s.x, s.y)
	}
	x.checkInside(path, s.x, s.y)
	l := x.layout
	l.SeatIDs, l.Labels = append(l.SeatIDs, s.id), append(l.Labels, s.label)
	l.SeatRow = append(l.SeatRow, int32(len(l.Rows)-1))
	l.SeatX, l.SeatY = append(l.SeatX, point[0]), append(l.SeatY, point[1])
	l.SeatKind, l.Gap = append(l.SeatKind, s.kind), append(l.Gap, s.gap)
}

// add puts k into a set, and reports whether it was new there.
func add[K comparable](set map[K]struct{}, k K) bool {
	n := len(set)
	set[k] = struct{}{}
	return len(set) > n
}

// idLetters says in an issue what isIdentifier accepts.
const idLetters = "letters A to Z, digits and . _ : -"

// isIdentifier reports whether s has only the characters of ids, and at least one.
func isIdentifier(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

// roundToUnit returns the nearest unit of the canvas.
func roundToUnit(v float64) int { return int(math.Round(v)) }

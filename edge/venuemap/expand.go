package venuemap

import (
	"fmt"
	"math"

	"boxoffice/edge/names"
	"boxoffice/edge/route"
	"boxoffice/engine/seatmap"
)

// kinds maps a seat's kind in a document to the kind in Layout.SeatKind. A seat without a kind is a
// standard seat.
var kinds = map[string]uint8{"": seatmap.Standard, "standard": seatmap.Standard, "wheelchair": seatmap.Wheelchair, "companion": seatmap.Companion}

// Expand returns the layout with every seat of the document, in the document's order, or the issues
// if the document is wrong. It assumes that the document meets the rules of its fields' tags, which
// are checked for documents from requests. The caller who publishes the layout fills in its Map and
// Version.
func (d *Document) Expand() (*seatmap.Layout, []route.Issue) {
	x := &expansion{doc: d, layout: &seatmap.Layout{
		Width: int32(d.Canvas.Width), Height: int32(d.Canvas.Height),
	}}
	// We count the seats before we allocate memory for them, because a few repeated rows could make
	// millions of seats.
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
		case !isIdentifier(s.ID): // the ids of its seats begin with the section's id
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

// count returns how many seats the document has, even if it has faults. It stops counting once
// there are more than seatmap.MaxSeats.
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

// expansion is the state of Expand: the layout so far, the issues so far, and maps of what has to
// be unique.
type expansion struct {
	doc     *Document
	layout  *seatmap.Layout
	issues  []route.Issue
	ids     map[string]struct{}   // the ids of the seats so far
	points  map[[2]int32]struct{} // the points of the seats so far
	printed map[[3]string]string  // the id of each seat so far, by the names.Key of its section's name, row and label
	name    string                // the names.Key of the section at hand
	label   string                // the names.Key of the label of the row at hand
}

// reserveSeats allocates memory for n seats.
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

// expandElements only checks the elements, because the layout has none.
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

// expandSection adds a section with all of its rows. It stops once route.MaxIssues issues are
// noted.
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

// addListedRow adds a row whose seats the author lists. A seat without an id gets the ids of its
// section and row and its own label as its id, joined by dashes.
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

// seat is one seat before addSeat appends it to the columns of the layout.
type seat struct {
	id, label string
	x, y      int
	kind      uint8
	gap       bool // whether there is an aisle before it
}

// addSeat adds a seat to the row that was begun last. It reports an issue if the seat's id is malformed, if its point
// is not on the canvas, or if another seat has the same id or point or looks the same on a ticket. A seat with a
// fault is added too, so that the faults of the seats after it are also found.
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

// add adds k to a set, and reports whether the set did not have k before.
func add[K comparable](set map[K]struct{}, k K) bool {
	n := len(set)
	set[k] = struct{}{}
	return len(set) > n
}

// idLetters says in an issue what isIdentifier accepts.
const idLetters = "letters A to Z, digits and . _ : -"

// isIdentifier reports whether s is not empty and has only the characters that ids may have
// (idLetters, also in lower case).
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

// roundToUnit rounds a coordinate to whole units of the canvas.
func roundToUnit(v float64) int { return int(math.Round(v)) }

package venuemap

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"boxoffice/edge/route"
	"boxoffice/engine/seatmap"
)

// These are the values of Row.Numbering that numberOf treats specially. With any other value, the
// numbers ascend by 1.
const (
	descending = "descending"
	odd        = "odd"
	even       = "even"
)

// idPart returns the row's part of the ids of its seats: the row's id, or its label if it has no
// id.
func (r *Row) idPart() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Label
}

// repeats returns how many rows this entry of the document stands for.
func (r *Row) repeats() int { return max(r.Repeat, 1) }

// seatsOf returns how many seats the k-th row of the entry has, counted from 0, if the author does
// not list them. The small addend prevents an error of floating point from losing a seat, such as
// in 10 × 0.1.
func (r *Row) seatsOf(k int) int { return r.Count + int(math.Floor(float64(k)*r.CountStep+1e-9)) }

// isStraight reports whether the entry has any field that only a straight row has, even if others
// are missing.
func (r *Row) isStraight() bool { return r.From != nil || r.To != nil }

// isArc reports whether the entry has any field that only an arc has, even if others are missing.
func (r *Row) isArc() bool { return r.Center != nil || r.Radius != 0 || r.Angles != nil }

// checkForm reports an entry that does not have exactly one of the three forms (listed, straight, arc) with all
// fields that this form needs, or that has no id that fits into the ids of seats. Of an entry that does not list its
// seats, it also checks the numbers (checkNumbers). It returns true if nothing is wrong.
func (x *expansion) checkForm(path string, r *Row) bool {
	found := len(x.issues)
	must := func(given bool, name string) {
		if !given {
			x.reportIssue(path+"."+name, route.IssueRequired, "is required of this form of row")
		}
	}
	if r.ID == "" && !isIdentifier(r.Label) {
		x.reportIssue(path+".id", route.IssueRequired, "is required where the label is not made of "+idLetters)
	}
	switch listed := r.Seats != nil; {
	case listed && (r.isStraight() || r.isArc() || r.hasDrawing()), r.isStraight() && r.isArc():
		x.reportIssue(path, route.IssueFormat, "must list its seats, or be straight, or an arc: no mixture")
	case listed:
	case r.isStraight():
		must(r.From != nil, "from")
		must(r.To != nil, "to")
		must(r.Count > 0, "count")
		must(r.repeats() == 1 || r.Step != nil, "step")
	case r.isArc():
		must(r.Center != nil, "center")
		must(r.Radius > 0, "radius")
		must(r.Angles != nil, "angles")
		must(r.Count > 0, "count")
		must(r.repeats() == 1 || r.RadiusStep != 0, "radiusStep")
		if r.Radius > 0 && r.Radius+(r.repeats()-1)*r.RadiusStep < 1 {
			x.reportIssue(path+".radiusStep", route.IssueMinimum, "must leave each row a radius of 1 at least")
		}
	default:
		x.reportIssue(path, route.IssueRequired, "must have seats, or from and to, or center, radius and angles")
	}
	if r.Seats == nil {
		x.checkNumbers(path, r)
	}
	return len(x.issues) == found
}

// hasDrawing reports whether the entry has a field that only a straight row or an arc may
// have.
func (r *Row) hasDrawing() bool {
	return r.Count != 0 || r.FirstNumber != nil || r.Numbering != "" || r.AislesAfter != nil || r.Wheelchair != nil || r.Companion != nil ||
		r.Repeat != 0 || r.Step != nil || r.RadiusStep != 0 || r.CountStep != 0
}

// checkNumbers reports counts, labels, numbers and positions of an entry that are not possible. It
// checks counts and labels for the last row of a repeated entry, because that row has the most
// seats and the last label.
func (x *expansion) checkNumbers(path string, r *Row) {
	last := r.repeats() - 1
	if r.seatsOf(last) > maxRowSeats {
		x.reportIssue(path+".countStep", route.IssueMaximum, "makes a row of %d seats; %d are allowed", r.seatsOf(last), maxRowSeats)
	}
	if _, ok := countLabel(r.Label, last); !ok {
		x.reportIssue(path+".label", route.IssueFormat, "must be a number or letters A to Z, to count on from")
	}
	if r.ID != "" {
		if _, ok := countLabel(r.ID, last); !ok {
			x.reportIssue(path+".id", route.IssueFormat, "must be a number or letters A to Z, to count on from")
		}
	}
	if r.Numbering == odd && r.firstNumber()%2 == 0 || r.Numbering == even && r.firstNumber()%2 == 1 {
		x.reportIssue(path+".firstNumber", route.IssueFormat, "must be %s", r.Numbering)
	}
	x.checkPositions(path+".aislesAfter", r.AislesAfter, r.Count-1, map[int]bool{})
	taken := map[int]bool{}
	x.checkPositions(path+".wheelchair", r.Wheelchair, r.Count, taken)
	x.checkPositions(path+".companion", r.Companion, r.Count, taken)
}

// checkPositions reports positions beyond last, and positions that are in taken already. It adds every position to
// taken, so that one seat cannot be both a wheelchair's and a companion's.
func (x *expansion) checkPositions(path string, positions []int, last int, taken map[int]bool) {
	for i, n := range positions {
		if n > last {
			x.reportIssue(fmt.Sprintf("%s[%d]", path, i), route.IssueMaximum, "must be a position in the row, at most %d", last)
		}
		if taken[n] {
			x.reportIssue(fmt.Sprintf("%s[%d]", path, i), route.IssueDuplicate, "names a position again")
		}
		taken[n] = true
	}
}

// firstNumber returns the lowest number of the row's seats: FirstNumber, or else 2 for even
// numbers, or else 1.
func (r *Row) firstNumber() int {
	switch {
	case r.FirstNumber != nil:
		return *r.FirstNumber
	case r.Numbering == even:
		return 2
	}
	return 1
}

// numberOf returns the number of the i-th of a row's n seats. i counts from 0.
func (r *Row) numberOf(i, n int) int {
	switch r.Numbering {
	case descending:
		return r.firstNumber() + n - 1 - i
	case odd, even:
		return r.firstNumber() + 2*i
	}
	return r.firstNumber() + i
}

// addDrawnRows adds the rows of an entry that is straight or an arc. An aisle takes a place
// between two seats, so a seat's place is its position plus the aisles before it.
func (x *expansion) addDrawnRows(path string, s *Section, r *Row) {
	var gap, kind [maxRowSeats + 1]uint8 // by position, counted from 0
	for _, n := range r.AislesAfter {
		gap[n] = 1
	}
	for _, n := range r.Wheelchair {
		kind[n-1] = seatmap.Wheelchair
	}
	for _, n := range r.Companion {
		kind[n-1] = seatmap.Companion
	}
	for k := range r.repeats() {
		label, _ := countLabel(r.Label, k)
		name, _ := countLabel(r.idPart(), k)
		x.beginRow(label)
		n, aisles := r.seatsOf(k), 0
		id := s.ID + "-" + name + "-"
		for i := range n {
			aisles += int(gap[i])
			number := strconv.Itoa(r.numberOf(i, n))
			t := seat{id: id + number, label: number, gap: gap[i] == 1, kind: kind[i]}
			t.x, t.y = r.pointOf(k, i+aisles, n-1+len(r.AislesAfter))
			x.addSeat(path, label, &t)
		}
	}
}

// pointOf returns the point on the canvas of a place in the k-th row of the entry. The row's seats
// and aisles are on the places 0 to last, at equal distances.
func (r *Row) pointOf(k, place, last int) (px, py int) {
	t := 0.5
	if last > 0 {
		t = float64(place) / float64(last)
	}
	if r.isArc() {
		angle := (r.Angles[0] + (r.Angles[1]-r.Angles[0])*t) * math.Pi / 180
		radius := float64(r.Radius + k*r.RadiusStep)
		return roundToUnit(float64(r.Center[0]) + radius*math.Cos(angle)), roundToUnit(float64(r.Center[1]) + radius*math.Sin(angle))
	}
	// A straight row with more seats than the first row has the same distances and is longer at
	// both ends.
	if first := r.Count - 1 + len(r.AislesAfter); first > 0 {
		t = 0.5 + (t-0.5)*float64(last)/float64(first)
	}
	on := func(axis int) int {
		from, to, step := float64(r.From[axis]), float64(r.To[axis]), 0
		if k > 0 {
			step = k * r.Step[axis]
		}
		return roundToUnit(from + (to-from)*t + float64(step))
	}
	return on(0), on(1)
}

// countLabel returns the label that is n steps after a label: a higher number, or later letters in
// the order A, B ... Z, AA, AB. It returns false for a label that is neither a number nor up to
// three letters of one case, unless n is 0: then it returns the label itself.
func countLabel(label string, n int) (string, bool) {
	if n == 0 {
		return label, true
	}
	if number, err := strconv.ParseUint(label, 10, 31); err == nil {
		return strconv.FormatUint(number+uint64(n), 10), true
	}
	first := byte('A')
	if strings.ToLower(label) == label {
		first = 'a'
	}
	number := 0
	for _, c := range []byte(label) {
		if c < first || c > first+25 || len(label) > 3 {
			return "", false
		}
		// Letters are digits from 1 to 26 here, without a zero, so that AA follows Z.
		number = number*26 + int(c-first) + 1
	}
	var b []byte
	for number += n; number > 0; number = (number - 1) / 26 {
		b = append(b, first+byte((number-1)%26))
	}
	slices.Reverse(b)
	return string(b), label != ""
}

package venuemap

import (
	"fmt"
	"math"
)

// bowl is the ground plan of the sample arena and the sample stadium: two straight sides and a half
// circle at either end. Lengths are in centimetres.
type bowl struct {
	x, y     int // its middle
	straight int // length of a side
}

// These are the measures of the samples' tiers, in centimetres.
const (
	seatWidth  = 50
	rowDepth   = 80
	blockGap   = 120
	spaceWidth = 100 // of the space for a wheelchair, and of the companion's seat beside it
)

// tier is a ring of blocks around the field, each with rows one behind the other.
type tier struct {
	name        string
	first       int  // number of its first block
	radius      int  // distance of its first row from the straight axis, and so its radius on the half circles
	rows        int  // in each block
	sides       int  // blocks on each straight side
	ends        int  // blocks on each half circle
	wheelchairs bool // whether each block has a row of wheelchair spaces behind it
}

// makeTier makes the blocks of a tier, clockwise from the left of the upper side. Seats are
// numbered clockwise too, so that low numbers are on the same side everywhere for a person who
// faces the field.
func (b bowl) makeTier(t tier) []Section {
	var sections []Section
	add := func(rows []Row) {
		id := fmt.Sprint(t.first + len(sections))
		sections = append(sections, Section{ID: id, Name: t.name + " " + id, Rows: rows})
	}
	for _, side := range []int{-1, 1} { // above, to the right; below, to the left
		for i := range t.sides {
			add(b.straightBlock(&t, side, i))
		}
		for i := range t.ends {
			add(b.roundBlock(&t, side, i))
		}
	}
	return sections
}

// straightBlock makes the rows of the i-th block of a side. side is -1 for the upper side
// and 1 for the lower one, and turns the block's directions accordingly.
func (b bowl) straightBlock(t *tier, side, i int) []Row {
	width := b.straight / t.sides
	from := -b.straight/2 + i*width + blockGap/2
	to := from + width - blockGap
	row := func(label string, radius int) Row {
		y := b.y + side*radius
		return Row{Label: label, From: []int{b.x - side*from, y}, To: []int{b.x - side*to, y}}
	}
	seats := row("1", t.radius)
	seats.Count = (to-from)/seatWidth + 1
	if t.rows > 1 {
		seats.Repeat, seats.Step = t.rows, []int{0, side * rowDepth}
	}
	if !t.wheelchairs {
		return []Row{seats}
	}
	return []Row{seats, makeWheelchairRow(row("W", t.wheelchairRadius()), to-from)}
}

// roundBlock makes the rows of the i-th block of the half circle that follows a side,
// clockwise.
func (b bowl) roundBlock(t *tier, side, i int) []Row {
	angle := math.Pi / float64(t.ends)
	// The gap between blocks as an angle, at the first row.
	gap := float64(blockGap) / float64(t.radius)
	from := float64(side)*math.Pi/2 + float64(i)*angle + gap/2
	degrees := []float64{cutToHundredths(from * 180 / math.Pi), cutToHundredths((from + angle - gap) * 180 / math.Pi)}
	row := func(label string, radius int) Row {
		return Row{Label: label, Center: []int{b.x - side*b.straight/2, b.y}, Radius: radius, Angles: degrees}
	}
	seats := row("1", t.radius)
	seats.Count = int(float64(t.radius)*(angle-gap)/seatWidth) + 1
	if t.rows > 1 {
		seats.Repeat, seats.RadiusStep = t.rows, rowDepth
		seats.CountStep = cutToHundredths(rowDepth * (angle - gap) / seatWidth)
	}
	if !t.wheelchairs {
		return []Row{seats}
	}
	return []Row{seats, makeWheelchairRow(row("W", t.wheelchairRadius()), int(float64(t.wheelchairRadius())*(angle-gap)))}
}

// wheelchairRadius is the radius of the row for wheelchairs, one and a half times rowDepth behind the last row of
// seats.
func (t *tier) wheelchairRadius() int { return t.radius + t.rows*rowDepth + rowDepth/2 }

// makeWheelchairRow fills a row of a width with spaces for wheelchairs, each with a companion's
// seat beside it.
func makeWheelchairRow(r Row, width int) Row {
	r.Count = 2 * (width / spaceWidth / 2)
	for i := 1; i <= r.Count; i += 2 {
		r.Wheelchair, r.Companion = append(r.Wheelchair, i), append(r.Companion, i+1)
	}
	return r
}

// cutToHundredths rounds a number down to hundredths, so that the documents stay short.
func cutToHundredths(v float64) float64 { return math.Floor(v*100) / 100 }

// takeSeatsOut reduces the boxes, each of one row, to the given number of seats in all, spread as
// evenly as possible. It panics if that is not possible, because then a sample is wrong.
func takeSeatsOut(boxes []Section, seats int) []Section {
	each, more := seats/len(boxes), seats%len(boxes)
	for i := range boxes {
		n := each
		if i < more {
			n++
		}
		if r := &boxes[i].Rows[0]; n < 1 || n > r.Count {
			panic(fmt.Sprintf("venuemap: a box has %d seats at most, and is to have %d", r.Count, n)) // the sample is wrong
		}
		boxes[i].Rows[0].Count = n
	}
	return boxes
}

// seatsOf counts the seats of some sections.
func seatsOf(sections []Section) int { return (&Document{Sections: sections}).count() }

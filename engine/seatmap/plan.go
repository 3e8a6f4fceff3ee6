package seatmap

import (
	"cmp"
	"math"
	"slices"
)

// plan is a layout with what is computed from it once.
type plan struct {
	*Layout
	index map[string]int32 // index of each seat, by its id
	first []int32          // first seat of each row, and at the end the number of all seats
	start []bool           // whether the seat has no neighbour before it: its row begins or an aisle lies before it
	far   []int32          // distance of each seat from the focal point, canvas units
	near  []int32          // rows, ordered by their nearest seat
	least []int32          // distance of each row's nearest seat, canvas units
}

// newPlan computes what searches need of a layout, in one pass over its seats. The layout must be valid (Validate): its
// seats stand row by row.
func newPlan(l *Layout) *plan {
	n := int32(l.Len())
	p := &plan{
		Layout: l, index: make(map[string]int32, n), first: make([]int32, len(l.Rows)+1),
		start: make([]bool, n), far: make([]int32, n), near: make([]int32, len(l.Rows)), least: make([]int32, len(l.Rows)),
	}
	for r := range p.least {
		p.near[r], p.least[r], p.first[r+1] = int32(r), math.MaxInt32, n
	}
	row := int32(-1)
	for i := range n {
		p.index[l.SeatIDs[i]] = i
		p.start[i] = l.SeatRow[i] != row || l.Gap[i]
		// Rows without seats begin where the next row does.
		for ; row < l.SeatRow[i]; row++ {
			p.first[row+1] = i
		}
		dx, dy := float64(l.SeatX[i]-l.Focus[0]), float64(l.SeatY[i]-l.Focus[1])
		p.far[i] = int32(math.Sqrt(dx*dx + dy*dy))
		p.least[row] = min(p.least[row], p.far[i])
	}
	slices.SortStableFunc(p.near, func(a, b int32) int { return cmp.Compare(p.least[a], p.least[b]) })
	return p
}

// seatsOfRow returns a row's seats: those from first up to but not including end.
func (p *plan) seatsOfRow(r int32) (first, end int32) { return p.first[r], p.first[r+1] }

// hasNeighbour reports whether seat i+1 is the neighbour of seat i.
func (p *plan) hasNeighbour(i int32) bool { return i >= 0 && int(i)+1 < len(p.start) && !p.start[i+1] }

package seatmap

import (
	"slices"
	"strconv"

	"boxoffice/engine"
)

// search is a search for the best seats for one holder.
type search struct {
	s        *State
	own      *hold
	c        *BestAvailable
	sections []bool // for each section of the map, whether it is asked for; nil if all are
	slot     uint16 // slot (sizes) of the ticket type that is asked for; 0 stands for any

	row  []int32         // scratch: seats of one row that may be had
	best [grades][]int32 // the best group of each grade
	cost [grades]int64   // the cost of each grade's best group
}

// These are the grades of a group of seats, in the order in which the search falls back to them.
const (
	together = iota // beside each other, without leaving a single seat
	beside          // beside each other
	inRow           // in one row, in as few pieces as possible
	grades
)

// dear is added to the cost of a group for each wheelchair place, and a multiple of it for each further piece,
// so that either is worse than any distance.
const dear = 1 << 32

// decideBest finds the best seats for a shopper and makes them the whole selection. Seats that the shopper holds
// already count as available. If no seats meet the command, or a limit on held seats (refuseHold) is reached, it
// refuses, and the selection stays.
func (s *State) decideBest(c BestAvailable, at int64) engine.Decision {
	switch {
	case s.plan == nil:
		return refuse(engine.NoSeating, nil)
	case c.Holder == "":
		return refuseInvalid("A selection has a holder.")
	case c.Quantity < 1 || c.Quantity > MaxSelection:
		return refuseInvalid("1 to 50 seats are held at a time.")
	}
	q := &search{s: s, own: s.holds.by[c.Holder], c: &c}
	if c.Type != 0 {
		if q.slot = s.sizes.slotOf(c.Type); q.slot == 0 {
			return refuse(engine.TicketSoldOut, Room{Requested: c.Quantity})
		}
	}
	if c.Sections != nil {
		q.sections = make([]bool, len(s.plan.Sections))
		for k, id := range c.Sections {
			i := slices.IndexFunc(s.plan.Sections, func(known Section) bool { return known.ID == id })
			if i < 0 {
				return refuseField("sectionIds["+strconv.Itoa(k)+"]", "enum", "is no section of the map")
			}
			q.sections[i] = true
		}
	}
	seats, adjacent := q.run()
	if seats == nil {
		return refuse(engine.TicketSoldOut, Room{Requested: c.Quantity, Available: q.countAvailable()})
	}
	d, until := s.settleSelection(c.Holder, Asker{c.Principal, c.Network, c.Scale}, q.own, seats, at)
	if d.Reply != nil {
		return d
	}
	d.Reply = &Best{Held: s.seatIDs(seats), Adjacent: adjacent, ExpiresAt: until}
	return d
}

// run returns the best seats, in ascending order, and whether all of them are beside each other. It returns nil
// if there are no seats that meet the command. It visits the rows from the nearest on, and stops when no further
// row can have anything better.
func (q *search) run() (seats []int32, adjacent bool) {
	s := q.s
	for _, row := range s.plan.near {
		// Rows are visited by their nearest seat, so no later row can have a group that costs less than this
		// row's least cost.
		if q.best[together] != nil && q.cost[together] <= q.leastCost(row) {
			break
		}
		if q.offersRow(row) && int(s.vacant[row])+q.countOwned() >= q.c.Quantity {
			q.visitRow(row)
		}
	}
	// A better grade wins whatever its seats cost. Seats in one row, but apart, are no answer if they have to be
	// adjacent.
	for grade, seats := range q.best {
		if seats != nil && (grade < inRow || !q.c.Adjacent) {
			return seats, grade < inRow
		}
	}
	if q.c.Adjacent {
		return nil, false
	}
	seats = q.findAnywhere()
	return seats, len(seats) == 1
}

// offersRow reports whether the row's section is for sale and asked for.
func (q *search) offersRow(row int32) bool {
	section := q.s.plan.Rows[row].Section
	slot := q.s.prices[section]
	return slot != 0 && (q.slot == 0 || slot == q.slot) && (q.sections == nil || q.sections[section])
}

// countOwned returns how many seats the holder has already, in all rows.
func (q *search) countOwned() int {
	if q.own == nil {
		return 0
	}
	return len(q.own.seats)
}

// leastCost returns a bound: no group of the row costs less.
func (q *search) leastCost(row int32) int64 {
	floor := int64(q.s.plan.least[row]) * int64(q.c.Quantity)
	if q.c.Accessible {
		floor += dear
	}
	return floor
}

// visitRow judges every group of the wanted size that is consecutive among a row's available seats. There may be
// taken seats or aisles between the seats of such a group.
func (q *search) visitRow(row int32) {
	s, n := q.s, q.c.Quantity
	q.collectRow(row)
	// The window slides by one seat: the seat that enters is added, the one that leaves is taken off. This judges a
	// row in one pass, however many seats are wanted.
	var cost int64
	var kinds [Companion + 1]int
	pieces := 0
	for k, i := range q.row {
		cost += int64(s.plan.far[i])
		kinds[s.plan.SeatKind[i]]++
		if k > 0 && !q.isJoined(k) {
			pieces++
		}
		if k >= n {
			out := q.row[k-n]
			cost -= int64(s.plan.far[out])
			kinds[s.plan.SeatKind[out]]--
			if !q.isJoined(k - n + 1) {
				pieces--
			}
		}
		if k >= n-1 && q.fitsKinds(&kinds) {
			q.offerGroup(k-n+1, cost+int64(kinds[Wheelchair])*dear, pieces)
		}
	}
}

// collectRow puts the seats of a row that are available to the holder into q.row. Wheelchair places and companion
// seats are among them only if the command asks for a wheelchair place.
func (q *search) collectRow(row int32) {
	q.row = q.row[:0]
	first, end := q.s.plan.seatsOfRow(row)
	for i := first; i < end; i++ {
		if q.s.freeFor(i, q.own) && (q.c.Accessible || q.s.plan.SeatKind[i] == Standard) {
			q.row = append(q.row, i)
		}
	}
}

// isJoined reports whether the k-th seat of q.row is beside the one before.
func (q *search) isJoined(k int) bool {
	return q.row[k] == q.row[k-1]+1 && !q.s.plan.start[q.row[k]]
}

// fitsKinds reports whether a group has the kinds of seats that the command asks for: any or, if Accessible is
// set, at least one wheelchair place and at most three companion seats to each.
func (q *search) fitsKinds(kinds *[Companion + 1]int) bool {
	return !q.c.Accessible || kinds[Wheelchair] > 0 && kinds[Companion] <= perWheelchair*kinds[Wheelchair]
}

// offerGroup keeps a group of q.row if it is the best of its grade. Of equally good groups the first one
// found stays.
func (q *search) offerGroup(from int, cost int64, pieces int) {
	grade := inRow
	if pieces == 0 {
		grade = beside
		if !q.leavesGap(from) {
			grade = together
		}
	}
	// A selection in fewer pieces is always better: one more piece costs more than all wheelchair places of a
	// selection together.
	cost += int64(pieces) * 2 * dear * MaxSelection
	if q.best[grade] == nil || cost < q.cost[grade] {
		q.best[grade] = append(q.best[grade][:0], q.row[from:from+q.c.Quantity]...)
		q.cost[grade] = cost
	}
}

// leavesGap reports whether a group of neighbours, which begins at q.row[from], leaves beside it a single
// standard seat that was not single before. q.row has only seats that may be had, so a neighbour that is taken
// makes no pair.
func (q *search) leavesGap(from int) bool {
	end := from + q.c.Quantity
	return q.isPair(from) && !q.isPair(from-1) || q.isPair(end) && !q.isPair(end+1)
}

// isPair reports whether the k-th seat of q.row and the one before are standard seats and neighbours.
func (q *search) isPair(k int) bool {
	kinds := q.s.plan.SeatKind
	return k > 0 && k < len(q.row) && q.isJoined(k) && kinds[q.row[k]] == Standard && kinds[q.row[k-1]] == Standard
}

// findAnywhere returns the nearest seats of all rows together, in ascending order, for when no single row has a
// group that meets the command. If the command asks for a wheelchair place, at least one is among the seats, and at
// most three companion seats to each. It returns nil if there are not enough seats.
func (q *search) findAnywhere() []int32 {
	kinds := q.listNearest()
	var seats []int32
	take := func(kind Kind, most int) {
		n := min(most, q.c.Quantity-len(seats), len(kinds[kind]))
		seats = append(seats, kinds[kind][:n]...)
		kinds[kind] = kinds[kind][n:]
	}
	if q.c.Accessible {
		if len(kinds[Wheelchair]) == 0 {
			return nil
		}
		take(Wheelchair, 1)
		take(Companion, perWheelchair)
	}
	take(Standard, q.c.Quantity)
	for q.c.Accessible && len(seats) < q.c.Quantity && len(kinds[Wheelchair]) > 0 {
		take(Wheelchair, 1)
		take(Companion, perWheelchair)
	}
	if len(seats) < q.c.Quantity {
		return nil
	}
	return sortSeats(seats)
}

// listNearest lists, for each kind, the available seats nearest to the stage, the nearest first, and no more
// than the quantity asked for.
func (q *search) listNearest() (kinds [Companion + 1][]int32) {
	far := q.s.plan.far
	for _, row := range q.s.plan.near {
		if q.s.vacant[row] == 0 && q.own == nil || !q.offersRow(row) {
			continue
		}
		q.collectRow(row)
		for _, i := range q.row {
			list := &kinds[q.s.plan.SeatKind[i]]
			if len(*list) == q.c.Quantity {
				if far[i] >= far[(*list)[len(*list)-1]] {
					continue
				}
				*list = (*list)[:len(*list)-1]
			}
			*list = append(*list, i)
			for k := len(*list) - 1; k > 0 && far[(*list)[k-1]] > far[i]; k-- {
				(*list)[k-1], (*list)[k] = (*list)[k], (*list)[k-1]
			}
		}
	}
	return kinds
}

// countAvailable returns how many seats are available, beside each other or not. It is 0 if a wheelchair
// place is asked for and there is none.
func (q *search) countAvailable() int {
	n, fit := 0, !q.c.Accessible
	for _, row := range q.s.plan.near {
		if q.offersRow(row) {
			q.collectRow(row)
			n += len(q.row)
			fit = fit || slices.ContainsFunc(q.row, func(i int32) bool { return q.s.plan.SeatKind[i] == Wheelchair })
		}
	}
	if !fit {
		return 0
	}
	return n
}

package seatmap

import "slices"

// perWheelchair is how many companion seats go with a wheelchair place
// (28 CFR 36.302(f)).
const perWheelchair = 3

// failUnattended fails the companion seats beyond three to each wheelchair place of the selection. The
// companion seats that the holder has already are served first.
func failUnattended(p *plan, picks []pick) {
	room, companions := 0, false
	for i := range picks {
		if picks[i].fail != "" {
			continue
		}
		switch p.SeatKind[picks[i].seat] {
		case Wheelchair:
			room += perWheelchair
		case Companion:
			companions = true
		}
	}
	if !companions {
		return
	}
	for _, kept := range [...]bool{true, false} {
		for i := range picks {
			one := &picks[i]
			if one.fail != "" || one.kept != kept || p.SeatKind[one.seat] != Companion {
				continue
			}
			if room--; room < 0 {
				one.fail = Unattended
			}
		}
	}
}

// isAttended reports whether a list of seats has at most three companion seats to each wheelchair place.
func (p *plan) isAttended(seats []int32) bool {
	room := 0
	for _, i := range seats {
		switch p.SeatKind[i] {
		case Wheelchair:
			room += perWheelchair
		case Companion:
			room--
		}
	}
	return room >= 0
}

// judgeGaps looks for rows in which the selection would leave a single free seat, although another choice of as many
// seats in the row, in no more pieces, would leave none. It fails the new seats in such a row, and reports whether any
// has failed. wanted are the seats of the picks that have not failed, ascending.
//
// A seat that the holder has already never fails, because giving a seat back is never refused. Only standard
// seats count, because a wheelchair place is sold by itself.
func (s *State) judgeGaps(picks []pick, wanted []int32, own *hold) bool {
	failed, last := false, int32(-1)
	for _, i := range wanted {
		row := s.plan.SeatRow[i]
		if row == last {
			continue
		}
		last = row
		if !s.leavesGap(row, wanted, own) || !s.isAvoidable(row, wanted, own) {
			continue
		}
		for k := range picks {
			one := &picks[k]
			if one.fail == "" && !one.kept && s.plan.SeatRow[one.seat] == row && s.plan.SeatKind[one.seat] == Standard {
				one.fail, failed = SingleGap, true
			}
		}
	}
	return failed
}

// leavesGap reports whether a selection would make a seat of a row single and free that is not single and free
// now. Such a seat is beside a seat that is selected or given back, or is itself given back.
func (s *State) leavesGap(row int32, wanted []int32, own *hold) bool {
	first, end := s.plan.seatsOfRow(row)
	near := func(i int32) bool {
		if i < first || i >= end {
			return false
		}
		return (i > first && s.leavesSingle(i-1, wanted, own)) || s.leavesSingle(i, wanted, own) ||
			(i+1 < end && s.leavesSingle(i+1, wanted, own))
	}
	if slices.ContainsFunc(wanted, near) {
		return true
	}
	return own != nil && slices.ContainsFunc(own.seats, func(i int32) bool { return !contains(wanted, i) && near(i) })
}

// leavesSingle reports whether a seat would be single and free with the selection, but is not single and free
// now.
func (s *State) leavesSingle(i int32, wanted []int32, own *hold) bool {
	after := func(i int32) bool { return s.open(i, own) && !contains(wanted, i) }
	now := func(i int32) bool { return s.open(i, nil) }
	return s.isAlone(i, after) && !s.isAlone(i, now)
}

// isAlone reports whether a seat is open and its neighbours are not.
func (s *State) isAlone(i int32, open func(int32) bool) bool {
	if !open(i) || s.plan.hasNeighbour(i-1) && open(i-1) {
		return false
	}
	return !s.plan.hasNeighbour(i) || !open(i+1)
}

// open reports whether a seat is a standard seat, and is free or the holder's own.
func (s *State) open(i int32, own *hold) bool {
	return s.plan.SeatKind[i] == Standard && s.freeFor(i, own)
}

// freeFor reports whether a seat is free, or the holder's own.
func (s *State) freeFor(i int32, own *hold) bool {
	one := &s.seats[i]
	return one.isFree() || own != nil && one.hold == own
}

// isAvoidable reports whether as many standard seats as are wanted in a row could be chosen in it, in
// no more pieces, without leaving a single one. A piece is taken from the end of a run of open
// seats, so it leaves a single seat only if exactly one remains.
func (s *State) isAvoidable(row int32, wanted []int32, own *hold) bool {
	first, end := s.plan.seatsOfRow(row)
	count, pieces, before := 0, 0, int32(-2)
	for _, i := range wanted {
		if i < first || i >= end || s.plan.SeatKind[i] != Standard {
			continue
		}
		if count++; i != before+1 || !s.plan.hasNeighbour(before) {
			pieces++
		}
		before = i
	}
	const never = MaxSelection + 1
	var fewest [MaxSelection + 1]int // fewest pieces, by the number of seats
	for n := 1; n <= count; n++ {
		fewest[n] = never
	}
	for i := first; i < end; {
		run := 0
		for i < end && s.open(i, own) && (run == 0 || s.plan.hasNeighbour(i-1)) {
			run++
			i++
		}
		if run == 0 {
			i++
			continue
		}
		for n := count; n > 0; n-- {
			for piece := 1; piece <= min(n, run); piece++ {
				if piece != run-1 {
					fewest[n] = min(fewest[n], fewest[n-piece]+1)
				}
			}
		}
	}
	return fewest[count] <= pieces
}

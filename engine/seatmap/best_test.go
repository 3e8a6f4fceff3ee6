package seatmap_test

import (
	"slices"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"boxoffice/engine"
	"boxoffice/engine/seatmap"
)

// sayBest compares the best seats with all possible groups.
func (w *world) sayBest() {
	c := seatmap.BestAvailable{
		Holder: w.holder(), Principal: w.principal(), Quantity: rapid.IntRange(1, 6).Draw(w.t, "quantity"),
		Type: rapid.Int64Range(0, 2).Draw(w.t, "type"), Adjacent: rapid.Bool().Draw(w.t, "adjacent"),
		Accessible: rapid.IntRange(0, 3).Draw(w.t, "accessible") == 0,
	}
	groups, room := w.m.groups(&c)
	d := w.tell(c)
	if r, ok := d.Reply.(*engine.Refusal); ok {
		require.Equal(w.t, engine.TicketSoldOut, r.Code)
		require.Empty(w.t, groups[together])
		require.Empty(w.t, groups[beside])
		require.Equal(w.t, c.Quantity, r.Details.(seatmap.Room).Requested)
		require.True(w.t, c.Adjacent || room < c.Quantity || c.Accessible)
		return
	}
	r, ok := d.Reply.(*seatmap.Best)
	require.True(w.t, ok)
	require.Len(w.t, r.Held, c.Quantity)
	for _, id := range r.Held {
		require.True(w.t, w.m.mayHave(&c, w.m.seat(id)), "seat %s", id)
	}
	if c.Accessible {
		require.True(w.t, w.m.accessible(w.m.indexes(r.Held)))
	}
	for grade, of := range groups {
		if len(of) == 0 {
			continue
		}
		best := slices.MinFunc(of, func(a, b []int) int { return w.m.cost(grade, a) - w.m.cost(grade, b) })
		require.Equal(w.t, w.m.cost(grade, best), w.m.cost(grade, w.m.indexes(r.Held)), "not the best of grade %d: %v", grade, r.Held)
		require.Equal(w.t, grade < inRow, r.Adjacent)
		break
	}
	require.True(w.t, r.Adjacent || !c.Adjacent)
	require.Equal(w.t, w.m.settle(c.Holder, c.Principal, r.Held, w.now.UnixMilli()), r.ExpiresAt)
	w.again(c, d)
}

// These are the grades of a group.
const (
	together = iota
	beside
	inRow
)

func (m *model) indexes(ids []string) []int {
	seats := make([]int, len(ids))
	for k, id := range ids {
		seats[k] = m.seat(id)
	}
	slices.Sort(seats)
	return seats
}

// mayHave reports whether a seat meets a request and is available.
func (m *model) mayHave(c *seatmap.BestAvailable, i int) bool {
	return m.openTo(c.Holder, i) && m.typ(i) != 0 && (c.Type == 0 || m.typ(i) == c.Type) &&
		(c.Accessible || m.layout.SeatKind[i] == seatmap.Standard)
}

func (m *model) accessible(seats []int) bool {
	var kinds [3]int
	for _, i := range seats {
		kinds[m.layout.SeatKind[i]]++
	}
	return kinds[seatmap.Wheelchair] > 0 && kinds[seatmap.Companion] <= 3*kinds[seatmap.Wheelchair]
}

// groups returns all groups of consecutive seats that have the wanted size, by grade.
func (m *model) groups(c *seatmap.BestAvailable) (groups [3][][]int, room int) {
	for r := range m.layout.Rows {
		line := slices.DeleteFunc(m.row(r), func(i int) bool { return !m.mayHave(c, i) })
		room += len(line)
		for k := 0; k+c.Quantity <= len(line); k++ {
			group := line[k : k+c.Quantity]
			if c.Accessible && !m.accessible(group) {
				continue
			}
			grade, set := inRow, make(map[int]bool)
			for _, i := range group {
				set[i] = true
			}
			if m.pieces(set) == 1 {
				grade = together
				before := m.singles(r, func(i int) bool { return m.openTo(c.Holder, i) })
				for i := range m.singles(r, func(i int) bool { return m.openTo(c.Holder, i) && !set[i] }) {
					if !before[i] {
						grade = beside
					}
				}
			}
			groups[grade] = append(groups[grade], group)
		}
	}
	return groups, room
}

// cost is a group's distance from the stage. Each further piece and each further wheelchair place
// costs more than any distance.
func (m *model) cost(grade int, seats []int) int {
	cost, set := 0, make(map[int]bool)
	for _, i := range seats {
		set[i] = true
		cost += m.distance(i)
		if m.layout.SeatKind[i] == seatmap.Wheelchair {
			cost += 1 << 32
		}
	}
	if grade == inRow {
		cost += m.pieces(set) << 40
	}
	return cost
}

// distance returns a seat's distance from the stage, rounded down to whole units.
func (m *model) distance(i int) int {
	dx, dy := int(m.layout.SeatX[i]-m.layout.Focus[0]), int(m.layout.SeatY[i]-m.layout.Focus[1])
	n := 0
	for (n+1)*(n+1) <= dx*dx+dy*dy {
		n++
	}
	return n
}

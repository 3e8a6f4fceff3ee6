package seatmap_test

import (
	"slices"

	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// place is a seat, in the plainest form.
type place struct {
	holder  string
	claim   keeper.Claim // the claim of the order that has the seat
	soldAs  int64
	blocked bool
}

// shopper is who made a selection, and its times.
type shopper struct {
	principal    uint64
	since, until int64
}

// model is the seat map as one place for each seat. It finds every answer by reading all of them.
type model struct {
	layout   *seatmap.Layout
	holdTime int64
	places   []place
	types    []int64 // by section; 0: not for sale
	shoppers map[string]*shopper
	open     map[keeper.Claim]bool // reserved and not ended
	ended    map[keeper.Claim]bool
}

func newModel(l *seatmap.Layout, holdTime int64) *model {
	m := &model{shoppers: make(map[string]*shopper), open: make(map[keeper.Claim]bool), ended: make(map[keeper.Claim]bool)}
	m.attach(l, holdTime)
	return m
}

func (m *model) attach(l *seatmap.Layout, holdTime int64) {
	m.layout, m.holdTime = l, holdTime
	m.places, m.types = make([]place, l.Len()), make([]int64, len(l.Sections))
	clear(m.shoppers)
}

func (m *model) seat(id string) int { return slices.Index(m.layout.SeatIDs, id) }

func (m *model) typ(i int) int64 { return m.types[m.layout.SectionOf(int32(i))] }

func (m *model) status(i int) seatmap.Status {
	switch p := m.places[i]; {
	case !p.claim.Order.Zero():
		return seatmap.Sold
	case p.holder != "":
		return seatmap.Held
	case p.blocked:
		return seatmap.Blocked
	default:
		return seatmap.Available
	}
}

func (m *model) anySold() bool {
	return slices.ContainsFunc(m.places, func(p place) bool { return !p.claim.Order.Zero() })
}

// of returns the ids of the seats for which so is true.
func (m *model) of(so func(i int, p place) bool) []string {
	ids := []string{}
	for i, p := range m.places {
		if so(i, p) {
			ids = append(ids, m.layout.SeatIDs[i])
		}
	}
	return ids
}

func (m *model) heldBy(holder string) []string {
	return m.of(func(_ int, p place) bool { return p.holder == holder })
}

// openTo reports whether a seat is free or held by a holder.
func (m *model) openTo(holder string, i int) bool {
	return m.status(i) == seatmap.Available || m.status(i) == seatmap.Held && m.places[i].holder == holder
}

// hold returns what a selection leads to: which seats fail, and why.
func (m *model) hold(holder string, principal uint64, ids []string, at int64) (held, failed []string, reasons []seatmap.Reason, until int64) {
	fail := make(map[string]seatmap.Reason)
	var wanted []string
	for _, id := range ids {
		if slices.Contains(wanted, id) {
			continue
		}
		wanted = append(wanted, id)
		i := m.seat(id)
		switch {
		case i < 0:
			fail[id] = seatmap.Unknown
		case m.status(i) == seatmap.Blocked:
			fail[id] = seatmap.Withheld
		case !m.openTo(holder, i):
			fail[id] = seatmap.Taken
		case m.typ(i) == 0:
			fail[id] = seatmap.NotForSale
		}
	}
	m.attend(holder, wanted, fail)
	m.judge(holder, wanted, fail)
	for _, id := range wanted {
		if fail[id] == "" {
			held = append(held, id)
		} else {
			failed, reasons = append(failed, id), append(reasons, fail[id])
		}
	}
	return held, failed, reasons, m.settle(holder, principal, held, at)
}

func (m *model) kind(id string) seatmap.Kind { return m.layout.SeatKind[m.seat(id)] }

// attend fails companion seats without a wheelchair place: the new seats first, from the last on,
// then the others.
func (m *model) attend(holder string, wanted []string, fail map[string]seatmap.Reason) {
	for {
		room, last := 0, ""
		for _, kept := range []bool{true, false} {
			for _, id := range wanted {
				if fail[id] != "" || (m.places[m.seat(id)].holder == holder) != kept {
					continue
				}
				switch m.kind(id) {
				case seatmap.Wheelchair:
					room += 3
				case seatmap.Companion:
					room--
					last = id
				}
			}
		}
		if room >= 0 || last == "" {
			return
		}
		fail[last] = seatmap.Unattended
	}
}

// judge fails the new standard seats of a row that leave a single seat, if another choice of as
// many seats in the row, in no more pieces, leaves none.
func (m *model) judge(holder string, wanted []string, fail map[string]seatmap.Reason) {
	for r := range m.layout.Rows {
		chosen, fresh := make(map[int]bool), false
		for _, id := range wanted {
			if i := m.seat(id); fail[id] == "" && m.layout.SeatRow[i] == int32(r) && m.layout.SeatKind[i] == seatmap.Standard {
				chosen[i] = true
				fresh = fresh || m.places[i].holder != holder
			}
		}
		if !fresh || !m.leavesNewSingle(holder, r, chosen) || !m.betterChoice(holder, r, chosen) {
			continue
		}
		for i := range chosen {
			if m.places[i].holder != holder {
				fail[m.layout.SeatIDs[i]] = seatmap.SingleGap
			}
		}
	}
}

// row lists a row's seats.
func (m *model) row(r int) (seats []int) {
	for i := range m.places {
		if m.layout.SeatRow[i] == int32(r) {
			seats = append(seats, i)
		}
	}
	return seats
}

// singles returns the free standard seats of a row that have no free neighbour.
func (m *model) singles(r int, free func(i int) bool) map[int]bool {
	singles := make(map[int]bool)
	standard := func(i int) bool {
		return i >= 0 && i < len(m.places) && m.layout.SeatKind[i] == seatmap.Standard && free(i)
	}
	for _, i := range m.row(r) {
		left := i > 0 && m.layout.SeatRow[i-1] == int32(r) && !m.layout.Gap[i] && standard(i-1)
		right := i+1 < len(m.places) && m.layout.SeatRow[i+1] == int32(r) && !m.layout.Gap[i+1] && standard(i+1)
		if standard(i) && !left && !right {
			singles[i] = true
		}
	}
	return singles
}

func (m *model) leavesNewSingle(holder string, r int, chosen map[int]bool) bool {
	now := m.singles(r, func(i int) bool { return m.status(i) == seatmap.Available })
	for i := range m.singles(r, func(i int) bool { return m.openTo(holder, i) && !chosen[i] }) {
		if !now[i] {
			return true
		}
	}
	return false
}

// betterChoice tries all choices of as many seats in no more pieces. Seats that would be single
// even if the holder gave back all seats don't count.
func (m *model) betterChoice(holder string, r int, chosen map[int]bool) bool {
	row := m.row(r)
	before := m.singles(r, func(i int) bool { return m.openTo(holder, i) })
	for bits := range 1 << len(row) {
		other := make(map[int]bool)
		for k, i := range row {
			if bits>>k&1 == 1 && m.openTo(holder, i) && m.layout.SeatKind[i] == seatmap.Standard {
				other[i] = true
			}
		}
		if len(other) != len(chosen) || m.pieces(other) > m.pieces(chosen) {
			continue
		}
		good := true
		for i := range m.singles(r, func(i int) bool { return m.openTo(holder, i) && !other[i] }) {
			good = good && before[i]
		}
		if good {
			return true
		}
	}
	return false
}

func (m *model) pieces(seats map[int]bool) (n int) {
	for i := range seats {
		if !seats[i-1] || m.layout.SeatRow[i-1] != m.layout.SeatRow[i] || m.layout.Gap[i] {
			n++
		}
	}
	return n
}

// settle makes seats a holder's selection, and returns when it ends.
func (m *model) settle(holder string, principal uint64, ids []string, at int64) int64 {
	was := m.heldBy(holder)
	s := m.shoppers[holder]
	same, keeps := len(ids) == len(was), false
	for _, id := range ids {
		keeps = keeps || slices.Contains(was, id)
		same = same && slices.Contains(was, id)
	}
	for _, id := range was {
		m.places[m.seat(id)].holder = ""
	}
	for _, id := range ids {
		m.places[m.seat(id)].holder = holder
	}
	switch {
	case len(ids) == 0:
		delete(m.shoppers, holder)
		return 0
	case s == nil || s.until <= at || !keeps:
		m.shoppers[holder] = &shopper{principal, at, at + m.holdTime}
	case !same || s.principal != principal:
		m.shoppers[holder] = &shopper{principal, s.since, min(at+m.holdTime, max(s.until, s.since+3*m.holdTime))}
	}
	return m.shoppers[holder].until
}

// give frees seats of a holder, and forgets the holder when none are left.
func (m *model) give(holder string, ids []string) {
	for _, id := range ids {
		m.places[m.seat(id)].holder = ""
	}
	if len(m.heldBy(holder)) == 0 {
		delete(m.shoppers, holder)
	}
}

// expire ends the selections whose time is up.
func (m *model) expire(at int64) {
	for holder, s := range m.shoppers {
		if s.until <= at {
			m.give(holder, m.heldBy(holder))
		}
	}
}

// reserve takes seats for an order if it may have them, and returns the code of the refusal if not.
func (m *model) reserve(c keeper.Claim, l *keeper.Line) (code string) {
	var earlier keeper.Claim
	for other := range m.open {
		if other.Order == c.Order {
			earlier = other
		}
	}
	room, wrong, taken := 0, false, false
	for k, id := range l.Seats {
		i := m.seat(id)
		p := m.places[i]
		switch m.layout.SeatKind[i] {
		case seatmap.Wheelchair:
			room += 3
		case seatmap.Companion:
			room--
		}
		wrong = wrong || m.typ(i) != l.SeatTypes[k]
		switch m.status(i) {
		case seatmap.Blocked:
			taken = true
		case seatmap.Sold:
			taken = taken || p.claim != earlier
		case seatmap.Held:
			his := p.holder == l.Holder
			if l.Holder == "" {
				his = l.Principal == m.shoppers[p.holder].principal
			}
			taken = taken || !his
		case seatmap.Available:
		}
	}
	switch {
	case !l.Late && (wrong || room < 0):
		return "VALIDATION_ERROR"
	case taken:
		return "SEAT_TAKEN"
	}
	if !earlier.Order.Zero() {
		m.release(earlier)
	}
	for k, id := range l.Seats {
		p := &m.places[m.seat(id)]
		if p.holder != "" {
			m.give(p.holder, []string{id})
		}
		p.claim, p.soldAs = c, l.SeatTypes[k]
	}
	m.open[c] = true
	return ""
}

func (m *model) release(c keeper.Claim) {
	delete(m.open, c)
	m.ended[c] = true
	m.giveBack(c, nil)
}

func (m *model) giveBack(c keeper.Claim, only []string) {
	for i := range m.places {
		if p := &m.places[i]; p.claim == c && (only == nil || slices.Contains(only, m.layout.SeatIDs[i])) {
			p.claim, p.soldAs = keeper.Claim{}, 0
		}
	}
}

// quantity returns how many seats there are to sell as a type.
func (m *model) quantity(typ int64) int64 {
	if n := int64(len(m.of(func(i int, p place) bool {
		return !p.claim.Order.Zero() && p.soldAs == typ || p.claim.Order.Zero() && !p.blocked && m.typ(i) == typ
	}))); n > 0 || slices.Contains(m.types, typ) {
		return n
	}
	return keeper.Unseated
}

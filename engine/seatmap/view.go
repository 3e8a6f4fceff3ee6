package seatmap

// makeRecord describes the map and counts its seats by status. Without a map it has only the ref.
func (s *State) makeRecord() *Record {
	r := &Record{Ref: s.ref}
	if s.plan == nil {
		return r
	}
	r.Attached, r.Map, r.Version, r.Mode, r.HoldTime = true, s.plan.Map, s.plan.Version, s.mode, s.holdTime
	r.Prices = prices(s.plan.Layout, func(section int) int64 { return s.sizes.list[s.prices[section]].typ })
	r.Seats, r.Available, r.Held = s.plan.Len(), int(s.tallies[Available]), int(s.tallies[Held])
	r.Sold, r.Blocked = int(s.tallies[Sold]), int(s.tallies[Blocked])
	return r
}

// prices lists the sections that are for sale, in the map's order.
func prices(l *Layout, typeOf func(section int) int64) []SectionPrice {
	var list []SectionPrice
	for i, section := range l.Sections {
		if typ := typeOf(i); typ != 0 {
			list = append(list, SectionPrice{Section: section.ID, Type: typ})
		}
	}
	return list
}

// makeMap returns the map with all its seats.
func (s *State) makeMap() *Map {
	m := &Map{Record: *s.makeRecord(), Position: s.facts}
	if s.plan == nil {
		return m
	}
	m.Layout = s.plan.Layout
	m.States = make([]byte, (len(s.seats)+3)/4)
	for i := range s.seats {
		m.States[i/4] |= byte(s.seats[i].status()) << (i % 4 * 2)
	}
	return m
}

package seatmap

import (
	"fmt"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/paged"
)

// Frozen is the snapshot of a seat map. Selections and sales are ordered by their first seats. A
// free seat takes no room beyond the layout's.
type Frozen struct {
	Facts     uint64               `cbor:"1,keyasint"`
	Layout    *Layout              `cbor:"2,keyasint"`
	Mode      string               `cbor:"3,keyasint"`
	HoldTime  int64                `cbor:"4,keyasint"`
	Prices    paged.Column[uint16] `cbor:"5,keyasint"` // slot of each section's ticket type
	Types     paged.Column[int64]  `cbor:"6,keyasint"` // number of the ticket type of each slot, from slot 1 on; Told and Revisions have the same order
	Told      paged.Column[int64]  `cbor:"7,keyasint"`
	Revisions paged.Column[uint64] `cbor:"8,keyasint"`
	Revision  uint64               `cbor:"9,keyasint"`
	Blocked   paged.Steps          `cbor:"10,keyasint"`

	Holders    paged.Strings        `cbor:"11,keyasint"`
	Principals paged.Column[uint64] `cbor:"12,keyasint"`
	Since      paged.Column[int64]  `cbor:"13,keyasint"`
	Until      paged.Column[int64]  `cbor:"14,keyasint"`
	HeldCount  paged.Column[uint16] `cbor:"15,keyasint"` // number of HeldSeats, by holder
	HeldSeats  paged.Steps          `cbor:"16,keyasint"`

	Orders    paged.IDs            `cbor:"17,keyasint"`
	Serials   paged.Column[uint64] `cbor:"18,keyasint"`
	SoldCount paged.Column[uint16] `cbor:"19,keyasint"` // number of SoldSeats, by order
	SoldSeats paged.Steps          `cbor:"20,keyasint"`
	Other     paged.Steps          `cbor:"21,keyasint"` // seats sold as another type than their section's
	OtherAs   paged.Column[uint16] `cbor:"22,keyasint"` // the slots of those types

	Book keeper.FrozenBook `cbor:"23,keyasint"`

	AnsweredAt paged.Column[int64]  `cbor:"24,keyasint,omitempty"`
	Answered   []*Answered          `cbor:"25,keyasint,omitempty"` // one for each time, oldest first
	Networks   paged.Column[uint64] `cbor:"26,keyasint,omitempty"` // one entry for each slot of a network that has newly held seats; SpanBegan and SpanSeats have the same order
	SpanBegan  paged.Column[int64]  `cbor:"27,keyasint,omitempty"`
	SpanSeats  paged.Column[int64]  `cbor:"28,keyasint,omitempty"`
	Extended   paged.Column[int64]  `cbor:"29,keyasint,omitempty"` // by holder; nil if no holder has asked for more time
}

// Freeze returns a copy (*Frozen) that shares only what never changes. It leaves out which ticket types have
// acknowledged their sizes, and how many seats there are of each sort, which Thaw counts again.
func (s *State) Freeze() any {
	f := &Frozen{Facts: s.facts, Mode: s.mode, HoldTime: s.holdTime, Revision: s.sizes.revision, Book: s.book.Freeze()}
	for _, one := range s.sizes.list[1:] {
		f.Types = append(f.Types, one.typ)
		f.Told = append(f.Told, one.told)
		f.Revisions = append(f.Revisions, one.revision)
	}
	answers, values := s.answers.Freeze()
	if answers != nil {
		f.AnsweredAt, f.Answered = slices.Concat(answers.At...), slices.Concat(values...)
	}
	s.pace.VisitSlots(func(network uint64, began, seats int64) {
		f.Networks, f.SpanBegan, f.SpanSeats = append(f.Networks, network), append(f.SpanBegan, began), append(f.SpanSeats, seats)
	})
	if s.plan == nil {
		return f
	}
	f.Layout, f.Prices = s.plan.Layout, slices.Clone(s.prices)
	held, sold := len(s.holds.by), len(s.sales)
	f.Blocked = make(paged.Steps, 0, s.tallies[Blocked])
	f.Holders, f.Principals = make(paged.Strings, 0, held), make(paged.Column[uint64], 0, held)
	f.Since, f.Until = make(paged.Column[int64], 0, held), make(paged.Column[int64], 0, held)
	f.HeldCount, f.HeldSeats = make(paged.Column[uint16], 0, held), make(paged.Steps, 0, s.tallies[Held])
	f.Orders, f.Serials = make(paged.IDs, 0, sold), make(paged.Column[uint64], 0, sold)
	f.SoldCount, f.SoldSeats = make(paged.Column[uint16], 0, sold), make(paged.Steps, 0, s.tallies[Sold])
	for r := range s.plan.Rows {
		s.freezeRow(f, int32(r))
	}
	if !slices.ContainsFunc(f.Extended, func(n int64) bool { return n > 0 }) {
		f.Extended = nil
	}
	return f
}

// freezeRow adds a row's seats, and the selections and orders that begin in it. Neighbours mostly
// belong to the same selection or order, which is therefore looked at only once.
func (s *State) freezeRow(f *Frozen, row int32) {
	var lastHold *hold
	var lastSale *sale
	slot := s.prices[s.plan.Rows[row].Section]
	first, end := s.plan.seatsOfRow(row)
	for i := first; i < end; i++ {
		one := &s.seats[i]
		if one.blocked {
			f.Blocked = append(f.Blocked, i)
		}
		if h := one.hold; h != nil && h != lastHold {
			if lastHold = h; h.seats[0] == i {
				f.Holders = append(f.Holders, h.holder)
				f.Principals = append(f.Principals, h.principal)
				f.Since = append(f.Since, h.since)
				f.Until = append(f.Until, h.until)
				f.Extended = append(f.Extended, h.extended)
				f.HeldCount = append(f.HeldCount, uint16(len(h.seats)))
				f.HeldSeats = append(f.HeldSeats, h.seats...)
			}
		}
		if one.sale == nil {
			continue
		}
		if one.counts != slot {
			f.Other = append(f.Other, i)
			f.OtherAs = append(f.OtherAs, one.counts)
		}
		if one.sale != lastSale {
			if lastSale = one.sale; lastSale.seats[0] == i {
				f.Orders = append(f.Orders, lastSale.claim.Order)
				f.Serials = append(f.Serials, uint64(lastSale.claim.Serial))
				f.SoldCount = append(f.SoldCount, uint16(len(lastSale.seats)))
				f.SoldSeats = append(f.SoldSeats, lastSale.seats...)
			}
		}
	}
}

// Thaw returns the state that a decoded snapshot describes, or an error if its columns don't fit or the state breaks an
// invariant (Check). All ticket types are to be told their sizes again.
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || !f.isEven() {
		return nil, fmt.Errorf("seatmap: snapshot of %s is a %T with columns that do not fit", ref.Name(), frozen)
	}
	s, _ := New(ref).(*State)
	s.facts, s.mode, s.holdTime, s.book = f.Facts, f.Mode, f.HoldTime, keeper.Thaw(f.Book)
	for _, typ := range f.Types {
		s.sizes.add(typ)
	}
	if f.Layout != nil {
		s.attachPlan(newPlan(f.Layout))
		s.thawSeats(f)
	}
	for i, a := range f.Answered {
		s.rememberAnswer(a, f.AnsweredAt[i])
	}
	for i, network := range f.Networks {
		s.pace.Add(network, f.SpanSeats[i], f.SpanBegan[i])
	}
	s.sizes.revision = f.Revision
	// Acknowledgements are volatile, so after loading every ticket type is told its size again.
	for i := range f.Types {
		one := &s.sizes.list[i+1]
		one.told, one.revision, one.seen = f.Told[i], f.Revisions[i], false
	}
	s.sizes.unseen = len(f.Types)
	return s, s.Check()
}

// thawSeats restores prices, blocks, selections and sales, in this order: what a seat counts for depends on the
// prices.
func (s *State) thawSeats(f *Frozen) {
	for i, slot := range f.Prices {
		s.sizes.list[0].sections--
		s.sizes.list[slot].sections++
		s.prices[i] = slot
	}
	// Each seat counts for no type so far, so all are put once more to count for their section's.
	for i := range s.seats {
		s.putSeat(int32(i), seat{})
	}
	for _, i := range f.Blocked {
		s.putSeat(i, seat{blocked: true})
	}
	rest := f.HeldSeats
	for k, n := range f.HeldCount {
		h := &hold{holder: f.Holders[k], principal: f.Principals[k], since: f.Since[k], until: f.Until[k]}
		if len(f.Extended) > 0 {
			h.extended = f.Extended[k]
		}
		s.changeSelection(h, rest[:n], nil)
		rest = rest[n:]
	}
	rest = f.SoldSeats
	for k, n := range f.SoldCount {
		one := &sale{claim: keeper.Claim{Order: f.Orders[k], Serial: keeper.Serial(f.Serials[k])}, seats: slices.Clip(rest[:n])}
		for _, i := range one.seats {
			slot := s.prices[s.plan.SectionOf(i)]
			if at, other := slices.BinarySearch(f.Other, i); other {
				slot = f.OtherAs[at]
			}
			s.putSeat(i, seat{sale: one, counts: slot})
		}
		s.sales[one.claim] = one
		rest = rest[n:]
	}
}

// isEven reports whether the layout is valid, and columns that belong together fit and name only existing seats and
// slots. Without a layout there may be no seats.
func (f *Frozen) isEven() bool {
	same := func(n int, of ...int) bool { return !slices.ContainsFunc(of, func(m int) bool { return m != n }) }
	sum := func(counts []uint16) (n int) {
		for _, c := range counts {
			n += int(c)
		}
		return n
	}
	seats, sections := int32(0), 0
	if f.Layout != nil {
		if f.Layout.Validate() != nil {
			return false
		}
		seats, sections = int32(f.Layout.Len()), len(f.Layout.Sections)
	}
	for _, list := range [][]int32{f.Blocked, f.HeldSeats, f.SoldSeats, f.Other} {
		if slices.ContainsFunc(list, func(i int32) bool { return i < 0 || i >= seats }) {
			return false
		}
	}
	for _, slots := range [][]uint16{f.Prices, f.OtherAs} {
		if slices.ContainsFunc(slots, func(slot uint16) bool { return int(slot) > len(f.Types) }) {
			return false
		}
	}
	return same(sections, len(f.Prices)) && same(len(f.AnsweredAt), len(f.Answered)) && same(len(f.Types), len(f.Told), len(f.Revisions)) &&
		same(len(f.Holders), len(f.Principals), len(f.Since), len(f.Until), len(f.HeldCount)) && sum(f.HeldCount) == len(f.HeldSeats) &&
		(len(f.Extended) == 0 || len(f.Extended) == len(f.Holders)) &&
		same(len(f.Orders), len(f.Serials), len(f.SoldCount)) && sum(f.SoldCount) == len(f.SoldSeats) && len(f.Other) == len(f.OtherAs) &&
		same(len(f.Networks), len(f.SpanBegan), len(f.SpanSeats))
}

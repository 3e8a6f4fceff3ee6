package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
)

// Frozen is the snapshot of an event. Tickets and closed orders are columns.
type Frozen struct {
	Details *Details       `cbor:"1,keyasint"`
	Status  string         `cbor:"2,keyasint"`
	Created int64          `cbor:"3,keyasint"`
	Updated int64          `cbor:"4,keyasint"`
	Rev     uint64         `cbor:"5,keyasint"`
	Offers  []keeper.Offer `cbor:"6,keyasint"`
	Open    []*Order       `cbor:"7,keyasint,omitempty"` // read from before orders were packed
	Late    []*Order       `cbor:"8,keyasint,omitempty"` // also

	LateIDs engine.IDs           `cbor:"10,keyasint"` // when late orders are forgotten, by time
	LateAt  engine.Column[int64] `cbor:"11,keyasint"`

	OpenPacked []engine.Strings `cbor:"12,keyasint"` // orders as they lie in memory (packed.go)
	LatePacked []engine.Strings `cbor:"13,keyasint"`

	PastIDs    engine.IDs            `cbor:"20,keyasint"`
	PastStatus []byte                `cbor:"21,keyasint"`
	PastPrints engine.Column[uint64] `cbor:"22,keyasint"`
	PastAt     engine.Column[int64]  `cbor:"23,keyasint"`

	GroupFirst   engine.Column[uint32] `cbor:"30,keyasint"`
	GroupKind    engine.Column[int64]  `cbor:"31,keyasint"`
	GroupOrder   engine.IDs            `cbor:"32,keyasint"`
	GroupNameEnd engine.Column[uint32] `cbor:"33,keyasint"`
	Names        []byte                `cbor:"34,keyasint"`
	TicketStatus []byte                `cbor:"35,keyasint"`
	TicketAt     engine.Column[int64]  `cbor:"36,keyasint"`
	TicketGate   engine.Column[uint16] `cbor:"37,keyasint"`
	TicketDevice engine.Column[uint64] `cbor:"38,keyasint"`
	TicketKey    engine.Column[uint64] `cbor:"39,keyasint"`

	Gates   []GateCount   `cbor:"40,keyasint"`
	Minutes []MinuteCount `cbor:"41,keyasint"`

	MadeAt   engine.Column[int64]  `cbor:"50,keyasint"` // the orders that the velocity rules count
	MadeBy   engine.Column[uint64] `cbor:"51,keyasint"`
	MadeFrom engine.Column[uint64] `cbor:"52,keyasint"`
}

// Freeze returns a copy that shares only what never changes.
func (s *State) Freeze() any {
	t := s.minted.freeze()
	f := &Frozen{
		Details: s.details, Status: s.status, Created: s.created, Updated: s.updated, Rev: s.rev,
		Offers: s.sortedOffers(), OpenPacked: s.open.freeze(), LatePacked: s.late.freeze(),
		PastIDs: slices.Clip(s.past.ids), PastStatus: slices.Clip(s.past.status),
		PastPrints: slices.Clip(s.past.prints), PastAt: slices.Clip(s.past.at),
		GroupFirst: t.first, GroupKind: t.kind, GroupOrder: t.order, GroupNameEnd: t.nameEnd, Names: t.names,
		TicketStatus: t.status, TicketAt: t.at, TicketGate: t.gate, TicketDevice: t.device, TicketKey: t.key,
		Gates: slices.Clone(s.gates.counts), Minutes: slices.Clone(s.gates.minutes),
	}
	f.MadeAt, f.MadeBy, f.MadeFrom = s.made.freeze()
	for i := range s.lateDue.items.Len() {
		l := s.lateDue.items.At(i)
		f.LateIDs, f.LateAt = append(f.LateIDs, l.id), append(f.LateAt, l.at)
	}
	return f
}

func (s *State) sortedOffers() []keeper.Offer {
	return slices.SortedFunc(maps.Values(s.offers), func(a, b keeper.Offer) int {
		return cmp.Compare(a.Keeper.ID, b.Keeper.ID)
	})
}

// Thaw is the state of a decoded snapshot.
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || !f.even() {
		return nil, fmt.Errorf("event: snapshot of %s is a %T with columns of unequal length", ref.Name(), frozen)
	}
	s, _ := New(ref).(*State)
	s.details, s.status, s.created, s.updated, s.rev = f.Details, f.Status, f.Created, f.Updated, f.Rev
	for _, o := range f.Offers {
		s.offers[o.Keeper.ID] = o
	}
	s.minted = tickets{
		first: f.GroupFirst, kind: f.GroupKind, order: f.GroupOrder, nameEnd: f.GroupNameEnd, names: f.Names,
		status: f.TicketStatus, at: f.TicketAt, gate: f.TicketGate, device: f.TicketDevice, key: f.TicketKey,
	}
	s.live = int64(s.minted.len())
	for i, at := range f.MadeAt {
		by := [2]uint64{buyer: f.MadeBy[i], address: f.MadeFrom[i]}
		s.made.append(by, s.made.begin(by), at)
	}
	if err := s.thawOrders(f); err != nil {
		return nil, fmt.Errorf("event: snapshot of %s: %w", ref.Name(), err)
	}
	s.past = past{ids: f.PastIDs, status: f.PastStatus, prints: f.PastPrints, at: f.PastAt, index: make(map[engine.OrderID]int, len(f.PastIDs))}
	for i, id := range f.PastIDs {
		s.past.index[id] = i
	}
	s.gates.counts, s.gates.minutes = f.Gates, f.Minutes
	for i, g := range f.Gates {
		s.gates.index[g.Name] = uint16(i)
	}
	s.judgeAgain(f.Updated)
	return s, s.Check()
}

// even says whether columns that belong together have the same length.
func (f *Frozen) even() bool {
	same := func(n int, of ...int) bool { return !slices.ContainsFunc(of, func(m int) bool { return m != n }) }
	return same(len(f.LateIDs), len(f.LateAt)) &&
		same(len(f.PastIDs), len(f.PastStatus), len(f.PastPrints), len(f.PastAt)) &&
		same(len(f.GroupFirst), len(f.GroupKind), len(f.GroupOrder), len(f.GroupNameEnd)) &&
		same(len(f.MadeAt), len(f.MadeBy), len(f.MadeFrom)) &&
		same(len(f.TicketStatus), len(f.TicketAt), len(f.TicketGate), len(f.TicketDevice), len(f.TicketKey))
}

func (s *State) thawOrders(f *Frozen) error {
	for _, o := range f.Open {
		s.open.put(o)
		s.thawed(o)
	}
	for _, o := range f.Late {
		s.late.put(o)
	}
	if err := s.open.thaw(f.OpenPacked, s.thawed); err != nil {
		return err
	}
	if err := s.late.thaw(f.LatePacked, func(*Order) {}); err != nil {
		return err
	}
	for i, id := range f.LateIDs {
		s.lateDue.push(f.LateAt[i], id)
	}
	s.sendDue.sort()
	return nil
}

// thawed has an open order's time watched, or its end told again.
func (s *State) thawed(o *Order) {
	if !o.Unpaid() {
		s.settling[o.ID] = allLines(o)
		s.sendDue.items.Push(dueOrder{o.EndedAt + resendMillis, o.ID}) // sorted when all are there
		return
	}
	s.live += o.Tickets()
	s.opened(o, 1)
	s.expiry.add(o.ExpiresAt, o.ID)
	if s.status == StatusCancelled {
		s.due = append(s.due, o.ID)
	}
}

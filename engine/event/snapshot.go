package event

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
	"boxoffice/engine/waitlist"
)

// Frozen is the snapshot of an event. Tickets and closed orders are columns.
type Frozen struct {
	Details *Details       `cbor:"1,keyasint"`
	Status  string         `cbor:"2,keyasint"`
	Created int64          `cbor:"3,keyasint"`
	Updated int64          `cbor:"4,keyasint"`
	Rev     uint64         `cbor:"5,keyasint"`
	Offers  []keeper.Offer `cbor:"6,keyasint"`
	Open    []*order.Order `cbor:"7,keyasint,omitempty"` // snapshots from before orders were packed have them
	Late    []*order.Order `cbor:"8,keyasint,omitempty"` // likewise

	LateIDs paged.IDs           `cbor:"10,keyasint"` // the times at which late orders are forgotten, ascending
	LateAt  paged.Column[int64] `cbor:"11,keyasint"`

	OpenPacked []paged.TextPage `cbor:"12,keyasint"` // orders as they are packed in memory (packed.go)
	LatePacked []paged.TextPage `cbor:"13,keyasint"`

	PastIDs    paged.Paged[engine.OrderID] `cbor:"20,keyasint"`
	PastStatus paged.Paged[byte]           `cbor:"21,keyasint"`
	PastPrints paged.Paged[uint64]         `cbor:"22,keyasint"`
	PastAt     paged.Paged[int64]          `cbor:"23,keyasint"`

	GroupFirst   paged.Paged[uint32]         `cbor:"30,keyasint"`
	GroupKind    paged.Paged[int64]          `cbor:"31,keyasint"`
	GroupOrder   paged.Paged[engine.OrderID] `cbor:"32,keyasint"`
	GroupNameEnd paged.Paged[uint32]         `cbor:"33,keyasint"`
	Names        paged.Paged[byte]           `cbor:"34,keyasint"`
	GroupOpens   paged.Paged[int64]          `cbor:"42,keyasint,omitempty"` // only in events that take bookings
	GroupCloses  paged.Paged[int64]          `cbor:"43,keyasint,omitempty"`
	TicketStatus paged.Paged[byte]           `cbor:"35,keyasint"`
	TicketAt     paged.Paged[int64]          `cbor:"36,keyasint"`
	TicketGate   paged.Paged[uint16]         `cbor:"37,keyasint"`
	TicketDevice paged.Paged[uint64]         `cbor:"38,keyasint"`
	TicketKey    paged.Paged[uint64]         `cbor:"39,keyasint"`
	TicketEnded  paged.Paged[int64]          `cbor:"44,keyasint,omitempty"` // only in events that refunded tickets
	Rescheduled  []rescheduled               `cbor:"45,keyasint,omitempty"`

	Gates   []GateCount   `cbor:"40,keyasint"`
	Minutes []MinuteCount `cbor:"41,keyasint"`

	MadeAt   paged.Field[int64]  `cbor:"50,keyasint"` // the orders that the velocity rules count
	MadeBy   paged.Field[uint64] `cbor:"51,keyasint"`
	MadeFrom paged.Field[uint64] `cbor:"52,keyasint"`

	Scans    *paged.FrozenAnswers `cbor:"60,keyasint,omitempty"` // answers to scans with an idempotency key
	Verdicts paged.Paged[uint64]  `cbor:"61,keyasint,omitempty"`

	Hands []*hand `cbor:"70,keyasint,omitempty"`

	Earned *earnings        `cbor:"80,keyasint,omitempty"`
	Line   *waitlist.Frozen `cbor:"90,keyasint,omitempty"`
}

// Freeze returns a copy that shares with the state everything that grows with the sale.
func (s *State) Freeze() any {
	p, t := &s.past, &s.minted
	f := &Frozen{
		Details: s.details, Status: s.status, Created: s.created, Updated: s.updated, Rev: s.rev,
		Offers: s.sortedOffers(), OpenPacked: s.open.rows.Freeze(), LatePacked: s.late.rows.Freeze(),
		PastIDs: p.ids.Freeze(), PastStatus: p.status.Freeze(), PastPrints: p.prints.Freeze(), PastAt: p.at.Freeze(),
		GroupFirst: t.first.Freeze(), GroupKind: t.kind.Freeze(), GroupOrder: t.order.Freeze(),
		GroupNameEnd: t.nameEnd.Freeze(), Names: t.names.Freeze(),
		GroupOpens: t.opens.Freeze(), GroupCloses: t.closes.Freeze(),
		TicketStatus: t.status.Freeze(), TicketAt: t.at.Freeze(), TicketGate: t.gate.Freeze(),
		TicketDevice: t.device.Freeze(), TicketKey: t.key.Freeze(), TicketEnded: t.endedAt.Freeze(),
		Rescheduled: t.rescheduled.freeze(),
		Gates:       slices.Clone(s.gates.counts), Minutes: slices.Clone(s.gates.minutes),
		Hands: slices.Clone(s.hands.list), Earned: s.earned.freeze(), Line: s.line.Freeze(),
	}
	f.Scans, f.Verdicts = s.scans.Freeze()
	made := s.made.deeds.Freeze()
	f.MadeAt = paged.FieldOf(made, func(d *deed) int64 { return d.at })
	f.MadeBy = paged.FieldOf(made, func(d *deed) uint64 { return d.who[buyer] })
	f.MadeFrom = paged.FieldOf(made, func(d *deed) uint64 { return d.who[address] })
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

// Thaw returns the state that a decoded snapshot describes.
func Thaw(ref engine.Ref, frozen any) (engine.State, error) {
	f, ok := frozen.(*Frozen)
	if !ok || !f.hasEvenColumns() {
		return nil, fmt.Errorf("event: snapshot of %s is a %T with columns of unequal length", ref.Name(), frozen)
	}
	s, _ := New(ref).(*State)
	s.details, s.status, s.created, s.updated, s.rev = f.Details, f.Status, f.Created, f.Updated, f.Rev
	for _, o := range f.Offers {
		s.offers[o.Keeper.ID] = o
	}
	s.minted = tickets{
		first: paged.RowsOf(f.GroupFirst), kind: paged.RowsOf(f.GroupKind), order: paged.RowsOf(f.GroupOrder),
		nameEnd: paged.RowsOf(f.GroupNameEnd), names: paged.RowsOf(f.Names),
		opens: paged.RowsOf(f.GroupOpens), closes: paged.RowsOf(f.GroupCloses),
		status: paged.RowsOf(f.TicketStatus), at: paged.RowsOf(f.TicketAt), gate: paged.RowsOf(f.TicketGate),
		device: paged.RowsOf(f.TicketDevice), key: paged.RowsOf(f.TicketKey), endedAt: paged.RowsOf(f.TicketEnded),
	}
	for _, r := range f.Rescheduled {
		s.minted.rescheduled.put(r)
	}
	for _, h := range f.Hands {
		s.hands.put(h)
	}
	for i := range s.minted.len() {
		switch status := s.minted.status.At(i); {
		case isEnded(status):
			s.minted.ended++
		case status == ticketIssued:
			s.minted.unused++
		}
	}
	s.live = int64(s.minted.len() - s.minted.ended)
	if f.Earned != nil {
		s.earned = *f.Earned
		s.earned.Young = slices.Clone(f.Earned.Young)
	}
	s.line = waitlist.Thaw(f.Line)
	s.thawMade(f)
	if err := s.thawOrders(f); err != nil {
		return nil, fmt.Errorf("event: snapshot of %s: %w", ref.Name(), err)
	}
	s.thawPast(f)
	s.gates.counts, s.gates.minutes = f.Gates, f.Minutes
	for i, g := range f.Gates {
		s.gates.index[g.Name] = uint16(i)
	}
	if !s.scans.Thaw(f.Scans, slices.Concat(f.Verdicts...)) {
		return nil, fmt.Errorf("event: snapshot of %s has answers of unequal length", ref.Name())
	}
	s.judgeAgain(f.Updated)
	return s, s.Check()
}

// hasEvenColumns reports whether columns that belong together have the same length.
func (f *Frozen) hasEvenColumns() bool {
	same := func(n int, of ...int) bool { return !slices.ContainsFunc(of, func(m int) bool { return m != n }) }
	return same(len(f.LateIDs), len(f.LateAt)) &&
		same(f.PastIDs.Len(), f.PastStatus.Len(), f.PastPrints.Len(), f.PastAt.Len()) &&
		same(f.GroupFirst.Len(), f.GroupKind.Len(), f.GroupOrder.Len(), f.GroupNameEnd.Len()) &&
		same(f.GroupOpens.Len(), f.GroupCloses.Len()) && (f.GroupOpens.Len() == 0 || same(f.GroupOpens.Len(), f.GroupFirst.Len())) &&
		same(len(f.MadeAt.Numbers()), len(f.MadeBy.Numbers()), len(f.MadeFrom.Numbers())) &&
		same(f.TicketStatus.Len(), f.TicketAt.Len(), f.TicketGate.Len(), f.TicketDevice.Len(), f.TicketKey.Len())
}

func (s *State) thawMade(f *Frozen) {
	buyers, addresses := f.MadeBy.Numbers(), f.MadeFrom.Numbers()
	for i, at := range f.MadeAt.Numbers() {
		by := [2]uint64{buyer: buyers[i], address: addresses[i]}
		s.made.append(by, s.made.begin(by), at)
	}
}

func (s *State) thawPast(f *Frozen) {
	status, prints, at := slices.Concat(f.PastStatus...), slices.Concat(f.PastPrints...), slices.Concat(f.PastAt...)
	s.past.index = make(map[engine.OrderID]int, f.PastIDs.Len())
	for i, id := range slices.Concat(f.PastIDs...) {
		s.past.put(id, status[i], prints[i], at[i])
	}
}

func (s *State) thawOrders(f *Frozen) error {
	for _, o := range f.Open {
		s.open.put(o)
		s.watchThawed(o)
	}
	for _, o := range f.Late {
		s.late.put(o)
	}
	if err := s.open.thaw(f.OpenPacked, s.watchThawed); err != nil {
		return err
	}
	if err := s.late.thaw(f.LatePacked, s.thawReturns); err != nil {
		return err
	}
	for i, id := range f.LateIDs {
		s.lateDue.push(f.LateAt[i], id)
	}
	s.sendDue.sort()
	return nil
}

// thawReturns resumes telling the keepers what an order's granted refunds and moved tickets took,
// where they have not acknowledged it.
func (s *State) thawReturns(o *order.Order) {
	for i := range o.Refunds {
		s.startReturning(o, i, o.UpdatedAt)
	}
	s.startMoved(o, o.UpdatedAt)
}

// watchThawed puts an open order on the agenda: the end of its window, or else its end, which has
// to be told again.
func (s *State) watchThawed(o *order.Order) {
	s.thawReturns(o)
	if !o.Unpaid() {
		s.settling[o.ID] = allPlaces(o)
		s.sendDue.items.Push(dueOrder{o.EndedAt + resendMillis, o.ID}) // sorted when all are in
		return
	}
	s.live += o.Tickets()
	s.countUnpaid(o, 1)
	if s.status == StatusCancelled {
		s.due = append(s.due, o.ID)
		return
	}
	s.expiry.add(o.ExpiresAt, o.ID)
}

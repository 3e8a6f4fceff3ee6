package admission

import (
	"errors"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// Frozen holds the tickets and the counters of the gates. The snapshot of the event embeds it, so its keys
// are keys of that snapshot. The fields Group... have one entry for each group of tickets (an order's
// line), the fields Ticket... one for each ticket.
type Frozen struct {
	GroupFirst   paged.Paged[uint32]         `cbor:"30,keyasint"`
	GroupKind    paged.Paged[int64]          `cbor:"31,keyasint"`
	GroupOrder   paged.Paged[engine.OrderID] `cbor:"32,keyasint"`
	GroupNameEnd paged.Paged[uint32]         `cbor:"33,keyasint"`
	Names        paged.Paged[byte]           `cbor:"34,keyasint"`
	GroupOpens   paged.Paged[int64]          `cbor:"42,keyasint,omitempty"` // unix milliseconds; empty unless the event takes bookings
	GroupCloses  paged.Paged[int64]          `cbor:"43,keyasint,omitempty"`
	TicketStatus paged.Paged[byte]           `cbor:"35,keyasint"`
	TicketAt     paged.Paged[int64]          `cbor:"36,keyasint"`
	TicketGate   paged.Paged[uint16]         `cbor:"37,keyasint"`
	TicketDevice paged.Paged[uint64]         `cbor:"38,keyasint"`
	TicketKey    paged.Paged[uint64]         `cbor:"39,keyasint"`
	TicketEnded  paged.Paged[int64]          `cbor:"44,keyasint,omitempty"` // when each ticket was refunded, unix milliseconds, or 0; empty unless the event refunded tickets
	Rescheduled  []rescheduled               `cbor:"45,keyasint,omitempty"`

	Gates   []GateCount   `cbor:"40,keyasint"`
	Minutes []MinuteCount `cbor:"41,keyasint"`
	Trails  []*trail      `cbor:"46,keyasint,omitempty"` // empty unless the event counted exits
}

// FrozenScans are the answers to scans with an idempotency key, and the holders of tickets that were
// offered to somebody. They are fields of the event's snapshot, too.
type FrozenScans struct {
	Scans    *paged.FrozenAnswers `cbor:"60,keyasint,omitempty"`
	Verdicts paged.Paged[uint64]  `cbor:"61,keyasint,omitempty"`

	Hands []*hand `cbor:"70,keyasint,omitempty"`
}

// Freeze returns a copy for a snapshot. It shares the pages of the columns with the tickets, and copies the
// lists of gates, trails, moved tickets and hands.
func (t *Tickets) Freeze() (f Frozen, s FrozenScans) {
	c := &t.rows
	f = Frozen{
		GroupFirst: c.first.Freeze(), GroupKind: c.kind.Freeze(), GroupOrder: c.order.Freeze(),
		GroupNameEnd: c.nameEnd.Freeze(), Names: c.names.Freeze(),
		GroupOpens: c.opens.Freeze(), GroupCloses: c.closes.Freeze(),
		TicketStatus: c.status.Freeze(), TicketAt: c.at.Freeze(), TicketGate: c.gate.Freeze(),
		TicketDevice: c.device.Freeze(), TicketKey: c.key.Freeze(), TicketEnded: c.endedAt.Freeze(),
		Rescheduled: c.rescheduled.freeze(),
		Gates:       slices.Clone(t.gates.counts), Minutes: slices.Clone(t.gates.minutes),
		Trails: slices.Clone(t.trails.list),
	}
	s.Scans, s.Verdicts = t.scans.Freeze()
	s.Hands = slices.Clone(t.hands.list)
	return f, s
}

// Thaw returns the tickets that a decoded snapshot describes, and counts the unused and the ended ones again. It returns
// an error if columns that belong together differ in length, those of the answers to scans too, or if a trail is of a
// ticket that does not exist.
func Thaw(f *Frozen, s *FrozenScans) (Tickets, error) {
	t := New()
	if !f.hasEvenColumns() {
		return t, errors.New("admission: columns of unequal length")
	}
	t.rows = columns{
		first: paged.RowsOf(f.GroupFirst), kind: paged.RowsOf(f.GroupKind), order: paged.RowsOf(f.GroupOrder),
		nameEnd: paged.RowsOf(f.GroupNameEnd), names: paged.RowsOf(f.Names),
		opens: paged.RowsOf(f.GroupOpens), closes: paged.RowsOf(f.GroupCloses),
		status: paged.RowsOf(f.TicketStatus), at: paged.RowsOf(f.TicketAt), gate: paged.RowsOf(f.TicketGate),
		device: paged.RowsOf(f.TicketDevice), key: paged.RowsOf(f.TicketKey), endedAt: paged.RowsOf(f.TicketEnded),
	}
	for _, r := range f.Rescheduled {
		t.rows.rescheduled.put(r)
	}
	for i := range t.rows.len() {
		switch status := t.rows.status.At(i); {
		case isEnded(status):
			t.rows.ended++
		case status == StatusIssued:
			t.rows.unused++
		}
	}
	for _, h := range s.Hands {
		t.hands.put(h)
	}
	for _, tr := range f.Trails {
		if !t.rows.has(tr.Ticket) {
			return t, errors.New("admission: passages of a ticket that is not there")
		}
		t.trails.putTrail(tr)
	}
	t.gates.counts, t.gates.minutes = f.Gates, f.Minutes
	for i, g := range f.Gates {
		t.gates.index[GateKey(g.Name)] = uint16(i)
	}
	if !t.scans.Thaw(s.Scans, slices.Concat(s.Verdicts...)) {
		return t, errors.New("admission: answers of unequal length")
	}
	return t, nil
}

// hasEvenColumns reports whether columns that belong together have the same length.
func (f *Frozen) hasEvenColumns() bool {
	same := func(n int, of ...int) bool { return !slices.ContainsFunc(of, func(m int) bool { return m != n }) }
	return same(f.GroupFirst.Len(), f.GroupKind.Len(), f.GroupOrder.Len(), f.GroupNameEnd.Len()) &&
		same(f.GroupOpens.Len(), f.GroupCloses.Len()) && (f.GroupOpens.Len() == 0 || same(f.GroupOpens.Len(), f.GroupFirst.Len())) &&
		same(f.TicketStatus.Len(), f.TicketAt.Len(), f.TicketGate.Len(), f.TicketDevice.Len(), f.TicketKey.Len())
}

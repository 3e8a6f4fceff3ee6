package event

import (
	"slices"
	"sort"

	"boxoffice/engine"
)

// Ticket statuses (decisions.md section 3), as numbers in the column.
const (
	ticketIssued    byte = 0
	ticketCheckedIn byte = 1
	ticketCancelled byte = 2
	ticketRefunded  byte = 3
)

// tickets are the event's tickets in columns. A ticket is its serial, from 1;
// tickets of one order line are neighbours and share a group. Codes, short
// codes and QR keys are derived from the serial (package edge/ticket), so
// nothing of them is stored.
type tickets struct {
	first   []uint32 // group: serial of its first ticket, ascending
	kind    []int64  // group: number of the ticket type
	order   []engine.OrderID
	nameEnd []uint32 // group: end of the holder's name in names
	names   []byte

	status []byte // ticket from here on
	at     []int64
	gate   []uint16
	device []uint64
	key    []uint64
}

func (t *tickets) len() int    { return len(t.status) }
func (t *tickets) groups() int { return len(t.first) }

// next is the serial of the ticket that would be minted next.
func (t *tickets) next() uint32 { return uint32(len(t.status)) + 1 }

// size is the number of tickets in a group.
func (t *tickets) size(group int) uint32 {
	if group+1 < len(t.first) {
		return t.first[group+1] - t.first[group]
	}
	return t.next() - t.first[group]
}

// mint adds the tickets of an order.
func (t *tickets) mint(o *Order) {
	for i := range o.Lines {
		name, _ := o.Holder(i)
		t.first = append(t.first, t.next())
		t.kind = append(t.kind, o.Lines[i].Type)
		t.order = append(t.order, o.ID)
		t.names = append(t.names, name...)
		t.nameEnd = append(t.nameEnd, uint32(len(t.names)))
		for range o.Lines[i].Quantity {
			t.status = append(t.status, ticketIssued)
			t.at = append(t.at, 0)
			t.gate = append(t.gate, 0)
			t.device = append(t.device, 0)
			t.key = append(t.key, 0)
		}
	}
}

// group is the group that a ticket belongs to.
func (t *tickets) group(serial uint32) int {
	return sort.Search(len(t.first), func(i int) bool { return t.first[i] > serial }) - 1
}

// holder is the name on a ticket.
func (t *tickets) holder(serial uint32) string {
	g := t.group(serial)
	start := uint32(0)
	if g > 0 {
		start = t.nameEnd[g-1]
	}
	return string(t.names[start:t.nameEnd[g]])
}

// freeze shares the columns that only grow and copies those that change.
func (t *tickets) freeze() tickets {
	return tickets{
		first: slices.Clip(t.first), kind: slices.Clip(t.kind), order: slices.Clip(t.order),
		nameEnd: slices.Clip(t.nameEnd), names: slices.Clip(t.names),
		status: slices.Clone(t.status), at: slices.Clone(t.at), gate: slices.Clone(t.gate),
		device: slices.Clone(t.device), key: slices.Clone(t.key),
	}
}

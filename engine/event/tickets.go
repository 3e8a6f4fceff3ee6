package event

import (
	"sort"

	"boxoffice/engine"
	"boxoffice/engine/paged"
)

// Ticket statuses (docs/rules.md, Statuses), as numbers in the column.
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
	first   paged.Rows[uint32] // group: serial of its first ticket, ascending
	kind    paged.Rows[int64]  // group: number of the ticket type
	order   paged.Rows[engine.OrderID]
	nameEnd paged.Rows[uint32] // group: end of the holder's name in names
	names   paged.Rows[byte]

	status paged.Rows[byte] // ticket from here on
	at     paged.Rows[int64]
	gate   paged.Rows[uint16]
	device paged.Rows[uint64]
	key    paged.Rows[uint64]
}

func (t *tickets) len() int { return t.status.Len() }

// has says whether there is a ticket of this serial.
func (t *tickets) has(serial uint32) bool { return serial > 0 && int(serial) <= t.len() }

func (t *tickets) groups() int { return t.first.Len() }

// next is the serial of the ticket that would be minted next.
func (t *tickets) next() uint32 { return uint32(t.len()) + 1 }

// size is the number of tickets in a group.
func (t *tickets) size(group int) uint32 {
	if group+1 < t.groups() {
		return t.first.At(group+1) - t.first.At(group)
	}
	return t.next() - t.first.At(group)
}

// mint adds the tickets of an order.
func (t *tickets) mint(o *Order) {
	for i := range o.Lines {
		name, _ := o.Holder(i)
		t.first.Append(t.next())
		t.kind.Append(o.Lines[i].Type)
		t.order.Append(o.ID)
		for _, b := range []byte(name) {
			t.names.Append(b)
		}
		t.nameEnd.Append(uint32(t.names.Len()))
		for range o.Lines[i].Quantity {
			t.status.Append(ticketIssued)
			t.at.Append(0)
			t.gate.Append(0)
			t.device.Append(0)
			t.key.Append(0)
		}
	}
}

// group is the group that a ticket belongs to.
func (t *tickets) group(serial uint32) int {
	return sort.Search(t.groups(), func(i int) bool { return t.first.At(i) > serial }) - 1
}

// holder is the name on a ticket.
func (t *tickets) holder(serial uint32) string {
	g := t.group(serial)
	start := uint32(0)
	if g > 0 {
		start = t.nameEnd.At(g - 1)
	}
	name := make([]byte, 0, 64)
	for i := start; i < t.nameEnd.At(g); i++ {
		name = append(name, t.names.At(int(i)))
	}
	return string(name)
}

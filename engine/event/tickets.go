package event

import (
	"slices"
	"sort"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
)

// These are the ticket statuses (docs/rules.md, Statuses), as numbers in the column.
const (
	ticketIssued    byte = 0
	ticketCheckedIn byte = 1
	ticketCancelled byte = 2
	ticketRefunded  byte = 3
)

// tickets are the event's tickets in columns. A ticket is its serial, from 1. The tickets of one
// order line have consecutive serials and share a group. Codes, short codes and QR keys are derived
// from the serial (package edge/ticket) and not stored.
type tickets struct {
	first   paged.Rows[uint32] // group: serial of its first ticket, ascending
	kind    paged.Rows[int64]  // group: number of the ticket type
	order   paged.Rows[engine.OrderID]
	nameEnd paged.Rows[uint32] // group: end of the holder's name in names
	names   paged.Rows[byte]
	opens   paged.Rows[int64] // group: from when it admits; no rows if nothing is booked
	closes  paged.Rows[int64] // group: until when

	status paged.Rows[byte] // tickets' columns from here on
	at     paged.Rows[int64]
	gate   paged.Rows[uint16]
	device paged.Rows[uint64]
	key    paged.Rows[uint64]

	endedAt paged.Rows[int64] // ticket: when it was refunded, else 0; ends with the last refunded one

	rescheduled rescheduledTickets

	ended  int // tickets that were refunded or cancelled
	unused int // issued tickets that have neither been checked in nor ended
}

func (t *tickets) len() int { return t.status.Len() }

// has reports whether there is a ticket of a serial.
func (t *tickets) has(serial uint32) bool { return serial > 0 && int(serial) <= t.len() }

func (t *tickets) groups() int { return t.first.Len() }

// endedIn returns how many tickets of a group were refunded or cancelled.
func (t *tickets) endedIn(group int) (n int64) {
	for i := range t.size(group) {
		if isEnded(t.status.At(int(t.first.At(group)-1) + int(i))) {
			n++
		}
	}
	return n
}

func isEnded(status byte) bool { return status == ticketCancelled || status == ticketRefunded }

func (t *tickets) setStatus(serial uint32, status byte) {
	i := int(serial) - 1
	if t.status.At(i) == ticketIssued {
		t.unused--
	}
	if status == ticketIssued {
		t.unused++
	}
	t.status.Set(i, status)
}

// markRefunded ends a ticket and notes when, because an offline scan from before may still come.
func (t *tickets) markRefunded(serial uint32, at int64) {
	t.setStatus(serial, ticketRefunded)
	t.ended++
	for t.endedAt.Len() < int(serial) {
		t.endedAt.Append(0)
	}
	t.endedAt.Set(int(serial)-1, at)
}

// hadEnded reports whether a ticket had ended at a time. A ticket whose end has no known time
// counts as ended all along.
func (t *tickets) hadEnded(serial uint32, at int64) bool {
	i := int(serial) - 1
	return isEnded(t.status.At(i)) && (i >= t.endedAt.Len() || at >= t.endedAt.At(i))
}

// wasAdmitted reports whether a ticket was checked in, even if it was refunded later.
func (t *tickets) wasAdmitted(serial uint32) bool {
	i := int(serial) - 1
	status := t.status.At(i)
	return status == ticketCheckedIn || isEnded(status) && t.at.At(i) != 0
}

// next returns the serial that the next ticket will get.
func (t *tickets) next() uint32 { return uint32(t.len()) + 1 }

// size returns the number of tickets in a group.
func (t *tickets) size(group int) uint32 {
	if group+1 < t.groups() {
		return t.first.At(group+1) - t.first.At(group)
	}
	return t.next() - t.first.At(group)
}

// mintTickets adds the tickets of an order.
func (t *tickets) mintTickets(o *order.Order) {
	for i := range o.Lines {
		name, _ := o.Holder(i)
		t.first.Append(t.next())
		t.kind.Append(o.Lines[i].Type)
		t.order.Append(o.ID)
		for _, b := range []byte(name) {
			t.names.Append(b)
		}
		t.nameEnd.Append(uint32(t.names.Len()))
		t.addVisit(o.Lines[i].Visit)
		t.unused += int(o.Lines[i].Quantity)
		for range o.Lines[i].Quantity {
			t.status.Append(ticketIssued)
			t.at.Append(0)
			t.gate.Append(0)
			t.device.Append(0)
			t.key.Append(0)
		}
	}
}

// addVisit notes when the tickets of the newest group admit. Events that take no bookings store
// nothing.
func (t *tickets) addVisit(v *keeper.Visit) {
	if v == nil && t.opens.Len() == 0 {
		return
	}
	for t.opens.Len() < t.groups()-1 {
		t.opens.Append(0)
		t.closes.Append(0)
	}
	if v == nil {
		v = new(keeper.Visit)
	}
	opens, closes := v.Admits()
	t.opens.Append(opens)
	t.closes.Append(closes)
}

// Window is the time during which a ticket admits, in unix milliseconds.
type Window struct {
	Opens  int64 `cbor:"1,keyasint"`
	Closes int64 `cbor:"2,keyasint"`
}

// rescheduled is a ticket that was moved to another date than its group's.
type rescheduled struct {
	Ticket uint32 `cbor:"1,keyasint"`
	Window Window `cbor:"2,keyasint"`
}

// rescheduledTickets are the tickets that were moved to another date.
type rescheduledTickets struct {
	list  []rescheduled
	index map[uint32]int // by serial
}

func (r *rescheduledTickets) put(n rescheduled) {
	if i, ok := r.index[n.Ticket]; ok {
		r.list[i] = n
		return
	}
	if r.index == nil {
		r.index = make(map[uint32]int)
	}
	r.index[n.Ticket] = len(r.list)
	r.list = append(r.list, n)
}

func (r *rescheduledTickets) freeze() []rescheduled { return slices.Clone(r.list) }

// moveVisit notes when a ticket admits after its move to another date.
func (t *tickets) moveVisit(serial uint32, v *keeper.Visit) {
	opens, closes := v.Admits()
	t.rescheduled.put(rescheduled{serial, Window{opens, closes}})
}

// visitOf returns when a ticket admits. ok is false for a ticket that admits whenever its event
// does.
func (t *tickets) visitOf(serial uint32) (opens, closes int64, ok bool) {
	if i, moved := t.rescheduled.index[serial]; moved {
		w := t.rescheduled.list[i].Window
		return w.Opens, w.Closes, true
	}
	if t.opens.Len() == 0 {
		return 0, 0, false
	}
	g := t.groupOf(serial)
	return t.opens.At(g), t.closes.At(g), t.closes.At(g) > 0
}

// groupOf returns the group that a ticket belongs to.
func (t *tickets) groupOf(serial uint32) int {
	return sort.Search(t.groups(), func(i int) bool { return t.first.At(i) > serial }) - 1
}

// holderOf returns the name on a ticket.
func (t *tickets) holderOf(serial uint32) string {
	g := t.groupOf(serial)
	start := uint32(0)
	if g > 0 {
		start = t.nameEnd.At(g - 1)
	}
	name := make([]byte, 0, 64)
	for i := start; i < t.nameEnd.At(g); i++ {
		if b := t.names.At(int(i)); b != erasedByte {
			name = append(name, b)
		}
	}
	return string(name)
}

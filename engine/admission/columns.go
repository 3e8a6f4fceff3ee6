package admission

import (
	"slices"
	"sort"

	"boxoffice/engine"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
)

// These are the numbers of the ticket statuses (docs/rules.md, Statuses), as the status column stores them.
const (
	StatusIssued byte = iota
	StatusCheckedIn
	StatusCancelled
	StatusRefunded
)

// columns are the event's tickets, one list for each property. A ticket is known by its serial,
// from 1. The tickets of one order line have consecutive serials and form a group. Codes, short
// codes and QR keys are derived from the serial (package edge/secrets) and not stored.
type columns struct {
	first   paged.Rows[uint32] // group: serial of its first ticket, ascending
	kind    paged.Rows[int64]  // group: number of the ticket type
	order   paged.Rows[engine.OrderID]
	nameEnd paged.Rows[uint32] // group: end of the holder's name in names
	names   paged.Rows[byte]
	// opens and closes have no rows as long as no group is booked, and then one for each group.
	opens  paged.Rows[int64] // group: from when it admits, unix milliseconds
	closes paged.Rows[int64] // group: until when it admits, unix milliseconds

	status paged.Rows[byte]  // ticket: one of the statuses above; like the next four, it has a row for each ticket
	at     paged.Rows[int64] // ticket: when it was last admitted, unix milliseconds; 0: never. gate, device and key are of that scan
	gate   paged.Rows[uint16]
	device paged.Rows[uint64]
	key    paged.Rows[uint64]

	endedAt paged.Rows[int64] // ticket: when it was refunded, else 0; ends with the last refunded one

	rescheduled rescheduledTickets

	ended  int // tickets that were refunded or cancelled
	unused int // tickets with the status issued: neither ended nor checked in, or that was taken back
}

// len returns how many tickets there are.
func (c *columns) len() int { return c.status.Len() }

// has reports whether there is a ticket with a serial.
func (c *columns) has(serial uint32) bool { return serial > 0 && int(serial) <= c.len() }

// groups returns how many groups there are.
func (c *columns) groups() int { return c.first.Len() }

// endedIn returns how many tickets of a group were refunded or cancelled.
func (c *columns) endedIn(group int) (n int64) {
	for i := range c.size(group) {
		if isEnded(c.status.At(int(c.first.At(group)-1) + int(i))) {
			n++
		}
	}
	return n
}

// isEnded reports whether a ticket of a status was refunded or cancelled, so that it admits nobody
// any more.
func isEnded(status byte) bool { return status == StatusCancelled || status == StatusRefunded }

// setStatus changes a ticket's status, and keeps the count of unused tickets in step.
func (c *columns) setStatus(serial uint32, status byte) {
	i := int(serial) - 1
	if c.status.At(i) == StatusIssued {
		c.unused--
	}
	if status == StatusIssued {
		c.unused++
	}
	c.status.Set(i, status)
}

// markRefunded ends a ticket and notes when, because an offline scan from before that time may
// still arrive. If an admission was taken back, its time is deleted: an ended ticket that has such
// a time counts as used.
func (c *columns) markRefunded(serial uint32, at int64) {
	if i := int(serial) - 1; c.status.At(i) == StatusIssued {
		c.at.Set(i, 0)
	}
	c.setStatus(serial, StatusRefunded)
	c.ended++
	// The column is only as long as the last refunded ticket needs, because most events refund few
	// tickets.
	for c.endedAt.Len() < int(serial) {
		c.endedAt.Append(0)
	}
	c.endedAt.Set(int(serial)-1, at)
}

// endOf returns when a ticket was refunded, or 0 if it was not or if the time is unknown.
func (c *columns) endOf(serial uint32) int64 {
	if i := int(serial) - 1; i < c.endedAt.Len() {
		return c.endedAt.At(i)
	}
	return 0
}

// hadEnded reports whether a ticket had ended at a time. A ticket that ended at an unknown time counts as ended
// before it.
func (c *columns) hadEnded(serial uint32, at int64) bool {
	return isEnded(c.status.At(int(serial)-1)) && at >= c.endOf(serial)
}

// wasAdmitted reports whether a ticket was checked in, even if it was refunded later.
func (c *columns) wasAdmitted(serial uint32) bool {
	i := int(serial) - 1
	status := c.status.At(i)
	return status == StatusCheckedIn || isEnded(status) && c.at.At(i) != 0
}

// next returns the serial that the next ticket will get.
func (c *columns) next() uint32 { return uint32(c.len()) + 1 }

// size returns the number of tickets in a group.
func (c *columns) size(group int) uint32 {
	if group+1 < c.groups() {
		return c.first.At(group+1) - c.first.At(group)
	}
	return c.next() - c.first.At(group)
}

// mintTickets adds the tickets of an order, one group for each of its lines.
func (c *columns) mintTickets(o *order.Order) {
	for i := range o.Lines {
		name, _ := o.Holder(i)
		c.first.Append(c.next())
		c.kind.Append(o.Lines[i].Type)
		c.order.Append(o.ID)
		for _, b := range []byte(name) {
			c.names.Append(b)
		}
		c.nameEnd.Append(uint32(c.names.Len()))
		c.addVisit(o.Lines[i].Visit)
		c.unused += int(o.Lines[i].Quantity)
		for range o.Lines[i].Quantity {
			c.status.Append(StatusIssued)
			c.at.Append(0)
			c.gate.Append(0)
			c.device.Append(0)
			c.key.Append(0)
		}
	}
}

// addVisit notes when the tickets of the newest group admit. Events that take no bookings store
// nothing.
func (c *columns) addVisit(v *keeper.Visit) {
	if v == nil && c.opens.Len() == 0 {
		return
	}
	// The groups before the first booked one get zeros, which mean that they admit whenever the event does.
	for c.opens.Len() < c.groups()-1 {
		c.opens.Append(0)
		c.closes.Append(0)
	}
	if v == nil {
		v = new(keeper.Visit)
	}
	opens, closes := v.Admits()
	c.opens.Append(opens)
	c.closes.Append(closes)
}

// orderOf returns the order of a ticket.
func (c *columns) orderOf(serial uint32) engine.OrderID { return c.order.At(c.groupOf(serial)) }

// Window is the time during which a ticket admits, in unix milliseconds.
type Window struct {
	Opens  int64 `cbor:"1,keyasint"`
	Closes int64 `cbor:"2,keyasint"`
}

// rescheduled is a ticket that was moved to another date or slot than its group's.
type rescheduled struct {
	Ticket uint32 `cbor:"1,keyasint"`
	Window Window `cbor:"2,keyasint"`
}

// rescheduledTickets are the tickets that were moved to another date or slot.
type rescheduledTickets struct {
	list  []rescheduled
	index map[uint32]int // index into list, by the ticket's serial
}

// put notes a move of a ticket. A later move replaces an earlier one.
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

// moveVisit notes when a ticket admits after its move to another date or slot.
func (c *columns) moveVisit(serial uint32, v *keeper.Visit) {
	opens, closes := v.Admits()
	c.rescheduled.put(rescheduled{serial, Window{opens, closes}})
}

// visitOf returns when a ticket admits. ok is false for a ticket that admits whenever its event
// does.
func (c *columns) visitOf(serial uint32) (opens, closes int64, ok bool) {
	if i, moved := c.rescheduled.index[serial]; moved {
		w := c.rescheduled.list[i].Window
		return w.Opens, w.Closes, true
	}
	if c.opens.Len() == 0 {
		return 0, 0, false
	}
	g := c.groupOf(serial)
	return c.opens.At(g), c.closes.At(g), c.closes.At(g) > 0
}

// groupOf returns the group that a ticket belongs to.
func (c *columns) groupOf(serial uint32) int {
	return sort.Search(c.groups(), func(i int) bool { return c.first.At(i) > serial }) - 1
}

// holderOf returns the name of a ticket's first holder, or "" if there is none or it was erased.
func (c *columns) holderOf(serial uint32) string {
	g := c.groupOf(serial)
	start := uint32(0)
	if g > 0 {
		start = c.nameEnd.At(g - 1)
	}
	name := make([]byte, 0, 64)
	for i := start; i < c.nameEnd.At(g); i++ {
		if b := c.names.At(int(i)); b != erasedByte {
			name = append(name, b)
		}
	}
	return string(name)
}

// eraseName overwrites the holder's name of a group. The name keeps its length.
func (c *columns) eraseName(group int) {
	start := uint32(0)
	if group > 0 {
		start = c.nameEnd.At(group - 1)
	}
	for i := start; i < c.nameEnd.At(group); i++ {
		c.names.Set(int(i), erasedByte)
	}
}

// erasedByte replaces each byte of an erased name. No text contains it.
const erasedByte = 0

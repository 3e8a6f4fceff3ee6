// Package admission owns an event's tickets and its gates: it knows the holder of each ticket, and who was let
// in.
//
// Invariants: where exits are not counted, a ticket admits once, and again only after that admission was taken back.
// Where they are, a ticket whose holder is inside admits nobody. Only the codes of a ticket's present holder are
// valid. A scan with an idempotency key that is sent again gets the same answer. Limits: 1,000 gates are counted
// apart, 200,000 answers to scans are remembered, and of each ticket its last 64 passages.
//
// The event's actor calls Tickets in its Decide and its Apply. The orders that the tickets belong to are the ledger's,
// so everything that a decision needs to know of an order comes as an argument.
package admission

import (
	"fmt"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/paged"
)

// Tickets are an event's tickets and gates. New makes them.
type Tickets struct {
	rows   columns
	hands  hands
	trails trails
	gates  gates
	scans  paged.Answers[uint64] // answers to scans: the ticket's serial, with the verdict in the lowest byte
}

// New returns the Tickets of an event that has issued none.
func New() Tickets { return Tickets{gates: newGates(), scans: paged.NewAnswers[uint64]()} }

// Terms are what an event says about its tickets and gates. Times are unix milliseconds.
type Terms struct {
	Cancelled        bool
	Completed        bool
	ChangedAt        int64 // unix milliseconds at which the event was cancelled or completed, if it was
	DoorsAt          int64 // when the doors open or, if no such time is set, when the event begins
	Capacity         int64
	IDCheck          bool
	RotatingOnly     bool // whether gates refuse scanned codes that don't rotate (printed ones, and door codes); typed codes are accepted
	OfflineDoorCodes bool // whether devices recognize door codes without a network
	Exits            bool // whether gates let holders out, and in again
	InsideLimit      int64
}

// isOver reports whether the event is over for good, because it was cancelled or completed.
func (t *Terms) isOver() bool { return t.Cancelled || t.Completed }

// Decide decides on the commands about tickets and gates, except Transfer, for which the event must
// look up the order first. mine is false for a command about something else.
func (t *Tickets) Decide(c engine.Command, terms *Terms, at int64) (d engine.Decision, mine bool) {
	switch c := c.(type) {
	case Scan:
		return t.decideScan(c, terms, at), true
	case ScanBatch:
		return t.decideBatch(c, terms, at), true
	case UndoScan:
		return t.decideUndo(c, at), true
	case GateRoster:
		return engine.Decision{Reply: t.listRoster(terms)}, true
	case GateStats:
		return engine.Decision{Reply: t.countStats(terms)}, true
	case RevokeTransfer:
		return t.decideRevoke(c, at), true
	case ClaimTransfer:
		return t.decideClaim(c, terms, at), true
	}
	return engine.Decision{}, false
}

// refuse returns a decision that only refuses.
func refuse(code engine.Code, details any) engine.Decision {
	return engine.Decision{Reply: engine.Refuse(code, details)}
}

// Apply applies a fact to the tickets that it is about. A fact about something else changes nothing, and a fact
// about a ticket that is not there changes no ticket. A refused scan is counted at its gate in any case.
func (t *Tickets) Apply(f engine.Fact) {
	switch f := f.(type) {
	case *CheckedIn:
		t.applyCheckedIn(f)
	case *GatePassed:
		t.applyGatePassed(f)
	case *PassageUndone:
		if t.rows.has(f.Ticket) {
			t.applyPassageUndone(f.Ticket)
		}
	case *CheckInDenied:
		if f.Passed && t.rows.has(f.Ticket) {
			t.notePassage(f.Ticket, &passage{At: f.At, Out: f.Out, Gate: f.Gate, Device: deviceHash(f.Device), Key: f.Key})
		} else {
			t.gates.deny(f.Gate)
		}
		t.answerScan(f.Request, f.At, f.Ticket, f.Status, f.Reason)
	case *CheckInUndone:
		t.applyUndone(f)
	case *order.TransferOffered, *order.TransferRevoked, *order.TicketTransferred:
		t.applyTransfer(f)
	case *order.TicketRescheduled:
		if t.rows.has(f.Ticket) {
			t.rows.moveVisit(f.Ticket, &f.Visit)
		}
	case *order.RefundDecided:
		// A refund does not change the status of a ticket that was used.
		for _, ticket := range f.Tickets {
			if t.rows.has(ticket) && t.rows.status.At(int(ticket)-1) == StatusIssued {
				t.rows.markRefunded(ticket, f.At)
			}
		}
	case *order.Erased:
		for _, first := range f.Names {
			if t.rows.has(first) {
				t.rows.eraseName(t.rows.groupOf(first))
			}
		}
	}
}

// Mint adds the tickets of an order that was sold. The first one gets the serial Next.
func (t *Tickets) Mint(o *order.Order) { t.rows.mintTickets(o) }

// Next returns the serial that the next ticket will get.
func (t *Tickets) Next() uint32 { return t.rows.next() }

// Count returns how many tickets were issued in all, and how many of them have ended.
func (t *Tickets) Count() (issued, ended int) { return t.rows.len(), t.rows.ended }

// CountType returns how many tickets of a type were issued and have neither been refunded nor cancelled.
func (t *Tickets) CountType(ticketType int64) (n int64) {
	for g := range t.rows.groups() {
		if t.rows.kind.At(g) == ticketType {
			n += int64(t.rows.size(g)) - t.rows.endedIn(g)
		}
	}
	return n
}

// Ticket is what the ledger must know about one ticket.
type Ticket struct {
	Order   engine.OrderID
	Status  byte // one of the ticket statuses
	Version byte // version of its holder, from 1
	// Last is the ticket's last transfer. It is zero for a ticket without one.
	Last order.Transfer
}

// Find returns a ticket by its serial.
func (t *Tickets) Find(serial uint32) (found Ticket, ok bool) {
	if !t.rows.has(serial) {
		return Ticket{}, false
	}
	h := t.hands.of(serial)
	return Ticket{
		Order: t.rows.orderOf(serial), Status: t.rows.status.At(int(serial) - 1), Version: h.Version, Last: h.Last,
	}, true
}

// Check returns the first broken invariant, or nil. sold are the orders whose tickets were issued; all their
// tickets must be here.
func (t *Tickets) Check(sold []*order.Order) error {
	unused, c := 0, &t.rows
	for g := range c.groups() {
		// A group without tickets would break the search for a ticket's group.
		if c.size(g) == 0 {
			return fmt.Errorf("admission: ticket group %d is empty", g)
		}
	}
	for status := range c.status.All() {
		if status == StatusIssued {
			unused++
		}
	}
	if unused != c.unused {
		return fmt.Errorf("admission: %d tickets unused, counted %d", unused, c.unused)
	}
	if err := t.checkInside(); err != nil {
		return err
	}
	issued := int64(0)
	for _, o := range sold {
		issued += o.Tickets()
		g := c.groupOf(o.FirstTicket)
		for i := range o.Lines {
			if g+i >= c.groups() || c.order.At(g+i) != o.ID || int64(c.size(g+i)) != o.Lines[i].Quantity {
				return fmt.Errorf("admission: order %s lacks the tickets of line %d", o.ID, i)
			}
		}
	}
	if issued > int64(c.len()) {
		return fmt.Errorf("admission: %d tickets sold, %d minted", issued, c.len())
	}
	return nil
}

package admission

import "slices"

// These are the letters of tickets in a roster. A ticket has x if it was cancelled, and r if it was refunded. A
// ticket that was not used has x if the event was cancelled, and e if the event is completed.
const (
	letterIssued    = 'i'
	letterCheckedIn = 'c'
	letterOutside   = 'o' // checked in, and gone out; only where exits are counted
	letterEnded     = 'x'
	letterRefunded  = 'r'
	letterExpired   = 'e'
)

// listRoster returns what the manifest for devices at gates is made from: a letter for each ticket, by serial, when
// tickets admit, the versions of their holders, and the event's rules for gates. It has no codes and no hashes.
func (t *Tickets) listRoster(terms *Terms) *Roster {
	r := &Roster{
		Letters: make([]byte, 0, t.rows.len()), DoorCodes: terms.OfflineDoorCodes, RotatingOnly: terms.RotatingOnly, Exits: terms.Exits,
		First: slices.Collect(t.rows.first.All()), Types: slices.Collect(t.rows.kind.All()),
		Opens: slices.Collect(t.rows.opens.All()), Closes: slices.Collect(t.rows.closes.All()), Versions: map[uint32]byte{},
	}
	for _, b := range t.rows.rescheduled.list {
		if r.Rescheduled == nil {
			r.Rescheduled = make(map[uint32]Window)
		}
		r.Rescheduled[b.Ticket] = b.Window
	}
	for _, h := range t.hands.list {
		if h.Version != firstVersion {
			r.Versions[h.Last.Ticket] = h.Version
		}
	}
	// The event's end shows in the letters of unused tickets.
	open := byte(letterIssued)
	switch {
	case terms.Cancelled:
		open = letterEnded
	case terms.Completed:
		open = letterExpired
	}
	for status := range t.rows.status.All() {
		letter := open
		switch status {
		case StatusCheckedIn:
			letter = letterCheckedIn
		case StatusCancelled:
			letter = letterEnded
		case StatusRefunded:
			letter = letterRefunded
		}
		r.Letters = append(r.Letters, letter)
	}
	// Only where exits are counted may a holder who went out come in again.
	if !terms.Exits || terms.isOver() {
		return r
	}
	for _, tr := range t.trails.list {
		if i := int(tr.Ticket) - 1; r.Letters[i] == letterCheckedIn && !t.isInside(tr.Ticket) {
			r.Letters[i] = letterOutside
		}
	}
	return r
}

package event

import "slices"

// The letters of tickets in a roster.
const (
	letterIssued    = 'i'
	letterCheckedIn = 'c'
	letterEnded     = 'x'
	letterRefunded  = 'r'
	letterExpired   = 'e'
)

func (s *State) listRoster() *Roster {
	r := &Roster{
		Letters: make([]byte, 0, s.minted.len()), DoorCodes: s.details.OfflineDoorCodes, RotatingOnly: s.details.RotatingOnly,
		First: slices.Collect(s.minted.first.All()), Types: slices.Collect(s.minted.kind.All()),
		Opens: slices.Collect(s.minted.opens.All()), Closes: slices.Collect(s.minted.closes.All()), Versions: map[uint32]byte{},
	}
	for _, b := range s.minted.rescheduled.list {
		if r.Rescheduled == nil {
			r.Rescheduled = make(map[uint32]Window)
		}
		r.Rescheduled[b.Ticket] = b.Window
	}
	for _, h := range s.hands.list {
		if h.Version != firstVersion {
			r.Versions[h.Last.Ticket] = h.Version
		}
	}
	open := byte(letterIssued)
	switch s.status {
	case StatusCancelled:
		open = letterEnded
	case StatusCompleted:
		open = letterExpired
	}
	for status := range s.minted.status.All() {
		letter := open
		switch status {
		case ticketCheckedIn:
			letter = letterCheckedIn
		case ticketCancelled:
			letter = letterEnded
		case ticketRefunded:
			letter = letterRefunded
		}
		r.Letters = append(r.Letters, letter)
	}
	return r
}

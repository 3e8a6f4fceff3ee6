package event

import (
	"slices"

	"boxoffice/engine"
)

// decideScan admits a ticket once. The first admission wins; the same scan sent
// again gets the same answer.
func (s *State) decideScan(c Scan, at int64) engine.Decision {
	if s.details == nil {
		return refuse(engine.EventNotFound, nil)
	}
	status, reason := s.judge(c)
	if status == ScanDuplicate && s.sameScan(c, at) {
		return engine.Decision{Reply: s.admission(c.Ticket)}
	}
	if status != ScanSuccess {
		r := &ScanReply{Status: status, Reason: reason, Ticket: c.Ticket}
		if status == ScanDuplicate {
			first := s.admission(c.Ticket)
			r.At, r.Gate = first.At, first.Gate
		}
		return engine.Decision{
			Facts: []engine.Fact{&CheckInDenied{Ticket: c.Ticket, Status: status, At: at, Gate: c.Gate, Device: c.Device}},
			Reply: r,
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{&CheckedIn{
			Ticket: c.Ticket, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method, Key: c.Key,
		}},
		Reply: &ScanReply{
			Status: ScanSuccess, Ticket: c.Ticket, Holder: s.minted.holder(c.Ticket),
			IDCheck: s.details.IDCheck, At: at, Gate: c.Gate,
		},
	}
}

// judge says whether a scan admits.
func (s *State) judge(c Scan) (status, reason string) {
	if c.Ticket == 0 || int(c.Ticket) > s.minted.len() {
		return ScanWrongEvent, "This code is not a ticket of this event."
	}
	switch ticket := s.minted.status.At(int(c.Ticket - 1)); {
	case ticket == ticketCancelled || ticket == ticketRefunded:
		return ScanCancelled, "The ticket was cancelled."
	case s.status == StatusCancelled:
		return ScanCancelled, "The event was cancelled."
	case c.Denied != "":
		return c.Denied, "The code on the screen is no longer valid; refresh it."
	case ticket == ticketCheckedIn:
		return ScanDuplicate, "The ticket was already used."
	case s.status == StatusCompleted:
		return ScanExpired, "The event has ended."
	default:
		return ScanSuccess, ""
	}
}

// sameScan says whether a scan of a used ticket is the one that admitted it,
// sent again.
func (s *State) sameScan(c Scan, at int64) bool {
	i := int(c.Ticket) - 1
	if c.Key != 0 && c.Key == s.minted.key.At(i) {
		return true
	}
	d := deviceHash(c.Device)
	return d != 0 && d == s.minted.device.At(i) && at-s.minted.at.At(i) <= sameScanMillis
}

// admission is the answer that a used ticket's first scan had.
func (s *State) admission(ticket uint32) *ScanReply {
	i := int(ticket) - 1
	return &ScanReply{
		Status: ScanSuccess, Ticket: ticket, Holder: s.minted.holder(ticket), IDCheck: s.details.IDCheck,
		At: s.minted.at.At(i), Gate: s.gates.counts[s.minted.gate.At(i)].Name,
	}
}

func (s *State) stats() *Stats {
	st := &Stats{
		Issued: int64(s.minted.len()), Capacity: s.details.Capacity,
		PerMin: slices.Clone(s.gates.minutes), Gates: slices.Clone(s.gates.counts),
	}
	for _, g := range st.Gates {
		st.Scanned += g.Scanned
		st.Admitted += g.Admitted
		st.Denied += g.Denied
	}
	return st
}

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
	if !c.Request.ID.Zero() {
		if v, same, known := s.scans.Find(c.Request, at); known && same {
			r := s.scanReply(uint32(v>>8), byte(v))
			r.Known = true
			return engine.Decision{Reply: r}
		} else if known {
			return refuse(engine.IdempotencyReused, nil)
		}
	}
	verdict := s.judge(c)
	if verdict == verdictUsed && s.sameScan(c, at) {
		return engine.Decision{Reply: s.admission(c.Ticket)}
	}
	var request *engine.Request
	var reason string
	if !c.Request.ID.Zero() {
		request, reason = &c.Request, verdicts[verdict].reason
	}
	if verdict != verdictAdmitted {
		return engine.Decision{
			Facts: []engine.Fact{&CheckInDenied{
				Ticket: c.Ticket, Status: verdicts[verdict].status, At: at, Gate: c.Gate, Device: c.Device, Request: request, Reason: reason,
			}},
			Reply: s.scanReply(c.Ticket, verdict),
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{&CheckedIn{
			Ticket: c.Ticket, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method, Key: c.Key, Request: request,
		}},
		Reply: &ScanReply{
			Status: ScanSuccess, Ticket: c.Ticket, Holder: s.minted.holder(c.Ticket),
			IDCheck: s.details.IDCheck, At: at, Gate: c.Gate,
		},
	}
}

// maxScans is how many answers to scans an event remembers, at about 80 bytes each.
const maxScans = 200_000

// The verdicts on scans. Their numbers are stored in snapshots: append only.
const (
	verdictAdmitted byte = iota
	verdictForeign
	verdictCancelled
	verdictEventCancelled
	verdictStale
	verdictUsed
	verdictEnded
)

var verdicts = [...]struct{ status, reason string }{
	verdictAdmitted:       {ScanSuccess, ""},
	verdictForeign:        {ScanWrongEvent, "This code is not a ticket of this event."},
	verdictCancelled:      {ScanCancelled, "The ticket was cancelled."},
	verdictEventCancelled: {ScanCancelled, "The event was cancelled."},
	verdictStale:          {ScanExpired, "The code on the screen is no longer valid; refresh it."},
	verdictUsed:           {ScanDuplicate, "The ticket was already used."},
	verdictEnded:          {ScanExpired, "The event has ended."},
}

// scanReply is the answer that a verdict has. A ticket's first admission never
// changes, so it is the same answer later.
func (s *State) scanReply(ticket uint32, verdict byte) *ScanReply {
	if verdict == verdictAdmitted {
		return s.admission(ticket)
	}
	r := &ScanReply{Status: verdicts[verdict].status, Reason: verdicts[verdict].reason, Ticket: ticket}
	if verdict == verdictUsed {
		first := s.admission(ticket)
		r.At, r.Gate = first.At, first.Gate
	}
	return r
}

// answerScan remembers what a request was answered. A fact about a ticket that is not
// there has nothing to answer with.
func (s *State) answerScan(r *engine.Request, at int64, ticket uint32, status, reason string) {
	if r == nil {
		return
	}
	for v := range verdicts {
		if verdicts[v].status == status && verdicts[v].reason == reason && (byte(v) != verdictUsed || s.minted.has(ticket)) {
			s.scans.Put(*r, at, uint64(ticket)<<8|uint64(v), maxScans)
			return
		}
	}
}

// judge says whether a scan admits.
func (s *State) judge(c Scan) byte {
	if c.Ticket == 0 || int(c.Ticket) > s.minted.len() {
		return verdictForeign
	}
	switch ticket := s.minted.status.At(int(c.Ticket - 1)); {
	case ticket == ticketCancelled || ticket == ticketRefunded:
		return verdictCancelled
	case s.status == StatusCancelled:
		return verdictEventCancelled
	case c.Denied != "":
		return verdictStale
	case ticket == ticketCheckedIn:
		return verdictUsed
	case s.status == StatusCompleted:
		return verdictEnded
	default:
		return verdictAdmitted
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

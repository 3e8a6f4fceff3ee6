package event

import (
	"slices"

	"boxoffice/engine"
)

// decideScan admits a ticket once. The first admission wins; the same scan sent again gets the same
// answer.
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
	if s.isGuess(c.Ticket, c.Version) {
		c.Ticket = 0
	}
	verdict := s.judgeScan(c, at)
	if verdict == verdictUsed && s.sameScan(c, at) {
		return engine.Decision{Reply: s.firstAdmission(c.Ticket)}
	}
	var request *engine.Request
	var reason string
	if !c.Request.ID.Zero() {
		request, reason = &c.Request, verdicts[verdict].reason
	}
	if verdict != verdictAdmitted {
		return engine.Decision{
			Facts: []engine.Fact{&CheckInDenied{
				Ticket: c.Ticket, Status: verdicts[verdict].status, At: at, Gate: c.Gate, Device: c.Device, Request: request, Reason: reason, Method: c.Method,
			}},
			Reply: s.scanReply(c.Ticket, verdict),
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{&CheckedIn{
			Ticket: c.Ticket, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method, Key: c.Key, Request: request,
		}},
		Reply: &ScanReply{
			Status: ScanSuccess, Ticket: c.Ticket, Version: s.newVersion(c.Ticket), Holder: s.holderName(c.Ticket),
			IDCheck: s.details.IDCheck, At: at, Gate: c.Gate,
		},
	}
}

// decideUndo takes an admission back.
func (s *State) decideUndo(c UndoScan, at int64) engine.Decision {
	if !s.minted.has(c.Ticket) || c.Version != s.hands.of(c.Ticket).Version {
		return refuse(engine.TicketNotFound, nil)
	}
	if s.minted.status.At(int(c.Ticket)-1) != ticketCheckedIn {
		return refuse(engine.NotCheckedIn, nil)
	}
	return engine.Decision{
		Facts: []engine.Fact{&CheckInUndone{Ticket: c.Ticket, At: at}},
		Reply: &ScanReply{Ticket: c.Ticket, Holder: s.holderName(c.Ticket), At: at},
	}
}

// applyUndone keeps the time and gate of the admission, because the scan's answer is made from
// them.
func (s *State) applyUndone(f *CheckInUndone) {
	if i := int(f.Ticket) - 1; s.minted.has(f.Ticket) && s.minted.status.At(i) == ticketCheckedIn {
		s.minted.setStatus(f.Ticket, ticketIssued)
		s.gates.undo(s.minted.gate.At(i))
	}
}

// maxScans is how many answers to scans an event remembers, at about 80 bytes each.
const maxScans = 200_000

// These are the verdicts on scans. Their numbers are stored in snapshots, so new ones are only
// appended.
const (
	verdictAdmitted byte = iota
	verdictForeign
	verdictCancelled
	verdictEventCancelled
	verdictStale
	verdictUsed
	verdictEnded
	verdictReplaced
	verdictPrinted
	verdictNotYet
	verdictOver
)

var verdicts = [...]struct{ status, reason string }{
	verdictAdmitted:       {ScanSuccess, ""},
	verdictForeign:        {ScanWrongEvent, "This code is not a ticket of this event."},
	verdictCancelled:      {ScanCancelled, "The ticket was cancelled."},
	verdictEventCancelled: {ScanCancelled, "The event was cancelled."},
	verdictStale:          {ScanExpired, "The code on the screen is no longer valid; refresh it."},
	verdictUsed:           {ScanDuplicate, "The ticket was already used."},
	verdictEnded:          {ScanExpired, "The event has ended."},
	verdictReplaced:       {ScanCancelled, "The ticket has a new holder, and this is not their code."},
	verdictPrinted:        {ScanExpired, "ROTATING_ONLY"},
	verdictNotYet:         {ScanExpired, "NOT_YET"},
	verdictOver:           {ScanExpired, "OVER"},
}

// scanReply makes the answer to a scan from its verdict. A ticket's first admission never changes,
// so a repeat later gets the same answer.
func (s *State) scanReply(ticket uint32, verdict byte) *ScanReply {
	if verdict == verdictAdmitted {
		return s.firstAdmission(ticket)
	}
	r := &ScanReply{Status: verdicts[verdict].status, Reason: verdicts[verdict].reason, Ticket: ticket}
	if verdict == verdictUsed {
		first := s.firstAdmission(ticket)
		r.At, r.Gate = first.At, first.Gate
	}
	return r
}

// answerScan remembers what a request was answered. The answer to a used ticket needs the ticket,
// so a fact about a ticket that is not there stores nothing.
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

// judgeScan returns the verdict on a scan, as things stood at a time. For an event that is
// cancelled or has ended, its last change is taken as the time of its end. A ticket that was
// refunded later is judged as it was at that time.
func (s *State) judgeScan(c Scan, at int64) byte {
	if c.Ticket == 0 || int(c.Ticket) > s.minted.len() {
		return verdictForeign
	}
	switch {
	case s.minted.hadEnded(c.Ticket, at):
		return verdictCancelled
	case s.status == StatusCancelled && at >= s.updated:
		return verdictEventCancelled
	case c.Version != 0 && c.Version != s.hands.of(c.Ticket).Version:
		return verdictReplaced
	case c.Denied != "":
		return verdictStale
	case c.Printed && s.details.RotatingOnly:
		return verdictPrinted
	case s.minted.wasAdmitted(c.Ticket):
		return verdictUsed
	case s.status == StatusCompleted && at >= s.updated:
		return verdictEnded
	default:
		return s.judgeVisit(c.Ticket, at)
	}
}

// judgeVisit returns the verdict on the time of a scan: a ticket of a reservation admits only
// during its booked visit.
func (s *State) judgeVisit(ticket uint32, at int64) byte {
	opens, closes, booked := s.minted.visitOf(ticket)
	switch {
	case booked && at < opens:
		return verdictNotYet
	case booked && at >= closes:
		return verdictOver
	default:
		return verdictAdmitted
	}
}

// sameScan reports whether a scan of a used ticket is a repeat of the scan that admitted it.
func (s *State) sameScan(c Scan, at int64) bool {
	i := int(c.Ticket) - 1
	if c.Key != 0 && c.Key == s.minted.key.At(i) {
		return true
	}
	d := deviceHash(c.Device)
	since := at - s.minted.at.At(i)
	return d != 0 && d == s.minted.device.At(i) && max(since, -since) <= sameScanMillis
}

// firstAdmission returns the answer that the first scan of a used ticket had.
func (s *State) firstAdmission(ticket uint32) *ScanReply {
	i := int(ticket) - 1
	return &ScanReply{
		Status: ScanSuccess, Ticket: ticket, Version: s.newVersion(ticket), Holder: s.holderName(ticket), IDCheck: s.details.IDCheck,
		At: s.minted.at.At(i), Gate: s.gates.counts[s.minted.gate.At(i)].Name,
	}
}

func (s *State) countStats() *Stats {
	st := &Stats{
		Issued: int64(s.minted.len()), Capacity: s.details.Capacity,
		PerMin: slices.Clone(s.gates.minutes), Gates: slices.Clone(s.gates.counts),
	}
	for _, g := range st.Gates {
		st.Scanned += g.Scanned
		st.Admitted += g.Admitted
		st.Denied += g.Denied
	}
	st.Ended = st.Issued - st.Admitted - int64(s.minted.unused)
	return st
}

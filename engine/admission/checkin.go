package admission

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// decideScan decides on a scan at a gate. A ticket is admitted once: the first admission wins. Where exits are
// counted, the passages of a ticket that was at a gate before decide (decidePassage). The same scan gets the
// same answer when it is sent again.
func (t *Tickets) decideScan(c Scan, terms *Terms, at int64) engine.Decision {
	// A repeat must be recognized before anything is judged: the ticket counts as used by now,
	// because of this very scan.
	if !c.Request.ID.Zero() {
		if v, same, known := t.scans.Find(c.Request, at); known && same {
			r := t.repeatReply(c, uint32(v>>8), byte(v), terms)
			r.Known = true
			return engine.Decision{Reply: r}
		} else if known {
			return refuse(engine.IdempotencyReused, nil)
		}
	}
	if t.isGuess(c.Ticket, c.Version) {
		c.Ticket = 0
	}
	var request *engine.Request
	if !c.Request.ID.Zero() {
		request = &c.Request
	}
	verdict := t.judgeScan(c, terms, t.afterEnds(c.Ticket, terms, at))
	if t.needsTrail(c, verdict, terms) {
		return t.decidePassage(c, terms, at, request)
	}
	if verdict == verdictUsed && t.sameScan(c, at) {
		return engine.Decision{Reply: t.firstAdmission(c.Ticket, terms)}
	}
	// Facts have a reason only where a repeat needs it to get the same answer.
	var reason string
	if request != nil {
		reason = verdicts[verdict].reason
	}
	if verdict != verdictAdmitted {
		return engine.Decision{
			Facts: []engine.Fact{&CheckInDenied{
				Ticket: c.Ticket, Status: verdicts[verdict].status, At: at, Gate: c.Gate, Device: c.Device, Request: request, Reason: reason, Method: c.Method,
				Out: c.Out,
			}},
			Reply: t.scanReply(c.Ticket, verdict, terms),
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{&CheckedIn{
			Ticket: c.Ticket, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method, Key: c.Key, Request: request,
		}},
		Reply: &ScanReply{
			Status: ScanSuccess, Ticket: c.Ticket, Version: t.newVersion(c.Ticket), Holder: t.holderName(c.Ticket),
			IDCheck: terms.IDCheck, At: at, Gate: c.Gate,
		},
	}
}

// decideUndo takes the admission of a ticket back or, if the ticket was let through several times, only the
// last passage. A code of an earlier holder is refused as unknown, and a ticket that is not admitted as NOT_CHECKED_IN.
func (t *Tickets) decideUndo(c UndoScan, at int64) engine.Decision {
	if !t.rows.has(c.Ticket) || c.Version != t.hands.of(c.Ticket).Version {
		return refuse(engine.TicketNotFound, nil)
	}
	if t.rows.status.At(int(c.Ticket)-1) != StatusCheckedIn {
		return refuse(engine.NotCheckedIn, nil)
	}
	if rest, last := t.trailOf(c.Ticket).withoutLast(); rest.lastStanding() != nil {
		return engine.Decision{
			Facts: []engine.Fact{&PassageUndone{Ticket: c.Ticket, At: at}},
			Reply: &ScanReply{Status: ScanSuccess, Ticket: c.Ticket, Holder: t.holderName(c.Ticket), At: at, Out: last.Out},
		}
	}
	return engine.Decision{
		Facts: []engine.Fact{&CheckInUndone{Ticket: c.Ticket, At: at}},
		Reply: &ScanReply{Ticket: c.Ticket, Holder: t.holderName(c.Ticket), At: at},
	}
}

// applyUndone makes a ticket that was checked in unused again, and takes the admission out of its trail or out of the
// gate's counters. It keeps the time and the gate of the admission, because the answer to the repeated scan is made
// from them.
func (t *Tickets) applyUndone(f *CheckInUndone) {
	if i := int(f.Ticket) - 1; t.rows.has(f.Ticket) && t.rows.status.At(i) == StatusCheckedIn {
		t.rows.setStatus(f.Ticket, StatusIssued)
		if t.trails.findTrail(f.Ticket) != nil {
			t.applyPassageUndone(f.Ticket)
		} else {
			t.gates.undo(t.rows.gate.At(i))
		}
	}
}

// maxScans is how many answers to scans an event remembers. Each takes about 80 bytes.
const maxScans = 200_000

// These are the verdicts on scans. Snapshots contain their numbers, so a new one may only be
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
	verdictExitsOff
	verdictLeft
	verdictReentered
	verdictInside
	verdictNotInside
)

// verdicts has the status and the reason with which each verdict is reported to a device.
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
	verdictExitsOff:       {ScanNotInside, "EXITS_OFF"},
	verdictLeft:           {ScanSuccess, ""},
	verdictReentered:      {ScanSuccess, ""},
	verdictInside:         {ScanDuplicate, "The ticket's holder is already inside."},
	verdictNotInside:      {ScanNotInside, "The ticket's holder is not inside."},
}

// scanReply makes the answer to a scan from its verdict. The answers about an admitted or a used ticket are
// made from the ticket's admission, so a repeat gets the same answer later.
func (t *Tickets) scanReply(ticket uint32, verdict byte, terms *Terms) *ScanReply {
	if verdict == verdictAdmitted {
		return t.firstAdmission(ticket, terms)
	}
	r := &ScanReply{Status: verdicts[verdict].status, Reason: verdicts[verdict].reason, Ticket: ticket}
	if verdict == verdictUsed {
		first := t.firstAdmission(ticket, terms)
		r.At, r.Gate, r.Holder = first.At, first.Gate, first.Holder
	}
	return r
}

// repeatReply makes the answer to a scan that got a verdict before.
func (t *Tickets) repeatReply(c Scan, ticket uint32, verdict byte, terms *Terms) *ScanReply {
	if isPassing(verdict) {
		c.Ticket = ticket
		return t.repeatPassing(t.trailOf(ticket), c, verdict, terms)
	}
	return t.scanReply(ticket, verdict, terms)
}

// answerScan remembers the verdict on a request, if r is not nil. The answer about a used ticket is made from
// the ticket, so this verdict is not remembered for a ticket that is not there.
func (t *Tickets) answerScan(r *engine.Request, at int64, ticket uint32, status, reason string) {
	if r == nil {
		return
	}
	for v := range verdicts {
		if verdicts[v].status == status && verdicts[v].reason == reason && (byte(v) != verdictUsed || t.rows.has(ticket)) {
			t.scans.Put(*r, at, uint64(ticket)<<8|uint64(v), maxScans)
			return
		}
	}
}

// afterEnds returns the time at which a scan is judged that is made now: at, or later if the event's node has noted the
// end of the ticket or of the event with a later time. Another node's clock may be behind that time, and what has
// ended must not admit anybody until that clock gets there.
func (t *Tickets) afterEnds(ticket uint32, terms *Terms, at int64) int64 {
	if terms.isOver() {
		at = max(at, terms.ChangedAt)
	}
	if t.rows.has(ticket) {
		at = max(at, t.rows.endOf(ticket))
	}
	return at
}

// judgeScan returns the verdict on a scan, by the state of things at a time in unix milliseconds.
// The end of an event that was cancelled or completed is taken to be its last change. A ticket that
// was refunded later is judged as it was at that time.
func (t *Tickets) judgeScan(c Scan, terms *Terms, at int64) byte {
	if c.Ticket == 0 || int(c.Ticket) > t.rows.len() {
		return verdictForeign
	}
	// The order of the cases decides which of several reasons the device gets: first whether the ticket is
	// valid at all, then whether the code is, and then whether the ticket was used.
	switch {
	case c.Out && !terms.Exits:
		return verdictExitsOff
	case !c.Out && t.rows.hadEnded(c.Ticket, at):
		return verdictCancelled
	case !c.Out && terms.Cancelled && at >= terms.ChangedAt:
		return verdictEventCancelled
	case c.Version != 0 && c.Version != t.hands.of(c.Ticket).Version:
		return verdictReplaced
	case c.Denied != "":
		return verdictStale
	case c.Printed && terms.RotatingOnly:
		return verdictPrinted
	case c.Out:
		return verdictLeft // whoever is inside may go out, whatever has become of the ticket
	case t.isUsed(c.Ticket, terms):
		return verdictUsed
	case terms.Completed && at >= terms.ChangedAt:
		return verdictEnded
	default:
		return t.judgeVisit(c.Ticket, at)
	}
}

// judgeVisit returns the verdict on the time of a scan. A ticket of a reservation admits only
// during the visit that was booked.
func (t *Tickets) judgeVisit(ticket uint32, at int64) byte {
	opens, closes, booked := t.rows.visitOf(ticket)
	switch {
	case booked && at < opens:
		return verdictNotYet
	case booked && at >= closes:
		return verdictOver
	default:
		return verdictAdmitted
	}
}

// sameScan reports whether a scan of a used ticket is a repeat of the scan that admitted it: it has the same
// key, or the same device makes it within two seconds.
func (t *Tickets) sameScan(c Scan, at int64) bool {
	i := int(c.Ticket) - 1
	if c.Key != 0 && c.Key == t.rows.key.At(i) {
		return true
	}
	return sameDevice(t.rows.device.At(i), deviceHash(c.Device), at-t.rows.at.At(i))
}

// firstAdmission returns the answer to the scan that last admitted the ticket.
func (t *Tickets) firstAdmission(ticket uint32, terms *Terms) *ScanReply {
	i := int(ticket) - 1
	return &ScanReply{
		Status: ScanSuccess, Ticket: ticket, Version: t.newVersion(ticket), Holder: t.holderName(ticket), IDCheck: terms.IDCheck,
		At: t.rows.at.At(i), Gate: t.gates.counts[t.rows.gate.At(i)].Name,
	}
}

// countStats adds up the gates' counters. The tickets that are neither admitted nor unused have ended before
// anybody was let in with them.
func (t *Tickets) countStats(terms *Terms) *Stats {
	st := &Stats{
		Issued: int64(t.rows.len()), Capacity: terms.Capacity,
		InsideCounted: terms.Exits || terms.InsideLimit > 0, InsideLimit: terms.InsideLimit,
		PerMin: slices.Clone(t.gates.minutes), Gates: slices.Clone(t.gates.counts),
	}
	for _, g := range st.Gates {
		st.Scanned += g.Scanned
		st.Admitted += g.Admitted
		st.Denied += g.Denied
	}
	st.Ended = st.Issued - st.Admitted - int64(t.rows.unused)
	return st
}

// applyCheckedIn notes an admission. If the ticket has a trail of passages, or had ended before (Late), the
// admission is added to its trail, and the gate's counters are computed from that.
func (t *Tickets) applyCheckedIn(f *CheckedIn) {
	if !t.rows.has(f.Ticket) {
		return
	}
	i := int(f.Ticket) - 1
	if f.Late || t.trails.findTrail(f.Ticket) != nil {
		t.notePassage(f.Ticket, &passage{At: f.At, Gate: f.Gate, Device: deviceHash(f.Device), Key: f.Key})
		t.gates.countMinute(f.At)
		t.rows.gate.Set(i, t.gates.number(f.Gate))
	} else {
		t.rows.gate.Set(i, t.gates.admit(f.Gate, f.At))
	}
	if !isEnded(t.rows.status.At(i)) { // false if the ticket was refunded after an offline device had let it in
		t.rows.setStatus(f.Ticket, StatusCheckedIn)
	}
	t.rows.at.Set(i, f.At)
	t.rows.device.Set(i, deviceHash(f.Device))
	t.rows.key.Set(i, f.Key)
	t.answerScan(f.Request, f.At, f.Ticket, ScanSuccess, "")
	t.endTransfer(f.Ticket, order.TransferStatusRevoked, f.At) // a ticket whose holder is inside can't be passed on
}

package admission

import "boxoffice/engine"

// passing is a scan while it is judged by the passages of its ticket.
type passing struct {
	scan    Scan
	verdict byte
	trail   *trail // the ticket's trail with the passage of the scan
	passage *passage
	request *engine.Request
}

// needsTrail reports whether a ticket's passages decide on a scan whose code is good. They do only where exits are
// counted, and even there the code alone decides on the first scan of a ticket, unless the holder wants to go out.
func (t *Tickets) needsTrail(c Scan, verdict byte, terms *Terms) bool {
	if !terms.Exits || verdict != verdictAdmitted && verdict != verdictLeft {
		return false
	}
	return c.Out || t.rows.status.At(int(c.Ticket)-1) != StatusIssued || t.trails.findTrail(c.Ticket) != nil
}

// isUsed reports whether a ticket was used and therefore admits nobody any more. Where exits are counted, a
// used ticket admits again after its holder has gone out. A ticket that has ended and has no trail counts as
// used even then, because nobody knows whether its holder is inside.
func (t *Tickets) isUsed(ticket uint32, terms *Terms) bool {
	if terms.Exits && (!isEnded(t.rows.status.At(int(ticket)-1)) || t.trails.findTrail(ticket) != nil) {
		return false
	}
	return t.rows.wasAdmitted(ticket)
}

// judgePassing places a scan among the passages of its ticket. It denies the scan if more passages contradict
// each other with it than without it: somebody would come in who is inside, or go out who is not.
func judgePassing(tr *trail, c Scan, at int64) *passing {
	// The scan is placed among all passages, because a device may report it later than others that happened after it.
	w := &passing{scan: c}
	w.trail, w.passage = tr.withPassage(&passage{At: at, Out: c.Out, Gate: c.Gate, Device: deviceHash(c.Device), Key: c.Key})
	denied := w.trail.countConflicts() > tr.countConflicts()
	switch {
	case denied && c.Out:
		w.verdict = verdictNotInside
	case denied:
		w.verdict = verdictInside
	case c.Out:
		w.verdict = verdictLeft
	case tr.lastStanding() == nil:
		w.verdict = verdictAdmitted
	default:
		w.verdict = verdictReentered
	}
	return w
}

// standsBefore returns the passage that a scan only repeats, or nil.
func (w *passing) standsBefore() (first *passage) {
	w.trail.visitPassages(func(p *passage, is step, before *passage) {
		if p == w.passage && is == stepRepeat {
			first = before
		}
	})
	return first
}

// decidePassage decides on a scan by the passages of its ticket (needsTrail). The person is at the gate now, so
// the scan counts as later than all passages that the event knows, whatever the clocks of devices said. A
// repeat makes no fact.
func (t *Tickets) decidePassage(c Scan, terms *Terms, at int64, request *engine.Request) engine.Decision {
	tr := t.trailOf(c.Ticket)
	if n := len(tr.Passages); n > 0 {
		at = max(at, tr.Passages[n-1].At+1)
	}
	w := judgePassing(tr, c, at)
	w.request = request
	reply := t.passingReply(w, terms)
	if w.trail == tr || w.standsBefore() != nil {
		return engine.Decision{Reply: reply}
	}
	f := t.passingFact(w)
	if denied, ok := f.(*CheckInDenied); ok {
		denied.Passed, denied.Key = false, 0 // the gate has let nobody through
		if request == nil {
			denied.Reason = ""
		}
	}
	return engine.Decision{Facts: []engine.Fact{f}, Reply: reply}
}

// passingFact returns the fact of a passage that has happened: an admission, a way in again or out, or, if the passage
// contradicts the others, a denial that says that it has happened (Passed).
func (t *Tickets) passingFact(w *passing) engine.Fact {
	c, at := &w.scan, w.passage.At
	switch w.verdict {
	case verdictAdmitted:
		late := isEnded(t.rows.status.At(int(c.Ticket) - 1))
		return &CheckedIn{Ticket: c.Ticket, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method, Key: c.Key, Request: w.request, Late: late}
	case verdictReentered, verdictLeft:
		return &GatePassed{Ticket: c.Ticket, Out: c.Out, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method, Key: c.Key, Request: w.request}
	default:
		says := verdicts[w.verdict]
		return &CheckInDenied{
			Ticket: c.Ticket, Status: says.status, Reason: says.reason, At: at, Gate: c.Gate, Device: c.Device, Method: c.Method,
			Request: w.request, Out: c.Out, Passed: true, Key: c.Key,
		}
	}
}

// passingReply makes the answer to a scan from its verdict. At and Gate come from the passage. If the scan only
// repeats an earlier passage, they come from the earlier passage. If the scan is denied, they come from the
// passage that it contradicts.
func (t *Tickets) passingReply(w *passing, terms *Terms) *ScanReply {
	says, ticket := verdicts[w.verdict], w.scan.Ticket
	r := &ScanReply{Status: says.status, Reason: says.reason, Ticket: ticket, Holder: t.holderName(ticket), Out: w.scan.Out}
	shown := w.passage
	if says.status == ScanSuccess {
		r.Version, r.IDCheck = t.newVersion(ticket), terms.IDCheck && !w.scan.Out
		if first := w.standsBefore(); first != nil {
			shown = first
		}
	} else {
		shown = w.trail.findContradicted(w.passage)
	}
	if shown != nil {
		r.At, r.Gate = shown.At, shown.Gate
	}
	return r
}

// repeatPassing makes the answer to a scan that is sent again. verdict is what was decided the first time.
func (t *Tickets) repeatPassing(tr *trail, c Scan, verdict byte, terms *Terms) *ScanReply {
	w := &passing{scan: c, verdict: verdict, trail: tr, passage: tr.findScan(c.Key)}
	if w.passage == nil { // the scan was denied at the gate, so there was no passage, or its passage is no longer remembered
		w.passage = &passage{Out: c.Out}
		if last := tr.lastStanding(); last != nil && last.Out == c.Out {
			w.trail = &trail{Before: last, Passages: []*passage{w.passage}}
		}
	}
	return t.passingReply(w, terms)
}

// isPassing reports whether a verdict was made by a ticket's passages (judgePassing). verdictAdmitted is not
// among these, because its answer is made from the ticket's admission.
func isPassing(verdict byte) bool {
	return verdict == verdictLeft || verdict == verdictReentered || verdict == verdictInside || verdict == verdictNotInside
}

// applyGatePassed notes a passage, and the answer to its scan.
func (t *Tickets) applyGatePassed(f *GatePassed) {
	if !t.rows.has(f.Ticket) {
		return
	}
	t.notePassage(f.Ticket, &passage{At: f.At, Out: f.Out, Gate: f.Gate, Device: deviceHash(f.Device), Key: f.Key})
	if f.Request != nil {
		verdict := verdictReentered
		if f.Out {
			verdict = verdictLeft
		}
		t.scans.Put(*f.Request, f.At, uint64(f.Ticket)<<8|uint64(verdict), maxScans)
	}
}

package admission

import (
	"cmp"
	"encoding/binary"
	"slices"

	"boxoffice/engine"
)

const (
	// earlyScanMillis is how long before the doors open an offline scan may have been made. People try out the
	// gates before the event.
	earlyScanMillis = 24 * 3600 * 1000
	// aheadScanMillis is how far a device's clock may be ahead of ours.
	aheadScanMillis = 5 * 60 * 1000
)

type (
	// ScanBatch judges scans that devices made earlier, each by the state of things when it was
	// made. It is answered by a *BatchReply.
	ScanBatch struct {
		Scans []BatchScan
		// Guesses says, for each device, how many wrong door codes are looked at, at most.
		Guesses []int
	}
	// BatchScan is one scan of a ScanBatch.
	BatchScan struct {
		Ticket  uint32 // serial of the ticket; 0 if the code is not of this event
		Version byte   // version of the holder whose code it is
		Printed bool   // whether a device read a code that does not rotate: a printed one, or a door code
		Denied  string // why the edge denies it; "" if the event is to judge it
		Gate    string
		Device  string
		At      int64 // when it was made, by the device's clock, in unix milliseconds
		// Request is made of the scan's device, time, code and direction. A scan with an equal Request gets the same
		// answer.
		Request engine.Request
		Guesser int  // for a door code, its device's place in Guesses, from 1; 0 for other codes
		Typed   bool // whether a person typed the code, and no device read it
		Out     bool `cbor:",omitempty"` // whether the holder went out
	}
	// BatchReply has the verdicts in the order of the scans, and how many wrong door codes
	// were looked at of each device.
	BatchReply struct {
		Results []ScanReply
		Wrong   []int
	}
)

// Command makes the types above commands (engine.Command).
func (ScanBatch) Command() {}

// unreadReason tells a device why a door code was not looked at.
const unreadReason = "Too many wrong door codes of this device; send it again in a minute."

// batch is a decision about a ScanBatch while it is being made. The state does not contain the
// scans of the batch that were judged before, so batch keeps them.
type batch struct {
	*Tickets
	terms    *Terms
	now      int64
	reply    *BatchReply
	facts    []engine.Fact
	admitted map[uint32]*CheckedIn
	trails   map[uint32]*trail // trails of the tickets in this batch, where exits are counted
	answered map[engine.ID]int // position of each request's result
}

// decideBatch judges the scans one after another. Each is judged with the admissions of the scans
// before it. All facts belong to one decision, so either the whole batch is noted or nothing of it.
func (t *Tickets) decideBatch(c ScanBatch, terms *Terms, now int64) engine.Decision {
	b := batch{
		Tickets: t, terms: terms, now: now, admitted: map[uint32]*CheckedIn{}, trails: map[uint32]*trail{}, answered: map[engine.ID]int{},
		reply: &BatchReply{Results: make([]ScanReply, len(c.Scans)), Wrong: make([]int, len(c.Guesses))},
	}
	for _, i := range orderScans(c.Scans, terms) {
		scan := &c.Scans[i]
		// Wrong door codes are limited for each device, because six characters can be guessed.
		// Scans beyond the limit are not looked at, and the device sends them again later.
		if g := scan.Guesser - 1; g >= 0 && b.reply.Wrong[g] >= c.Guesses[g] {
			b.reply.Results[i] = ScanReply{Status: ScanWrongEvent, Reason: unreadReason}
			continue
		}
		b.reply.Results[i] = *b.decideOne(scan)
		b.answered[scan.Request.ID] = i
		if g := scan.Guesser - 1; g >= 0 && b.reply.Results[i].Status == ScanWrongEvent {
			b.reply.Wrong[g]++
		}
	}
	return engine.Decision{Facts: b.facts, Reply: b.reply}
}

// decideOne judges one scan of a batch and adds its fact to b.facts. A scan that is known gets its first answer
// again, from this batch or from an earlier one.
func (b *batch) decideOne(c *BatchScan) *ScanReply {
	if i, known := b.answered[c.Request.ID]; known {
		return &b.reply.Results[i]
	}
	scan := Scan{
		Ticket: c.Ticket, Version: c.Version, Printed: c.Printed, Denied: c.Denied, Out: c.Out, Gate: c.Gate, Device: c.Device,
		Method: c.method(), Key: binary.BigEndian.Uint64(c.Request.ID[:8]),
	}
	if v, _, known := b.scans.Find(c.Request, b.now); known {
		return b.repeatReply(scan, uint32(v>>8), byte(v), b.terms)
	}
	// A code of a holder whom the ticket does not have yet was never given to anybody, so it
	// counts as a code of no ticket.
	if b.isGuess(c.Ticket, c.Version) {
		c.Ticket, scan.Ticket = 0, 0
	}
	// The device's clock may be wrong. A time that is not possible is moved into the span of times
	// that are.
	at := min(max(c.At, b.terms.earliestScan(b.now)), b.now+aheadScanMillis)
	verdict := b.judgeScan(scan, b.terms, at)
	if b.terms.Exits && (verdict == verdictAdmitted || verdict == verdictLeft) {
		// The code is good, so the ticket's passages decide.
		return b.decidePassage(scan, at, &c.Request)
	}
	first := b.admitted[c.Ticket]
	switch {
	case verdict == verdictUsed && b.sameScan(scan, at):
		return b.firstAdmission(c.Ticket, b.terms)
	case verdict == verdictAdmitted && first != nil && sameDevice(deviceHash(first.Device), deviceHash(c.Device), at-first.At):
		return b.admittedBy(first)
	case verdict == verdictAdmitted && first != nil:
		verdict = verdictUsed
	}
	if verdict == verdictAdmitted {
		f := &CheckedIn{Ticket: c.Ticket, At: at, Gate: c.Gate, Device: c.Device, Method: scan.Method, Key: scan.Key, Request: &c.Request}
		b.admitted[c.Ticket], b.facts = f, append(b.facts, f)
		return b.admittedBy(f)
	}
	says := verdicts[verdict]
	b.facts = append(b.facts, &CheckInDenied{
		Ticket: c.Ticket, Status: says.status, At: at, Gate: c.Gate, Device: c.Device, Request: &c.Request, Reason: says.reason, Method: scan.Method,
		Out: c.Out,
	})
	// The admission belongs to this batch, so the columns don't contain it yet.
	if first != nil && verdict == verdictUsed {
		return &ScanReply{Status: says.status, Reason: says.reason, Ticket: c.Ticket, Holder: b.holderName(c.Ticket), At: first.At, Gate: first.Gate}
	}
	return b.scanReply(c.Ticket, verdict, b.terms)
}

// orderScans returns the places of the scans in the order in which they are judged. Where exits are counted,
// that is the order of their times, so that nobody seems to go out before coming in. Elsewhere it is the order
// in which they came.
func orderScans(scans []BatchScan, terms *Terms) []int {
	places := make([]int, len(scans))
	for i := range places {
		places[i] = i
	}
	if terms.Exits {
		slices.SortStableFunc(places, func(a, b int) int { return cmp.Compare(scans[a].At, scans[b].At) })
	}
	return places
}

// decidePassage judges a scan of the batch by the passages of its ticket, and notes its fact. The person has
// already gone through the gate, because the device reports the scan afterwards. at is the time of the passage.
func (b *batch) decidePassage(c Scan, at int64, request *engine.Request) *ScanReply {
	tr := b.trails[c.Ticket]
	if tr == nil {
		tr = b.trailOf(c.Ticket)
	}
	w := judgePassing(tr, c, at)
	w.request = request
	if w.trail != tr {
		b.trails[c.Ticket] = w.trail.withoutOldest()
		b.facts = append(b.facts, b.passingFact(w))
	}
	return b.passingReply(w, b.terms)
}

// method returns how the code was read, for the fact's Method.
func (c *BatchScan) method() string {
	if c.Typed {
		return "manual"
	}
	return "batch"
}

// admittedBy returns the answer to a scan of this batch that admits.
func (b *batch) admittedBy(f *CheckedIn) *ScanReply {
	return &ScanReply{
		Status: ScanSuccess, Ticket: f.Ticket, Version: b.newVersion(f.Ticket), Holder: b.holderName(f.Ticket), IDCheck: b.terms.IDCheck,
		At: f.At, Gate: f.Gate,
	}
}

// earliestScan returns the earliest time at which a scan of the event may have been made: a day before the doors open.
// If they open later than a day from now, people are trying out the gates, and their scans may be up to a day old.
func (t *Terms) earliestScan(now int64) int64 {
	if t.DoorsAt-earlyScanMillis > now {
		return now - earlyScanMillis
	}
	return t.DoorsAt - earlyScanMillis
}

package gates

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/admission"
)

// clockAhead is how far a device's clock may be ahead of ours. readBatch replaces a later time by now plus clockAhead.
// The event's actor judges everything else about the time of a scan.
const clockAhead = 5 * time.Minute

// scanBatch sends the event, in one command, the scans that devices kept while they had no network, and answers with
// the verdicts. Door codes are short enough to guess, so wrong ones are limited: before the event is asked, the door
// codes are counted as wrong, up to the limits (takeGuesses). Those that were not wrong are uncounted afterwards.
func (h *Handlers) scanBatch(c *route.Call, in *api.ScanBatch) (*api.BatchVerdicts, error) {
	if err := checkQueued(in.Scans); err != nil {
		return nil, err
	}
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	b := h.readBatch(c, number, in.Scans)
	guesses := h.takeGuesses(c, b.devices)
	for i := range guesses {
		b.cmd.Guesses = append(b.cmd.Guesses, guesses[i].taken)
	}
	out := &api.BatchVerdicts{Results: make([]api.BatchVerdict, len(in.Scans))}
	// This is the answer to scans that are not sent to the event (readBatch). The other answers are replaced below.
	for i := range out.Results {
		why := foreignScan()
		out.Results[i] = api.BatchVerdict{Index: i, Status: why.Status, DeniedReason: why.DeniedReason}
	}
	r := &admission.BatchReply{Wrong: make([]int, len(guesses))}
	if len(b.cmd.Scans) > 0 {
		r, err = cluster.AskFor[admission.BatchReply](c.Context, h.Node, engine.EventRef(number), b.cmd)
		if err != nil {
			h.returnGuesses(c, guesses, make([]int, len(guesses)))
			return nil, err
		}
	}
	h.returnGuesses(c, guesses, r.Wrong)
	for i, at := range b.places {
		one := &r.Results[i]
		out.Results[at] = api.BatchVerdict{
			Index: at, Status: one.Status, DeniedReason: view.Optional(one.Reason), HolderName: view.Optional(one.Holder),
			FirstGate: view.Optional(one.Gate),
		}
		out.Results[at].FirstCheckedInAt, out.Results[at].LeftAt = passedAt(one)
		if one.Status == admission.ScanSuccess {
			code := h.Secrets.Event(number).Code(one.Ticket, max(one.Version, secrets.Version))
			out.Results[at].TicketCode = &code
		}
	}
	return out, nil
}

// checkQueued refuses a batch with a scan that does not have exactly one code.
func checkQueued(scans []api.QueuedScan) error {
	var issues []route.Issue
	for i := range scans {
		s, codes := &scans[i], 0
		for _, code := range []string{s.QRData, s.TicketCode, s.ShortCode} {
			if code != "" {
				codes++
			}
		}
		if codes != 1 && len(issues) < route.MaxIssues {
			issues = append(issues, route.Issue{
				Path: fmt.Sprintf("scans[%d]", i), Code: route.IssueRequired, Message: "must have one of qrData, ticketCode and shortCode",
			})
		}
	}
	if len(issues) > 0 {
		return route.Invalid(issues...)
	}
	return nil
}

// readBatch is a batch in the form in which its event judges it. Once the caller's credential has sent too many codes
// that are not the event's (countStranger), further ones are left out, unless they are door codes.
type readBatch struct {
	cmd admission.ScanBatch
	// places holds for each scan of the command its index in the request.
	places []int
	// devices are those that sent door codes. A scan's Guesser is an index into devices, counted from 1; 0
	// means that the scan has no door code.
	devices []guessingWith
}

// guessingWith is a device that sent door codes in a batch, and how many it sent.
type guessingWith struct {
	device string
	codes  int
}

// readBatch reads the codes of scans with the event's keys. It names each scan by its device, time and code and, if it
// is a way out, by that too. So a scan has the same name in every batch that contains it, and the event counts
// it once.
func (h *Handlers) readBatch(c *route.Call, number int64, scans []api.QueuedScan) *readBatch {
	codes, b, known := h.Secrets.Event(number), new(readBatch), map[string]int{}
	for i := range scans {
		s := &scans[i]
		text := secrets.CleanShown(cmp.Or(s.QRData, s.TicketCode, s.ShortCode))
		at := s.ScannedAt
		if latest := c.Now.Add(clockAhead); at.After(latest) {
			at = latest
		}
		says := codes.Typed(text)
		if s.QRData != "" {
			says = codes.Scan(s.QRData, at)
		}
		one := admission.BatchScan{
			Ticket: says.Serial, Version: says.Version, Printed: says.Printed, Gate: gateOf(c, s.GateName), Device: s.DeviceID, At: at.UnixMilli(),
			Typed: s.QRData == "", Out: s.Direction == directionOut,
		}
		if says.Verdict == secrets.Stale {
			one.Denied = admission.ScanExpired
		}
		// Only a door code is short enough to be guessed. The event's reply has for each Guesser the number of wrong
		// door codes.
		if secrets.IsShort(text) {
			device := s.LimitDevice()
			if known[device] == 0 {
				b.devices = append(b.devices, guessingWith{device: device})
				known[device] = len(b.devices)
			}
			one.Guesser = known[device]
			b.devices[one.Guesser-1].codes++
		} else if says.Verdict == secrets.Foreign && !h.countStranger(c) {
			continue
		}
		told := text
		// The name says a scan's direction only if it is a way out. Scans of the way in keep the names that they
		// had before there were ways out, so that old batches can be repeated.
		if one.Out {
			told += "|" + directionOut
		}
		scope := sha256.Sum256([]byte("batched scan|" + strconv.Quote(s.LimitDevice()) + "|" + strconv.FormatInt(s.ScannedAt.UnixMilli(), 10) + "|" + told))
		name := h.Secrets.Request(scope)
		one.Request = engine.Request{ID: engine.ID(name[:16])}
		b.cmd.Scans, b.places = append(b.cmd.Scans, one), append(b.places, i)
	}
	return b
}

// guesses are the wrong door codes that a device may send in this batch.
type guesses struct {
	counts []limit.Guess
	// taken is how many wrong codes the device may send. takeGuesses has counted them already.
	taken int
}

// takeGuesses counts for each device as many wrong door codes as it sends, but no more than the limits of the device,
// the credential and the network allow now. returnGuesses takes back those that were not wrong.
func (h *Handlers) takeGuesses(c *route.Call, devices []guessingWith) []guesses {
	all := make([]guesses, len(devices))
	for i, d := range devices {
		all[i].counts = h.guessCounts(c, d.device)
		for all[i].taken < d.codes && h.Guesses.Take(c, all[i].counts) == nil {
			all[i].taken++
		}
	}
	return all
}

// returnGuesses uncounts the door codes that were not wrong. wrong holds for each device the number of its wrong codes.
func (h *Handlers) returnGuesses(c *route.Call, all []guesses, wrong []int) {
	for i := range all {
		for range all[i].taken - wrong[i] {
			h.Guesses.GiveBack(c, all[i].counts)
		}
	}
}

// guessCounts returns the limits to which a wrong door code of a device counts. The name of a
// device is only what the caller says. So the credential and the network are counted as well.
func (h *Handlers) guessCounts(c *route.Call, device string) []limit.Guess {
	return []limit.Guess{
		h.Guesses.Of(limit.RuleDeviceCodes, limit.DeviceName(&c.Principal, device)),
		h.Guesses.Of(limit.RuleCodes, limit.CredentialName(&c.Principal)),
		h.Guesses.Of(limit.RuleNetCodes, route.Network(c.Client).String()),
	}
}

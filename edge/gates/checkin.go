package gates

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
)

// scanTicket reads a scanned code with the event's keys, which only the edge has, and asks the event to judge the
// ticket.
func (h *Handlers) scanTicket(c *route.Call, in *api.ScanTicket) (*api.ScanResult, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	return h.admitCode(c, number, shown{in.QRData, h.Secrets.Event(number).Scan(in.QRData, c.Now), in.LimitDevice()},
		admission.Scan{Gate: gateOf(c, in.GateName), Device: in.DeviceID, Method: in.Method, Out: in.Direction == directionOut})
}

// checkInManually lets the event judge the ticket of a code that a person has typed, at a desk for
// example.
func (h *Handlers) checkInManually(c *route.Call, in *api.ManualCheckIn) (*api.ScanResult, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	return h.admitCode(c, number, shown{in.TicketCode, h.Secrets.Event(number).Typed(in.TicketCode), in.LimitDevice()},
		admission.Scan{Gate: gateOf(c, in.GateName), Device: in.DeviceID, Method: "manual", Out: in.Direction == directionOut})
}

// shown is a code as it was shown at a gate, and what can be read from it without asking the event.
type shown struct {
	text   string
	says   secrets.Scanned
	device string // the device for which a wrong door code is counted
}

// admitCode asks the event to judge the ticket of a code. It also sends a code that has expired, because the counters
// of a gate include denials. The event gives a repeat with the same Idempotency-Key its first answer again. A code
// that is not the event's is not sent if the credential has sent too many of them. A door code is refused if too
// many wrong ones came (countGuess).
func (h *Handlers) admitCode(c *route.Call, number int64, code shown, cmd admission.Scan) (*api.ScanResult, error) {
	cmd.Request = live.RequestOf(c, h.Secrets)
	cmd.Ticket, cmd.Version, cmd.Printed = code.says.Serial, code.says.Version, code.says.Printed
	if code.says.Verdict == secrets.Stale {
		cmd.Denied = admission.ScanExpired
	}
	if c.IdempotencyKey != "" {
		sum := sha256.Sum256([]byte(c.IdempotencyKey))
		cmd.Key = binary.BigEndian.Uint64(sum[:8])
	}
	right, err := h.countGuess(c, code.text, code.device)
	if err != nil {
		return nil, err
	}
	if code.says.Verdict == secrets.Foreign && !h.countStranger(c) {
		return foreignScan(), nil
	}
	r, err := cluster.AskFor[admission.ScanReply](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil || r.Status != admission.ScanWrongEvent {
		// The code is one of the event's, or nobody has judged it. In either case it was no wrong
		// guess.
		right()
	}
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	v := &api.ScanResult{
		Status: r.Status, DeniedReason: view.Optional(r.Reason), HolderName: view.Optional(r.Holder),
		IDCheck: r.IDCheck,
	}
	v.CheckedInAt, v.LeftAt = passedAt(r)
	if r.Status == admission.ScanSuccess {
		code := h.Secrets.Event(number).Code(r.Ticket, max(r.Version, secrets.Version))
		v.TicketCode = &code
	} else {
		v.FirstGate = view.Optional(r.Gate)
	}
	return v, nil
}

// directionOut is the direction of a scan at which somebody leaves.
const directionOut = "out"

// passedAt returns the time that a verdict names: as out if somebody left at that time, and otherwise as in. The
// other result is nil.
func passedAt(r *admission.ScanReply) (in, out api.Time) {
	if r.Out {
		return nil, api.At(r.At)
	}
	return api.At(r.At), nil
}

// countStranger counts a code that is not one of the event's. It returns false if the caller's credential has sent too
// many of them; then the code must not be sent to the event, which would journal it.
func (h *Handlers) countStranger(c *route.Call) bool {
	return h.Guesses.Take(c, []limit.Guess{h.Guesses.Of(limit.RuleForeign, limit.CredentialName(&c.Principal))}) == nil
}

// undoCheckIn takes a ticket's last passage back (admission.UndoScan). A wrong door code counts as a guess, as it does
// in a scan.
func (h *Handlers) undoCheckIn(c *route.Call, in *api.UndoCheckIn) (*api.CheckInUndone, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	codes := h.Secrets.Event(number)
	says := codes.Typed(in.TicketCode)
	right, err := h.countGuess(c, in.TicketCode, "")
	if err != nil {
		return nil, err
	}
	if says.Verdict == secrets.Foreign {
		return nil, engine.Refuse(engine.TicketNotFound, nil)
	}
	r, err := cluster.AskFor[admission.ScanReply](c.Context, h.Node, engine.EventRef(number), admission.UndoScan{Ticket: says.Serial, Version: says.Version})
	// The code was right unless the event says that it has no such ticket.
	if refusal := (*engine.Refusal)(nil); !errors.As(err, &refusal) || refusal.Code != engine.TicketNotFound {
		right()
	}
	if err != nil {
		return nil, err
	}
	v := &api.CheckInUndone{TicketCode: codes.Code(says.Serial, says.Version), Status: "issued", HolderName: view.Optional(r.Holder)}
	if r.Status == admission.ScanSuccess {
		v.Status = "checked_in"
	}
	return v, nil
}

// foreignScan is the answer to a code that was not sent to the event because of countStranger. It has the same text as
// the event's own answer.
func foreignScan() *api.ScanResult {
	why := "This code is not a ticket of this event."
	return &api.ScanResult{Status: admission.ScanWrongEvent, DeniedReason: &why}
}

// countGuess counts a door code as a wrong guess, and does nothing for any other code. If one of the limits is
// reached, it counts nothing and returns a refusal, and the caller must not look at the code, so that nobody learns
// whether it is valid. Otherwise the caller must call right if the code turns out not to be wrong.
func (h *Handlers) countGuess(c *route.Call, code, device string) (right func(), err error) {
	if !secrets.IsShort(code) {
		return func() {}, nil
	}
	counts := h.guessCounts(c, device)
	if err := h.Guesses.Take(c, counts); err != nil {
		return nil, err
	}
	return func() { h.Guesses.GiveBack(c, counts) }, nil
}

// oneGate shows the counters of one gate. Gates are only names that devices send with scans, so a name that no scan
// has used yet is no error and has counters of 0.
func (h *Handlers) oneGate(c *route.Call, in *api.OneGate) (*api.GateCount, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := cluster.AskFor[admission.Stats](c.Context, h.Node, engine.EventRef(number), admission.GateStats{})
	if err != nil {
		return nil, err
	}
	v := viewGate(&admission.GateCount{Name: in.Gate}, s)
	for i := range s.Gates {
		if g := &s.Gates[i]; admission.GateKey(g.Name) == admission.GateKey(in.Gate) {
			v = viewGate(g, s)
		}
	}
	return &v, nil
}

// viewGate shows the counters of one gate of an event. The ways in and out are shown only if the event counts who is
// inside.
func viewGate(g *admission.GateCount, s *admission.Stats) api.GateCount {
	v := api.GateCount{Gate: g.Name, Scanned: g.Scanned, Admitted: g.Admitted, Denied: g.Denied}
	if s.InsideCounted {
		v.In, v.Out = new(g.In()), &g.Out
	}
	return v
}

// gateStats shows the counters of an event's gates. It asks the event itself, so the counters
// include every scan that was answered.
func (h *Handlers) gateStats(c *route.Call, in *api.ByID) (*api.GateStats, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := cluster.AskFor[admission.Stats](c.Context, h.Node, engine.EventRef(number), admission.GateStats{})
	if err != nil {
		return nil, err
	}
	return h.statsView(number, s, c.Now), nil
}

// statsView shows the counters of an event's gates. The entry rate is for the last full minute,
// because the present minute has only begun.
func (h *Handlers) statsView(number int64, s *admission.Stats, now time.Time) *api.GateStats {
	v := &api.GateStats{
		EventID: h.Known.PublicID(number), TicketsIssued: s.Issued, CheckedIn: s.Admitted, Scanned: s.Scanned, Denied: s.Denied,
		Remaining: max(0, s.Issued-s.Admitted-s.Ended), Gates: make([]api.GateCount, len(s.Gates)),
	}
	// An event without a capacity is as full as the part of its tickets that were checked in.
	whole := s.Capacity
	if whole == event.NoCapacity {
		whole = s.Issued
	}
	if whole > 0 {
		v.CapacityPercent = math.Round(float64(s.Admitted)*10_000/float64(whole)) / 100
	}
	last := now.Unix()/60 - 1
	for _, m := range s.PerMin {
		if m.Minute == last {
			v.EntryRate = m.Count
		}
	}
	for i := range s.Gates {
		v.Gates[i] = viewGate(&s.Gates[i], s)
	}
	if s.InsideCounted {
		viewInside(v, s)
	}
	return v
}

// viewInside shows how many people are inside, and how near that is to the event's limit. Alarms
// are at 90 and at 100 percent of the limit.
func viewInside(v *api.GateStats, s *admission.Stats) {
	in, out, inside := int64(0), int64(0), s.Inside()
	for i := range s.Gates {
		in, out = in+s.Gates[i].In(), out+s.Gates[i].Out
	}
	v.Inside, v.In, v.Out = &inside, &in, &out
	if s.InsideLimit == 0 {
		return
	}
	v.InsideLimit = &s.InsideLimit
	switch {
	case inside >= s.InsideLimit:
		v.InsideAlarm = new(int64(100))
	case inside*100 >= s.InsideLimit*90:
		v.InsideAlarm = new(int64(90))
	}
}

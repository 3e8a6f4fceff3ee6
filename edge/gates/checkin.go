package gates

import (
	"crypto/sha256"
	"encoding/binary"
	"math"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/limit"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
)

// scanTicket reads the code by the event's keys, which only the edge has, and
// has the event judge the ticket.
func (h *Handlers) scanTicket(c *route.Call, in *api.ScanTicket) (*api.ScanResult, error) {
	number, err := h.Known.FindOwn(c, in.EventID)
	if err != nil {
		return nil, err
	}
	codes := h.Secrets.Event(number)
	cmd := event.Scan{Gate: in.GateName, Device: in.DeviceID, Method: in.Method, Request: live.RequestOf(c, h.Secrets)}
	serial, verdict := codes.Scan(in.QRData, c.Now)
	switch verdict {
	case secrets.Genuine:
		cmd.Ticket = serial
	case secrets.Stale:
		cmd.Ticket, cmd.Denied = serial, event.ScanExpired
	case secrets.Foreign:
	}
	if c.IdempotencyKey != "" {
		sum := sha256.Sum256([]byte(c.IdempotencyKey))
		cmd.Key = binary.BigEndian.Uint64(sum[:8])
	}
	right, err := h.guess(c, in)
	if err != nil {
		return nil, err
	}
	if verdict == secrets.Foreign {
		journaled := h.guessCount(limit.RuleForeign, limit.CredentialName(&c.Principal))
		if !h.guesses.Take(journaled.subject, journaled.perMinute, c.Now).Allowed {
			return foreignScan(), nil
		}
	}
	r, err := cluster.AskFor[event.ScanReply](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil || r.Status != event.ScanWrongEvent {
		right() // or nobody has judged it
	}
	if err != nil {
		return nil, err
	}
	route.TellReplayed(c, r.Known)
	v := &api.ScanResult{
		Status: r.Status, DeniedReason: view.Optional(r.Reason), HolderName: view.Optional(r.Holder),
		IDCheck: r.IDCheck, CheckedInAt: api.At(r.At),
	}
	if r.Status == event.ScanSuccess {
		code := codes.Code(r.Ticket, secrets.Version)
		v.TicketCode = &code
	} else {
		v.FirstGate = view.Optional(r.Gate)
	}
	return v, nil
}

// foreignScan is the answer to a code that is no ticket of the event when its
// credential has sent so many of them that no more are journaled.
func foreignScan() *api.ScanResult {
	why := "This code is not a ticket of this event."
	return &api.ScanResult{Status: event.ScanWrongEvent, DeniedReason: &why}
}

// guess counts a door code as a wrong one unless it is taken back. Codes beyond a limit
// are not looked at. A device is what the caller says it is, so the credential and the
// network count as well.
func (h *Handlers) guess(c *route.Call, in *api.ScanTicket) (right func(), err error) {
	if !secrets.IsShort(in.QRData) {
		return func() {}, nil
	}
	counts := [...]guessCount{
		h.guessCount(limit.RuleDeviceCodes, limit.DeviceName(&c.Principal, in.LimitDevice())),
		h.guessCount(limit.RuleCodes, limit.CredentialName(&c.Principal)),
		h.guessCount(limit.RuleNetCodes, route.Network(c.Client).String()),
	}
	giveBack := func(some []guessCount) {
		for _, one := range some {
			h.guesses.Return(one.subject, one.perMinute, c.Now)
		}
	}
	for i, one := range counts {
		if v := h.guesses.Take(one.subject, one.perMinute, c.Now); !v.Allowed {
			giveBack(counts[:i]) // nobody looks at this code
			return nil, limit.Refuse(v)
		}
	}
	return func() { giveBack(counts[:]) }, nil
}

// guessCount is a count of wrong codes: whose, and how many are allowed in a minute.
type guessCount struct {
	subject   limit.Subject
	perMinute int
}

func (h *Handlers) guessCount(r limit.RateRule, name string) guessCount {
	return guessCount{h.guesses.Of(r.Name, name), limit.Scale(r.PerMinute, h.LimitsScale)}
}

func (h *Handlers) gateStats(c *route.Call, in *api.ByID) (*api.GateStats, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	s, err := cluster.AskFor[event.Stats](c.Context, h.Node, engine.EventRef(number), event.GateStats{})
	if err != nil {
		return nil, err
	}
	v := &api.GateStats{
		EventID: h.Known.PublicID(number), TicketsIssued: s.Issued, CheckedIn: s.Admitted, Scanned: s.Scanned, Denied: s.Denied,
		Remaining: max(0, s.Issued-s.Admitted), Gates: make([]api.GateCount, len(s.Gates)),
	}
	whole := s.Capacity
	if whole == event.NoCapacity {
		whole = s.Issued
	}
	if whole > 0 {
		v.CapacityPercent = math.Round(float64(s.Admitted)*10_000/float64(whole)) / 100
	}
	last := c.Now.Unix()/60 - 1
	for _, m := range s.PerMin {
		if m.Minute == last {
			v.EntryRate = m.Count
		}
	}
	for i, g := range s.Gates {
		v.Gates[i] = api.GateCount{Gate: g.Name, Scanned: g.Scanned, Admitted: g.Admitted, Denied: g.Denied}
	}
	return v, nil
}

package acts

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/ledger"
	"boxoffice/engine/order"
)

// fates draws what happens to tickets after their sale: some are passed on, some are moved, of some the money is
// asked back or the admission undone. Two seeds in three have fates at all. The draws are separate from the others,
// so that a seed without fates is the same run as before there were any.
type fates struct {
	*rand.Rand
	on bool
}

// newFates starts the draws of a seed.
func newFates(seed uint64) fates {
	return fates{rand.New(rand.NewPCG(seed, 0xfa7e)), seed%3 != 0}
}

// chance draws true with a probability of p, and is always false in a seed without fates.
func (f fates) chance(p float64) bool { return f.on && f.Float64() < p }

// playFates draws for each ticket of a sold order what happens to it later. After the world has healed nothing new
// begins.
func (s *Script) playFates(sh *show, o *order.Order) {
	if !s.fates.on || s.Healed() {
		return
	}
	// Each ticket has fates of its own. Later draws may meet a ticket that an earlier one has already changed.
	for i := range uint32(o.Tickets()) {
		ticket := o.FirstTicket + i
		if s.fates.chance(.25) {
			s.After(s.fateIn(6), func() { s.passOn(sh, ticket, 1) })
		}
		for sh.dates != nil && s.fates.chance(.35) {
			s.After(s.fateIn(8), func() { s.moveTicket(sh, o, ticket) })
		}
		if s.fates.chance(.1) {
			s.After(s.fateIn(8), func() { s.ask(sh.ref, admission.UndoScan{Ticket: ticket, Version: 1}, 3, nil) })
		}
	}
	if s.fates.chance(.06) {
		s.After(s.fateIn(15), func() { s.forgetPerson(sh, o.Email) })
	}
	if s.fates.chance(.06) { // These are the people to whom passOn passes tickets on.
		s.After(s.fateIn(15), func() { s.forgetPerson(sh, fmt.Sprintf("b%d@example.com", 1+s.fates.IntN(2))) })
	}
	// Money is asked for while tickets are still passed on, moved and shown at gates.
	if s.fates.chance(.35) {
		s.After(s.fateIn(8), func() { s.wantBack(sh, o) })
	}
	if s.fates.chance(.1) {
		s.After(s.fateIn(20), func() { s.wantBack(sh, o) }) // They want the rest, or the same tickets again.
	}
}

// fateIn draws a span of time of less than the given number of seconds, in microseconds.
func (s *Script) fateIn(seconds int64) int64 { return s.fates.Int64N(seconds * second) }

// passOn offers a ticket to somebody. The receiver may claim it, or the sender may take the offer back. Before and
// after that the codes of both are shown at the gates, because only the holder's code may admit. Version is the
// version of the holder who offers. It grows with every claim.
func (s *Script) passOn(sh *show, ticket uint32, version byte) {
	limit := 1 + s.fates.IntN(4)
	offer := admission.Transfer{Ticket: ticket, Version: version, From: "a@example.com", To: fmt.Sprintf("b%d@example.com", version), Name: "B"}
	s.ask(sh.ref, offer, limit, func(r engine.Reply) {
		reply, ok := r.(*admission.TransferReply)
		if !ok {
			return
		}
		s.showCodes(sh, ticket, version)
		for range 1 + s.fates.IntN(2) { // A link may be followed twice, and its sender may be as fast as its reader.
			if s.fates.chance(.25) {
				s.After(s.fateIn(5), func() { s.ask(sh.ref, admission.RevokeTransfer{Ticket: ticket, Version: version}, 2, nil) })
				continue
			}
			s.After(s.fateIn(5), func() {
				s.ask(sh.ref, admission.ClaimTransfer{Ticket: ticket, Round: reply.Transfer.Round}, 3, func(r engine.Reply) {
					if claimed, ok := r.(*admission.TransferReply); ok {
						s.showCodes(sh, ticket, version)
						s.showCodes(sh, ticket, claimed.Version)
						if s.fates.chance(.3) {
							s.After(s.fateIn(5), func() { s.passOn(sh, ticket, claimed.Version) })
						}
					}
				})
			})
		}
	})
}

// showCodes shows the code that one of a ticket's holders has at the gates, at times more than once.
func (s *Script) showCodes(sh *show, ticket uint32, version byte) {
	for s.fates.chance(.5) {
		sh.scans++
		scan := admission.Scan{
			Ticket: ticket, Version: version, Gate: fmt.Sprintf("gate %d", s.fates.IntN(3)), Method: "qr",
			Device: fmt.Sprintf("device %d", sh.scans), Key: sh.scans,
		}
		s.After(s.fateIn(4), func() { s.ask(sh.ref, scan, 1+s.fates.IntN(4), nil) })
	}
}

// wantBack asks for money of an order. Either the buyer asks for the money of some tickets and an organizer decides,
// or an organizer sends it back at once.
func (s *Script) wantBack(sh *show, o *order.Order) {
	// The order may have changed since it was sold, so the command brings the record of now.
	now := s.truth.Order(sh.ref.Home, o.ID)
	if now == nil || !now.Sold() {
		return
	}
	var tickets []uint32
	for i := range uint32(o.Tickets()) {
		if s.fates.chance(.6) {
			tickets = append(tickets, o.FirstTicket+i)
		}
	}
	ask := ledger.AskRefund{
		Order: o.ID, Record: now, Tickets: tickets, Amount: -1, Reason: "other", By: order.AskedByBuyer, Manual: s.fates.chance(.2),
	}
	if s.fates.chance(.4) {
		ask.By, ask.Approve = order.AskedByOrganization, true
	}
	// An approved request needs no decision. A request of the buyer waits for one.
	s.ask(sh.ref, ask, 1+s.fates.IntN(4), func(r engine.Reply) {
		reply, ok := r.(*ledger.OrderReply)
		if !ok || reply.Order == nil || ask.Approve {
			return
		}
		asked := slices.IndexFunc(reply.Order.Refunds, func(r order.Refund) bool { return r.Status == order.RefundRequested })
		if asked < 0 {
			return
		}
		for range 1 + s.fates.IntN(2) { // At times two organizers decide at once, and not alike.
			decide := ledger.DecideRefund{
				Order: o.ID, Record: reply.Order, Position: asked, Approve: s.fates.chance(.75), Amount: -1, Manual: ask.Manual,
			}
			s.After(s.fateIn(4), func() { s.ask(sh.ref, decide, 1+s.fates.IntN(4), nil) })
		}
		// The tickets are shown at gates while the decision is under way: one of both must lose.
		for _, ticket := range tickets {
			s.showCodes(sh, ticket, 1)
		}
	})
}

// RenewRecord returns a command that brings the record of an order with the record of now, because the edge reads the
// order anew when a client repeats a request. It returns other commands as they are. A ledger that has forgotten the
// order answers a record from before a ticket was passed on with UNAVAILABLE, however often it comes.
func (s *Script) RenewRecord(event int64, cmd engine.Command) engine.Command {
	switch c := cmd.(type) {
	case ledger.AskRefund:
		c.Record = s.truth.Order(event, c.Order)
		return c
	case ledger.DecideRefund:
		c.Record = s.truth.Order(event, c.Order)
		return c
	case ledger.Reschedule:
		c.Record = s.truth.Order(event, c.Order)
		return c
	}
	return cmd
}

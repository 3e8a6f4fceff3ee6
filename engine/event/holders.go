package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// hand is who holds a ticket that was offered to somebody, and its last transfer. A ticket that was
// never offered has no hand. A hand is replaced, never changed.
type hand struct {
	Version byte           `cbor:"1,keyasint"` // version of the holder, whose codes alone are valid
	Name    string         `cbor:"2,keyasint,omitempty"`
	Last    order.Transfer `cbor:"3,keyasint"`
}

const (
	// firstVersion is the version of a ticket's first holder.
	firstVersion byte = 1
	// lastVersion is the last version for which codes have a letter.
	lastVersion byte = 30
	// transferMillis is how long an offered ticket may be claimed.
	transferMillis = 7 * 24 * 3_600_000
)

// hands are the hands of the tickets that were offered to somebody.
type hands struct {
	list  []*hand
	index map[uint32]int // by serial
}

func (h *hands) of(ticket uint32) *hand {
	if i, ok := h.index[ticket]; ok {
		return h.list[i]
	}
	return &hand{Version: firstVersion}
}

func (h *hands) put(n *hand) {
	if i, ok := h.index[n.Last.Ticket]; ok {
		h.list[i] = n
		return
	}
	if h.index == nil {
		h.index = make(map[uint32]int)
	}
	h.index[n.Last.Ticket] = len(h.list)
	h.list = append(h.list, n)
}

// newVersion returns the version of a ticket's holder, or 0 if the ticket never changed hands.
func (s *State) newVersion(ticket uint32) byte {
	if h := s.hands.of(ticket); h.Version != firstVersion {
		return h.Version
	}
	return 0
}

// isGuess reports whether a code has a version that the ticket's holders have not reached yet, so
// that nobody was ever given the code.
func (s *State) isGuess(ticket uint32, version byte) bool {
	return version > s.hands.of(ticket).Version
}

// holderName returns the name on a ticket.
func (s *State) holderName(ticket uint32) string {
	if h := s.hands.of(ticket); h.Version != firstVersion {
		return h.Name
	}
	return s.minted.holderOf(ticket)
}

// decideTransfer offers a ticket to somebody, who has seven days to claim it.
func (s *State) decideTransfer(c Transfer, at int64) engine.Decision {
	h := s.hands.of(c.Ticket)
	if !s.minted.has(c.Ticket) || h.Version != c.Version {
		return refuse(engine.TicketNotFound, nil)
	}
	var reason string
	switch {
	case s.minted.status.At(int(c.Ticket)-1) != ticketIssued || h.Version >= lastVersion || s.isGivenBack(c.Ticket):
		reason = NotTransferableStatus
	case Ended(s.status):
		reason = NotTransferableOver
	case h.Last.Pending(at):
		reason = NotTransferablePending
	default:
		f := &order.TransferOffered{
			ID: s.minted.order.At(s.minted.groupOf(c.Ticket)), Ticket: c.Ticket, Round: h.Last.Round + 1,
			From: c.From, To: c.To, Name: c.Name, At: at, ExpiresAt: at + transferMillis,
		}
		return engine.Decision{Facts: []engine.Fact{f}, Reply: &TransferReply{Transfer: f.Transfer(), Order: f.ID, Version: h.Version}}
	}
	return refuse(engine.NotTransferable, NotTransferable{Reason: reason})
}

// isGivenBack reports whether somebody has asked for a ticket's money. A person who claimed such a
// ticket would lose it when the refund is granted.
func (s *State) isGivenBack(ticket uint32) bool {
	o := s.find(s.minted.order.At(s.minted.groupOf(ticket)))
	return o != nil && slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Gives(ticket) })
}

// decideRevoke takes an offered ticket back before it is claimed.
func (s *State) decideRevoke(c RevokeTransfer, at int64) engine.Decision {
	h := s.hands.of(c.Ticket)
	if !s.minted.has(c.Ticket) || h.Version != c.Version {
		return refuse(engine.TicketNotFound, nil)
	}
	if !h.Last.Pending(at) {
		return refuse(engine.TransferNotPending, nil)
	}
	f := &order.TransferRevoked{ID: s.minted.order.At(s.minted.groupOf(c.Ticket)), Ticket: c.Ticket, Round: h.Last.Round, At: at}
	last := h.Last
	last.Status, last.EndedAt = order.TransferStatusRevoked, at
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &TransferReply{Transfer: last, Order: f.ID, Version: h.Version}}
}

// decideClaim gives an offered ticket to the person it was offered to. After that only the new
// holder's codes are valid.
func (s *State) decideClaim(c ClaimTransfer, at int64) engine.Decision {
	h := s.hands.of(c.Ticket)
	if !s.minted.has(c.Ticket) || h.Last.Round != c.Round || !h.Last.Pending(at) ||
		s.minted.status.At(int(c.Ticket)-1) != ticketIssued || Ended(s.status) {
		return refuse(engine.TransferNotPending, nil)
	}
	f := &order.TicketTransferred{
		ID: s.minted.order.At(s.minted.groupOf(c.Ticket)), Ticket: c.Ticket, Round: c.Round, Version: h.Version + 1,
		Email: h.Last.To, Name: h.Last.Name, At: at,
	}
	last := h.Last
	last.Status, last.EndedAt = order.TransferStatusClaimed, at
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &TransferReply{Transfer: last, Order: f.ID, Version: f.Version}}
}

// applyTransfer applies a fact about a ticket's holder.
func (s *State) applyTransfer(f order.Fact) {
	switch f := f.(type) {
	case *order.TransferOffered:
		if s.minted.has(f.Ticket) {
			h := *s.hands.of(f.Ticket)
			h.Last = f.Transfer()
			s.hands.put(&h)
		}
	case *order.TransferRevoked:
		s.endTransfer(f.Ticket, order.TransferStatusRevoked, f.At)
	case *order.TicketTransferred:
		if s.minted.has(f.Ticket) {
			h := *s.hands.of(f.Ticket)
			h.Version, h.Name = f.Version, f.Name
			s.hands.put(&h)
			s.endTransfer(f.Ticket, order.TransferStatusClaimed, f.At)
		}
		s.changeOrder(f.ID, f.Fold)
	}
}

// endTransfer ends a ticket's transfer, if one is pending.
func (s *State) endTransfer(ticket uint32, status string, at int64) {
	h := *s.hands.of(ticket)
	if h.Last.Pending(at) {
		h.Last.Status, h.Last.EndedAt = status, at
		s.hands.put(&h)
	}
}

package admission

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/order"
)

// hand says who holds a ticket, and what its last transfer was. Only tickets that were once offered to somebody
// have a hand. A hand is replaced, never changed.
type hand struct {
	Version byte           `cbor:"1,keyasint"` // version of the holder, whose codes alone are valid
	Name    string         `cbor:"2,keyasint,omitempty"`
	Last    order.Transfer `cbor:"3,keyasint"`
}

const (
	// firstVersion is the version of a ticket's first holder.
	firstVersion byte = 1
	// lastVersion is the highest version of a holder. Codes write the version as one of 31 letters, so it can't be
	// above 31.
	lastVersion byte = 30
	// transferMillis is how long an offered ticket may be claimed.
	transferMillis = 7 * 24 * 3_600_000
)

// hands are the hands of the tickets that were offered to somebody.
type hands struct {
	list  []*hand
	index map[uint32]int // index into list, by the ticket's serial
}

// of returns the hand of a ticket. A ticket that was never offered is with its first holder.
func (h *hands) of(ticket uint32) *hand {
	if i, ok := h.index[ticket]; ok {
		return h.list[i]
	}
	return &hand{Version: firstVersion}
}

// put stores n as the hand of the ticket n.Last.Ticket.
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
func (t *Tickets) newVersion(ticket uint32) byte {
	if h := t.hands.of(ticket); h.Version != firstVersion {
		return h.Version
	}
	return 0
}

// isGuess reports whether a code has a version that the ticket's holders have not reached yet, so
// that nobody was ever given the code.
func (t *Tickets) isGuess(ticket uint32, version byte) bool {
	return version > t.hands.of(ticket).Version
}

// holderName returns the name on a ticket.
func (t *Tickets) holderName(ticket uint32) string {
	if h := t.hands.of(ticket); h.Version != firstVersion {
		return h.Name
	}
	return t.rows.holderOf(ticket)
}

// DecideTransfer offers a ticket to a person. They have seven days to claim it. It refuses a ticket that was used, has
// ended, is offered already or can have no other holder, and any ticket of an event that is over. o is the ticket's
// order, or nil if the ledger has forgotten its record.
func (t *Tickets) DecideTransfer(c Transfer, o *order.Order, terms *Terms, at int64) engine.Decision {
	h := t.hands.of(c.Ticket)
	if !t.rows.has(c.Ticket) || h.Version != c.Version {
		return refuse(engine.TicketNotFound, nil)
	}
	var reason string
	switch {
	// A ticket whose versions are used up can't be passed on.
	case t.rows.status.At(int(c.Ticket)-1) != StatusIssued || h.Version >= lastVersion || isGivenBack(o, c.Ticket):
		reason = NotTransferableStatus
	case terms.isOver():
		reason = NotTransferableOver
	case h.Last.Pending(at):
		reason = NotTransferablePending
	default:
		f := &order.TransferOffered{
			ID: t.rows.orderOf(c.Ticket), Ticket: c.Ticket, Round: h.Last.Round + 1,
			From: c.From, To: c.To, Name: c.Name, At: at, ExpiresAt: at + transferMillis,
		}
		return engine.Decision{Facts: []engine.Fact{f}, Reply: &TransferReply{Transfer: f.Transfer(), Order: f.ID, Version: h.Version}}
	}
	return refuse(engine.NotTransferable, NotTransferable{Reason: reason})
}

// isGivenBack reports whether somebody has asked for a ticket's money. A person who claimed such a
// ticket would lose it when the refund is granted.
func isGivenBack(o *order.Order, ticket uint32) bool {
	return o != nil && slices.ContainsFunc(o.Refunds, func(r order.Refund) bool { return r.Gives(ticket) })
}

// decideRevoke takes an offered ticket back before it is claimed. It is refused if no transfer is pending, or if the
// ticket's holder has another version than the command says.
func (t *Tickets) decideRevoke(c RevokeTransfer, at int64) engine.Decision {
	h := t.hands.of(c.Ticket)
	if !t.rows.has(c.Ticket) || h.Version != c.Version {
		return refuse(engine.TicketNotFound, nil)
	}
	if !h.Last.Pending(at) {
		return refuse(engine.TransferNotPending, nil)
	}
	f := h.Last.Revoke(t.rows.orderOf(c.Ticket), at)
	last := h.Last
	last.Status, last.EndedAt = order.TransferStatusRevoked, at
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &TransferReply{Transfer: last, Order: f.ID, Version: h.Version}}
}

// decideClaim gives an offered ticket to the person it was offered to. After that only the new holder's codes are
// valid. It refuses with TRANSFER_NOT_PENDING if the transfer is not the ticket's last one or not pending, if the
// ticket was used or has ended, and if the event is over.
func (t *Tickets) decideClaim(c ClaimTransfer, terms *Terms, at int64) engine.Decision {
	h := t.hands.of(c.Ticket)
	// The round names one transfer. The link of an earlier transfer of the ticket has another round.
	if !t.rows.has(c.Ticket) || h.Last.Round != c.Round || !h.Last.Pending(at) ||
		t.rows.status.At(int(c.Ticket)-1) != StatusIssued || terms.isOver() {
		return refuse(engine.TransferNotPending, nil)
	}
	f := &order.TicketTransferred{
		ID: t.rows.orderOf(c.Ticket), Ticket: c.Ticket, Round: c.Round, Version: h.Version + 1,
		Email: h.Last.To, Name: h.Last.Name, At: at, From: h.Last.From,
	}
	last := h.Last
	last.Status, last.EndedAt = order.TransferStatusClaimed, at
	return engine.Decision{Facts: []engine.Fact{f}, Reply: &TransferReply{Transfer: last, Order: f.ID, Version: f.Version}}
}

// applyTransfer applies a fact about a ticket's transfer.
func (t *Tickets) applyTransfer(f engine.Fact) {
	switch f := f.(type) {
	case *order.TransferOffered:
		if t.rows.has(f.Ticket) {
			h := *t.hands.of(f.Ticket)
			h.Last = f.Transfer()
			t.hands.put(&h)
		}
	case *order.TransferRevoked:
		t.endTransfer(f.Ticket, order.TransferStatusRevoked, f.At)
	case *order.TicketTransferred:
		if t.rows.has(f.Ticket) {
			h := *t.hands.of(f.Ticket)
			h.Version, h.Name = f.Version, f.Name
			t.hands.put(&h)
			t.endTransfer(f.Ticket, order.TransferStatusClaimed, f.At)
		}
	}
}

// endTransfer ends a ticket's transfer, if one is pending.
func (t *Tickets) endTransfer(ticket uint32, status string, at int64) {
	h := *t.hands.of(ticket)
	if h.Last.Pending(at) {
		h.Last.Status, h.Last.EndedAt = status, at
		t.hands.put(&h)
	}
}

// RevokeOf returns the facts that revoke the pending transfers of tickets to or from a person.
func (t *Tickets) RevokeOf(customer uint64, at int64) (facts []engine.Fact) {
	for _, h := range t.hands.list {
		if h.Last.Pending(at) && (order.IsCustomer(h.Last.From, customer) || order.IsCustomer(h.Last.To, customer)) {
			// Nobody gets mail about it: one of the two is being forgotten, and the other must not learn who
			// that was.
			facts = append(facts, &order.TransferRevoked{ID: t.rows.orderOf(h.Last.Ticket), Ticket: h.Last.Ticket, Round: h.Last.Round, At: at})
		}
	}
	return facts
}

// ErasePerson replaces a person's address in transfers by a pseudonym, and drops the person's name from transfers and
// from tickets that came to the person by one.
func (t *Tickets) ErasePerson(customer uint64, pseudonym string) {
	for _, h := range slices.Clone(t.hands.list) {
		t.hands.put(h.erasePerson(customer, pseudonym))
	}
}

// erasePerson returns the hand without a person's name and address. The hand's Name belongs to the
// holder: the recipient of the last claimed transfer.
func (h *hand) erasePerson(customer uint64, pseudonym string) *hand {
	c := *h
	if order.IsCustomer(c.Last.To, customer) {
		if c.Last.Status == order.TransferStatusClaimed {
			c.Name = ""
		}
		c.Last.To, c.Last.Name = pseudonym, ""
	}
	if order.IsCustomer(c.Last.From, customer) {
		c.Last.From = pseudonym
		if c.Last.Status != order.TransferStatusClaimed { // the person who offers the ticket still holds it
			c.Name = ""
		}
	}
	return &c
}

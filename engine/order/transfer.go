package order

import "boxoffice/engine"

// Transfer statuses (docs/rules.md, Statuses). No fact says that a transfer expired: it follows
// from the time.
const (
	TransferStatusPending = "pending"
	TransferStatusClaimed = "claimed"
	TransferStatusRevoked = "revoked"
	TransferStatusExpired = "expired"
)

// Transfer is a ticket that its holder passes on to somebody, who has to claim it. Times are unix milliseconds.
type Transfer struct {
	Ticket    uint32 `cbor:"1,keyasint"` // serial of the ticket
	Round     uint16 `cbor:"2,keyasint"` // counts the ticket's transfers from 1
	From      string `cbor:"3,keyasint"` // e-mail address of the holder who gives the ticket away
	To        string `cbor:"4,keyasint"`
	Name      string `cbor:"5,keyasint,omitempty"` // name of the recipient
	Status    string `cbor:"6,keyasint"`
	At        int64  `cbor:"7,keyasint"`
	ExpiresAt int64  `cbor:"8,keyasint"`
	EndedAt   int64  `cbor:"9,keyasint,omitempty"`
}

// Pending reports whether the ticket may be claimed at a time.
func (t *Transfer) Pending(at int64) bool {
	return t.Status == TransferStatusPending && at < t.ExpiresAt
}

// Now returns the transfer's status at a time.
func (t *Transfer) Now(at int64) string {
	if t.Status == TransferStatusPending && !t.Pending(at) {
		return TransferStatusExpired
	}
	return t.Status
}

// Holder is the holder of a ticket that has changed hands.
type Holder struct {
	Ticket  uint32 `cbor:"1,keyasint"` // serial of the ticket
	Version byte   `cbor:"2,keyasint"`
	Email   string `cbor:"3,keyasint"`
	Name    string `cbor:"4,keyasint,omitempty"`
}

// HolderOf returns the holder of one of the order's tickets. A ticket that has not changed hands has the holder
// whom its line names (Order.Holder), with version 1.
func (o *Order) HolderOf(ticket uint32) Holder {
	for _, h := range o.Holders {
		if h.Ticket == ticket {
			return h
		}
	}
	h := Holder{Ticket: ticket, Version: 1}
	if line, _, ok := o.LineOf(ticket); ok {
		h.Name, h.Email = o.Holder(line)
	}
	return h
}

// OwnerOf returns the person who has a holder's rights in one of the order's tickets: the buyer,
// whomever the ticket's line names, until the ticket is passed on.
func (o *Order) OwnerOf(ticket uint32) Holder {
	h := o.HolderOf(ticket)
	if h.Version == 1 {
		h.Email, h.Name = o.Email, o.Name
	}
	return h
}

// IsOwnedBy reports whether one of the order's tickets is the person's with an address.
func (o *Order) IsOwnedBy(address string, ticket uint32) bool {
	return NormalEmail(o.OwnerOf(ticket).Email) == NormalEmail(address)
}

// OwnsOfLine reports whether at least one of a line's tickets still belongs to the buyer and was not given
// back.
func (o *Order) OwnsOfLine(line int) bool {
	ticket := o.FirstTicket
	for i := range line {
		ticket += uint32(o.Lines[i].Quantity) //nolint:gosec // tickets of an order are few
	}
	for k := range o.Lines[line].Quantity {
		if t := ticket + uint32(k); o.IsOwnedBy(o.Email, t) && !o.IsGivenBack(t) { //nolint:gosec // the same
			return true
		}
	}
	return false
}

const (
	typeTransferOffered   engine.FactType = 40
	typeTransferRevoked   engine.FactType = 41
	typeTicketTransferred engine.FactType = 42
)

// These journaled facts are about a ticket that changes hands.
type (
	// TransferOffered begins a transfer. The ticket stays the holder's until it is claimed.
	TransferOffered struct {
		ID        engine.OrderID `cbor:"1,keyasint"`
		Ticket    uint32         `cbor:"2,keyasint"`
		Round     uint16         `cbor:"3,keyasint"`
		From      string         `cbor:"4,keyasint"`
		To        string         `cbor:"5,keyasint"`
		Name      string         `cbor:"6,keyasint,omitempty"`
		At        int64          `cbor:"7,keyasint"`
		ExpiresAt int64          `cbor:"8,keyasint"`
	}
	// TransferRevoked ends a transfer that nobody has claimed. From, To and Name are the transfer's, so that the
	// recipient can be told; To is "" if nobody is to be told.
	TransferRevoked struct {
		ID     engine.OrderID `cbor:"1,keyasint"`
		Ticket uint32         `cbor:"2,keyasint"`
		Round  uint16         `cbor:"3,keyasint"`
		At     int64          `cbor:"4,keyasint"`
		From   string         `cbor:"5,keyasint,omitempty"`
		To     string         `cbor:"6,keyasint,omitempty"`
		Name   string         `cbor:"7,keyasint,omitempty"`
	}
	// TicketTransferred gives the ticket to its new holder, with codes of a new version. From is the
	// e-mail of the person who passed it on, which early journals don't have.
	TicketTransferred struct {
		ID      engine.OrderID `cbor:"1,keyasint"`
		Ticket  uint32         `cbor:"2,keyasint"`
		Round   uint16         `cbor:"3,keyasint"`
		Version byte           `cbor:"4,keyasint"`
		Email   string         `cbor:"5,keyasint"`
		Name    string         `cbor:"6,keyasint,omitempty"`
		At      int64          `cbor:"7,keyasint"`
		From    string         `cbor:"8,keyasint,omitempty"`
	}
)

// Revoke returns the fact that takes a transfer back.
func (t *Transfer) Revoke(id engine.OrderID, at int64) *TransferRevoked {
	return &TransferRevoked{ID: id, Ticket: t.Ticket, Round: t.Round, At: at, From: t.From, To: t.To, Name: t.Name}
}

// Transfer returns the transfer that the fact begins.
func (f *TransferOffered) Transfer() Transfer {
	return Transfer{
		Ticket: f.Ticket, Round: f.Round, From: f.From, To: f.To, Name: f.Name,
		Status: TransferStatusPending, At: f.At, ExpiresAt: f.ExpiresAt,
	}
}

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*TransferOffered) FactType() engine.FactType   { return typeTransferOffered }
func (*TransferRevoked) FactType() engine.FactType   { return typeTransferRevoked }
func (*TicketTransferred) FactType() engine.FactType { return typeTicketTransferred }

// OrderID returns the order's id.
func (f *TransferOffered) OrderID() engine.OrderID   { return f.ID }
func (f *TransferRevoked) OrderID() engine.OrderID   { return f.ID }
func (f *TicketTransferred) OrderID() engine.OrderID { return f.ID }

// Happened returns when the fact was decided.
func (f *TransferOffered) Happened() int64   { return f.At }
func (f *TransferRevoked) Happened() int64   { return f.At }
func (f *TicketTransferred) Happened() int64 { return f.At }

// Fold returns the order unchanged, because an order knows its tickets' holders, but no transfers that are pending.
func (f *TransferOffered) Fold(o *Order) *Order { return o }

// Fold returns the order unchanged, because an order knows its tickets' holders, but no transfers that are pending.
func (f *TransferRevoked) Fold(o *Order) *Order { return o }

// Fold returns the order with the ticket's new holder.
func (f *TicketTransferred) Fold(o *Order) *Order {
	c := *o
	c.UpdatedAt = f.At
	c.Holders = make([]Holder, 0, len(o.Holders)+1)
	for _, h := range o.Holders {
		if h.Ticket != f.Ticket {
			c.Holders = append(c.Holders, h)
		}
	}
	c.Holders = append(c.Holders, Holder{Ticket: f.Ticket, Version: f.Version, Email: f.Email, Name: f.Name})
	return &c
}

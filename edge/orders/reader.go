package orders

import (
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// Reader is a person or an organization that reads an order. It decides what they see of the order's tickets.
type Reader struct {
	person  bool
	address string       // the person's
	scopes  route.Scopes // the scopes of the organization's member or key; only used if the reader is no person
}

// Person returns the Reader for a person who has proven to own an address, or who has the token of an order that was
// placed with the address.
func Person(address string) Reader { return Reader{person: true, address: address} }

// Seller returns the Reader for a member or key of the organization that sells, with its grant there.
func Seller(g route.Grant) Reader { return Reader{scopes: g.Scopes} }

// IsPerson reports whether the reader is a person, and not the organization.
func (r Reader) IsPerson() bool { return r.person }

// Sight says which parts of a ticket a reader sees, besides those that everybody with the order sees.
type Sight struct {
	Codes    bool // the full code, the door code and the QR payload
	Delivery bool // where the ticket's content is delivered, and the note that belongs to that
	Holder   bool // the holder's name and address
}

// Sees returns which parts of one of an order's tickets the reader sees. A person sees all parts of their own tickets,
// and none of tickets that they have passed on. The organization always sees the holder, the codes with the scope
// checkin:write, and the delivery with the scope tickets:read.
func (r Reader) Sees(o *order.Order, ticket uint32) Sight {
	if r.person {
		theirs := o.IsOwnedBy(r.address, ticket)
		return Sight{Codes: theirs, Delivery: theirs, Holder: theirs}
	}
	return Sight{Codes: r.scopes&route.CheckinWrite != 0, Delivery: r.scopes&route.TicketsRead != 0, Holder: true}
}

// Token returns the token of an order for a reader who sees all that it opens, else "".
func (d *Desk) Token(o *order.Order, r Reader) string {
	const all = route.CheckinWrite | route.TicketsRead
	if r.person && order.NormalEmail(r.address) == order.NormalEmail(o.Email) || r.scopes&all == all {
		return d.Secrets.OrderToken(o.ID)
	}
	return ""
}

package orders

import (
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// Reader is who reads an order: a person or the selling organization. It decides what they see of
// the order's tickets.
type Reader struct {
	person  bool
	address string       // the person's
	scopes  route.Scopes // the caller's scopes in the organization, if the reader is not a person
}

// Person returns a reader who has proven to own an address, or who has the token of an order of
// that address.
func Person(address string) Reader { return Reader{person: true, address: address} }

// Seller returns a reader who acts for the selling organization, with the scopes of a grant.
func Seller(g route.Grant) Reader { return Reader{scopes: g.Scopes} }

// IsPerson reports whether the reader is a person, and not the organization.
func (r Reader) IsPerson() bool { return r.person }

// Sight says which parts of a ticket a reader sees, besides those that every reader of the order
// sees.
type Sight struct {
	Codes    bool // the full code, the door code and the QR payload
	Delivery bool // the address of what the ticket delivers, and the organizer's note about it
	Holder   bool // who holds the ticket
}

// Sees returns what the reader is shown of one of an order's tickets. A person sees everything of a
// ticket that they hold, and none of these parts of a ticket that they have passed on. The
// organization always sees the holder. It sees codes with the scope to check in, and the delivery
// with the scope to read tickets.
func (r Reader) Sees(o *order.Order, ticket uint32) Sight {
	if r.person {
		theirs := o.IsOwnedBy(r.address, ticket)
		return Sight{Codes: theirs, Delivery: theirs, Holder: theirs}
	}
	return Sight{Codes: r.scopes&route.CheckinWrite != 0, Delivery: r.scopes&route.TicketsRead != 0, Holder: true}
}

// Token returns the order's token for a reader who may see everything that the token opens (the
// buyer, or a seller with both scopes), and otherwise "".
func (d *Desk) Token(o *order.Order, r Reader) string {
	const all = route.CheckinWrite | route.TicketsRead
	if r.person && order.NormalEmail(r.address) == order.NormalEmail(o.Email) || r.scopes&all == all {
		return d.Secrets.OrderToken(o.ID)
	}
	return ""
}

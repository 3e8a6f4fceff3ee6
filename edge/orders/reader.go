package orders

import (
	"boxoffice/edge/route"
	"boxoffice/engine/order"
)

// Reader is who reads an order. It decides what they are shown of the order's tickets.
type Reader struct {
	person  bool
	address string       // the person's
	scopes  route.Scopes // of the organization, if it is no person
}

// Person is a reader who has proven to own an address, or has the token of what was ordered for it.
func Person(address string) Reader { return Reader{person: true, address: address} }

// Seller is the organization that sells, by a grant in it.
func Seller(g route.Grant) Reader { return Reader{scopes: g.Scopes} }

// IsPerson reports whether the reader is a person, and not the organization.
func (r Reader) IsPerson() bool { return r.person }

// Sight is what a reader is shown of a ticket, beside what the order itself says of it.
type Sight struct {
	Codes    bool // what admits: the full code, the door code and the QR payload
	Delivery bool // where it is delivered, and what its holder needs there
	Holder   bool // who has it
}

// Sees returns what the reader is shown of one of an order's tickets. A person sees all of what is
// theirs, and nothing of what they have passed on. The organization knows who has its tickets; it
// sees what admits if it may admit, and what is delivered if it may read ticket types.
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

package order

import (
	"slices"
	"strings"

	"boxoffice/engine"
)

// pseudonymDomain will never have a mail server (RFC 2606), so no mail to a pseudonym can reach
// anybody.
const pseudonymDomain = "@erased.invalid"

// Pseudonym returns an address that belongs to nobody, for a person who wants to be forgotten. The
// caller draws its first part at random, so that it tells nothing about the person.
func Pseudonym(drawn string) string { return drawn + pseudonymDomain }

// IsPseudonym reports whether an address is a pseudonym, to which no mail is sent.
func IsPseudonym(email string) bool { return strings.HasSuffix(email, pseudonymDomain) }

// NormalEmail returns the form in which addresses are compared and hashed.
func NormalEmail(s string) string { return strings.ToLower(strings.TrimSpace(s)) }

const typeErased engine.FactType = 43

// Erased replaces a person's name and address in an order by a pseudonym. It identifies the person
// by the hash of the address, so that the fact itself does not tell who it was.
type Erased struct {
	ID        engine.OrderID `cbor:"1,keyasint"`
	Customer  uint64         `cbor:"2,keyasint"`           // CustomerOf the person's address
	Pseudonym string         `cbor:"3,keyasint"`           // replaces the address; names become empty
	Names     []uint32       `cbor:"4,keyasint,omitempty"` // the first ticket of each line whose tickets bore the name
	At        int64          `cbor:"5,keyasint"`
}

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*Erased) FactType() engine.FactType { return typeErased }

// OrderID returns the order's id.
func (f *Erased) OrderID() engine.OrderID { return f.ID }

// Happened returns when the fact was decided.
func (f *Erased) Happened() int64 { return f.At }

// Fold returns the order without the person's name and address.
func (f *Erased) Fold(o *Order) *Order {
	c := o.Erase(f.Customer, f.Pseudonym)
	c.UpdatedAt = f.At
	return c
}

// Erase returns the order with a pseudonym in place of the person whose address has the hash customer: as the
// buyer, as a holder of tickets and as an attendee that lines name. The texts about refunds that the person
// asked for, or whose tickets the person owns, are erased too. If the person is the buyer, so are the names
// that the buyer gave without an address, the note of an issued order, and the texts about all refunds. The
// hash stays in Customer, because caps count by it.
func (o *Order) Erase(customer uint64, pseudonym string) *Order {
	is := func(email string) bool { return email != "" && CustomerOf(NormalEmail(email)) == customer }
	buyer := is(o.Email)
	c := *o
	c.Lines, c.Holders, c.Refunds = slices.Clone(o.Lines), slices.Clone(o.Holders), slices.Clone(o.Refunds)
	for i := range c.Lines {
		switch l := &c.Lines[i]; {
		case is(l.AttendeeEmail):
			l.AttendeeEmail, l.AttendeeName = pseudonym, ""
		case buyer && l.AttendeeEmail == "":
			l.AttendeeName = ""
		}
	}
	for i := range c.Holders {
		if h := &c.Holders[i]; is(h.Email) {
			h.Email, h.Name = pseudonym, ""
		}
	}
	if buyer {
		c.Email, c.Name = pseudonym, ""
		if o.Issue != nil {
			issue := *o.Issue
			issue.Note = ""
			c.Issue = &issue
		}
	}
	for i := range c.Refunds {
		if buyer {
			c.Refunds[i].Note = ""
		}
		if ask := c.Refunds[i].Ask; ask != nil && (buyer || o.isAskedBy(ask, customer, is)) {
			quiet := *ask
			quiet.Message, quiet.Evidence, quiet.Note = "", nil, ""
			c.Refunds[i].Ask, c.Refunds[i].Reason, c.Refunds[i].Note = &quiet, "", ""
		}
	}
	return &c
}

// isAskedBy reports whether a customer asked for a refund, or owns one of its tickets. The texts
// about the refund must then be erased.
func (o *Order) isAskedBy(ask *Ask, customer uint64, is func(email string) bool) bool {
	return ask.Asker == customer || slices.ContainsFunc(ask.Tickets, func(ticket uint32) bool { return is(o.OwnerOf(ticket).Email) })
}

// RenamedLines lists the first ticket of each line whose tickets have another name in the changed order after,
// or none any more. Erased carries the lines in this form. It is nil if the order has no tickets.
func (o *Order) RenamedLines(after *Order) (first []uint32) {
	if !o.Sold() {
		return nil
	}
	serial := o.FirstTicket
	for i := range o.Lines {
		was, _ := o.Holder(i)
		if is, _ := after.Holder(i); is != was {
			first = append(first, serial)
		}
		serial += uint32(o.Lines[i].Quantity)
	}
	return first
}

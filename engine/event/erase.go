package event

import (
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// PersonErased replaces a person's name and address by a pseudonym on the waitlist, in the orders that are offered
// to the person, and in the transfers of tickets from or to the person. The other orders that name the person are
// changed by facts of their own (order.Erased).
type PersonErased struct {
	Customer  uint64 `cbor:"1,keyasint"` // order.CustomerOf the person's address
	Pseudonym string `cbor:"2,keyasint"`
	At        int64  `cbor:"3,keyasint"`
}

// FactType returns the number that tells facts of this type from others of the same kind of actor.
func (*PersonErased) FactType() engine.FactType { return typePersonErased }

// decideErase replaces a person's name and address wherever the event knows them. The person leaves
// the waitlist, and pending transfers of tickets to or from the person are revoked. The command has the
// records of all orders that name the person, because the ledger forgets the records of orders that
// have ended.
func (s *State) decideErase(c Erase, at int64) engine.Decision {
	d := engine.Decision{Reply: s.makeRecord()}
	for _, e := range s.line.OfCustomer(c.Customer) {
		switch e.Status {
		case waitlist.StatusWaiting:
			d.Facts = append(d.Facts, &waitlist.EntryEnded{ID: e.ID, Status: waitlist.StatusCancelled, At: at})
		case waitlist.StatusOffered:
			if o := s.book.Find(e.ID); o != nil {
				d.Add(s.book.EndOffer(o.Erase(c.Customer, c.Pseudonym), waitlist.StatusCancelled, at))
			}
		}
	}
	// The pending transfers of tickets to or from the person are revoked before the name is replaced, because
	// they are found by the person's address.
	d.Facts = append(d.Facts, s.tickets.RevokeOf(c.Customer, at)...)
	d.Facts = append(d.Facts, &PersonErased{Customer: c.Customer, Pseudonym: c.Pseudonym, At: at})
	for _, o := range c.Orders {
		// The ledger's own record may be newer than the one that the caller has read from the
		// read model.
		if kept := s.book.Find(o.ID); kept != nil {
			o = kept
		}
		f := &order.Erased{ID: o.ID, Customer: c.Customer, Pseudonym: c.Pseudonym, At: at}
		f.Names = o.RenamedLines(f.Fold(o))
		d.Facts = append(d.Facts, f)
	}
	return d
}

// applyPersonErased replaces the person in the orders that are offered to people on the waitlist,
// on the waitlist itself, and in the transfers of tickets.
func (s *State) applyPersonErased(f *PersonErased) {
	// An order that is offered to the person has the id of one of the person's entries.
	for _, e := range s.line.OfCustomer(f.Customer) {
		s.book.EraseOffered(e.ID, f.Customer, f.Pseudonym)
	}
	s.line.Erase(f.Customer, f.Pseudonym)
	s.tickets.ErasePerson(f.Customer, f.Pseudonym)
}

package event

import (
	"slices"

	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// PersonErased replaces a person's name and address by a pseudonym on the waitlist and in the
// transfers of tickets from or to the person. What orders say about the person is replaced by facts
// of their own (order.Erased).
type PersonErased struct {
	Customer  uint64 `cbor:"1,keyasint"` // order.CustomerOf the address
	Pseudonym string `cbor:"2,keyasint"`
	At        int64  `cbor:"3,keyasint"`
}

// FactType numbers the fact.
func (*PersonErased) FactType() engine.FactType { return typePersonErased }

// decideErase replaces a person's name and address wherever the event knows them. The person leaves
// the waitlist, and pending offers of tickets to or by the person are revoked. The ledger forgets
// the records of orders that have ended, so the caller passes all of them.
func (s *State) decideErase(c Erase, at int64) engine.Decision {
	d := engine.Decision{Reply: s.makeRecord()}
	for _, e := range s.line.OfCustomer(c.Customer) {
		switch e.Status {
		case waitlist.StatusWaiting:
			d.Facts = append(d.Facts, &waitlist.EntryEnded{ID: e.ID, Status: waitlist.StatusCancelled, At: at})
		case waitlist.StatusOffered:
			if o := s.find(e.ID); o != nil {
				mergeDecision(&d, s.endOffer(o.Erase(c.Customer, c.Pseudonym), waitlist.StatusCancelled, at))
			}
		}
	}
	for _, h := range s.hands.list {
		if h.Last.Pending(at) && (isCustomer(h.Last.From, c.Customer) || isCustomer(h.Last.To, c.Customer)) {
			id := s.minted.order.At(s.minted.groupOf(h.Last.Ticket))
			d.Facts = append(d.Facts, &order.TransferRevoked{ID: id, Ticket: h.Last.Ticket, Round: h.Last.Round, At: at})
		}
	}
	d.Facts = append(d.Facts, &PersonErased{Customer: c.Customer, Pseudonym: c.Pseudonym, At: at})
	for _, o := range c.Orders {
		if kept := s.find(o.ID); kept != nil {
			o = kept
		}
		f := &order.Erased{ID: o.ID, Customer: c.Customer, Pseudonym: c.Pseudonym, At: at}
		f.Names = o.RenamedLines(f.Fold(o))
		d.Facts = append(d.Facts, f)
	}
	return d
}

// isCustomer reports whether customer is the hash of an address.
func isCustomer(email string, customer uint64) bool {
	return email != "" && order.CustomerOf(order.NormalEmail(email)) == customer
}

func (s *State) applyPersonErased(f *PersonErased) {
	for _, e := range s.line.OfCustomer(f.Customer) {
		s.changeOrder(e.ID, func(o *order.Order) *order.Order { return o.Erase(f.Customer, f.Pseudonym) })
	}
	s.line.Erase(f.Customer, f.Pseudonym)
	for _, h := range slices.Clone(s.hands.list) {
		s.hands.put(h.erasePerson(f.Customer, f.Pseudonym))
	}
}

// erasePerson returns the hand without a person's name and address. The hand's Name is that of the
// holder, who is the recipient of the last claimed transfer.
func (h *hand) erasePerson(customer uint64, pseudonym string) *hand {
	c := *h
	if isCustomer(c.Last.To, customer) {
		if c.Last.Status == order.TransferStatusClaimed {
			c.Name = ""
		}
		c.Last.To, c.Last.Name = pseudonym, ""
	}
	if isCustomer(c.Last.From, customer) {
		c.Last.From = pseudonym
		if c.Last.Status != order.TransferStatusClaimed { // the person who offers the ticket still holds it
			c.Name = ""
		}
	}
	return &c
}

// applyErased removes the person from an order, and the name from its tickets.
func (s *State) applyErased(f *order.Erased) {
	s.changeOrder(f.ID, f.Fold)
	for _, first := range f.Names {
		if s.minted.has(first) {
			s.minted.eraseName(s.minted.groupOf(first))
		}
	}
}

// eraseName overwrites the holder's name of a group. The name keeps its length.
func (t *tickets) eraseName(group int) {
	start := uint32(0)
	if group > 0 {
		start = t.nameEnd.At(group - 1)
	}
	for i := start; i < t.nameEnd.At(group); i++ {
		t.names.Set(int(i), erasedByte)
	}
}

// erasedByte replaces each byte of an erased name. No text contains it.
const erasedByte = 0

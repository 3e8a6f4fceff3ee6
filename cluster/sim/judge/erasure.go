package judge

import (
	"fmt"

	"boxoffice/engine/enginetest"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
)

// namesPerson returns whether an order names a customer anywhere: as its buyer, as an attendee, or as a ticket's
// holder. It compares by the customer's number, which derives from the normal form of an address.
func namesPerson(o *order.Order, customer uint64) bool {
	is := func(email string) bool { return order.CustomerOf(order.NormalEmail(email)) == customer }
	if is(o.Email) {
		return true
	}
	for i := range o.Lines {
		if is(o.Lines[i].AttendeeEmail) {
			return true
		}
	}
	for i := range o.Holders {
		if is(o.Holders[i].Email) {
			return true
		}
	}
	return false
}

// judgePersonErased judges what an event still keeps of a person who is erased. The person may wait for nothing in
// the waitlist, and no ticket may be on offer to or from the person. It then puts the pseudonym in the judge's own
// entries and orders, because later answers must show nothing else.
func (b *book) judgePersonErased(f *event.PersonErased) error {
	for _, id := range b.line.ids {
		e := b.line.entries[id]
		if e.Customer != f.Customer {
			continue
		}
		if e.Status == waitlist.StatusWaiting || e.Status == waitlist.StatusOffered {
			return fmt.Errorf("entry %s of somebody who is forgotten is %s", enginetest.OrderName(id), e.Status)
		}
		e.Email, e.Name = f.Pseudonym, ""
		// An entry may have become an order by an offer. Such an order has no fact of its own for the erasure.
		if sl := b.orders[id]; sl != nil {
			sl.order = sl.order.Erase(f.Customer, f.Pseudonym)
			sl.erasures = append(sl.erasures, &order.Erased{Customer: f.Customer, Pseudonym: f.Pseudonym})
		}
	}
	for ticket, h := range b.hands {
		if h.offer != nil && (order.CustomerOf(h.offer.From) == f.Customer || order.CustomerOf(h.offer.To) == f.Customer) {
			return fmt.Errorf("ticket %d is still offered from or to somebody who is forgotten", ticket)
		}
	}
	return nil
}

// judgeErased folds an erasure into an order, and returns an error if the order still names the person afterwards.
func (b *book) judgeErased(f *order.Erased) error {
	sl := b.orders[f.ID]
	if sl == nil {
		return fmt.Errorf("order %s is erased and not known", enginetest.OrderName(f.ID))
	}
	sl.foldFact(f)
	// The erasure is kept, because the answer to the order's Place must be compared without the person from now on.
	sl.erasures = append(sl.erasures, f)
	if namesPerson(sl.order, f.Customer) {
		return fmt.Errorf("order %s names somebody still who is forgotten", enginetest.OrderName(f.ID))
	}
	return nil
}

// eraseFrom returns the answer to an order's Place without the people who have been erased from the order since. Two
// answers are compared only in this form, because one from before an erasure may arrive after one from later.
func (sl *sale) eraseFrom(answer *order.Order) *order.Order {
	for _, f := range sl.erasures {
		answer = answer.Erase(f.Customer, f.Pseudonym)
	}
	return answer
}

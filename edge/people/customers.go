package people

import (
	"errors"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/cursors"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/mailqueue"
)

var noCustomer = &engine.Refusal{Code: engine.NotFound, Message: "No such customer."}

// These are the most orders, tickets and notes that getCustomer shows, so that the answer stays small even for a
// box office that buys thousands of tickets with one address.
const (
	shownOrders  = 100
	shownTickets = 500
	shownNotes   = 100
)

// listCustomers returns a page of the organization's customers: the people who have bought from it
// or hold its tickets. A customer is one e-mail address.
func (h *Handlers) listCustomers(c *route.Call, in *api.ListCustomers) (*api.List[api.Customer], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	f := attendees.CustomerFilter{Org: org, Tag: normalTag(in.Tag), Sort: in.Sort, Limit: in.Limit + 1}
	if f.Events, err = h.Read.EventsOfOrganization(c.Context, org); err != nil {
		return nil, err
	}
	f.Asked = orders.Ask(h.Secrets, in.Query, f.Events)
	// Only an event of the caller's organization may narrow the list.
	if in.EventID != "" {
		if f.Event, err = h.Known.FindOwn(c, in.EventID); err != nil {
			return nil, err
		}
	}
	if f.After, err = cursors.ReadNumber(in.Cursor); err != nil {
		return nil, err
	}
	list, err := h.Attendees.Customers(c.Context, f)
	if err != nil {
		return nil, err
	}
	return pageOf(list, in.Limit, customerView, func(c *attendees.Customer) int64 { return c.Number }), nil
}

// getCustomer shows one customer with the newest orders, tickets and notes. Orders are what the
// customer bought; tickets are what the customer holds, which others may have bought.
func (h *Handlers) getCustomer(c *route.Call, in *api.CustomerKey) (*api.CustomerDetail, error) {
	customer, err := h.findCustomer(c, in, "")
	if err != nil {
		return nil, err
	}
	v := &api.CustomerDetail{Customer: customerView(customer)}
	bought, err := h.Attendees.OrdersOf(c.Context, customer, shownOrders)
	if err != nil {
		return nil, err
	}
	v.Orders = make([]api.OrderRecord, len(bought))
	for i := range bought {
		number := bought[i].ID.Event()
		v.Orders[i] = view.Order(&bought[i], h.Known.PublicID(number), h.Secrets.Event(number))
	}
	held, err := h.Attendees.HeldOf(c.Context, customer, shownTickets)
	if err != nil {
		return nil, err
	}
	v.Tickets = make([]api.CustomerTicket, len(held))
	for i := range held {
		v.Tickets[i] = h.customerTicketView(&held[i])
	}
	notes, err := h.Attendees.Notes(c.Context, customer, firstBefore, shownNotes)
	if err != nil {
		return nil, err
	}
	v.Notes = make([]api.Note, len(notes))
	for i := range notes {
		v.Notes[i] = noteView(&notes[i])
	}
	return v, nil
}

// findCustomer finds the customer whose key the path names, for the organization that the caller
// acts for. The organization stands in the query or, if the request has one, in the body. A
// customer of another organization is answered like one who does not exist.
func (h *Handlers) findCustomer(c *route.Call, in *api.CustomerKey, bodyOrg string) (*attendees.Customer, error) {
	org, err := route.FindOrganization(c, bodyOrg, in.QueryOrg)
	if err != nil {
		return nil, err
	}
	customer, err := h.Attendees.Customer(c.Context, org, in.Key)
	if errors.Is(err, attendees.ErrNotFound) {
		return nil, noCustomer
	}
	return customer, err
}

// listNotes returns a page of the notes about a customer, the newest first.
func (h *Handlers) listNotes(c *route.Call, in *api.ListNotes) (*api.List[api.Note], error) {
	customer, err := h.findCustomer(c, &in.CustomerKey, "")
	if err != nil {
		return nil, err
	}
	before, err := readBefore(in.Cursor)
	if err != nil {
		return nil, err
	}
	list, err := h.Attendees.Notes(c.Context, customer, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(list, in.Limit, noteView, func(n *attendees.Note) int64 { return n.Number }), nil
}

// addNote writes a note about a customer, who never sees it.
func (h *Handlers) addNote(c *route.Call, in *api.AddNote) (*api.Note, error) {
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	n, err := h.Attendees.AddNote(c.Context, customer, h.rowID(c), c.Principal.User, in.Body)
	if err != nil {
		return nil, err
	}
	return new(noteView(n)), nil
}

// deleteNote deletes a note about the customer in the path. A note about another customer is answered as
// missing.
func (h *Handlers) deleteNote(c *route.Call, in *api.DeleteNote) (*api.Gone, error) {
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	// A missing note has a code of its own, so that a client does not take it for a missing
	// customer.
	none := &engine.Refusal{Code: engine.NoteNotFound}
	id, err := readRowID(in.NoteID, none)
	if err != nil {
		return nil, err
	}
	err = h.Attendees.DeleteNote(c.Context, customer, id)
	if errors.Is(err, attendees.ErrNotFound) {
		err = none
	}
	return &api.Gone{Deleted: true}, err
}

// tagCustomer gives a tag to all tickets that the customer holds and that were not taken back. It
// refuses a customer without such tickets, because a tag lives on tickets alone and would be lost.
func (h *Handlers) tagCustomer(c *route.Call, in *api.TagCustomer) (*api.TagApplied, error) {
	tag, err := readTag(in.Tag)
	if err != nil {
		return nil, err
	}
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	// In the same transaction, the store adds a public fact for each ticket that did not have the tag before.
	active, err := h.Attendees.TagCustomer(c.Context, customer, tag, h.taggedFact(customer.Org, c.Now))
	if err == nil && active == 0 {
		err = &engine.Refusal{Code: engine.NoTickets}
	}
	return &api.TagApplied{Tag: tag, Tickets: int64(active)}, err
}

// untagCustomer removes a tag from all of the customer's tickets. If no ticket has the tag, it answers 0 and no
// error, so that a repeat succeeds too.
func (h *Handlers) untagCustomer(c *route.Call, in *api.TagCustomer) (*api.TagRemoved, error) {
	tag, err := readTag(in.Tag)
	if err != nil {
		return nil, err
	}
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	removed, err := h.Attendees.UntagCustomer(c.Context, customer, tag)
	return &api.TagRemoved{Tag: tag, Removed: removed}, err
}

// contactCustomer sends a mail to a customer before it answers, without the queue, so that the member learns whether
// the mail could be sent. The mail counts in the limits of the address and of the organization. If it is over a limit,
// the refusal says after how many seconds it is allowed.
func (h *Handlers) contactCustomer(c *route.Call, in *api.ContactCustomer) (*api.Contacted, error) {
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	if order.IsPseudonym(customer.Email) {
		return nil, &engine.Refusal{Code: engine.Conflict, Message: "This customer was erased, and has no address any more."}
	}
	o, err := h.Accounts.Organization(c.Context, customer.Org)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, route.NoOrganization
	}
	// The mail is counted before it is sent, because otherwise a request that breaks off after the sending would not
	// count.
	wait, err := h.Mail.AdmitNow(c.Context, mailqueue.Unpaid{Recipient: customer.Email, Organization: o.ID, Own: true})
	if errors.Is(err, mailqueue.ErrUnproven) {
		return nil, route.OrganizationNotProven
	}
	if err != nil {
		return nil, err
	}
	if wait > 0 {
		return nil, &engine.Refusal{Code: engine.RateLimited, Message: "Too many mails to this address, or of this organization.", Retry: int(math.Ceil(wait.Seconds()))}
	}
	captured, err := h.Letters.Contact(c.Context, h.rowID(c), customer.Email, customer.Name, o, in.Subject, in.Body)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.EmailSendFailed}
	}
	return &api.Contacted{To: customer.Email, Subject: in.Subject, Sent: true, Dev: captured}, nil
}

// customerView shows a customer as lists do, with the money that they have spent in each currency.
func customerView(c *attendees.Customer) api.Customer {
	v := api.Customer{
		Key: c.Key, Email: c.Email, Name: view.Optional(c.Name), Tags: view.List(c.Tags),
		Totals:       api.CustomerTotals{Orders: c.Orders, Tickets: c.Tickets, Spent: make([]api.Spent, len(c.Spent))},
		FirstOrderAt: api.Moment(c.FirstAt), LastOrderAt: api.Moment(c.LastAt),
	}
	for i, s := range c.Spent {
		v.Totals.Spent[i] = api.Spent{Currency: s.Currency, Amount: view.Decimal(s.Amount, s.Currency)}
	}
	return v
}

// customerTicketView shows one ticket of a customer. A ticket's id is derived from its event's
// secret and its serial, so it is made here and stored nowhere.
func (h *Handlers) customerTicketView(a *attendees.Attendee) api.CustomerTicket {
	o := a.Order
	// The serial was read from this very order, so the order has a line for it.
	n, _, _ := o.LineOf(a.Serial)
	line := &o.Lines[n]
	return api.CustomerTicket{
		ID: h.Secrets.Event(a.Event).TicketID(a.Serial).String(), EventID: h.Known.PublicID(a.Event), OrderID: o.ID.String(),
		TicketTypeID: engine.NumberedID(a.Event, line.Type).String(), TierName: line.Name, Status: a.Status, Attendee: view.Optional(a.Name),
		Tags: view.List(a.Tags), CheckedInAt: api.At(a.CheckedInAt), IssuedAt: api.At(o.EndedAt),
	}
}

func noteView(n *attendees.Note) api.Note {
	return api.Note{ID: n.ID.String(), Body: n.Body, Author: n.Author, CreatedAt: n.CreatedAt.UTC()}
}

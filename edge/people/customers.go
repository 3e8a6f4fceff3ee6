package people

import (
	"errors"
	"math"

	"boxoffice/edge/api"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/mailqueue"
)

var noCustomer = &engine.Refusal{Code: engine.NotFound, Message: "No such customer."}

// What a customer's detail shows at most.
const (
	shownOrders  = 100
	shownTickets = 500
	shownNotes   = 100
)

// listCustomers lists the people who have bought from the organization, or hold its tickets, by a filter.
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
	if in.EventID != "" {
		if f.Event, err = h.Known.FindOwn(c, in.EventID); err != nil {
			return nil, err
		}
	}
	if f.After, err = route.ReadNumberCursor(in.Cursor); err != nil {
		return nil, err
	}
	list, err := h.Attendees.Customers(c.Context, f)
	if err != nil {
		return nil, err
	}
	return pageOf(list, in.Limit, customerView, func(c *attendees.Customer) int64 { return c.Number }), nil
}

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

// findCustomer finds the customer of a key for the organization that the caller acts for.
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

// listNotes lists what members have noted about a customer, the newest first.
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

// addNote notes something about a customer, which only members of the organization see.
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

// deleteNote deletes a note of that customer. A note of another customer does not exist here, even for somebody who
// could delete it there.
func (h *Handlers) deleteNote(c *route.Call, in *api.DeleteNote) (*api.Gone, error) {
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
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

// tagCustomer gives the tag to all tickets that the customer holds and that were not taken back. A customer without any is
// refused, because there would be nothing to carry the tag.
func (h *Handlers) tagCustomer(c *route.Call, in *api.TagCustomer) (*api.TagApplied, error) {
	tag, err := readTag(in.Tag)
	if err != nil {
		return nil, err
	}
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	active, err := h.Attendees.TagCustomer(c.Context, customer, tag, h.taggedFact(customer.Org, c.Now))
	if err == nil && active == 0 {
		err = &engine.Refusal{Code: engine.NoTickets}
	}
	return &api.TagApplied{Tag: tag, Tickets: int64(active)}, err
}

// untagCustomer takes the tag from the customer's tickets. A customer who has none with it is no error.
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

// contactCustomer mails a customer at once, outside the queue, so that the member is told if it fails. The mail counts
// in the limits of the address and of the organization before it is made; one that may not be sent yet is refused
// with the seconds to wait.
func (h *Handlers) contactCustomer(c *route.Call, in *api.ContactCustomer) (*api.Contacted, error) {
	customer, err := h.findCustomer(c, &in.CustomerKey, in.OrgID)
	if err != nil {
		return nil, err
	}
	o, err := h.Accounts.Organization(c.Context, customer.Org)
	if err != nil {
		return nil, err
	}
	if o == nil {
		return nil, route.NoOrganization
	}
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

func (h *Handlers) customerTicketView(a *attendees.Attendee) api.CustomerTicket {
	o := a.Order
	n, _, _ := o.LineOf(a.Serial) // the order is the ticket's own
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

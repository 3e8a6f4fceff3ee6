package holders

import (
	"bytes"
	"context"
	"time"

	"github.com/go-json-experiment/json"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/orders"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/engine/waitlist"
	"boxoffice/persistence/attendees"
	"boxoffice/persistence/readmodel"
)

// exportPage is how many orders or tickets are read at once for an export. An order may
// have many tickets, so the pages are small.
const exportPage = 50

// exportMe writes the data that we have about the caller into one document. The caller's address
// must be proven, because it decides which orders and tickets are the caller's.
func (h *Handlers) exportMe(c *route.Call, _ *route.None) (*route.Content, error) {
	if err := route.CheckEmailProven(c); err != nil {
		return nil, err
	}
	u, err := h.Accounts.User(c.Context, c.Principal.User)
	if err != nil {
		return nil, err
	}
	if u == nil {
		return nil, &engine.Refusal{Code: engine.Unauthorized}
	}
	x := &export{h: h, now: c.Now, principal: c.Principal, profile: api.ExportedProfile{
		ID: u.PublicID, Email: u.Email, FullName: view.Optional(u.Name()), Phone: view.Optional(u.Phone), Locale: view.Optional(u.Locale),
		TwoFactorEnabled: u.TwoFactor, CreatedAt: u.CreatedAt.UTC(),
	}}
	x.step = x.begin
	return makeFile("application/json", "boxoffice-export.json", x.fill), nil
}

// export is a document that is written piece by piece, so that a person with many orders
// does not cost the memory of all of them at once. Each step writes a piece and sets the
// field step to the step that comes next. The steps come in the order of the document:
// begin, addOrders, addTickets, addReports, addThreads, addWaitlist, addSections.
type export struct {
	h         *Handlers
	now       time.Time
	principal route.Principal // the person who asked, and whose data it is
	profile   api.ExportedProfile
	step      func(c *route.Call, out *bytes.Buffer) (over bool, err error)
	// order is the id of the order that was read last; zero before the first.
	order engine.OrderID
	// held is the place of the ticket that was written last; zero before the first.
	held attendees.Place
	// refunds are collected while the orders are written, because they come after the tickets in
	// the document.
	refunds []api.Refund
	// place is where the next page of reports or threads begins; 0 is the first page.
	place int64
	// inside is set if the array that is being written has an item already, so that the next item
	// needs a comma before it.
	inside bool
}

// fill writes the next piece of the document when makeFile asks for it.
func (x *export) fill(ctx context.Context, out *bytes.Buffer) (over bool, err error) {
	// The handler has returned by now, so the request's call may no longer be used. The steps get a
	// new call with the same caller.
	return x.step(&route.Call{Context: ctx, Now: x.now, Principal: x.principal}, out)
}

// begin writes the profile and opens the array of orders.
func (x *export) begin(_ *route.Call, out *bytes.Buffer) (bool, error) {
	out.WriteString(`{"data":{"profile":`)
	err := json.MarshalWrite(out, x.profile, route.Encoding)
	out.WriteString(`,"orders":[`)
	x.step = x.addOrders
	return false, err
}

// addOrders writes a page of the orders that the caller has placed. It collects their refunds for a
// later part of the document.
func (x *export) addOrders(c *route.Call, out *bytes.Buffer) (bool, error) {
	address := order.NormalEmail(c.Principal.Email)
	list, err := x.h.Read.OrdersOf(c.Context, order.CustomerOf(address), x.order, exportPage)
	if err != nil {
		return false, err
	}
	for i := range list {
		o := &list[i]
		x.order = o.ID
		if order.NormalEmail(o.Email) != address {
			// Orders are found by a hash of the customer's address. This order is of another address with
			// the same hash.
			continue
		}
		v, err := x.h.Orders.Show(c, o, orders.Person(o.Email))
		if err != nil {
			return false, err
		}
		if err := x.appendItem(out, v); err != nil {
			return false, err
		}
		for j := range o.Refunds {
			// Refunds that the holders of passed-on tickets asked for are those people's
			// data.
			if o.Refunds[j].CustomerOf(o) == o.Buyer() {
				x.refunds = append(x.refunds, v.Refunds[j])
			}
		}
	}
	if len(list) < exportPage {
		out.WriteString(`],"tickets":[`)
		x.step, x.inside = x.addTickets, false
	}
	return false, nil
}

// addTickets writes a page of the tickets that the caller holds. After the last page it finds the
// refunds that the caller asked for as a holder, writes all refunds, and opens the array of
// reports.
func (x *export) addTickets(c *route.Call, out *bytes.Buffer) (bool, error) {
	list, err := x.h.Attendees.Held(c.Context, c.Principal.Email, x.held, exportPage)
	if err != nil {
		return false, err
	}
	held, err := x.h.heldViews(c, list)
	if err != nil {
		return false, err
	}
	for i := range held {
		if err := x.appendItem(out, &held[i]); err != nil {
			return false, err
		}
	}
	if len(list) == exportPage {
		x.held = list[exportPage-1].Place
		return false, nil
	}
	if err := x.findAskedOfOthers(c); err != nil {
		return false, err
	}
	out.WriteString(`],"refunds":`)
	if err := json.MarshalWrite(out, view.List(x.refunds), route.Encoding); err != nil {
		return false, err
	}
	out.WriteString(`,"reports":[`)
	x.step, x.inside, x.place = x.addReports, false, 0
	return false, nil
}

// findAskedOfOthers adds the refunds that the caller asked for while holding tickets that other
// people had bought. Refunds of the caller's own orders have been collected already.
func (x *export) findAskedOfOthers(c *route.Call) error {
	address := order.NormalEmail(c.Principal.Email)
	f := readmodel.RefundFilter{Customer: order.CustomerOf(address), Asked: true, Limit: exportPage}
	for {
		list, err := x.h.Read.AskedRefunds(c.Context, f)
		if err != nil {
			return err
		}
		for i := range list {
			if o := &list[i].Order; o.Buyer() != f.Customer {
				x.refunds = append(x.refunds, view.Refund(o, list[i].Position, x.h.Secrets.Event(o.ID.Event())))
			}
		}
		if len(list) < exportPage {
			return nil
		}
		f.Skip += exportPage
	}
}

// addReports writes a page of the reports that the caller has made. After the last page it opens the array of threads
// and makes addThreads the next step.
func (x *export) addReports(c *route.Call, out *bytes.Buffer) (over bool, err error) {
	list, next, err := x.h.ExportReports(c, x.place)
	if err == nil {
		err = appendItems(x, out, list)
	}
	if x.place = next; err == nil && next == 0 {
		out.WriteString(`],"threads":[`)
		x.step, x.inside = x.addThreads, false
	}
	return false, err
}

// addThreads writes a page of the caller's threads with organizers. After the last page it closes the array and sets
// the step that writes what follows.
func (x *export) addThreads(c *route.Call, out *bytes.Buffer) (bool, error) {
	list, next, err := x.h.ExportThreads(c, x.place)
	if err == nil {
		err = appendItems(x, out, list)
	}
	if x.place = next; err != nil || next != 0 {
		return false, err
	}
	out.WriteByte(']')
	x.step = x.addWaitlist
	return false, nil
}

// addWaitlist writes the caller's entries in the waitlists of events. Only the events' actors know the
// waitlists. So it asks each event that has the address in its waitlist, or in an order, other than as the
// buyer's (Naming).
func (x *export) addWaitlist(c *route.Call, out *bytes.Buffer) (bool, error) {
	out.WriteString(`,"waitlist":[`)
	x.inside = false
	naming, err := x.h.Attendees.Naming(c.Context, c.Principal.Email)
	if err != nil {
		return false, err
	}
	asked := make(map[int64]bool)
	for _, id := range naming {
		if number := id.Event(); !asked[number] {
			asked[number] = true
			page, err := cluster.AskFor[waitlist.Page](c.Context, x.h.Node, engine.EventRef(number), waitlist.Of{Customer: order.CustomerOf(order.NormalEmail(c.Principal.Email))})
			if err != nil {
				return false, err
			}
			for i := range page.Entries {
				if err := x.appendItem(out, view.WaitlistEntry(&page.Entries[i], x.h.Known.PublicID(number))); err != nil {
					return false, err
				}
			}
		}
	}
	out.WriteByte(']')
	x.step = x.addSections
	return false, nil
}

// addSections writes the rows about the caller that no record of the API shows, table by table, and closes the
// two objects that begin has opened.
func (x *export) addSections(c *route.Call, out *bytes.Buffer) (bool, error) {
	for section, err := range x.h.Personal.Sections(c.Context, c.Principal.User, order.NormalEmail(c.Principal.Email)) {
		if err != nil {
			return false, err
		}
		out.WriteString(`,"` + section.Name + `":[`)
		x.inside = false
		if err := appendItems(x, out, section.Rows); err != nil {
			return false, err
		}
		out.WriteByte(']')
	}
	out.WriteString(`}}`)
	return true, nil
}

// appendItems writes the items of a page into the open array.
func appendItems[View any](x *export, out *bytes.Buffer, list []View) error {
	for i := range list {
		if err := x.appendItem(out, &list[i]); err != nil {
			return err
		}
	}
	return nil
}

// appendItem writes one item into the open array.
func (x *export) appendItem(out *bytes.Buffer, item any) error {
	if x.inside {
		out.WriteByte(',')
	}
	x.inside = true
	return json.MarshalWrite(out, item, route.Encoding)
}

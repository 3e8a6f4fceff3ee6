package edge

import (
	"errors"
	"fmt"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
)

// defaultCap is how many tickets an order or a customer may hold if the
// organizer names no cap.
const defaultCap = 10

func (d *Desk) createTicketType(c *route.Call, in *api.CreateTicketType) (*api.TicketType, error) {
	number, err := d.ownEvent(c, in.ID)
	if err != nil {
		return nil, err
	}
	e, err := ask[event.Record](c, d, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	if e.Status == event.StatusCancelled || e.Status == event.StatusCompleted {
		return nil, engine.Refuse(engine.InvalidTransition, event.Transition{From: e.Status, To: e.Status, Allowed: []string{}})
	}
	t := inventory.Details{
		Name: in.Name, Type: in.Type, SaleStart: in.SaleStart.UnixMilli(), SaleEnd: in.SaleEnd.UnixMilli(),
		Currency: e.Details.Currency, Quantity: inventory.Unlimited, MaxPerOrder: defaultCap, MaxPerCustomer: defaultCap,
		Transferable: true,
	}
	if err := editType(&t, &in.TicketTypeFields, e.Details, true); err != nil {
		return nil, err
	}
	id, err := d.Types.Next(c.Context)
	if err != nil {
		return nil, err
	}
	r, err := ask[inventory.Record](c, d, engine.InventoryRef(number, id), inventory.Create{Details: t})
	if err != nil {
		return nil, err
	}
	// The type tells its event by itself; telling it here too lets the caller
	// publish the event with the next request.
	if _, err := ask[event.Record](c, d, engine.EventRef(number), r.Offer()); err != nil {
		return nil, err
	}
	d.published(c, number)
	return view.TicketType(r, true), nil
}

func (d *Desk) updateTicketType(c *route.Call, in *api.UpdateTicketType) (*api.TicketType, error) {
	number, err := d.ownEvent(c, in.ID)
	if err != nil {
		return nil, err
	}
	ref, err := d.typeRef(c, number, in.TicketTypeID)
	if err != nil {
		return nil, err
	}
	e, err := ask[event.Record](c, d, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	for range editTries {
		r, err := ask[inventory.Record](c, d, ref, inventory.Get{})
		if err != nil {
			return nil, err
		}
		t := r.Details
		in.Name.Into(&t.Name)
		in.Type.Into(&t.Type)
		millis(in.SaleStart, &t.SaleStart)
		millis(in.SaleEnd, &t.SaleEnd)
		window := in.SaleStart.Set || in.SaleEnd.Set
		if err := editType(&t, &in.TicketTypeFields, e.Details, window); err != nil {
			return nil, err
		}
		r, err = ask[inventory.Record](c, d, ref, inventory.Update{Details: t, Revision: r.Revision})
		if err == nil {
			d.published(c, number)
			return view.TicketType(r, true), nil
		}
		if !conflict(err) {
			return nil, belowSold(err)
		}
	}
	return nil, &engine.Refusal{Code: engine.Conflict}
}

// belowSold makes an issue of the actor's refusal of a quantity below what is
// sold.
func belowSold(err error) error {
	if r, ok := errors.AsType[*engine.Refusal](err); ok {
		if f, ok := r.Details.(inventory.Floor); ok {
			return route.Invalid(route.Issue{
				Path: "quantityTotal", Code: route.IssueMinimum, Message: fmt.Sprintf("must be at least the %d sold", f.Sold),
			})
		}
	}
	return err
}

// typeRef is the actor of a ticket type that the event has.
func (d *Desk) typeRef(c *route.Call, number int64, text string) (engine.Ref, error) {
	notFound := &engine.Refusal{Code: engine.TicketTypeNotFound}
	id, err := engine.ParseID(text)
	if n, ok := numeric(text); ok {
		id, err = engine.NumberedID(number, n), nil
	}
	if err != nil || id.Event() != number || id != engine.NumberedID(number, id.Number()) {
		return engine.Ref{}, notFound
	}
	ref := engine.InventoryRef(number, id.Number())
	has, err := ask[event.TypeReply](c, d, engine.EventRef(number), event.GetType{Type: ref.ID})
	if err != nil {
		return engine.Ref{}, err
	}
	if !has.Has {
		return engine.Ref{}, notFound
	}
	return ref, nil
}

// editType takes the optional fields over, and judges the rules that span
// fields and the event (service-api.md, Ticket types). The event may have been moved
// since a sale's window and a refund's deadline were accepted: they are judged when they
// are told, and do not keep other fields from being changed.
func editType(t *inventory.Details, f *api.TicketTypeFields, e *event.Details, window bool) error {
	if f.Price.Set {
		t.Price = int64(f.Price.Value)
	}
	f.Currency.Into(&t.Currency)
	f.QuantityTotal.Into(&t.Quantity)
	f.MaxPerOrder.Into(&t.MaxPerOrder)
	f.MaxPerCustomer.Into(&t.MaxPerCustomer)
	f.Transferable.Into(&t.Transferable)
	f.Refundable.Into(&t.Refundable)
	millis(f.RefundDeadline, &t.RefundDeadline)
	f.PresaleCode.Into(&t.PresaleCode)
	f.WaitlistEnabled.Into(&t.WaitlistEnabled)
	f.Description.Into(&t.Description)
	f.AccessURL.Into(&t.AccessURL)
	f.AccessNote.Into(&t.AccessNote)
	f.SectionID.Into(&t.SectionID)
	f.SortOrder.Into(&t.SortOrder)
	if f.Status.Set {
		t.Hidden = f.Status.Value == "hidden"
	}
	if window && (t.SaleEnd <= t.SaleStart || e.EndAt != 0 && t.SaleEnd > e.EndAt) {
		return &engine.Refusal{Code: engine.InvalidSaleWindow}
	}
	if f.RefundDeadline.Set && t.RefundDeadline > e.StartAt {
		return &engine.Refusal{Code: engine.InvalidRefundLimit}
	}
	issues := delivery("accessUrl", t.AccessURL)
	add := func(path, code, message string) {
		issues = append(issues, route.Issue{Path: path, Code: code, Message: message})
	}
	if t.Type == "free" && t.Price != 0 {
		add("price", route.IssueMaximum, "must be 0 for a free ticket")
	}
	if t.Refundable && t.RefundDeadline == 0 {
		add("refundDeadline", route.IssueRequired, "is required for a refundable ticket")
	}
	if t.Currency != e.Currency {
		add("currency", route.IssueEnum, "must be the event's: "+e.Currency)
	}
	if len(issues) > 0 {
		return route.Invalid(issues...)
	}
	return nil
}

package catalog

import (
	"errors"
	"fmt"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/live"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/seatmap"
)

// defaultCap is the most tickets of a type that an order or a customer may have, unless the organizer sets another
// cap.
const defaultCap = 10

// createTicketType makes a ticket type in three steps: it claims the section, announces the type to the event, which
// limits how many types there are, and then makes the type. A request that fails in between leaves the claim or the
// announcement, which a repeat with the same Idempotency-Key uses.
func (h *Handlers) createTicketType(c *route.Call, in *api.CreateTicketType) (*api.TicketType, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	e, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	if event.Ended(e.Status) {
		return nil, engine.Refuse(engine.InvalidTransition, event.Transition{From: e.Status, To: e.Status, Allowed: []string{}})
	}
	if err := h.CheckFiles(c, e.Details.Org, in); err != nil {
		return nil, err
	}
	t := inventory.Details{
		Name: in.Name, Type: in.Type, SaleStart: in.SaleStart.UnixMilli(), SaleEnd: in.SaleEnd.UnixMilli(),
		Currency: e.Details.Currency, Quantity: inventory.Unlimited, MaxPerOrder: defaultCap, MaxPerCustomer: defaultCap,
		Transferable: true,
	}
	if err := editType(&t, &in.TicketTypeFields, e.Details, true, c.Now); err != nil {
		return nil, err
	}
	m, err := cluster.AskFor[seatmap.Record](c.Context, h.Node, engine.SeatmapRef(number), seatmap.Get{})
	if err != nil {
		return nil, err
	}
	// The type's actor does not know the seat map, so the type is told here whether it is sold by seats only.
	t.SeatsOnly = m.Attached && m.Mode == seatmap.Reserved
	// The number is drawn last before the first write, so that a refused request uses none up. A repeat with
	// the same Idempotency-Key gets the same number.
	id, err := live.NumberOf(c, h.Types, number)
	if err != nil {
		return nil, err
	}
	ref := engine.InventoryRef(number, id)
	if err := h.claimSection(c, number, in.SectionID, id); err != nil {
		return nil, err
	}
	if _, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), keeper.Offer{Keeper: ref}); err != nil { // It is refused if the event has as many types as it may have.
		return nil, err
	}
	r, err := cluster.AskFor[inventory.Record](c.Context, h.Node, ref, inventory.Create{Details: t})
	if err != nil {
		return nil, err
	}
	h.settleSection(c, in.SectionID, id)
	// The type sends its event this offer by itself. It is sent here too, so that the caller can publish the
	// event with the next request.
	if _, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), r.Offer()); err != nil {
		return nil, err
	}
	h.Pages.Refresh(c.Context, number)
	return view.TicketType(r, e.Details, true), nil
}

// updateTicketType changes a ticket type. If the request names a section, it claims the section before the change and
// notes after it that the type names the section now (settleSection). Texts.Change limits how often one type is
// changed.
func (h *Handlers) updateTicketType(c *route.Call, in *api.UpdateTicketType) (*api.TicketType, error) {
	number, err := h.Known.FindOwn(c, in.ID)
	if err != nil {
		return nil, err
	}
	ref, err := h.typeRef(c, number, in.TicketTypeID)
	if err != nil {
		return nil, err
	}
	if err := h.Texts.Change(c, number, ref); err != nil {
		return nil, err
	}
	e, err := cluster.AskFor[event.Record](c.Context, h.Node, engine.EventRef(number), event.Get{})
	if err != nil {
		return nil, err
	}
	if err := h.CheckFiles(c, e.Details.Org, in); err != nil {
		return nil, err
	}
	if err := h.claimSection(c, number, in.SectionID, ref.ID); err != nil {
		return nil, err
	}
	r, err := h.ChangeType(c, ref, func(t *inventory.Details) error {
		in.Name.Into(&t.Name)
		in.Type.Into(&t.Type)
		setMillis(in.SaleStart, &t.SaleStart)
		setMillis(in.SaleEnd, &t.SaleEnd)
		window := in.SaleStart.Set || in.SaleEnd.Set
		return editType(t, &in.TicketTypeFields, e.Details, window, c.Now)
	})
	if err != nil {
		return nil, belowSold(err)
	}
	h.settleSection(c, in.SectionID, ref.ID)
	h.Pages.Refresh(c.Context, number)
	return view.TicketType(r, e.Details, true), nil
}

// ChangeType edits a ticket type's record. If another edit comes between its reading and its writing, it calls edit
// again, on the newer record. After editTries it refuses with CONFLICT.
func (h *Handlers) ChangeType(c *route.Call, ref engine.Ref, edit func(*inventory.Details) error) (*inventory.Record, error) {
	for range editTries {
		r, err := cluster.AskFor[inventory.Record](c.Context, h.Node, ref, inventory.Get{})
		if err != nil {
			return nil, err
		}
		t := r.Details
		if err := edit(&t); err != nil {
			return nil, err
		}
		r, err = cluster.AskFor[inventory.Record](c.Context, h.Node, ref, inventory.Update{Details: t, Revision: r.Revision})
		if err == nil || !conflict(err) {
			return r, err
		}
	}
	return nil, &engine.Refusal{Code: engine.Conflict}
}

// belowSold turns the actor's refusal of a quantity below what is sold into an issue of that field. Other errors
// pass through.
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

// typeRef returns the reference to a ticket type's actor, given the type's id or number, if the event has the type. It
// asks the event, because a request to the actor of a type that does not exist would load such an actor.
func (h *Handlers) typeRef(c *route.Call, number int64, text string) (engine.Ref, error) {
	notFound := &engine.Refusal{Code: engine.TicketTypeNotFound}
	id, err := engine.ParseID(text)
	if n, ok := route.ReadNumber(text); ok {
		id, err = engine.NumberedID(number, n), nil
	}
	if err != nil || id.Event() != number || id != engine.NumberedID(number, id.Number()) {
		return engine.Ref{}, notFound
	}
	ref := engine.InventoryRef(number, id.Number())
	has, err := cluster.AskFor[event.TypeReply](c.Context, h.Node, engine.EventRef(number), event.GetType{Type: ref.ID})
	if err != nil {
		return engine.Ref{}, err
	}
	if !has.Has {
		return engine.Ref{}, notFound
	}
	return ref, nil
}

// editType writes into a type the optional fields that were sent, and checks the rules that concern several
// fields or the event. It checks the sale's dates (window) and the refund deadline only if they were sent. The
// event may have moved since they were accepted, and old dates must not prevent a change of other fields.
func editType(t *inventory.Details, f *api.TicketTypeFields, e *event.Details, window bool, now time.Time) error {
	takeTypeFields(t, f)
	if f.Price.Set {
		price, err := f.Price.Value.Minor("price", e.Currency)
		if err != nil {
			return err
		}
		t.Price = price
	}
	if window && (t.SaleEnd <= t.SaleStart || e.EndAt != 0 && t.SaleEnd > e.EndAt) {
		return &engine.Refusal{Code: engine.InvalidSaleWindow}
	}
	if f.RefundDeadline.Set {
		if err := judgeRefundDeadline(t.RefundDeadline, e, now); err != nil {
			return err
		}
	}
	var issues []route.Issue
	add := func(path, code, message string) {
		issues = append(issues, route.Issue{Path: path, Code: code, Message: message})
	}
	if t.Type == "free" && t.Price != 0 {
		add("price", route.IssueMaximum, "must be 0 for a free ticket")
	}
	if t.Refundable && t.RefundDeadline == 0 && t.RefundHours == nil {
		add("refundDeadline", route.IssueRequired, "is required for a refundable ticket")
	}
	if t.RefundHours != nil && event.ProductType(e.Category) == event.ProductEvent {
		add("refundWindowHours", route.IssueUnsupported, "is for digital products and reservations")
	}
	if t.Currency != e.Currency {
		add("currency", route.IssueEnum, "must be the event's: "+e.Currency)
	}
	if len(issues) > 0 {
		return route.Invalid(issues...)
	}
	return nil
}

// maxRefundYears is how many years ahead a refund deadline may be, for products and reservations, which have no start.
const maxRefundYears = 5

// judgeRefundDeadline refuses a refund deadline after the start of the event. The deadline of a digital product or of
// a reservation, which have no such start, may be up to maxRefundYears ahead.
func judgeRefundDeadline(deadline int64, e *event.Details, now time.Time) error {
	if event.ProductType(e.Category) == event.ProductEvent {
		if deadline > e.StartAt {
			return &engine.Refusal{Code: engine.InvalidRefundLimit}
		}
		return nil
	}
	if deadline > now.AddDate(maxRefundYears, 0, 0).UnixMilli() {
		return &engine.Refusal{Code: engine.InvalidRefundLimit, Message: "The refund deadline must be within 5 years."}
	}
	return nil
}

// takeTypeFields copies the fields that the request has into t.
func takeTypeFields(t *inventory.Details, f *api.TicketTypeFields) {
	f.Currency.Into(&t.Currency)
	f.QuantityTotal.Into(&t.Quantity)
	f.MaxPerOrder.Into(&t.MaxPerOrder)
	f.MaxPerCustomer.Into(&t.MaxPerCustomer)
	f.Transferable.Into(&t.Transferable)
	f.Refundable.Into(&t.Refundable)
	setMillis(f.RefundDeadline, &t.RefundDeadline)
	setPointer(f.RefundHours, &t.RefundHours)
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
}

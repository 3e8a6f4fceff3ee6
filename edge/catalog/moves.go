package catalog

import (
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/route"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/persistence/readmodel"
)

// When an event moves, the dates of its ticket types must still fit: no sale may end after the event, and no refund
// deadline may be after its start. A move that breaks this is refused with a list of all such dates. With shift, the
// dates of the types move by as much as the event's start.

// move is a change of an event's dates, and what it does to the event's ticket types. planMove makes it before
// the event is changed, and takeAlong carries it out afterwards.
type move struct {
	to    *event.Details // the event after the change
	by    time.Duration  // how much later the event starts; less than 0: earlier
	shift bool           // the dates of ticket types move by the same time
	types []movedType
}

// movedType is a ticket type with the dates that it has after the move.
type movedType struct {
	ref     engine.Ref
	details inventory.Details
}

// leftOutside holds the details of a refused move: the dates of ticket types that would not fit the event any more.
type leftOutside struct {
	TicketTypes []outsideType `json:"ticketTypes"`
}

// outsideType is one date of a ticket type that would be too late after the move, and the latest that is allowed.
type outsideType struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Field string    `json:"field"`
	Is    time.Time `json:"is"`
	Most  time.Time `json:"latest"`
}

// planMove works out what a change of the event's dates does to its ticket types. It returns nil if the start and the
// end stay, and refuses a move after which a type's dates would be too late.
func (h *Handlers) planMove(c *route.Call, r *event.Record, to *event.Details, shift bool) (*move, error) {
	number, from := r.Number, r.Details
	if from.StartAt == to.StartAt && from.EndAt == to.EndAt {
		return nil, nil //nolint:nilnil // most changes move nothing
	}
	m := &move{to: to, by: time.Duration(to.StartAt-from.StartAt) * time.Millisecond, shift: shift}
	listed, err := h.ListTypes(c, r)
	if err != nil {
		return nil, err
	}
	outside := leftOutside{TicketTypes: []outsideType{}}
	code := engine.InvalidRefundLimit
	for i := range listed {
		r, err := cluster.AskFor[inventory.Record](c.Context, h.Node, listed[i].Ref, inventory.Get{})
		if err != nil {
			return nil, err
		}
		t := movedType{listed[i].Ref, r.Details}
		// A type that moves along is judged by the dates that it will have.
		if shift {
			t.shift(m.by)
		}
		m.types = append(m.types, t)
		name := func(field string, is, most int64) {
			outside.TicketTypes = append(outside.TicketTypes, outsideType{
				engine.NumberedID(number, t.ref.ID).String(), t.details.Name, field, time.UnixMilli(is).UTC(), time.UnixMilli(most).UTC(),
			})
		}
		if to.EndAt != 0 && t.details.SaleEnd > to.EndAt {
			code = engine.InvalidSaleWindow
			name("saleEnd", t.details.SaleEnd, to.EndAt)
		}
		if judgeRefundDeadline(t.details.RefundDeadline, to, c.Now) != nil {
			name("refundDeadline", t.details.RefundDeadline, to.StartAt)
		}
	}
	if len(outside.TicketTypes) > 0 {
		return nil, &engine.Refusal{
			Code:    code,
			Message: "The event would be over before these: give them other dates first, or move them along with shiftWindows.",
			Details: outside,
		}
	}
	return m, nil
}

// ListTypes lists the event's ticket types from the read model. The read model may not have a new type yet, but the
// actor's record says how many types there are. So ListTypes waits until the list has that many, and refuses with
// UNAVAILABLE after two seconds.
func (h *Handlers) ListTypes(c *route.Call, r *event.Record) ([]readmodel.TicketType, error) {
	const patience, look = 2 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); ; waited += look {
		listed, err := h.Read.TicketTypes(c.Context, r.Number)
		switch {
		case err != nil || len(listed) >= r.Types:
			return listed, err
		case waited >= patience:
			return nil, engine.Refuse(engine.Unavailable, nil)
		}
		select {
		case <-time.After(look):
		case <-c.Context.Done():
			return nil, c.Context.Err()
		}
	}
}

// shift moves a type's dates. A type without a refund deadline keeps none.
func (t *movedType) shift(by time.Duration) {
	t.details.SaleStart += by.Milliseconds()
	t.details.SaleEnd += by.Milliseconds()
	if t.details.RefundDeadline != 0 {
		t.details.RefundDeadline += by.Milliseconds()
	}
}

// takeAlong gives the event's types their new dates, if they move with the event. It must run after the event itself
// has moved, because the event could still refuse the move.
func (h *Handlers) takeAlong(c *route.Call, m *move) error {
	if m == nil || !m.shift || m.by == 0 {
		return nil
	}
	for i := range m.types {
		planned := &m.types[i].details
		_, err := h.ChangeType(c, m.types[i].ref, func(t *inventory.Details) error {
			t.SaleStart, t.SaleEnd, t.RefundDeadline = planned.SaleStart, planned.SaleEnd, planned.RefundDeadline
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

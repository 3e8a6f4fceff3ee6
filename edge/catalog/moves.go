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

// When an event moves, what depends on its dates must not be left behind: the ends of sales and the
// deadlines of refunds of its ticket types. A move that leaves one outside is refused, and names all
// of them; or it takes them along, by as much as the start moves.

// move is a change of an event's dates, and what it does to the event's ticket types. planMove makes it before
// the event is changed, and takeAlong carries it out afterwards.
type move struct {
	to    *event.Details // the event as it will be
	by    time.Duration  // how much later the event starts; less than 0: earlier
	shift bool           // the windows of ticket types move along by as much
	types []movedType
}

// movedType is a ticket type as the move will leave it.
type movedType struct {
	ref     engine.Ref
	details inventory.Details
}

// leftOutside is the detail of a refused move: what it would leave outside of the event.
type leftOutside struct {
	TicketTypes []outsideType `json:"ticketTypes"`
}

// outsideType is one date of a ticket type that the move would leave outside, and the latest that it could be.
type outsideType struct {
	ID    string    `json:"id"`
	Name  string    `json:"name"`
	Field string    `json:"field"`
	Is    time.Time `json:"is"`
	Most  time.Time `json:"latest"`
}

// planMove works out what a change of the event's dates does to its ticket types. It returns nil for
// a change of anything else, and refuses a move that leaves a type outside.
func (h *Handlers) planMove(c *route.Call, r *event.Record, to *event.Details, shift bool) (*move, error) {
	number, from := r.Number, r.Details
	if from.StartAt == to.StartAt && from.EndAt == to.EndAt {
		return nil, nil //nolint:nilnil // most changes move nothing
	}
	m := &move{to: to, by: time.Duration(to.StartAt-from.StartAt) * time.Millisecond, shift: shift}
	listed, err := h.listTypes(c, r)
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

// listTypes lists the event's ticket types. The list comes from the read model, which may not have a type that was
// made a moment ago; the actor knows how many there are. So it waits for the list, for as long as a caller waits
// for what it has just written, and then refuses with UNAVAILABLE.
func (h *Handlers) listTypes(c *route.Call, r *event.Record) ([]readmodel.TicketType, error) {
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

// takeAlong moves the windows of the event's types, after the event itself has moved. In the other order a refusal
// by the event would leave them moved without it.
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

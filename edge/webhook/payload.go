package webhook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/admission"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/persistence/committed"
	"boxoffice/persistence/publicfacts"
)

// Teller makes the public facts of the catalogue from the engine's facts. Any goroutine may use it.
type Teller struct {
	Secrets *secrets.Master
	// Seats returns an event's seat map. After an error, findSeats calls it again for a while.
	Seats func(ctx context.Context, event int64) (*committed.SeatMap, error)

	halls halls
}

// Covers reports whether public facts are made from facts of a type. The caller needs to look up what
// Build wants (publicfacts.Enriched) only for such facts.
func (t *Teller) Covers(kind engine.Kind, fact engine.FactType) bool {
	return len(byFact[factKey{kind, fact}]) > 0
}

// Build makes the public facts of one fact as drafts, in the catalogue's order: one for each type that applies,
// or several, as of ticket.created. It returns none if no type applies.
func (t *Teller) Build(ctx context.Context, s *publicfacts.Enriched) ([]publicfacts.Draft, error) {
	var tellings []publicfacts.Draft
	m := making{Enriched: s, teller: t}
	for _, row := range byFact[factKey{s.Ref.Kind, s.Fact.FactType()}] {
		list, err := row.tell(ctx, &m)
		if err != nil {
			return nil, err
		}
		for _, data := range list {
			b, err := json.Marshal(data, route.Encoding)
			if err != nil {
				return nil, err
			}
			tellings = append(tellings, publicfacts.Draft{Type: row.Name, At: happenedAt(s.Fact), Data: b})
		}
	}
	return tellings, nil
}

// NewOwnFact makes a public fact of the catalogue about something that no actor owns. The aggregate is the stream in
// which the fact is delivered, such as "thread/5".
func NewOwnFact(typ string, org int64, aggregate string, at time.Time, data any) (publicfacts.Own, error) {
	b, err := json.Marshal(data, route.Encoding)
	return publicfacts.Own{Org: org, Aggregate: aggregate, Draft: publicfacts.Draft{Type: typ, At: at, Data: b}}, err
}

// Body returns a public fact in the form in which it is sent to endpoints and listed by the API.
func Body(f *publicfacts.Fact) api.Fact {
	return api.Fact{ID: f.ID, Type: f.Type, Created: api.Moment(f.At.UnixMilli()), Seq: f.Seq, Data: api.JSON(f.Data)}
}

// happenedAt returns when a fact happened. It needs a case for each type of facts from which the catalogue's
// types are made; any other fact would get the time 0.
func happenedAt(f engine.Fact) time.Time {
	var at int64
	switch f := f.(type) {
	case *event.Created:
		at = f.At
	case *event.Updated:
		at = f.At
	case *event.Moved:
		at = f.At
	case order.Fact:
		at = f.Happened()
	case *admission.CheckedIn:
		at = f.At
	case *admission.CheckInDenied:
		at = f.At
	case *inventory.Created:
		at = f.At
	case *keeper.CommittedFact:
		at = f.SoldOutAt
	}
	return api.Moment(at)
}

// making is the state while Build makes the public facts of one fact.
type making struct {
	*publicfacts.Enriched
	teller  *Teller
	tickets []api.IssuedTicket // the tickets of a completed order; nil until listIssued makes them
}

// A builder makes the data of one type's public facts from m's fact. It returns none if the type does not apply
// to this fact, and several if several public facts of the type are made from it.
type builder func(ctx context.Context, m *making) ([]any, error)

// one returns the result of a builder that makes one public fact.
func one(data any) ([]any, error) { return []any{data}, nil }

// ofEvent shows an event in the state after the fact. m.Event may be newer than the fact, so ofEvent takes
// everything that the fact sets from the fact.
func ofEvent(_ context.Context, m *making) ([]any, error) {
	r := *m.Event
	switch f := m.Fact.(type) {
	case *event.Created:
		r.Details, r.Status, r.CreatedAt, r.UpdatedAt = f.Details, event.StatusDraft, f.At, f.At
	case *event.Updated:
		r.Details, r.UpdatedAt = f.Details, f.At
	case *event.Moved:
		r.Status, r.UpdatedAt = f.To, f.At
	}
	v := view.Event(&r)
	v.OnlineLink, v.OnlineLinkNote = api.Hidden{}, api.Hidden{} // only buyers may see them
	return one(api.EventData{Event: *v})
}

// moved makes a builder for an event that comes into a status, from one of the statuses
// listed, or from any if none is listed.
func moved(to string, from ...string) builder {
	return func(ctx context.Context, m *making) ([]any, error) {
		f, ok := m.Fact.(*event.Moved)
		if !ok || f.To != to || len(from) > 0 && !slices.Contains(from, f.From) {
			return nil, nil
		}
		return ofEvent(ctx, m)
	}
}

// newType shows a ticket type that was created, for ticket_type.created.
func newType(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*inventory.Created)
	if !ok {
		return nil, nil
	}
	return ofType(m, f.Details, 0)
}

// soldOut shows a ticket type whose last unit the fact sold. Other sales make no public fact.
func soldOut(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*keeper.CommittedFact)
	if !ok || f.SoldOutAt == 0 {
		return nil, nil
	}
	return ofType(m, &m.Type.Details, m.Type.Details.Quantity)
}

// ofType shows a ticket type that has sold the given number of units, as everybody sees it and with
// that number. Sold and what is left follow from the fact, not from the type's present state.
func ofType(m *making, details *inventory.Details, sold int64) ([]any, error) {
	r := inventory.Record{Ref: m.Ref, Details: *details, Sold: sold, Available: inventory.Unlimited}
	if details.Quantity != inventory.Unlimited {
		r.Available = details.Quantity - sold
	}
	v := view.TicketType(&r, m.Event.Details, false)
	v.Sold = &r.Sold
	return one(api.TicketTypeData{TicketType: api.EventTicketType{EventID: m.eventID(), TicketType: *v}})
}

func (m *making) eventID() string { return m.Event.Details.PublicID.String() }

// ofOrder shows the order of the fact.
func ofOrder(_ context.Context, m *making) ([]any, error) {
	return one(api.OrderData{Order: view.Order(m.Order, m.eventID(), m.codes())})
}

// completed shows an order that was completed, with all of its tickets.
func completed(ctx context.Context, m *making) ([]any, error) {
	tickets, err := m.listIssued(ctx)
	if err != nil {
		return nil, err
	}
	return one(api.CompletedOrderData{Order: view.Order(m.Order, m.eventID(), m.codes()), Tickets: tickets})
}

// ended makes a builder for an order that ends unpaid with a status.
func ended(status string) builder {
	return func(ctx context.Context, m *making) ([]any, error) {
		if f, ok := m.Fact.(*order.Ended); !ok || f.Status != status {
			return nil, nil
		}
		return ofOrder(ctx, m)
	}
}

// issued shows each ticket of a completed order, as a public fact of its own.
func issued(ctx context.Context, m *making) ([]any, error) {
	tickets, err := m.listIssued(ctx)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(tickets))
	for i := range tickets {
		list[i] = api.IssuedTicketData{Ticket: tickets[i]}
	}
	return list, nil
}

// listIssued returns the tickets of an order as they were issued, with QR payloads of the present time. It keeps
// them in m, because both order.completed and ticket.created show them.
func (m *making) listIssued(ctx context.Context) ([]api.IssuedTicket, error) {
	if m.tickets != nil {
		return m.tickets, nil
	}
	o := *m.Order
	o.Holders = nil // Without later changes of holders, each ticket is shown as it was issued.
	records, err := m.listTickets(ctx, &o)
	if err != nil {
		return nil, err
	}
	codes, now := m.teller.Secrets.Event(m.Ref.ID), time.Now()
	m.tickets = make([]api.IssuedTicket, len(records))
	for i := range records {
		r := &records[i]
		qr, expires := codes.QR(r.Serial, r.Version, now)
		m.tickets[i] = api.IssuedTicket{
			TicketRecord: r.TicketRecord, QR: qr, QRExpiresAt: api.At(expires.UnixMilli()),
		}
	}
	return m.tickets, nil
}

// listTickets returns the records of an order's tickets.
func (m *making) listTickets(ctx context.Context, o *order.Order) ([]view.Ticket, error) {
	where, err := m.teller.findSeats(ctx, o)
	if err != nil {
		return nil, err
	}
	return view.Tickets(o, m.eventID(), m.teller.Secrets.Event(m.Ref.ID), where), nil
}

// showScanned shows the ticket of a scan in the state after the scan.
func (m *making) showScanned(ctx context.Context) (*api.TicketRecord, error) {
	records, err := m.listTickets(ctx, m.Ticket.Order)
	if err != nil {
		return nil, err
	}
	v := &records[m.Ticket.Serial-m.Ticket.Order.FirstTicket].TicketRecord
	v.Status, v.CheckedInAt, v.GateName = m.Ticket.Status, api.At(m.Ticket.CheckedInAt), view.Optional(m.Ticket.Gate)
	return v, nil
}

// transferred shows a ticket with its new holder, for ticket.transferred.
func transferred(ctx context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*order.TicketTransferred)
	if !ok {
		return nil, nil
	}
	records, err := m.listTickets(ctx, m.Order)
	if err != nil {
		return nil, err
	}
	return one(api.TicketData{Ticket: records[f.Ticket-m.Order.FirstTicket].TicketRecord})
}

// checkedIn shows a scan that admitted a ticket, with the ticket after it. For any other fact it returns nothing.
func checkedIn(ctx context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*admission.CheckedIn)
	if !ok {
		return nil, nil
	}
	v, err := m.showScanned(ctx)
	if err != nil {
		return nil, err
	}
	return one(api.CheckinData{Ticket: *v, Checkin: api.Checkin{
		EventID: m.eventID(), Status: admission.ScanSuccess, At: api.At(f.At),
		GateName: view.Optional(f.Gate), DeviceID: view.Optional(f.Device), Method: view.Optional(f.Method),
	}})
}

// denied shows a scan that was denied. It shows no ticket if the code is not one of the event's.
func denied(ctx context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*admission.CheckInDenied)
	if !ok {
		return nil, nil
	}
	data := api.DeniedCheckinData{Checkin: api.Checkin{
		EventID: m.eventID(), Status: f.Status, At: api.At(f.At),
		GateName: view.Optional(f.Gate), DeviceID: view.Optional(f.Device), Method: view.Optional(f.Method),
	}}
	if m.Ticket != nil {
		v, err := m.showScanned(ctx)
		if err != nil {
			return nil, err
		}
		data.Ticket = v
	}
	return one(data)
}

// codes returns the codes of the fact's event, which also make the tickets' ids.
func (m *making) codes() *secrets.Codes { return m.teller.Secrets.Event(m.Ref.ID) }

// requested shows a refund that somebody asks for. A refund without a request becomes public only when its
// money has moved (refunded).
func requested(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*order.RefundDue)
	if !ok || f.Refund.Ask == nil {
		return nil, nil
	}
	i := cmp.Or(f.Number, len(m.Order.Refunds)) - 1
	return one(api.RefundData{Refund: m.refundAt(i, f.Refund)})
}

// refundAt shows the order's refund number i in the state left, which the fact left. m.Order may be newer: a
// refund that is decided at once must still be shown as requested first.
func (m *making) refundAt(i int, left order.Refund) api.Refund {
	o := *m.Order
	o.Refunds = slices.Clone(o.Refunds)
	o.Refunds[i] = left
	return view.Refund(&o, i, m.codes())
}

// decided makes a builder for a refund that the organization grants (granted) or declines. It makes nothing of
// a request that the buyer withdraws.
func decided(granted bool) builder {
	return func(_ context.Context, m *making) ([]any, error) {
		f, ok := m.Fact.(*order.RefundDecided)
		if !ok || granted != (f.Serial != 0) || f.Status == order.RefundCancelled {
			return nil, nil
		}
		left := m.Order.Refunds[f.Position]
		// A later RefundReported sets the reference and the note, and the order may have them by now.
		left.Status, left.ProviderRef, left.Note = f.Status, "", ""
		if f.Status != order.RefundProcessed {
			left.ProcessedAt = 0
		}
		return one(api.RefundData{Refund: m.refundAt(f.Position, left)})
	}
}

// refunded shows a refund whose money has been reported as sent. Other reports make no public fact.
func refunded(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*order.RefundReported)
	if !ok || f.Status != order.RefundProcessed {
		return nil, nil
	}
	return one(api.RefundData{Refund: view.Refund(m.Order, f.Position, m.codes())})
}

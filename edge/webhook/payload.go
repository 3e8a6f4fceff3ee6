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

// Teller makes the payloads that the catalogue names. Any goroutine may use it.
type Teller struct {
	Secrets *secrets.Master
	// Seats returns an event's seat map. After an error it is called again for a while.
	Seats func(ctx context.Context, event int64) (*committed.SeatMap, error)

	halls halls
}

// Covers reports whether the world is told anything of facts of a type. Only such facts
// have to be enriched for Build.
func (t *Teller) Covers(kind engine.Kind, fact engine.FactType) bool {
	return len(byFact[factKey{kind, fact}]) > 0
}

// Build makes what the world is told of a fact: a draft for each type of the catalogue that
// applies, in the catalogue's order, and none if none applies.
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

// Body is a public fact as it is sent and listed.
func Body(f *publicfacts.Fact) api.Fact {
	return api.Fact{ID: f.ID, Type: f.Type, Created: api.Moment(f.At.UnixMilli()), Seq: f.Seq, Data: api.JSON(f.Data)}
}

// happenedAt returns when a fact happened. It has a case for each type of facts that the
// catalogue is told from.
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

// making is the state while one fact is being told.
type making struct {
	*publicfacts.Enriched
	teller  *Teller
	tickets []api.IssuedTicket // of an order that was completed; nil until they are made
}

// A builder makes the data of a type that a fact is told as: none if this fact is not told as that
// type, and several if it is told several times.
type builder func(ctx context.Context, m *making) ([]any, error)

// one is the result of a builder that tells a fact once.
func one(data any) ([]any, error) { return []any{data}, nil }

// ofEvent shows an event as the fact left it. m.Event may be newer than the fact, so what
// the fact has set is taken from the fact.
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

// newType tells of a ticket type that was made.
func newType(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*inventory.Created)
	if !ok {
		return nil, nil
	}
	return ofType(m, f.Details, 0)
}

// soldOut tells of the sale that took the last unit of a type.
func soldOut(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*keeper.CommittedFact)
	if !ok || f.SoldOutAt == 0 {
		return nil, nil
	}
	return ofType(m, &m.Type.Details, m.Type.Details.Quantity)
}

// ofType shows a ticket type that has sold the given number of units, as everybody sees it.
// Sold and what is left follow from the fact, not from the type's present state.
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

// completed tells of an order that was paid, with all of its tickets.
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

// issued tells of each ticket of a completed order.
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

// listIssued returns the tickets of an order as they were issued, with QR payloads that are
// made now. Two types are told of the same fact, so the tickets are kept in m.
func (m *making) listIssued(ctx context.Context) ([]api.IssuedTicket, error) {
	if m.tickets != nil {
		return m.tickets, nil
	}
	o := *m.Order
	o.Holders = nil // whatever has happened to the tickets since
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

// showScanned shows the ticket of a scan in the state in which the scan has left it.
func (m *making) showScanned(ctx context.Context) (*api.TicketRecord, error) {
	records, err := m.listTickets(ctx, m.Ticket.Order)
	if err != nil {
		return nil, err
	}
	v := &records[m.Ticket.Serial-m.Ticket.Order.FirstTicket].TicketRecord
	v.Status, v.CheckedInAt, v.GateName = m.Ticket.Status, api.At(m.Ticket.CheckedInAt), view.Optional(m.Ticket.Gate)
	return v, nil
}

// transferred tells of a ticket with its new holder.
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

// checkedIn tells of a scan that admitted a ticket.
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

// denied tells of a scan that did not admit anybody. A code that is none of the event's has
// no ticket.
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

// codes makes the ids of the event's tickets.
func (m *making) codes() *secrets.Codes { return m.teller.Secrets.Event(m.Ref.ID) }

// requested tells of a refund that somebody asks for. A refund that is due without a request is
// told once its money has moved.
func requested(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*order.RefundDue)
	if !ok || f.Refund.Ask == nil {
		return nil, nil
	}
	i := cmp.Or(f.Number, len(m.Order.Refunds)) - 1
	return one(api.RefundData{Refund: m.refundAt(i, f.Refund)})
}

// refundAt shows a refund of the order as a fact left it. The order may have gone on since: a
// refund that is decided at once must still be told as requested first.
func (m *making) refundAt(i int, left order.Refund) api.Refund {
	o := *m.Order
	o.Refunds = slices.Clone(o.Refunds)
	o.Refunds[i] = left
	return view.Refund(&o, i, m.codes())
}

// decided tells of a refund that the organization grants or declines. Nothing is told of a request
// that its buyer takes back.
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

// refunded tells of a refund that a provider has reported as paid out.
func refunded(_ context.Context, m *making) ([]any, error) {
	f, ok := m.Fact.(*order.RefundReported)
	if !ok || f.Status != order.RefundProcessed {
		return nil, nil
	}
	return one(api.RefundData{Refund: view.Refund(m.Order, f.Position, m.codes())})
}

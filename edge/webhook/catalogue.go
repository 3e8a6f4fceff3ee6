// Package webhook makes public facts of the engine's facts and delivers them to organizations. Catalogue lists
// the types of public facts and from which facts they are made; Internal lists the facts that are not made
// public. A Teller makes the payloads, and persistence/publicfacts stores them. A Deliverer sends them to the
// endpoints of organizations until Stop. Targets says to which addresses deliveries may go.
package webhook

import (
	"boxoffice/edge/api"
	"boxoffice/engine"
	"boxoffice/engine/all"
	"boxoffice/engine/event"
	"boxoffice/engine/order"
)

// Type is one row of the catalogue: a type of public fact, and how it is made from a fact of the engine.
type Type struct {
	Name        string
	Description string   // when it fires
	Keys        []string // the members of its data
	From        []string // names of the engine's facts from which it is made; empty: it is made by NewOwnFact, or not yet
	Data        any      // a zero value of its data; nil: no code makes this type yet
	tell        builder  // makes its data from a fact; nil if From is empty
}

// Active reports whether public facts of this type are made yet. The types of payouts are not.
func (t *Type) Active() bool { return t.Data != nil }

// Keys that several rows share.
var (
	eventKey  = []string{"event"}
	orderKey  = []string{"order"}
	ticketKey = []string{"ticket"}
	refundKey = []string{"refund"}
	payoutKey = []string{"payout"}
	reportKey = []string{"report"}
)

// Catalogue lists the 27 types of public facts. If several are made from one fact, their order here is the order
// in which they are sent.
//
// event.published means that a draft goes live, not that sales open or close. ticket_type.sold_out is made when
// the last unit is sold, not when it is reserved, because a reservation may end without a sale. order.failed
// is an order whose time to pay ended after all attempts to pay it had failed. ticket.checkin_denied has no
// ticket if the code is not one of the event's.
var Catalogue = []Type{
	{Name: "event.created", Description: "A draft event is created.", Keys: eventKey, From: []string{"event.created"}, Data: api.EventData{}, tell: ofEvent},
	{Name: "event.updated", Description: "Event details change.", Keys: eventKey, From: []string{"event.updated"}, Data: api.EventData{}, tell: ofEvent},
	{Name: "event.published", Description: "A draft goes live.", Keys: eventKey, From: []string{"event.moved"}, Data: api.EventData{}, tell: moved(event.StatusPublished, event.StatusDraft, event.StatusReview)},
	{Name: "event.cancelled", Description: "The organizer cancels an event.", Keys: eventKey, From: []string{"event.moved"}, Data: api.EventData{}, tell: moved(event.StatusCancelled)},
	{Name: "event.completed", Description: "An event ends.", Keys: eventKey, From: []string{"event.moved"}, Data: api.EventData{}, tell: moved(event.StatusCompleted)},
	{Name: "ticket_type.created", Description: "A ticket type is added.", Keys: []string{"ticketType"}, From: []string{"ticket_type.created"}, Data: api.TicketTypeData{}, tell: newType},
	{Name: "ticket_type.sold_out", Description: "The last unit of a ticket type sells.", Keys: []string{"ticketType"}, From: []string{"ticket_type.committed"}, Data: api.TicketTypeData{}, tell: soldOut},
	{Name: "order.created", Description: "Checkout begins; the order is pending.", Keys: orderKey, From: []string{"order.created"}, Data: api.OrderData{}, tell: ofOrder},
	{Name: "order.completed", Description: "Payment settles and tickets are minted.", Keys: []string{"order", "tickets"}, From: []string{"order.completed"}, Data: api.CompletedOrderData{}, tell: completed},
	{Name: "order.failed", Description: "Payment of an order fails.", Keys: orderKey, From: []string{"order.ended"}, Data: api.OrderData{}, tell: ended(order.StatusFailed)},
	{Name: "order.cancelled", Description: "An unpaid order is cancelled.", Keys: orderKey, From: []string{"order.ended"}, Data: api.OrderData{}, tell: ended(order.StatusCancelled)},
	{Name: "ticket.created", Description: "A ticket is issued.", Keys: ticketKey, From: []string{"order.completed"}, Data: api.IssuedTicketData{}, tell: issued},
	{Name: "ticket.transferred", Description: "A ticket's holder changes.", Keys: ticketKey, From: []string{"ticket.transferred"}, Data: api.TicketData{}, tell: transferred},
	{Name: "ticket.checked_in", Description: "A scan at a gate admits a ticket.", Keys: []string{"ticket", "checkin"}, From: []string{"ticket.checked_in"}, Data: api.CheckinData{}, tell: checkedIn},
	{Name: "ticket.checkin_denied", Description: "A scan at a gate is denied: a duplicate, another event's, cancelled or expired, or an exit of somebody who is not inside.", Keys: []string{"ticket", "checkin"}, From: []string{"ticket.checkin_denied"}, Data: api.DeniedCheckinData{}, tell: denied},
	{Name: "refund.requested", Description: "A buyer asks for money back.", Keys: refundKey, From: []string{"refund.due"}, Data: api.RefundData{}, tell: requested},
	{Name: "refund.approved", Description: "The organizer approves a refund.", Keys: refundKey, From: []string{"refund.decided"}, Data: api.RefundData{}, tell: decided(true)},
	{Name: "refund.processed", Description: "Refunded money moves.", Keys: refundKey, From: []string{"refund.reported"}, Data: api.RefundData{}, tell: refunded},
	{Name: "refund.denied", Description: "The organizer declines a refund.", Keys: refundKey, From: []string{"refund.decided"}, Data: api.RefundData{}, tell: decided(false)},
	{Name: "report.submitted", Description: "A buyer files a report.", Keys: reportKey, Data: api.ReportData{}},
	{Name: "report.resolved", Description: "A report is closed.", Keys: reportKey, Data: api.ReportData{}},
	{Name: "message.received", Description: "A buyer messages the organizer.", Keys: []string{"message"}, Data: api.MessageData{}},
	{Name: "payout.scheduled", Description: "A payout is queued.", Keys: payoutKey},
	{Name: "payout.paid", Description: "A payout's funds land.", Keys: payoutKey},
	{Name: "payout.failed", Description: "A payout's transfer bounces.", Keys: payoutKey},
	{Name: "attendee.tagged", Description: "A tag is applied to an attendee.", Keys: []string{"attendee"}, Data: api.AttendeeData{}},
	{Name: "agent.action", Description: "An MCP tool performs a write with an API key.", Keys: []string{"tool", "method", "path", "statusCode", "at"}, Data: api.AgentActionData{}},
}

// Internal lists the facts that never become public facts, each with the reason. Of the facts that Catalogue
// names, some don't become public either, such as the end of an order that expired.
var Internal = map[string]string{
	"event.removed":             "a draft that nobody bought of; no type says so",
	"event.offered":             "what a ticket type tells its event",
	"ticket.checkin_undone":     "told to the gates alone",
	"ticket.gate_passed":        "an admission is told once; who goes out and comes in again, to the gates alone",
	"ticket.passage_undone":     "told to the gates alone",
	"order.closed":              "the keepers' acknowledgement",
	"order.extended":            "an order that waits is nobody's but its buyer's",
	"payment.begun":             "the order's next fact says what came of it",
	"payment.opened":            "where the buyer pays",
	"payment.reported":          "the order's next fact says what came of it",
	"order.recalled":            "the ledger's own memory",
	"refund.returned":           "the keepers' acknowledgement",
	"ticket_type.returned":      "the order's own facts say so",
	"promo_code.returned":       "the order's own facts say so",
	"calendar.returned":         "the order's own facts say so",
	"ticket.rescheduled":        "whom it concerns is told by mail",
	"ticket.reschedule_settled": "the calendars' acknowledgement",
	"transfer.offered":          "a ticket's holder changes when it is claimed",
	"transfer.revoked":          "a ticket's holder changes when it is claimed",
	"ticket_type.updated":       "no type says so",
	"ticket_type.reserved":      "the order's own facts say so",
	"ticket_type.released":      "the order's own facts say so",
	"order.erased":              "whom it concerns wants to be forgotten",
	"person.erased":             "whom it concerns wants to be forgotten",
	"event.cleared":             "the wallet's ledger is read, not told",
	"waitlist.joined":           "whom it concerns is told by mail",
	"waitlist.offered":          "whom it concerns is told by mail",
	"waitlist.claimed":          "whom it concerns is told by mail",
	"waitlist.ended":            "whom it concerns is told by mail",
	"waitlist.called":           "the organizer's own doing",
	"waitlist.set":              "the organizer's own doing",
	"queue.opened":              "the room is read, not told",
	"queue.ended":               "the room is read, not told",
	"queue.paused":              "the room is read, not told",
	"queue.joined":              "the room is read, not told",
	"queue.closed":              "the room is read, not told",
	"queue.drawn":               "the room is read, not told",
	"queue.voided":              "the room is read, not told",
	"queue.served":              "the room is read, not told",
	"queue.admitted":            "the room is read, not told",
	"queue.draining":            "the room is read, not told",
	"queue.bound":               "the buyer's own doing",
	"ticket_type.awaited":       "the ledger's word about who waits",
	"wallet.entered":            "the ledger is read, not told",
	"wallet.told":               "the ledger is read, not told",
	"wallet.reserved":           "the order's own facts say so",
	"wallet.committed":          "the order's own facts say so",
	"wallet.released":           "the order's own facts say so",
	"wallet.returned":           "the order's own facts say so",
	"promo_code.created":        "no type says so",
	"promo_code.updated":        "no type says so",
	"promo_code.disabled":       "no type says so",
	"promo_code.removed":        "no type says so",
	"promo_code.reserved":       "the order's own facts say so",
	"promo_code.committed":      "the order's own facts say so",
	"promo_code.released":       "the order's own facts say so",
	"calendar.configured":       "told as event.updated",
	"calendar.reserved":         "the order's own facts say so",
	"calendar.committed":        "the order's own facts say so",
	"calendar.released":         "the order's own facts say so",
	"calendar.moved":            "the order's own facts say so",
	"seatmap.attached":          "seats are watched live",
	"seatmap.configured":        "seats are watched live",
	"seatmap.detached":          "seats are watched live",
	"seatmap.priced":            "seats are watched live",
	"seats.held":                "seats are watched live",
	"seats.dropped":             "seats are watched live",
	"seats.expired":             "seats are watched live",
	"seats.blocked":             "seats are watched live",
	"seats.returned":            "seats are watched live",
	"seats.reserved":            "seats are watched live",
	"seats.committed":           "seats are watched live",
	"seats.released":            "seats are watched live",
}

// Find returns the type of the catalogue with a name. ok is false for a name that the
// catalogue does not have.
func Find(name string) (*Type, bool) {
	for i := range Catalogue {
		if Catalogue[i].Name == name {
			return &Catalogue[i], true
		}
	}
	return nil, false
}

// Types returns the catalogue as the API shows it. Schema points to the type's description in the OpenAPI
// document.
func Types() []api.FactType {
	types := make([]api.FactType, len(Catalogue))
	for i := range Catalogue {
		t := &Catalogue[i]
		types[i] = api.FactType{Type: t.Name, Description: t.Description, DataKeys: t.Keys, Active: t.Active(), Schema: "#/webhooks/" + t.Name}
	}
	return types
}

// factKey names a type of facts. Fact types are numbered within a kind, so the kind belongs
// to the name.
type factKey struct {
	kind engine.Kind
	fact engine.FactType
}

// byFact maps each type of the engine's facts to the types of the catalogue that are made from it, in the
// catalogue's order. It is made once, because every committed fact is looked up in it.
var byFact = func() map[factKey][]*Type {
	rows := make(map[factKey][]*Type)
	for _, kind := range all.Kinds {
		for _, def := range kind.Facts {
			for i := range Catalogue {
				for _, from := range Catalogue[i].From {
					if from == def.Name {
						key := factKey{kind.Kind, def.Type}
						rows[key] = append(rows[key], &Catalogue[i])
					}
				}
			}
		}
	}
	return rows
}()

package edge

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// providerTime bounds the operations that ask a payment provider.
const providerTime = 15 * time.Second

// Routes is the route table: every operation, once. Registration, validation,
// the document and the suites are derived from it.
func (d *Desk) Routes() []route.Op {
	type codes = []engine.Code
	const own = route.Organizer
	const guest = route.Public | route.OrderToken | route.Organizer
	order := codes{
		engine.TicketTypeNotFound, engine.TicketSoldOut, engine.ExceedsMaxPerOrder, engine.ExceedsMaxPerBuyer,
		engine.PresaleCodeRequired, engine.NotOnSale, engine.IdempotencyReused,
	}
	provider := codes{engine.OrderNotFound, engine.ProviderMissing, engine.ProviderError, engine.ProviderTimeout}
	return []route.Op{
		{Method: "POST", Path: "/api/v1/auth/register", ID: "register", Tag: "Auth", Summary: "Open an organizer's account", Auth: route.Public, Tier: route.TierAuth, Status: 201, Errors: codes{engine.EmailTaken}, Handler: route.Handle(d.register)},
		{Method: "POST", Path: "/api/v1/auth/login", ID: "login", Tag: "Auth", Summary: "Sign in with a password", Auth: route.Public, Tier: route.TierAuth, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(d.login)},

		{Method: "GET", Path: "/api/v1/events", ID: "discoverEvents", Tag: "Public events", Summary: "List published public events", Auth: route.Public, Tier: route.TierPublic, Status: 200, Errors: codes{}, Handler: route.Handle(d.discoverEvents)},
		{Method: "GET", Path: "/api/v1/events/{slug}", ID: "getEventPage", Tag: "Public events", Summary: "Read an event's page", Auth: route.Public | own, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.eventPage)},
		{Method: "GET", Path: "/api/v1/events/{id}/tickets", ID: "listTicketTypes", Tag: "Public events", Summary: "List an event's ticket types with what is left", Auth: route.Public | own, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.listTicketTypes)},

		{Method: "GET", Path: "/api/v1/organizer/events", ID: "listOwnEvents", Tag: "Organizer events", Summary: "List an organization's events", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.listOwnEvents)},
		{Method: "POST", Path: "/api/v1/organizer/events", ID: "createEvent", Tag: "Organizer events", Summary: "Create a draft event", Auth: own, Tier: route.TierAdmin, Status: 201, Errors: codes{engine.NotFound}, Handler: route.Handle(d.createEvent)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}", ID: "updateEvent", Tag: "Organizer events", Summary: "Change an event", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition, engine.Conflict}, Handler: route.Handle(d.updateEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/publish", ID: "publishEvent", Tag: "Organizer events", Summary: "Publish an event", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.publishEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/unpublish", ID: "unpublishEvent", Tag: "Organizer events", Summary: "Take an event back to draft", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.unpublishEvent)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/status", ID: "setEventStatus", Tag: "Organizer events", Summary: "Move an event to a status", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.setEventStatus)},
		{Method: "DELETE", Path: "/api/v1/organizer/events/{id}", ID: "deleteEvent", Tag: "Organizer events", Summary: "Remove a draft or cancel an event", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.deleteEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/tickets", ID: "createTicketType", Tag: "Ticket types", Summary: "Add a ticket type", Auth: own, Tier: route.TierAdmin, Status: 201, Errors: codes{engine.EventNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.InvalidTransition}, Handler: route.Handle(d.createTicketType)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/tickets/{ticketTypeId}", ID: "updateTicketType", Tag: "Ticket types", Summary: "Change a ticket type", Auth: own, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.TicketTypeLocked, engine.Conflict}, Handler: route.Handle(d.updateTicketType)},

		{Method: "POST", Path: "/api/v1/orders", ID: "placeOrder", Tag: "Orders and payments", Summary: "Place an order", Auth: route.Public | own, Tier: route.TierStrict, Status: 201, Errors: order, Idempotent: true, Handler: route.Handle(d.placeOrder)},
		{Method: "GET", Path: "/api/v1/orders/{id}", ID: "getOrder", Tag: "Orders and payments", Summary: "Read an order", Auth: guest, Tier: route.TierPublic, Status: 200, Errors: codes{engine.OrderNotFound}, Handler: route.Handle(d.getOrder)},
		{Method: "POST", Path: "/api/v1/orders/{id}/pay", ID: "payOrder", Tag: "Orders and payments", Summary: "Open an attempt to pay", Auth: guest, Tier: route.TierStrict, Status: 200, Errors: append(codes{engine.AlreadyPaid, engine.OrderNotPayable, engine.NothingToPay}, provider...), Timeout: providerTime, Handler: route.Handle(d.payOrder)},
		{Method: "POST", Path: "/api/v1/orders/{id}/cancel", ID: "cancelOrder", Tag: "Orders and payments", Summary: "Give an unpaid order up", Auth: guest, Tier: route.TierStrict, Status: 200, Errors: codes{engine.OrderNotFound, engine.OrderNotCancellable}, Handler: route.Handle(d.cancelOrder)},
		{Method: "POST", Path: "/api/v1/payments/verify", ID: "verifyPayment", Tag: "Orders and payments", Summary: "Ask whether an order is paid", Auth: guest, Tier: route.TierStrict, Status: 200, Errors: provider, Timeout: providerTime, Handler: route.Handle(d.verifyPayment)},
		{Method: "GET", Path: "/api/v1/payments/{orderId}", ID: "getPayment", Tag: "Orders and payments", Summary: "Read an order's payments", Auth: guest, Tier: route.TierPublic, Status: 200, Errors: codes{engine.OrderNotFound}, Handler: route.Handle(d.getPayment)},

		{Method: "POST", Path: "/api/v1/checkin/scan", ID: "scanTicket", Tag: "Check-in", Summary: "Scan a ticket at a gate", Auth: own, Tier: route.TierCheckin, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.scanTicket)},
		{Method: "GET", Path: "/api/v1/checkin/event/{id}/stats", ID: "getGateStats", Tag: "Check-in", Summary: "Read the gates' counters", Auth: own, Tier: route.TierCheckin, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.gateStats)},
	}
}

package catalog

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// mapBody bounds a venue map in JSON, in bytes. A stadium of 70,000 seats that is
// drawn by rows takes 32 KB; seats that are listed take about 50 bytes each.
const mapBody = 1 << 20

// eventBody bounds an event in JSON, in bytes: each of 50,000 characters of a description
// may be twelve of them (an escaped surrogate pair), and there may be 80 entities.
const eventBody = 1 << 20

// Routes are the area's rows.
func (h *Handlers) Routes() []route.Op {
	return []route.Op{
		{Method: "GET", Path: "/api/v1/events", ID: "discoverEvents", Tag: "Public events", Summary: "List published public events", Auth: route.Public, Tier: route.TierPublic, Status: 200, Errors: codes{}, Handler: route.Handle(h.discoverEvents)},
		{Method: "GET", Path: "/api/v1/events/{slug}", ID: "getEventPage", Tag: "Public events", Summary: "Read an event's page", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(h.eventPage)},
		{Method: "GET", Path: "/api/v1/events/{id}/tickets", ID: "listTicketTypes", Tag: "Public events", Summary: "List an event's ticket types with what is left", Auth: route.Public | own, Scope: route.TicketsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(h.listTicketTypes)},

		{Method: "GET", Path: "/api/v1/public/events/{eventId}/seatmap", ID: "getSeatMap", Tag: "Seats", Summary: "Read an event's seat map with prices", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(h.seatMap)},
		{Method: "GET", Path: "/api/v1/public/events/{eventId}/seats", ID: "listSeats", Tag: "Seats", Summary: "List the seats that are not available", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(h.seatStates)},
		{Method: "GET", Path: "/api/v1/public/events/{eventId}/seats/live", ID: "watchSeats", Tag: "Seats", Summary: "Watch an event's seats", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Stream(h.liveSeats)},

		{Method: "GET", Path: "/api/v1/organizer/events", ID: "listOwnEvents", Tag: "Organizer events", Summary: "List an organization's events", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listOwnEvents)},
		{Method: "POST", Path: "/api/v1/organizer/events", ID: "createEvent", Tag: "Organizer events", Summary: "Create a draft event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound}, MaxBody: eventBody, Handler: route.Handle(h.createEvent)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}", ID: "updateEvent", Tag: "Organizer events", Summary: "Change an event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition, engine.ProductTypeLocked, engine.Conflict}, MaxBody: eventBody, Handler: route.Handle(h.updateEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/publish", ID: "publishEvent", Tag: "Organizer events", Summary: "Publish an event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(h.publishEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/unpublish", ID: "unpublishEvent", Tag: "Organizer events", Summary: "Take an event back to draft", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(h.unpublishEvent)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/status", ID: "setEventStatus", Tag: "Organizer events", Summary: "Move an event to a status", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(h.setEventStatus)},
		{Method: "DELETE", Path: "/api/v1/organizer/events/{id}", ID: "deleteEvent", Tag: "Organizer events", Summary: "Remove a draft or cancel an event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(h.deleteEvent)},

		{Method: "POST", Path: "/api/v1/organizer/events/{id}/tickets", ID: "createTicketType", Tag: "Ticket types", Summary: "Add a ticket type", Auth: own, Scope: route.TicketsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.EventNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.InvalidTransition, engine.Conflict}, Handler: route.Handle(h.createTicketType)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/tickets/{ticketTypeId}", ID: "updateTicketType", Tag: "Ticket types", Summary: "Change a ticket type", Auth: own, Scope: route.TicketsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.TicketTypeLocked, engine.Conflict}, Handler: route.Handle(h.updateTicketType)},

		{Method: "GET", Path: "/api/v1/organizer/venues", ID: "listVenues", Tag: "Venue maps", Summary: "List venue maps with their published versions", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listVenues)},
		{Method: "POST", Path: "/api/v1/organizer/venues", ID: "createVenue", Tag: "Venue maps", Summary: "Draw a venue map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, MaxBody: mapBody, Handler: route.Handle(h.createVenue)},
		{Method: "GET", Path: "/api/v1/organizer/venues/{id}", ID: "getVenue", Tag: "Venue maps", Summary: "Read a venue map with its document", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.getVenue)},
		{Method: "PUT", Path: "/api/v1/organizer/venues/{id}", ID: "updateVenue", Tag: "Venue maps", Summary: "Replace the draft of a venue map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, MaxBody: mapBody, Handler: route.Handle(h.updateVenue)},
		{Method: "POST", Path: "/api/v1/organizer/venues/{id}/publish", ID: "publishVenue", Tag: "Venue maps", Summary: "Publish the draft of a venue map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(h.publishVenue)},

		{Method: "GET", Path: "/api/v1/organizer/events/{id}/seating", ID: "getSeating", Tag: "Seating", Summary: "Read an event's seating", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(h.getSeating)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/seating", ID: "setSeating", Tag: "Seating", Summary: "Seat an event by a published map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.MapNotPublished, engine.SeatsSold, engine.Conflict}, Handler: route.Handle(h.setSeating)},
		{Method: "DELETE", Path: "/api/v1/organizer/events/{id}/seating", ID: "removeSeating", Tag: "Seating", Summary: "Remove an event's seating", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.SeatsSold, engine.Conflict}, Handler: route.Handle(h.removeSeating)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/seating/pricing", ID: "priceSeating", Tag: "Seating", Summary: "Say which ticket type each section is sold as", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(h.priceSeating)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/seating/blocks", ID: "blockSeats", Tag: "Seating", Summary: "Withhold seats from sale", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating, engine.SeatSold}, Handler: route.Handle(h.blockSeats)},
	}
}

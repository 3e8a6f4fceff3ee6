package edge

import (
	"slices"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// providerTime bounds the operations that ask a payment provider.
const providerTime = 15 * time.Second

// handOverTime bounds the hand-over of a node's actors.
const handOverTime = 30 * time.Second

// mapBody bounds a venue map in JSON, in bytes. A stadium of 70,000 seats that is
// drawn by rows takes 32 KB; seats that are listed take about 50 bytes each.
const mapBody = 1 << 20

// eventBody bounds an event in JSON, in bytes: each of 50,000 characters of a description
// may be twelve of them (an escaped surrogate pair), and there may be 80 entities.
const eventBody = 1 << 20

// What the rows below share.
type codes = []engine.Code

const (
	own   = route.Member | route.Key
	guest = route.Public | route.OrderToken | route.User | own
)

var (
	orderCodes = codes{
		engine.TicketTypeNotFound, engine.TicketSoldOut, engine.ExceedsMaxPerOrder, engine.ExceedsMaxPerBuyer,
		engine.PresaleCodeRequired, engine.NotOnSale, engine.SeatTaken, engine.VelocityLimited,
	}
	providerCodes = codes{engine.OrderNotFound, engine.ProviderMissing, engine.ProviderError, engine.ProviderTimeout}
)

// Routes is the route table: every operation, once. Registration, validation,
// the document and the suites are derived from it.
func (d *Desk) Routes() []route.Op {
	return slices.Concat(d.accountRoutes(), d.publicRoutes(), d.organizerRoutes(), d.saleRoutes(), d.Gates.Routes(), d.Money.Routes(), d.Outward.Routes())
}

// accountRoutes are people, their organizations, keys and money.
func (d *Desk) accountRoutes() []route.Op {
	return []route.Op{
		{Method: "POST", Path: "/api/v1/auth/register", ID: "register", Tag: "Auth", Summary: "Open an organizer's account", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 201, Errors: codes{engine.EmailTaken, engine.Unauthorized}, Handler: route.Handle(d.register)},
		{Method: "POST", Path: "/api/v1/auth/login", ID: "login", Tag: "Auth", Summary: "Sign in with a password", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(d.login)},
		{Method: "POST", Path: "/api/v1/auth/2fa-verify", ID: "verifyTwoFactor", Tag: "Auth", Summary: "Sign in with a second factor", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized, engine.Conflict}, Handler: route.Handle(d.verifyTwoFactor)},
		{Method: "POST", Path: "/api/v1/auth/token/request", ID: "requestLoginCode", Tag: "Auth", Summary: "Mail a login code", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(d.requestCode)},
		{Method: "POST", Path: "/api/v1/auth/token/exchange", ID: "exchangeLoginCode", Tag: "Auth", Summary: "Sign in with a login code", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(d.exchangeCode)},
		{Method: "POST", Path: "/api/v1/auth/refresh", ID: "refreshTokens", Tag: "Auth", Summary: "Take new tokens for a refresh token", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(d.refresh)},
		{Method: "POST", Path: "/api/v1/auth/logout", ID: "logout", Tag: "Auth", Summary: "End a session", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(d.logout)},
		{Method: "POST", Path: "/api/v1/auth/logout-all", ID: "logoutAll", Tag: "Auth", Summary: "End all of one's sessions", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(d.logoutAll)},
		{Method: "GET", Path: "/api/v1/auth/sessions", ID: "listSessions", Tag: "Auth", Summary: "List one's sessions", Auth: route.User, Tier: route.TierAuth, Status: 200, Errors: codes{}, Handler: route.Handle(d.sessions)},
		{Method: "POST", Path: "/api/v1/auth/2fa/enroll", ID: "enrollTwoFactor", Tag: "Auth", Summary: "Begin to use a second factor", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Conflict}, Handler: route.Handle(d.enrollTwoFactor)},
		{Method: "POST", Path: "/api/v1/auth/2fa/activate", ID: "activateTwoFactor", Tag: "Auth", Summary: "Switch two-factor authentication on", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Conflict}, Handler: route.Handle(d.activateTwoFactor)},
		{Method: "DELETE", Path: "/api/v1/auth/2fa", ID: "disableTwoFactor", Tag: "Auth", Summary: "Switch two-factor authentication off", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Conflict}, Handler: route.Handle(d.disableTwoFactor)},
		{Method: "POST", Path: "/api/v1/auth/password/forgot", ID: "forgotPassword", Tag: "Auth", Summary: "Mail a link to set a new password with", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(d.forgotPassword)},
		{Method: "POST", Path: "/api/v1/auth/password/reset", ID: "resetPassword", Tag: "Auth", Summary: "Set a new password", Auth: route.Public, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(d.resetPassword)},
		{Method: "POST", Path: "/api/v1/auth/email/confirmation", ID: "requestEmailConfirmation", Tag: "Auth", Summary: "Mail a link that confirms one's address", Auth: route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{}, Handler: route.Handle(d.requestConfirmation)},
		{Method: "POST", Path: "/api/v1/auth/email/confirm", ID: "confirmEmail", Tag: "Auth", Summary: "Confirm one's address", Auth: route.Public | route.User, Tier: route.TierAuth, Idempotency: route.Replay, Status: 200, Errors: codes{engine.Unauthorized}, Handler: route.Handle(d.confirmEmail)},

		{Method: "GET", Path: "/api/v1/users/me", ID: "getMe", Tag: "Users", Summary: "Read one's own account", Auth: route.User, Tier: route.TierPublic, Status: 200, Errors: codes{}, Handler: route.Handle(d.me)},

		{Method: "GET", Path: "/api/v1/organizer/organizations/{id}", ID: "getOrganization", Tag: "Organizations", Summary: "Read an organization with its wallets", Auth: own, Scope: route.PayoutsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.getOrganization)},
		{Method: "GET", Path: "/api/v1/organizer/organizations/{id}/members", ID: "listMembers", Tag: "Organizations", Summary: "List an organization's members", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.listMembers)},
		{Method: "POST", Path: "/api/v1/organizer/organizations/{id}/members", ID: "addMember", Tag: "Organizations", Summary: "Invite somebody into an organization", Auth: route.Member, Scope: route.Manage, Tier: route.TierStrict, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.addMember)},
		{Method: "PUT", Path: "/api/v1/organizer/organizations/{id}/members/{userId}", ID: "updateMember", Tag: "Organizations", Summary: "Change a member's role", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.updateMember)},
		{Method: "DELETE", Path: "/api/v1/organizer/organizations/{id}/members/{userId}", ID: "removeMember", Tag: "Organizations", Summary: "Remove a member", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.removeMember)},

		{Method: "POST", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys", ID: "createAPIKey", Tag: "API keys", Summary: "Make an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.createAPIKey)},
		{Method: "GET", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys", ID: "listAPIKeys", Tag: "API keys", Summary: "List an organization's API keys", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.listAPIKeys)},
		{Method: "PUT", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys/{keyId}", ID: "updateAPIKey", Tag: "API keys", Summary: "Change an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.updateAPIKey)},
		{Method: "DELETE", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys/{keyId}", ID: "revokeAPIKey", Tag: "API keys", Summary: "Revoke an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.revokeAPIKey)},
		{Method: "POST", Path: "/api/v1/organizer/integrations/org/{orgId}/api-keys/{keyId}/rotate", ID: "rotateAPIKey", Tag: "API keys", Summary: "Replace the secret of an API key", Auth: route.Member, Scope: route.Manage, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.rotateAPIKey)},
		{Method: "PUT", Path: "/api/v1/admin/api-keys/{keyId}/limits", ID: "limitAPIKey", Tag: "API keys", Summary: "Set an API key's own limit of strict writes", Auth: route.Admin, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.limitAPIKey)},

		{Method: "POST", Path: "/api/v1/admin/drain", ID: "drainNode", Tag: "Operations", Summary: "Hand this node's actors over to the other nodes", Auth: route.Admin, Tier: route.TierAdmin, Idempotency: route.ByActor, Status: 200, Errors: codes{}, Timeout: handOverTime, Handler: route.Handle(d.drainNode)},
	}
}

// publicRoutes are what everybody may see.
func (d *Desk) publicRoutes() []route.Op {
	return []route.Op{
		{Method: "GET", Path: "/api/v1/events", ID: "discoverEvents", Tag: "Public events", Summary: "List published public events", Auth: route.Public, Tier: route.TierPublic, Status: 200, Errors: codes{}, Handler: route.Handle(d.discoverEvents)},
		{Method: "GET", Path: "/api/v1/events/{slug}", ID: "getEventPage", Tag: "Public events", Summary: "Read an event's page", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.eventPage)},
		{Method: "GET", Path: "/api/v1/events/{id}/tickets", ID: "listTicketTypes", Tag: "Public events", Summary: "List an event's ticket types with what is left", Auth: route.Public | own, Scope: route.TicketsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.listTicketTypes)},

		{Method: "GET", Path: "/api/v1/public/events/{eventId}/seatmap", ID: "getSeatMap", Tag: "Seats", Summary: "Read an event's seat map with prices", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(d.seatMap)},
		{Method: "GET", Path: "/api/v1/public/events/{eventId}/seats", ID: "listSeats", Tag: "Seats", Summary: "List the seats that are not available", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(d.seatStates)},
		{Method: "GET", Path: "/api/v1/public/events/{eventId}/seats/live", ID: "watchSeats", Tag: "Seats", Summary: "Watch an event's seats", Auth: route.Public | own, Scope: route.EventsRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Stream(d.liveSeats)},
		{Method: "POST", Path: "/api/v1/public/events/{eventId}/seats/hold", ID: "holdSeats", Tag: "Seats", Summary: "Replace a selection of seats", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating, engine.NotOnSale, engine.VelocityLimited}, Handler: route.Handle(d.holdSeats)},
		{Method: "DELETE", Path: "/api/v1/public/events/{eventId}/seats/hold", ID: "releaseSeats", Tag: "Seats", Summary: "Give held seats back", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(d.releaseSeats)},
		{Method: "POST", Path: "/api/v1/public/events/{id}/seats/best-available", ID: "holdBestSeats", Tag: "Seats", Summary: "Hold the best seats there are", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.NoSeating, engine.NotOnSale, engine.TicketSoldOut, engine.VelocityLimited}, Handler: route.Handle(d.bestSeats)},
	}
}

// organizerRoutes are organizers' work on their events.
func (d *Desk) organizerRoutes() []route.Op {
	return []route.Op{
		{Method: "GET", Path: "/api/v1/organizer/events", ID: "listOwnEvents", Tag: "Organizer events", Summary: "List an organization's events", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.listOwnEvents)},
		{Method: "POST", Path: "/api/v1/organizer/events", ID: "createEvent", Tag: "Organizer events", Summary: "Create a draft event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound}, MaxBody: eventBody, Handler: route.Handle(d.createEvent)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}", ID: "updateEvent", Tag: "Organizer events", Summary: "Change an event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition, engine.ProductTypeLocked, engine.Conflict}, MaxBody: eventBody, Handler: route.Handle(d.updateEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/publish", ID: "publishEvent", Tag: "Organizer events", Summary: "Publish an event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.publishEvent)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/unpublish", ID: "unpublishEvent", Tag: "Organizer events", Summary: "Take an event back to draft", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.unpublishEvent)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/status", ID: "setEventStatus", Tag: "Organizer events", Summary: "Move an event to a status", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.setEventStatus)},
		{Method: "DELETE", Path: "/api/v1/organizer/events/{id}", ID: "deleteEvent", Tag: "Organizer events", Summary: "Remove a draft or cancel an event", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.InvalidTransition}, Handler: route.Handle(d.deleteEvent)},

		{Method: "POST", Path: "/api/v1/organizer/events/{id}/tickets", ID: "createTicketType", Tag: "Ticket types", Summary: "Add a ticket type", Auth: own, Scope: route.TicketsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.EventNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.InvalidTransition, engine.Conflict}, Handler: route.Handle(d.createTicketType)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/tickets/{ticketTypeId}", ID: "updateTicketType", Tag: "Ticket types", Summary: "Change a ticket type", Auth: own, Scope: route.TicketsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.InvalidSaleWindow, engine.InvalidRefundLimit, engine.TicketTypeLocked, engine.Conflict}, Handler: route.Handle(d.updateTicketType)},

		{Method: "GET", Path: "/api/v1/organizer/venues", ID: "listVenues", Tag: "Venue maps", Summary: "List venue maps with their published versions", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.listVenues)},
		{Method: "POST", Path: "/api/v1/organizer/venues", ID: "createVenue", Tag: "Venue maps", Summary: "Draw a venue map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound, engine.Conflict}, MaxBody: mapBody, Handler: route.Handle(d.createVenue)},
		{Method: "GET", Path: "/api/v1/organizer/venues/{id}", ID: "getVenue", Tag: "Venue maps", Summary: "Read a venue map with its document", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(d.getVenue)},
		{Method: "PUT", Path: "/api/v1/organizer/venues/{id}", ID: "updateVenue", Tag: "Venue maps", Summary: "Replace the draft of a venue map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound}, MaxBody: mapBody, Handler: route.Handle(d.updateVenue)},
		{Method: "POST", Path: "/api/v1/organizer/venues/{id}/publish", ID: "publishVenue", Tag: "Venue maps", Summary: "Publish the draft of a venue map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.NotFound, engine.Conflict}, Handler: route.Handle(d.publishVenue)},

		{Method: "GET", Path: "/api/v1/organizer/events/{id}/seating", ID: "getSeating", Tag: "Seating", Summary: "Read an event's seating", Auth: own, Scope: route.EventsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.EventNotFound}, Handler: route.Handle(d.getSeating)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/seating", ID: "setSeating", Tag: "Seating", Summary: "Seat an event by a published map", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.MapNotPublished, engine.SeatsSold, engine.Conflict}, Handler: route.Handle(d.setSeating)},
		{Method: "DELETE", Path: "/api/v1/organizer/events/{id}/seating", ID: "removeSeating", Tag: "Seating", Summary: "Remove an event's seating", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.SeatsSold, engine.Conflict}, Handler: route.Handle(d.removeSeating)},
		{Method: "PUT", Path: "/api/v1/organizer/events/{id}/seating/pricing", ID: "priceSeating", Tag: "Seating", Summary: "Say which ticket type each section is sold as", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(d.priceSeating)},
		{Method: "POST", Path: "/api/v1/organizer/events/{id}/seating/blocks", ID: "blockSeats", Tag: "Seating", Summary: "Withhold seats from sale", Auth: own, Scope: route.EventsWrite, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating, engine.SeatSold}, Handler: route.Handle(d.blockSeats)},
	}
}

// saleRoutes are buying, and the gates.
func (d *Desk) saleRoutes() []route.Op {
	return []route.Op{
		{Method: "POST", Path: "/api/v1/orders", ID: "placeOrder", Tag: "Orders and payments", Summary: "Place an order", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 201, Errors: orderCodes, Handler: route.Handle(d.placeOrder)},
		{Method: "GET", Path: "/api/v1/orders/{id}", ID: "getOrder", Tag: "Orders and payments", Summary: "Read an order", Auth: guest, Scope: route.OrdersRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.OrderNotFound}, Handler: route.Handle(d.getOrder)},
		{Method: "POST", Path: "/api/v1/orders/{id}/pay", ID: "payOrder", Tag: "Orders and payments", Summary: "Open an attempt to pay", Auth: guest, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: append(codes{engine.AlreadyPaid, engine.OrderNotPayable, engine.NothingToPay}, providerCodes...), Timeout: providerTime, Handler: route.Handle(d.payOrder)},
		{Method: "POST", Path: "/api/v1/orders/{id}/cancel", ID: "cancelOrder", Tag: "Orders and payments", Summary: "Give an unpaid order up", Auth: guest, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: codes{engine.OrderNotFound, engine.OrderNotCancellable}, Handler: route.Handle(d.cancelOrder)},
		{Method: "POST", Path: "/api/v1/payments/verify", ID: "verifyPayment", Tag: "Orders and payments", Summary: "Ask whether an order is paid", Auth: guest, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: providerCodes, Timeout: providerTime, Handler: route.Handle(d.verifyPayment)},
		{Method: "GET", Path: "/api/v1/payments/{orderId}", ID: "getPayment", Tag: "Orders and payments", Summary: "Read an order's payments", Auth: guest, Scope: route.OrdersRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.OrderNotFound}, Handler: route.Handle(d.getPayment)},
	}
}

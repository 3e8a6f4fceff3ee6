package catalog

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// discoveryRoutes are the rows by which everybody lists, searches and reads events, with their ticket types and the
// dates that can be booked.
func (h *Handlers) discoveryRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1",
			Tag:    "Public events",
			Auth:   route.Public,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/events",
					ID:          "discoverEvents",
					Summary:     "List published public events",
					Description: "For whoever looks for something to go to: published public events by start; `q` is a part of the title or the short description. Without dates those that have not ended; reservations, and products without an end, are always listed.",
					Handler:     route.Handle(h.discoverEvents),
				},
				{
					Method:      "GET",
					Path:        "/search",
					ID:          "searchEvents",
					Summary:     "Search published public events",
					Description: "For a search box: published public events whose title, tags, short description, venue or city have the words of `q`, the best first. Case and accents do not count, and a word may be a beginning or slightly misspelled.",
					Handler:     route.Handle(h.searchEvents),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/events",
			Tag:    "Public events",
			Auth:   route.Public | own,
			Read:   route.EventsRead,
			Tier:   route.TierPublic,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/{slug}",
					ID:          "getEventPage",
					Summary:     "Read an event's page",
					Description: "For an event's page, or a client's of its own: the record with organizer, schedule, sections, looks and ticket types. Completed and cancelled events stay readable; drafts and private ones are 404 for all but their organization.",
					Handler:     route.Handle(h.eventPage),
				},
				{
					Method:      "GET",
					Path:        "/{id}/tickets",
					ID:          "listTicketTypes",
					Summary:     "List an event's ticket types with what is left",
					Description: "For whoever is about to buy: the types that are not hidden, with their prices and what is left of them at this moment. The organization, with `tickets:read`, also sees hidden ones, presale codes and what is delivered.",
					Scope:       route.TicketsRead,
					Handler:     route.Handle(h.listTicketTypes),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/public/events/by-id/{eventId}/availability",
			Tag:    "Public events",
			Auth:   route.Public | own,
			Read:   route.EventsRead,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "findDates",
					Summary:     "Read which dates of a reservation event can be booked",
					Description: "For a calendar to book from: each date with what is left of it, and of its slots in mode date_time. The window begins tomorrow in the event's zone; `from` and `to` are clamped into it.",
					Errors:      codes{engine.EventNotFound, engine.NotReservation},
					Handler:     route.Handle(h.findDates),
				},
			},
		},
	)
}

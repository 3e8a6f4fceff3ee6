package catalog

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// eventRoutes are the rows by which an organization lists, reads, makes, changes and removes its events, and moves
// them from one status to another.
func (h *Handlers) eventRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/organizer/events",
			Tag:    "Organizer events",
			Auth:   own,
			Read:   route.EventsRead,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listOwnEvents",
					Summary:     "List an organization's events",
					Description: "For the organization's people and programs: its events in every status and visibility, the newest first; `q` is a part of the title or the short description. Ticket types, schedule and looks come with a single event alone.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.listOwnEvents),
				},
				{
					Method:      "POST",
					ID:          "createEvent",
					Summary:     "Create a draft event",
					Description: "For the organization's people and programs: the event begins as a draft that nobody else sees. It needs a ticket type before it can be published; a course is sent with all that it takes to be complete.",
					Status:      201,
					Errors:      codes{engine.NotFound},
					MaxBody:     courseBody,
					Handler:     route.Handle(h.createEvent),
				},
				{
					Method:      "GET",
					Path:        "/{id}",
					ID:          "getOwnEvent",
					Summary:     "Read an own event, drafts too",
					Description: "For the organization: the event in any status as it was written, with ticket types, schedule, sections and looks. Without `tickets:read` hidden types, presale codes and what is delivered are left out.",
					Errors:      codes{engine.EventNotFound},
					Handler:     route.Handle(h.getOwnEvent),
				},
				{
					Method:      "PUT",
					Path:        "/{id}",
					ID:          "updateEvent",
					Summary:     "Change an event",
					Description: "For the organization: what is sent changes, what is left out stays, and null clears a field or takes it back to its default. An event that has ended can't be changed; the same values again change nothing and tell nobody.",
					Errors:      codes{engine.EventNotFound, engine.InvalidTransition, engine.ProductTypeLocked, engine.CourseIncomplete, engine.Conflict, engine.VelocityLimited, engine.InvalidSaleWindow, engine.InvalidRefundLimit},
					MaxBody:     courseBody,
					Handler:     route.Handle(h.updateEvent),
				},
				{
					Method:      "POST",
					Path:        "/{id}/publish",
					ID:          "publishEvent",
					Summary:     "Publish an event",
					Description: "For the organization: the public finds the event from now on, unless it is private, and can buy once a sale begins; it needs a ticket type. From then on it moves by itself to on_sale, sold_out, in_progress and completed; publishing what is live changes nothing. warnings says whether no payment provider takes its currency.",
					Errors:      codes{engine.EventNotFound, engine.InvalidTransition, engine.CourseIncomplete},
					Handler:     route.Handle(h.publishEvent),
				},
				{
					Method:      "POST",
					Path:        "/{id}/unpublish",
					ID:          "unpublishEvent",
					Summary:     "Take an event back to draft",
					Description: "For the organization: the event is a draft again, which the public neither sees nor buys. Orders and tickets that there are stay; an event that has begun can't be taken back.",
					Errors:      codes{engine.EventNotFound, engine.InvalidTransition},
					Handler:     route.Handle(h.unpublishEvent),
				},
				{
					Method:      "PUT",
					Path:        "/{id}/status",
					ID:          "setEventStatus",
					Summary:     "Move an event to a status",
					Description: "For the organization: a move that the event's status allows; another is INVALID_STATUS_TRANSITION with those that are. Sale windows, stock and dates go on moving a published event, also away from what was set by hand.",
					Errors:      codes{engine.EventNotFound, engine.InvalidTransition, engine.CourseIncomplete},
					Handler:     route.Handle(h.setEventStatus),
				},
				{
					Method:      "DELETE",
					Path:        "/{id}",
					ID:          "deleteEvent",
					Summary:     "Remove a draft or cancel an event",
					Description: "For the organization: a draft of which nothing was sold is removed, and any other event is cancelled, for good. No money goes back by itself: each ticket may be given back, or all at once by POST /organizer/events/{id}/refund-all.",
					Errors:      codes{engine.EventNotFound, engine.InvalidTransition},
					Handler:     route.Handle(h.deleteEvent),
				},
			},
		},
	)
}

package catalog

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// programRoutes are the rows by which an organization edits what an event's page shows besides the event's record: the
// schedule, the sections and the page's looks.
func (h *Handlers) programRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/organizer/events/{id}/schedule",
			Tag:    "Schedule",
			Auth:   own,
			Read:   route.EventsRead,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listSchedule",
					Summary:     "List an event's sessions",
					Description: "For the organization's own screens: all sessions in the order of the event's page. The public reads them with the event.",
					Handler:     route.Handle(h.listSessions),
				},
				{
					Method:      "POST",
					ID:          "createScheduleSession",
					Summary:     "Add a session to an event's schedule",
					Description: "For the organization: the session stands on the event's page from now on, and webhooks tell that the event changed. An event has at most 500, and one that has ended takes none.",
					Status:      201,
					Errors:      codes{engine.InvalidTransition, engine.Conflict},
					Handler:     route.Handle(h.createSession),
				},
				{
					Method:      "PUT",
					Path:        "/{sessionId}",
					ID:          "updateScheduleSession",
					Summary:     "Change a session",
					Description: "For the organization: what is sent changes, and the rest stays. Webhooks tell that the event changed if the session did; an event that has ended can't be changed.",
					Errors:      codes{engine.InvalidTransition, engine.VelocityLimited},
					Handler:     route.Handle(h.updateSession),
				},
				{
					Method:      "DELETE",
					Path:        "/{sessionId}",
					ID:          "deleteScheduleSession",
					Summary:     "Remove a session",
					Description: "For the organization: the session is gone from the event's page, and webhooks tell that the event changed. An event that has ended can't be changed.",
					Errors:      codes{engine.InvalidTransition},
					Handler:     route.Handle(h.deleteSession),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/organizer/events/{id}/sections",
			Tag:    "Sections",
			Auth:   own,
			Read:   route.EventsRead,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listSections",
					Summary:     "List an event's sections",
					Description: "For the organization's own screens: the parts of the room in the order of the event's page. They are words for guests: seats are those of a venue map, which has sections of its own.",
					Handler:     route.Handle(h.listSections),
				},
				{
					Method:      "POST",
					ID:          "createSection",
					Summary:     "Add a section to an event",
					Description: "For the organization: a part of the room that ticket types may name as their `sectionId`. It bounds no sale; an event has at most 500, and one that has ended takes none.",
					Status:      201,
					Errors:      codes{engine.InvalidTransition, engine.Conflict},
					Handler:     route.Handle(h.createSection),
				},
				{
					Method:      "PUT",
					Path:        "/{sectionId}",
					ID:          "updateSection",
					Summary:     "Change a section",
					Description: "For the organization: what is sent changes, and the rest stays. Ticket types that name the section go on naming it.",
					Errors:      codes{engine.InvalidTransition, engine.VelocityLimited},
					Handler:     route.Handle(h.updateSection),
				},
				{
					Method:      "DELETE",
					Path:        "/{sectionId}",
					ID:          "deleteSection",
					Summary:     "Remove a section that no ticket type names",
					Description: "For the organization: the section is gone from the event's page. While a ticket type names it, it is refused as SECTION_IN_USE.",
					Errors:      codes{engine.InvalidTransition, engine.SectionInUse},
					Handler:     route.Handle(h.deleteSection),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/organizer/event-customization/{id}",
			Tag:    "Event pages",
			Auth:   own,
			Read:   route.EventsRead,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getCustomization",
					Summary:     "Read how an event's page looks",
					Description: "For whoever designs the page: what was set, and the defaults beside it. Pages and clients draw by it; no sale depends on it.",
					Handler:     route.Handle(h.getCustomization),
				},
				{
					Method:      "PUT",
					ID:          "customize",
					Summary:     "Change how an event's page looks",
					Description: "For whoever designs the page: what is sent changes, what is left out stays, and null takes a field back to its default. It shows within seconds; an event that has ended can't be changed.",
					Errors:      codes{engine.InvalidTransition, engine.VelocityLimited},
					MaxBody:     eventBody,
					Handler:     route.Handle(h.customize),
				},
			},
		},
	)
}

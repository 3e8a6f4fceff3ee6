package venues

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// venueRoutes are the rows by which an organization draws its halls as venue maps and publishes these.
func (h *Handlers) venueRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/organizer/venues",
			Tag:    "Venue maps",
			Auth:   own,
			Read:   route.EventsRead,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listVenues",
					Summary:     "List venue maps with their published versions",
					Description: "For whoever seats an event: the organization's maps and those that are shared with everybody, the newest first. Only published maps are listed unless `status` says otherwise, for no other can be used.",
					Handler:     route.Handle(h.listVenues),
				},
				{
					Method:      "POST",
					ID:          "createVenue",
					Summary:     "Draw a venue map",
					Description: "For whoever draws a hall: the document becomes the draft of a new map, which can still change. An event can be seated by it once it is published; an organization has at most 100 maps.",
					Status:      201,
					Errors:      codes{engine.Conflict},
					MaxBody:     mapBody,
					Handler:     route.Handle(h.createVenue),
				},
				{
					Method:      "GET",
					Path:        "/{id}",
					ID:          "getVenue",
					Summary:     "Read a venue map with its document",
					Description: "For whoever draws a hall, to go on with the draft or to look at a published version. A map that is shared with everybody can be read and not changed: make one of your own of its document.",
					Handler:     route.Handle(h.getVenue),
				},
				{
					Method:      "PUT",
					Path:        "/{id}",
					ID:          "updateVenue",
					Summary:     "Replace the draft of a venue map",
					Description: "For whoever draws a hall: the document replaces the whole draft. Published versions, and the events that are seated by them, stay as they are.",
					MaxBody:     mapBody,
					Handler:     route.Handle(h.updateVenue),
				},
				{
					Method:      "POST",
					Path:        "/{id}/publish",
					ID:          "publishVenue",
					Summary:     "Publish the draft of a venue map",
					Description: "For whoever draws a hall: the draft becomes the next version, which never changes and by which events can be seated. A draft that is published already answers with its version again; a map has at most 50.",
					Errors:      codes{engine.Conflict},
					Handler:     route.Handle(h.publishVenue),
				},
			},
		},
	)
}

package venues

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// seatRoutes are the rows by which everybody sees halls and the seats of events, with their states, once or as a
// stream.
func (h *Handlers) seatRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/public/venue-maps/{id}/{version}/drawing",
			Tag:    "Seats",
			Auth:   route.Public,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getDrawing",
					Summary:     "Read the drawing of a published venue map, which never changes",
					Description: "For clients that draw a hall: the rows, seats and elements of one version, without prices and states, which are an event's. Whoever has the map's id may read it, and keep it for a year.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.getDrawing),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/public/events/{eventId}",
			Tag:    "Seats",
			Auth:   route.Public | own,
			Read:   route.EventsRead,
			Tier:   route.TierPublic,
			Errors: codes{engine.EventNotFound, engine.NoSeating},
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/seatmap",
					ID:          "getSeatMap",
					Summary:     "Read an event's seat map with prices",
					Description: "For a page that sells seats: the seats, what is drawn besides, and what each section is sold as and costs. It does not say which seats are free: the list of seats and the live stream do.",
					Handler:     route.Handle(h.seatMap),
				},
				{
					Method:      "GET",
					Path:        "/seats",
					ID:          "listSeats",
					Summary:     "List the seats that are not available",
					Description: "For a map that is drawn once: the ids of the seats that are sold, blocked or held; the others are free where their section is for sale. To follow changes, open the live stream instead of asking again.",
					Handler:     route.Handle(h.seatStates),
				},
				{
					Method:      "GET",
					Path:        "/seats/live",
					ID:          "watchSeats",
					Summary:     "Watch an event's seats",
					Description: "A stream of Server-Sent Events for a map that stays open. `snapshot` has all states and comes at once, and again when another map takes this one's place; `seat_update` has the seats that were `sold`, `held`, `released`, `blocked` or `unblocked`.",
					Handler:     route.Stream(h.liveSeats),
				},
			},
		},
	)
}

package venues

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// seatingRoutes are the rows by which an organization gives an event the seats of a map, prices them, blocks them, or
// takes them away.
func (h *Handlers) seatingRoutes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/organizer/events/{id}/seating",
			Tag:    "Seating",
			Auth:   own,
			Read:   route.EventsRead,
			Write:  route.EventsWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "getSeating",
					Summary:     "Read an event's seating",
					Description: "For the organization: the map, its prices, and the seats that are sold or blocked, as they are at this moment. Of an event without seating it says `enabled` false alone.",
					Handler:     route.Handle(h.getSeating),
				},
				{
					Method:      "PUT",
					ID:          "setSeating",
					Summary:     "Seat an event by a published map",
					Description: "For the organization: the event sells the seats of a published map. Another map or version begins without prices, holds and blocks, and is refused once a seat is sold; the same again changes mode and hold time alone.",
					Errors:      codes{engine.MapNotPublished, engine.SeatsSold, engine.Conflict},
					Handler:     route.Handle(h.setSeating),
				},
				{
					Method:      "DELETE",
					ID:          "removeSeating",
					Summary:     "Remove an event's seating",
					Description: "For the organization: the map goes with its prices, holds and blocks, and ticket types sell by quantity again. It is refused while a seat is sold or in an order that is not over.",
					Errors:      codes{engine.SeatsSold, engine.Conflict},
					Handler:     route.Handle(h.removeSeating),
				},
				{
					Method:      "PUT",
					Path:        "/pricing",
					ID:          "priceSeating",
					Summary:     "Say which ticket type each section is sold as",
					Description: "For the organization: a section that is listed is sold as its ticket type, at that type's price; one that is not is not for sale. What is sent replaces the whole pricing, and a type's quantity becomes the number of its seats.",
					Errors:      codes{engine.NoSeating},
					Handler:     route.Handle(h.priceSeating),
				},
				{
					Method:      "POST",
					Path:        "/blocks",
					ID:          "blockSeats",
					Summary:     "Withhold seats from sale",
					Description: "For the organization: blocked seats are sold to nobody, and a shopper who holds one loses it. If one of them is sold, nothing is blocked (SEAT_SOLD).",
					Errors:      codes{engine.NoSeating, engine.SeatSold},
					Handler:     route.Handle(h.blockSeats),
				},
			},
		},
	)
}

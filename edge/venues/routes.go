package venues

import (
	"slices"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// mapBody bounds the body of a request with a venue map, in bytes. A stadium of 70,000 seats that
// is drawn by rows takes 32 KB. Seats that are listed one by one take about 50 bytes each.
const mapBody = 1 << 20

// Routes are the area's rows. They are in three files: venue maps, the seating of events, and what
// the public sees.
func (h *Handlers) Routes() []route.Op {
	return slices.Concat(h.seatRoutes(), h.venueRoutes(), h.seatingRoutes())
}

package catalog

import (
	"slices"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// eventBody is the most bytes of an event in JSON. A description may have 50,000 characters of up to twelve bytes
// (an escaped surrogate pair), and there may be 80 entities.
const eventBody = 1 << 20

// courseBody is the most bytes of an event in JSON with the content of its course.
const courseBody = 8 << 20

// Routes are the area's rows, noun by noun.
func (h *Handlers) Routes() []route.Op {
	return slices.Concat(h.discoveryRoutes(), h.eventRoutes(), h.ticketTypeRoutes(), h.programRoutes())
}

package sales

import (
	"slices"
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// guest are the credentials with which people may buy.
const guest = route.Public | route.OrderToken | route.User | own

// providerTime is the Timeout of operations that ask a payment provider.
const providerTime = 15 * time.Second

var (
	orderCodes = codes{
		engine.TicketTypeNotFound, engine.TicketSoldOut, engine.ExceedsMaxPerOrder, engine.ExceedsMaxPerBuyer,
		engine.PresaleCodeRequired, engine.PromoCodeInvalid, engine.DateUnavailable, engine.SlotFull, engine.NotOnSale, engine.SeatTaken, engine.VelocityLimited,
	}
	providerCodes = codes{engine.OrderNotFound, engine.ProviderMissing, engine.ProviderError, engine.ProviderTimeout}
)

// Routes returns the area's rows: the rows for buyers, the rows for organizations, and the rows about disputes.
func (h *Handlers) Routes() []route.Op {
	return route.Table(slices.Concat(h.orderGroups(), h.organizerGroups(), h.disputeGroups())...)
}

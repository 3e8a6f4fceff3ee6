package sales

import (
	"time"

	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// guest are the credentials of whoever buys.
const guest = route.Public | route.OrderToken | route.User | own

// providerTime bounds the operations that ask a payment provider.
const providerTime = 15 * time.Second

var (
	orderCodes = codes{
		engine.TicketTypeNotFound, engine.TicketSoldOut, engine.ExceedsMaxPerOrder, engine.ExceedsMaxPerBuyer,
		engine.PresaleCodeRequired, engine.NotOnSale, engine.SeatTaken, engine.VelocityLimited,
	}
	providerCodes = codes{engine.OrderNotFound, engine.ProviderMissing, engine.ProviderError, engine.ProviderTimeout}
)

// Routes are the area's rows.
func (h *Handlers) Routes() []route.Op {
	return []route.Op{
		{Method: "POST", Path: "/api/v1/public/events/{eventId}/seats/hold", ID: "holdSeats", Tag: "Seats", Summary: "Replace a selection of seats", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating, engine.NotOnSale, engine.VelocityLimited}, Handler: route.Handle(h.holdSeats)},
		{Method: "DELETE", Path: "/api/v1/public/events/{eventId}/seats/hold", ID: "releaseSeats", Tag: "Seats", Summary: "Give held seats back", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound, engine.NoSeating}, Handler: route.Handle(h.releaseSeats)},
		{Method: "POST", Path: "/api/v1/public/events/{id}/seats/best-available", ID: "holdBestSeats", Tag: "Seats", Summary: "Hold the best seats there are", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 200, Errors: codes{engine.EventNotFound, engine.TicketTypeNotFound, engine.NoSeating, engine.NotOnSale, engine.TicketSoldOut, engine.VelocityLimited}, Handler: route.Handle(h.bestSeats)},

		{Method: "POST", Path: "/api/v1/orders", ID: "placeOrder", Tag: "Orders and payments", Summary: "Place an order", Auth: route.Public | route.User | route.Key, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.ByActor, Status: 201, Errors: orderCodes, Handler: route.Handle(h.placeOrder)},
		{Method: "GET", Path: "/api/v1/orders/{id}", ID: "getOrder", Tag: "Orders and payments", Summary: "Read an order", Auth: guest, Scope: route.OrdersRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.OrderNotFound}, Handler: route.Handle(h.getOrder)},
		{Method: "POST", Path: "/api/v1/orders/{id}/pay", ID: "payOrder", Tag: "Orders and payments", Summary: "Open an attempt to pay", Auth: guest, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: append(codes{engine.AlreadyPaid, engine.OrderNotPayable, engine.NothingToPay}, providerCodes...), Timeout: providerTime, Handler: route.Handle(h.payOrder)},
		{Method: "POST", Path: "/api/v1/orders/{id}/cancel", ID: "cancelOrder", Tag: "Orders and payments", Summary: "Give an unpaid order up", Auth: guest, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: codes{engine.OrderNotFound, engine.OrderNotCancellable}, Handler: route.Handle(h.cancelOrder)},
		{Method: "POST", Path: "/api/v1/payments/verify", ID: "verifyPayment", Tag: "Orders and payments", Summary: "Ask whether an order is paid", Auth: guest, Scope: route.OrdersWrite, Tier: route.TierStrict, Idempotency: route.Replay, Status: 200, Errors: providerCodes, Timeout: providerTime, Handler: route.Handle(h.verifyPayment)},
		{Method: "GET", Path: "/api/v1/payments/{orderId}", ID: "getPayment", Tag: "Orders and payments", Summary: "Read an order's payments", Auth: guest, Scope: route.OrdersRead, Tier: route.TierPublic, Status: 200, Errors: codes{engine.OrderNotFound}, Handler: route.Handle(h.getPayment)},
	}
}

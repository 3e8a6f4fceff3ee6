package refunds

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows: people ask for refunds of their own tickets, organizations decide on them or refund
// orders and whole events themselves, and buyers withdraw from digital purchases.
func (h *Handlers) Routes() []route.Op {
	return route.Table([]route.Group{
		{
			Prefix: "/api/v1/users/me/refunds",
			Tag:    "Refunds",
			Auth:   route.User,
			Tier:   route.TierStrict,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listOwnRefunds",
					Summary:     "List one's own refunds",
					Description: "What one has asked for as the holder of a ticket, whoever bought it, and what the organization gave back of one's own orders, the newest first. Money that goes back by itself, such as a second payment, is not listed here but in its order.",
					Tier:        route.TierPublic,
					Errors:      codes{engine.Forbidden},
					Handler:     route.Handle(h.listOwnRefunds),
				},
				{
					Method:      "POST",
					ID:          "askRefund",
					Summary:     "Ask for a ticket's money",
					Description: "The holder of a ticket asks for its money, by a session whose address is proven; the organization decides. The ticket admits until it does, and an offer to pass it on ends.",
					Status:      201,
					Errors:      codes{engine.TicketNotFound, engine.RefundNotEligible},
					Handler:     route.Handle(h.askRefund),
				},
				{
					Method:      "DELETE",
					Path:        "/{id}",
					ID:          "cancelRefund",
					Summary:     "Take back what one has asked for, until it is decided",
					Description: "The holder who asked takes it back, as long as nobody has decided. The ticket stays as it was, and its money may be asked for again.",
					Errors:      codes{engine.Forbidden, engine.NotFound, engine.RefundNotPending},
					Handler:     route.Handle(h.cancelRefund),
				},
			},
		},
		{
			Prefix: "/api/v1/organizer/refunds",
			Tag:    "Refunds",
			Auth:   own,
			Read:   route.OrdersRead,
			Write:  route.OrdersWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listRefunds",
					Summary:     "List an organization's refunds",
					Description: "All money that goes back of the organization's events, the newest first: what buyers asked for, what the organization gave, and what goes back by itself. Those in the status requested wait for a decision.",
					Errors:      codes{engine.EventNotFound},
					Handler:     route.Handle(h.listRefunds),
				},
				{
					Method:      "GET",
					Path:        "/{id}",
					ID:          "getRefund",
					Summary:     "Read a refund",
					Description: "One refund as it stands now. One of another organization does not exist.",
					Follows:     true,
					Handler:     route.Handle(h.getRefund),
				},
				{
					Method:      "POST",
					Path:        "/{id}/approve",
					ID:          "approveRefund",
					Summary:     "Grant a refund",
					Description: "The organization grants what a buyer asked for, or another amount. The ticket ends at once, and what it took is for sale again; the money moves after that, by itself where the provider can send it back.",
					Errors:      codes{engine.RefundNotPending, engine.RefundNotEligible},
					Handler:     route.Handle(h.approveRefund),
				},
				{
					Method:      "POST",
					Path:        "/{id}/deny",
					ID:          "denyRefund",
					Summary:     "Decline a refund",
					Description: "The organization declines what a buyer asked for, and says why. The ticket stays good, and may be asked for again.",
					Errors:      codes{engine.RefundNotPending},
					Handler:     route.Handle(h.denyRefund),
				},
				{
					Method:      "POST",
					Path:        "/{id}/retry",
					ID:          "retryRefund",
					Summary:     "Have a refund that failed sent again",
					Description: "A refund that the provider failed is sent at once instead of after its pause. Without this it is sent again after 1 minute, then 2, 4 and so on, at most a day.",
					Errors:      codes{engine.RefundNotPending},
					Handler:     route.Handle(h.retryRefund),
				},
				{
					Method:      "POST",
					Path:        "/{id}/complete",
					ID:          "completeRefund",
					Summary:     "Say that a person has sent a refund's money",
					Description: "For a refund that is manual: a person has sent the money and says so, and the refund is processed. One that a provider sends can't be completed by hand.",
					Errors:      codes{engine.RefundNotPending},
					Handler:     route.Handle(h.completeRefund),
				},
			},
		},
		{
			Prefix: "/api/v1/organizer/events/{id}/refund-all",
			Tag:    "Refunds",
			Auth:   own,
			Read:   route.OrdersRead,
			Write:  route.OrdersWrite,
			Tier:   route.TierAdmin,
			Errors: codes{engine.EventNotFound},
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "refundAll",
					Summary:     "Give the money of all paid orders of an event back",
					Description: "The organization gives the money of all paid orders of an event back, some orders at a time, by a job. Asked again while it runs, it goes on as it is; after that, it begins anew.",
					Handler:     route.Handle(h.refundAll),
				},
				{
					Method:      "GET",
					ID:          "getRefundAll",
					Summary:     "Read how far an event's refunds have come",
					Description: "How far the job has come, for a page that waits for it. It is 404 for an event of which nobody has asked it.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.getRefundAll),
				},
			},
		},
		{
			Prefix: "/api/v1/organizer/orders",
			Tag:    "Organizer orders",
			Auth:   own,
			Read:   route.OrdersRead,
			Write:  route.OrdersWrite,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/{id}/refund",
					ID:          "refundOrder",
					Summary:     "Give an order's money back, with tickets or without",
					Description: "The organization gives back all tickets that are left, the named ones, or an amount without any ticket, and needs nobody's approval. The tickets end at once and what they took is for sale again; the money moves after that.",
					Errors:      codes{engine.OrderNotFound, engine.RefundNotEligible},
					Handler:     route.Handle(h.refundOrder),
				},
			},
		},
		{
			Prefix: "/api/v1/orders/{id}",
			Tag:    "Buyers",
			Auth:   route.Public | route.OrderToken | route.User,
			Tier:   route.TierStrict,
			Errors: codes{engine.OrderNotFound},
			Rows: []route.Op{
				{
					Method:      "POST",
					Path:        "/withdraw",
					ID:          "withdrawOrder",
					Summary:     "Withdraw from the purchase of what is digital",
					Description: "The buyer of digital products or courses may withdraw for 14 days after completion, until the first download or lesson, and needs nobody's approval. With confirm the tickets end and what was paid for them goes back, fees included; without it, the answer says what would.",
					Errors:      codes{engine.NoWithdrawal, engine.RefundNotEligible},
					Handler:     route.Handle(h.withdrawOrder),
				},
			},
		},
	}...)
}

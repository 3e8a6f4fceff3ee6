package money

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes returns the area's rows: figures, wallets, payouts and promo codes for an organization, the check of a
// promo code for everybody, and credits to a wallet for the platform's administrators.
func (h *Handlers) Routes() []route.Op {
	return route.Table(
		route.Group{
			Prefix: "/api/v1/organizer",
			Tag:    "Analytics",
			Auth:   own,
			Read:   route.AnalyticsRead,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "GET",
					Path:        "/events/{id}/analytics",
					ID:          "getEventAnalytics",
					Summary:     "Show how an event does, interval by interval",
					Description: "The organization reads how an event does in time, for a chart. An order counts in the interval in which it was placed, a refund when it was begun, an admission when a gate let in.",
					Errors:      codes{engine.EventNotFound},
					Follows:     true,
					Handler:     route.Handle(h.getEventAnalytics),
				},
				{
					Method:      "GET",
					Path:        "/analytics/summary",
					ID:          "getAnalyticsSummary",
					Summary:     "Add up what an organization has sold",
					Description: "The organization reads what all of its events come to until now, from the first. It counts what is committed when it is asked, and takes longer the more an organization has sold.",
					Errors:      codes{engine.NotFound},
					Follows:     true,
					Handler:     route.Handle(h.getAnalyticsSummary),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/organizer/wallets",
			Tag:    "Wallets",
			Auth:   own,
			Read:   route.PayoutsRead,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listWallets",
					Summary:     "Read an organization's balances",
					Description: "The organization's balances, one wallet for each currency, also those without money. Sales come at most 5 seconds after the orders, and are pending until two days after the event is completed, or 7 days after the purchase of what has no end.",
					Handler:     route.Handle(h.listWallets),
				},
				{
					Method:      "GET",
					Path:        "/org/{orgId}",
					ID:          "listWalletsOfOrganization",
					Summary:     "Read the balances of the organization in the path",
					Description: "The same as the list of wallets, for callers who name the organization in the path. Another's organization does not exist.",
					Handler:     route.Handle(h.listWalletsOf),
				},
				{
					Method:      "GET",
					Path:        "/{currency}/entries",
					ID:          "listWalletEntries",
					Summary:     "List a wallet's ledger",
					Description: "All movements of one wallet, the newest first; they add up to its balances. Sales of an event come as sums of some seconds, not order by order.",
					Handler:     route.Handle(h.listWalletEntries),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/organizer/payouts",
			Tag:    "Wallets",
			Auth:   own,
			Read:   route.PayoutsRead,
			Tier:   route.TierAdmin,
			Errors: codes{engine.NotFound},
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listPayouts",
					Summary:     "List an organization's payouts",
					Description: "The organization's payouts. The list is empty: no payout is made by this release.",
					Handler:     route.Handle(h.listPayouts),
				},
				{
					Method:      "GET",
					Path:        "/{id}",
					ID:          "getPayout",
					Summary:     "Read one of an organization's payouts",
					Description: "One of the organization's payouts. It is always 404 PAYOUT_NOT_FOUND: no payout is made by this release.",
					Errors:      codes{engine.PayoutNotFound},
					Handler:     route.Handle(h.getPayout),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/organizer/promo-codes",
			Tag:    "Promo codes",
			Auth:   own,
			Read:   route.TicketsRead,
			Write:  route.TicketsWrite,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "GET",
					ID:          "listPromoCodes",
					Summary:     "List an organization's promo codes",
					Description: "The organization's codes, the newest first, with how often each was used. Disabled ones are listed too, removed ones are not.",
					Errors:      codes{engine.NotFound, engine.EventNotFound},
					Handler:     route.Handle(h.listPromoCodes),
				},
				{
					Method:      "POST",
					ID:          "createPromoCode",
					Summary:     "Make a promo code",
					Description: "The organization makes a code for one event or all of its events. An order that names it reserves one use with its tickets and gives it back if it ends unpaid, so that limits hold in a rush.",
					Status:      201,
					Errors:      codes{engine.NotFound, engine.EventNotFound, engine.EventCancelled, engine.CodeExists},
					Handler:     route.Handle(h.createPromoCode),
				},
				{
					Method:      "PUT",
					Path:        "/{id}",
					ID:          "updatePromoCode",
					Summary:     "Change a promo code",
					Description: "Fields that are left out stay as they are; orders that are placed keep the discount that they have. A code that a completed order has used can't be renamed.",
					Errors:      codes{engine.NotFound, engine.CodeExists, engine.CodeLocked, engine.Conflict},
					Handler:     route.Handle(h.updatePromoCode),
				},
				{
					Method:      "DELETE",
					Path:        "/{id}",
					ID:          "deletePromoCode",
					Summary:     "Remove a promo code, or disable one that orders have named",
					Description: "A code that no order has used is removed, and its name is free again. One that orders have used, or hold now, is disabled instead and stays listed; the answer says which.",
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.deletePromoCode),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/tickets/promo/validate",
			Tag:    "Promo codes",
			Auth:   route.Public,
			Tier:   route.TierPublic,
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "validatePromoCode",
					Summary:     "Ask whether a promo code would hold",
					Description: "For a cart, before an order is placed: it uses nothing up, and the order has the last word. After 20 codes that do not exist in 10 minutes, here and in orders, a network or an account is told to wait.",
					Idempotency: route.ByActor,
					Handler:     route.Handle(h.validateCode),
				},
			},
		},
		route.Group{
			Prefix: "/api/v1/admin/wallets/{orgId}/credit",
			Tag:    "Wallets",
			Auth:   route.Admin,
			Tier:   route.TierAdmin,
			Rows: []route.Op{
				{
					Method:      "POST",
					ID:          "creditWallet",
					Summary:     "Top a wallet up",
					Description: "The platform's administrator puts money into an organization's wallet, which tickets that it issues itself are paid from. It can be repeated with the same Idempotency-Key, and is booked once.",
					Status:      201,
					Errors:      codes{engine.NotFound},
					Handler:     route.Handle(h.creditWallet),
				},
			},
		},
	)
}

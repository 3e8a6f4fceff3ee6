package money

import (
	"boxoffice/edge/route"
	"boxoffice/engine"
)

// codes are the errors that a row names.
type codes = []engine.Code

// own are the credentials of an organization's people and programs.
const own = route.Member | route.Key

// Routes are the area's rows.
func (h *Handlers) Routes() []route.Op {
	return []route.Op{
		{Method: "GET", Path: "/api/v1/organizer/wallets", ID: "listWallets", Tag: "Wallets", Summary: "Read an organization's balances", Auth: own, Scope: route.PayoutsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listWallets)},
		{Method: "GET", Path: "/api/v1/organizer/wallets/org/{orgId}", ID: "listWalletsOfOrganization", Tag: "Wallets", Summary: "Read the balances of the organization in the path", Auth: own, Scope: route.PayoutsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listWalletsOf)},
		{Method: "GET", Path: "/api/v1/organizer/wallets/{currency}/entries", ID: "listWalletEntries", Tag: "Wallets", Summary: "List a wallet's ledger", Auth: own, Scope: route.PayoutsRead, Tier: route.TierAdmin, Status: 200, Errors: codes{engine.NotFound}, Handler: route.Handle(h.listWalletEntries)},
		{Method: "POST", Path: "/api/v1/admin/wallets/{orgId}/credit", ID: "creditWallet", Tag: "Wallets", Summary: "Top a wallet up", Auth: route.Admin, Tier: route.TierAdmin, Idempotency: route.Replay, Status: 201, Errors: codes{engine.NotFound}, Handler: route.Handle(h.creditWallet)},
	}
}

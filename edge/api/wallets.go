package api

import "boxoffice/edge/route"

// ListWallets asks for an organization's wallets.
type ListWallets struct {
	OrgID string `query:"orgId" maxLength:"40"`
}

// WalletsOf asks for the wallets of the organization in the path.
type WalletsOf struct {
	OrgID string `path:"orgId" format:"id" maxLength:"128"`
}

// ListWalletEntries asks for a wallet's ledger, newest first.
type ListWalletEntries struct {
	Currency string `path:"currency" format:"id" maxLength:"128"`
	OrgID    string `query:"orgId" maxLength:"40"`
	Page
}

// CreditWallet tops an organization's wallet up.
type CreditWallet struct {
	OrgID     string      `path:"orgId" format:"id" maxLength:"128"`
	Amount    route.Money `json:"amount" required:"true" minimum:"0.01" maximum:"10000000000000" example:"250.00"`
	Currency  string      `json:"currency" required:"true" enum:"USD,NGN,ZAR"`
	Note      string      `json:"note" maxLength:"500"`
	Reference string      `json:"reference" maxLength:"200" description:"of the transfer, say"`
}

// Wallet is an organization's money in one currency.
type Wallet struct {
	Currency       string `json:"currency" enum:"USD,NGN,ZAR"`
	Symbol         string `json:"symbol"`
	Balance        string `json:"balance" description:"decimal"`
	PendingBalance string `json:"pendingBalance" description:"decimal; not available yet, and not in the balance"`
	LifetimePayout string `json:"lifetimePayout" description:"decimal"`
	Status         string `json:"status" enum:"active"`
}

// WalletEntry is one line of a wallet's ledger.
type WalletEntry struct {
	ID             string  `json:"id" description:"of the movement: a pending credit and what became of it have the same"`
	Number         int64   `json:"number" description:"1, 2, 3... in the wallet"`
	Kind           string  `json:"kind" enum:"credit,pending_credit,cleared,voided,debit"`
	Amount         string  `json:"amount" description:"decimal, above 0"`
	Currency       string  `json:"currency" enum:"USD,NGN,ZAR"`
	Balance        string  `json:"balance" description:"decimal, after it"`
	PendingBalance string  `json:"pendingBalance" description:"decimal, after it"`
	Reason         *string `json:"reason"`
	Reference      *string `json:"reference"`
	Note           *string `json:"note"`
	CreatedAt      Time    `json:"createdAt"`
}

// WalletCredit is a credit and the wallet that it went to.
type WalletCredit struct {
	Wallet Wallet      `json:"wallet"`
	Entry  WalletEntry `json:"entry"`
}

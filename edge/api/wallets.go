package api

import "boxoffice/edge/route"

// ListWallets asks for the wallets of an organization, one for each currency. The query names the
// organization.
type ListWallets struct {
	OrgID string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
}

// WalletsOf asks for the same as ListWallets. The path names the organization.
type WalletsOf struct {
	OrgID string `path:"orgId" format:"id" maxLength:"128" description:"The organization's number."`
}

// ListWalletEntries asks for the movements of one wallet, the newest first.
type ListWalletEntries struct {
	Currency string `path:"currency" format:"id" maxLength:"128" example:"NGN" description:"The wallet's currency, by ISO 4217: USD, NGN or ZAR."`
	OrgID    string `query:"orgId" maxLength:"40" description:"The number of the organization, if the caller acts for several."`
	Page
}

// CreditWallet adds money to an organization's wallet, for example after a bank transfer. Only the platform
// may do this.
type CreditWallet struct {
	OrgID     string      `path:"orgId" format:"id" maxLength:"128" description:"The organization's number."`
	Amount    route.Money `json:"amount" required:"true" minimum:"0.001" maximum:"10000000000000" example:"250.00" description:"What is put in, as a number in the currency."`
	Currency  string      `json:"currency" required:"true" format:"currency" description:"The wallet's currency; the wallet begins with its first movement."`
	Note      string      `json:"note" maxLength:"500" description:"A remark of yours, which the organization reads."`
	Reference string      `json:"reference" maxLength:"200" example:"TRF-2031-0117" description:"Your number of the transfer, which the organization reads."`
}

// Wallet is an organization's money in one currency.
type Wallet struct {
	Currency       string `json:"currency" format:"currency" example:"NGN" description:"The currency of all its amounts, by ISO 4217."`
	Symbol         string `json:"symbol" example:"₦" description:"The currency's sign."`
	Balance        string `json:"balance" example:"125000.00" description:"What the organization has, as a decimal; below zero if refunds took back more than was there."`
	PendingBalance string `json:"pendingBalance" example:"42500.00" description:"What was sold and is not cleared yet, as a decimal; it is not in the balance."`
	LifetimePayout string `json:"lifetimePayout" example:"0.00" description:"All that was ever paid out of it, as a decimal."`
	Status         string `json:"status" enum:"active" description:"Always active."`
}

// WalletEntry is one movement of a wallet, with the balances after it.
type WalletEntry struct {
	ID             string  `json:"id" description:"The movement's id, a UUID: a pending credit and what became of it have the same."`
	Number         int64   `json:"number" description:"Its place in the wallet's ledger: 1, 2, 3 and so on."`
	Kind           string  `json:"kind" enum:"sale,refund,issue_fee,credit,debit,clearing,pending_credit,cleared,voided" example:"credit" description:"What moved. sale and refund are of an event, whose sales are pending until their clearing."`
	Amount         string  `json:"amount" example:"2500.00" description:"How much moved, as a decimal above 0; the kind says which way."`
	Currency       string  `json:"currency" format:"currency" example:"NGN" description:"The wallet's currency, by ISO 4217."`
	Balance        string  `json:"balance" example:"125000.00" description:"The balance after it, as a decimal."`
	PendingBalance string  `json:"pendingBalance" example:"42500.00" description:"The pending balance after it, as a decimal."`
	Reason         *string `json:"reason" example:"top_up" description:"The cause, such as top_up, payout or issue_fee; null if none is noted."`
	Reference      *string `json:"reference" description:"What it is about: the number of a transfer, say; null without one."`
	Note           *string `json:"note" description:"A remark; null without one."`
	CreatedAt      Time    `json:"createdAt" description:"When it was booked."`
}

// WalletCredit is the answer to CreditWallet: the movement, and the wallet after it.
type WalletCredit struct {
	Wallet Wallet      `json:"wallet" description:"The wallet after the credit."`
	Entry  WalletEntry `json:"entry" description:"The line of the ledger that the credit is."`
}

package money

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"slices"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/wallet"
	"boxoffice/persistence/readmodel"
)

// listWallets lists the wallets of the organization that the query names. A caller who acts for
// only one organization need not name it.
func (h *Handlers) listWallets(c *route.Call, in *api.ListWallets) (*api.List[api.Wallet], error) {
	return h.showWallets(c, in.OrgID)
}

// listWalletsOf lists the wallets of the organization in the path.
func (h *Handlers) listWalletsOf(c *route.Call, in *api.WalletsOf) (*api.List[api.Wallet], error) {
	return h.showWallets(c, in.OrgID)
}

// showWallets shows the wallets of the organization that a request names or that the caller acts
// for.
func (h *Handlers) showWallets(c *route.Call, named string) (*api.List[api.Wallet], error) {
	org, err := route.FindOrganization(c, named)
	if err != nil {
		return nil, err
	}
	all, err := h.ListBalances(c.Context, org)
	if err != nil {
		return nil, err
	}
	return &api.List[api.Wallet]{Items: all}, nil
}

// ListBalances returns an organization's wallets: one for each currency that the deployment sells
// in, also without money, and one for each other currency in which the organization has money.
func (h *Handlers) ListBalances(ctx context.Context, org int64) ([]api.Wallet, error) {
	all, err := h.Read.Wallets(ctx, org, h.Currencies)
	if err != nil {
		return nil, err
	}
	views := make([]api.Wallet, len(all))
	for i := range all {
		views[i] = walletView(&all[i])
	}
	return views, nil
}

// listWalletEntries returns a page of the movements of one wallet, the latest first. It refuses a
// currency in which the organization has no wallet (ListBalances).
func (h *Handlers) listWalletEntries(c *route.Call, in *api.ListWalletEntries) (*api.List[api.WalletEntry], error) {
	org, err := route.FindOrganization(c, in.OrgID)
	if err != nil {
		return nil, err
	}
	wallets, err := h.Read.Wallets(c.Context, org, h.Currencies)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(wallets, func(w readmodel.Wallet) bool { return w.Currency == in.Currency }) {
		return nil, &engine.Refusal{Code: engine.NotFound, Message: "No such wallet."}
	}
	return view.ListByNumber(in.Cursor, in.Limit, func(before int64, limit int) ([]wallet.Entry, error) {
		return h.Read.WalletEntries(c.Context, org, in.Currency, before, limit)
	}, func(e wallet.Entry) int64 { return e.Number }, func(e wallet.Entry) api.WalletEntry { return entryView(in.Currency, &e) })
}

// creditWallet puts money into an organization's wallet, at the request of an administrator of the
// platform. A repeat with the same Idempotency-Key credits nothing again and gets the first entry. It
// waits up to a second until lists show the entry.
func (h *Handlers) creditWallet(c *route.Call, in *api.CreditWallet) (*api.WalletCredit, error) {
	org, ok := route.ReadNumber(in.OrgID)
	if !ok {
		return nil, route.NoOrganization
	}
	o, err := h.Accounts.Organization(c.Context, org)
	if err != nil {
		return nil, err
	}
	// Asking the actor of a wallet that does not exist would create it, so we check first that the
	// organization exists.
	if o == nil {
		return nil, route.NoOrganization
	}
	if issues := route.CurrencyIssues("currency", in.Currency, h.Currencies); len(issues) > 0 {
		return nil, route.Invalid(issues...)
	}
	amount, err := in.Amount.Minor("amount", in.Currency)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[wallet.Reply](c.Context, h.Node, engine.WalletRef(org, in.Currency), wallet.Credit{
		ID: entryID(c), Amount: amount, Reason: wallet.TopUp, Reference: in.Reference, Note: in.Note, By: route.UserSubject(c.Principal.User),
	})
	if err != nil {
		return nil, beyondWallet(err)
	}
	h.Log.LogAttrs(c.Context, slog.LevelInfo, "wallet credited", slog.Int64("organization", org), slog.String("currency", in.Currency),
		slog.Int64("number", r.Entry.Number), slog.Int64("actor", c.Principal.User), slog.String("request_id", c.RequestID))
	// The entry is durable by now. The handler still waits for the read model, at most a second, so
	// that the next list shows it.
	ctx, cancel := context.WithTimeout(c.Context, time.Second)
	defer cancel()
	// A list that lacks the entry for a moment is better than an error about a credit that was
	// made.
	_ = h.Settled(ctx)
	w := readmodel.Wallet{Currency: in.Currency, Balance: r.Wallet.Balance, Pending: r.Wallet.Pending, LifetimePayout: r.Wallet.LifetimePayout}
	return &api.WalletCredit{Wallet: walletView(&w), Entry: entryView(in.Currency, &r.Entry)}, nil
}

// entryID makes the id of the wallet entry for a request from the 16 bytes of its command's id. The first six
// bytes stand where other ids have an event's number, and the other ten are the rest of the id. Every attempt
// with the same Idempotency-Key gets the same id, by which the wallet recognizes a repeat.
func entryID(c *route.Call) wallet.EntryID {
	id := c.CommandID()
	return engine.NewID(int64(binary.BigEndian.Uint64(id[:8])>>16), id[6:])
}

// beyondWallet turns the refusal of an amount that the wallet cannot take into a validation issue
// of the field "amount". It passes other errors on.
func beyondWallet(err error) error {
	if r, ok := errors.AsType[*engine.Refusal](err); ok {
		if bounds, ok := r.Details.(wallet.Range); ok {
			return route.Invalid(route.Issue{
				Path: "amount", Code: route.IssueMaximum, Message: "must be at most " + bounds.Max + ", which is what the wallet still takes",
			})
		}
	}
	return err
}

// walletView shows a wallet. Every wallet is active, because none can be suspended.
func walletView(w *readmodel.Wallet) api.Wallet {
	c, _ := engine.CurrencyOf(w.Currency)
	return api.Wallet{
		Currency: c.Code, Symbol: c.Symbol, Balance: view.Decimal(w.Balance, w.Currency), PendingBalance: view.Decimal(w.Pending, w.Currency),
		LifetimePayout: view.Decimal(w.LifetimePayout, w.Currency), Status: "active",
	}
}

// entryView shows a movement of a wallet. The wallet keeps the fee for issued tickets as a debit
// with the reason wallet.IssueFee; the API shows it as a kind of its own.
func entryView(currency string, e *wallet.Entry) api.WalletEntry {
	kind := e.Kind.String()
	if e.Kind == wallet.Debited && e.Reason == wallet.IssueFee {
		kind = wallet.IssueFee
	}
	return api.WalletEntry{
		ID: e.ID.String(), Number: e.Number, Kind: kind, Amount: view.Decimal(e.Amount, currency), Currency: currency,
		Balance: view.Decimal(e.Balance, currency), PendingBalance: view.Decimal(e.Pending, currency), Reason: view.Optional(e.Reason), Reference: view.Optional(e.Reference),
		Note: view.Optional(e.Note), CreatedAt: view.Moment(e.At),
	}
}

// Package transfer is a bank account in the place of a provider: buyers read where to transfer their money, and
// people or the bank's statements report what came (persistence/receipts). It calls no other server.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"boxoffice/edge/payments/psp"
	"boxoffice/edge/statements"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/receipts"
)

// Name is the provider's name on the wire.
const Name = "transfer"

// Account is the bank account to which buyers transfer money. Without a Holder the provider is
// not configured.
type Account struct {
	Holder     string
	Number     string // IBAN, or what else names the account
	BIC        string // may be empty
	Currencies []string
	Window     time.Duration // how long an order waits for the money; default 7 days
	// Allowed reports whether an organization may be paid by transfer. It is nil if every organization may be,
	// because the account is only an example. Otherwise the organizations share one real account, and an
	// organization is credited with whatever it reports to have come there.
	Allowed func(ctx context.Context, org int64) (bool, error)
	// Received returns what came for a charge, in its currency.
	Received func(ctx context.Context, reference string) (receipts.Sum, error)
}

// These are how long an order waits for a transfer if nothing else is configured, and the bounds of what may be
// configured. A transfer takes a day at least.
const (
	Window    = 7 * 24 * time.Hour
	MaxWindow = 30 * 24 * time.Hour
	MinWindow = 24 * time.Hour
)

// ParseAccount reads "holder|number|BIC" or "holder|number". An IBAN must have the right check
// digits.
func ParseAccount(text string) (a Account, err error) {
	parts := strings.Split(text, "|")
	if len(parts) == 2 {
		parts = append(parts, "")
	}
	if len(parts) != 3 {
		return a, errors.New("must be holder|IBAN or holder|IBAN|BIC")
	}
	for i := range parts {
		parts[i] = strings.Join(strings.Fields(parts[i]), " ")
	}
	a.Holder, a.Number, a.BIC = parts[0], parts[1], parts[2]
	if a.Holder == "" || a.Number == "" || len(text) > maxAccount {
		return a, errors.New("must have a holder and an IBAN, in at most 200 bytes")
	}
	if iban, like, valid := statements.ReadIBAN(a.Number); like {
		if !valid {
			return a, errors.New("has an IBAN with wrong check digits")
		}
		a.Number = iban
	}
	return a, nil
}

// maxAccount bounds the text of an account, in bytes.
const maxAccount = 200

// Provider takes money by bank transfer.
type Provider struct{ Account Account }

// New makes the provider of an account. Without a holder the error is psp.ErrNotConfigured.
func New(a Account) (*Provider, error) {
	if a.Holder == "" {
		return nil, &psp.Error{Provider: Name, Kind: psp.ErrNotConfigured}
	}
	a.Window = cmp.Or(a.Window, Window)
	return &Provider{a}, nil
}

func (t *Provider) fail(kind error, words string) *psp.Error {
	return &psp.Error{Provider: Name, Kind: kind, Message: words}
}

// Check refuses a currency that the account does not take.
func (t *Provider) Check(_ context.Context, p psp.Price) error {
	if slices.Contains(t.Account.Currencies, p.Currency) {
		return nil
	}
	e := t.fail(psp.ErrCurrency, p.Currency)
	e.Details = psp.UnsupportedCurrency{Provider: Name, Currency: p.Currency, Supported: t.Account.Currencies}
	return e
}

// Reference returns what the payer of a charge must write: a creditor reference (ISO 11649) made of the order's
// number, the same for each attempt to pay the order.
func Reference(reference string) string {
	if at := strings.LastIndexByte(reference, '-'); at > 0 {
		reference = reference[:at]
	}
	return statements.Reference(reference)
}

// Begin returns the account and the reference that the payer must write. It makes no call, so it may be
// repeated.
func (t *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if !psp.IsReference(c.Reference) || c.Amount <= 0 {
		return psp.Begun{}, t.fail(psp.ErrDeclined, "reference or amount is not valid")
	}
	if err := t.Check(ctx, psp.Price{Currency: c.Currency}); err != nil {
		return psp.Begun{}, err
	}
	return psp.Begun{Deposit: &psp.Deposit{
		Address: order.BankAccount{Holder: t.Account.Holder, Number: t.Account.Number, BIC: t.Account.BIC}.String(),
		Amount:  engine.Decimal(c.Amount, c.Currency), Network: order.NetworkBank, ExtraID: Reference(c.Reference),
	}}, nil
}

// Verify returns Succeeded with the sum of what came for the charge, also if that is less than was asked for, or
// Pending if nothing came.
func (t *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	came, err := t.Account.Received(ctx, of.Reference)
	if err != nil {
		return psp.Outcome{}, t.fail(psp.ErrFault, err.Error())
	}
	if came.Amount == 0 {
		return psp.Outcome{Status: psp.Pending}, nil
	}
	return psp.Outcome{Status: psp.Succeeded, Amount: came.Amount, Currency: came.Currency, PaidAt: came.Last}, nil
}

// Refund leaves the refund to a person, because nothing here can move money.
func (t *Provider) Refund(_ context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	return psp.RefundOutcome{ID: psp.ByHand, Status: psp.RefundNeedsAttention, Amount: r.Amount, Currency: r.Currency}, nil
}

// RefundStatus always says that the refund waits for a person.
func (t *Provider) RefundStatus(context.Context, string) (psp.RefundOutcome, error) {
	return psp.RefundOutcome{ID: psp.ByHand, Status: psp.RefundNeedsAttention}, nil
}

// Notice refuses all notices, because no bank sends us any.
func (t *Provider) Notice([]byte, string) (psp.Notice, error) {
	return psp.Notice{}, t.fail(psp.ErrSignature, "")
}

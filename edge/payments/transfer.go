package payments

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"boxoffice/edge/statements"
	"boxoffice/engine"
	"boxoffice/engine/order"
	"boxoffice/persistence/receipts"
)

// TransferAccount is the bank account to which buyers transfer money. Without a Holder the provider is
// not configured.
type TransferAccount struct {
	Holder     string
	Number     string // IBAN, or what else names the account
	BIC        string // may be empty
	Currencies []string
	Window     time.Duration // an order waits so long; 7 days
	// Allowed reports whether an organization may be paid by transfer. It is nil if every one may, because
	// the account is an example's. The others share one real account, and what they say has come there is
	// credited to them.
	Allowed func(ctx context.Context, org int64) (bool, error)
	// Received returns what came for a charge, in its currency.
	Received func(ctx context.Context, reference string) (receipts.Sum, error)
}

// These bound how long an order may wait for a transfer, which takes a day at least.
const (
	transferWindow    = 7 * 24 * time.Hour
	MaxTransferWindow = 30 * 24 * time.Hour
	MinTransferWindow = 24 * time.Hour
)

// ParseTransferAccount reads "holder|number|BIC" or "holder|number". An IBAN must have the right check
// digits.
func ParseTransferAccount(text string) (a TransferAccount, err error) {
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
	if a.Holder == "" || a.Number == "" || len(text) > maxTransferAccount {
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

// maxTransferAccount bounds an account, in bytes.
const maxTransferAccount = 200

// transfer takes money by bank transfer: the buyer is told an account and a reference, and people or
// statements of the bank tell what came. It calls nobody.
type transfer struct{ account TransferAccount }

func newTransfer(a TransferAccount) (*transfer, error) {
	if a.Holder == "" {
		return nil, &Error{Provider: Transfer, Kind: ErrNotConfigured}
	}
	a.Window = cmp.Or(a.Window, transferWindow)
	return &transfer{a}, nil
}

func (t *transfer) fail(kind error, words string) *Error {
	return &Error{Provider: Transfer, Kind: kind, Message: words}
}

// Check refuses a currency that the account does not take.
func (t *transfer) Check(_ context.Context, p Price) error {
	if slices.Contains(t.account.Currencies, p.Currency) {
		return nil
	}
	e := t.fail(ErrCurrency, p.Currency)
	e.details = UnsupportedCurrency{Provider: Transfer, Currency: p.Currency, Supported: t.account.Currencies}
	return e
}

// TransferReference is what the payer of a charge writes: a creditor reference (ISO 11649) of the
// order's number, the same for each attempt to pay the order.
func TransferReference(reference string) string {
	if at := strings.LastIndexByte(reference, '-'); at > 0 {
		reference = reference[:at]
	}
	return statements.Reference(reference)
}

// Begin tells the account. It may be repeated, for nobody else is told of it.
func (t *transfer) Begin(ctx context.Context, c Charge) (Begun, error) {
	if !validReference(c.Reference) || c.Amount <= 0 {
		return Begun{}, t.fail(ErrDeclined, "reference or amount is not valid")
	}
	if err := t.Check(ctx, Price{Currency: c.Currency}); err != nil {
		return Begun{}, err
	}
	return Begun{Deposit: &Deposit{
		Address: order.BankAccount{Holder: t.account.Holder, Number: t.account.Number, BIC: t.account.BIC}.String(),
		Amount:  engine.Decimal(c.Amount, c.Currency), Network: order.NetworkBank, ExtraID: TransferReference(c.Reference),
	}}, nil
}

// Verify adds up what came for the charge.
func (t *transfer) Verify(ctx context.Context, of Asked) (Outcome, error) {
	came, err := t.account.Received(ctx, of.Reference)
	if err != nil {
		return Outcome{}, t.fail(ErrFault, err.Error())
	}
	if came.Amount == 0 {
		return Outcome{Status: Pending}, nil
	}
	return Outcome{Status: Succeeded, Amount: came.Amount, Currency: came.Currency, PaidAt: came.Last}, nil
}

// Refund leaves the money to a person.
func (t *transfer) Refund(_ context.Context, r RefundRequest) (RefundOutcome, error) {
	return RefundOutcome{ID: byHand, Status: RefundNeedsAttention, Amount: r.Amount, Currency: r.Currency}, nil
}

// RefundStatus always says that the refund waits for a person.
func (t *transfer) RefundStatus(context.Context, string) (RefundOutcome, error) {
	return RefundOutcome{ID: byHand, Status: RefundNeedsAttention}, nil
}

// Notice refuses all: no bank tells us anything.
func (t *transfer) Notice([]byte, string) (Notice, error) {
	return Notice{}, t.fail(ErrSignature, "")
}

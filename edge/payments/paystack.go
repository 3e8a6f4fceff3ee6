package payments

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/v1"
)

// paystackURL is both the live and the test host; the key tells which.
const paystackURL = "https://api.paystack.co"

// paystackStatuses maps a transaction's status to ours. A status that is missing here is a fault,
// because a wrong guess could free stock or block it.
var paystackStatuses = map[string]Status{
	"success":    Succeeded,
	"failed":     Failed,
	"abandoned":  Pending, // also "not yet tried"; final only when our window closes
	"ongoing":    Processing,
	"pending":    Processing,
	"processing": Processing,
	"queued":     Processing,
	"reversed":   Refunded,
}

// paystackRefunds maps a refund's status to ours.
var paystackRefunds = map[string]RefundStatus{
	"pending":         RefundPending,
	"processing":      RefundProcessing,
	"processed":       RefundProcessed,
	"failed":          RefundFailed,
	"needs-attention": RefundNeedsAttention,
}

// paystack is the adapter to Paystack's API (https://paystack.com/docs/api).
type paystack struct{ client *client }

func newPaystack(a Account, via http.RoundTripper, log *slog.Logger) (*paystack, error) {
	if a.SecretKey == "" {
		return nil, &Error{Provider: "paystack", Kind: ErrNotConfigured}
	}
	a = a.withDefaults(paystackURL)
	if err := a.checkFields(); err != nil {
		return nil, err
	}
	return &paystack{client: newClient("paystack", a, via, log)}, nil
}

// Begin calls POST /transaction/initialize.
func (p *paystack) Begin(ctx context.Context, c Charge) (Begun, error) {
	if err := p.checkCharge(c); err != nil {
		return Begun{}, err
	}
	var data struct {
		AuthorizationURL string `json:"authorization_url"`
		AccessCode       string `json:"access_code"`
		Reference        string `json:"reference"`
	}
	err := p.call(ctx, http.MethodPost, "/transaction/initialize", initialize{
		Email: c.Email, Amount: c.Amount, Currency: c.Currency, Reference: c.Reference,
		CallbackURL: c.CallbackURL, Metadata: c.Metadata,
	}, &data, func() error {
		u, err := url.Parse(data.AuthorizationURL)
		switch {
		case err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http"):
			return fmt.Errorf("authorization_url %q", data.AuthorizationURL)
		case data.Reference != c.Reference:
			return fmt.Errorf("reference %q", data.Reference)
		}
		return nil
	})
	if err != nil {
		return Begun{}, err
	}
	return Begun{AuthorizationURL: data.AuthorizationURL, AccessCode: data.AccessCode}, nil
}

// checkCharge refuses what Paystack would refuse, and also what it would wrongly accept.
func (p *paystack) checkCharge(c Charge) error {
	switch {
	case !validReference(c.Reference):
		return p.client.fail(ErrDeclined, "reference: 1-64 of letters, digits, . = -")
	case c.Amount <= 0:
		return p.client.fail(ErrDeclined, "amount: must be above 0")
	case c.Email == "" || c.Currency == "":
		return p.client.fail(ErrDeclined, "email and currency are required")
	}
	return nil
}

// validReference reports whether a reference has only characters that Paystack takes.
func validReference(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	return strings.IndexFunc(s, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		return !letter && !digit && !strings.ContainsRune(".=-", r)
	}) < 0
}

// paystackCurrencies are those that Paystack takes and counts as ISO 4217 does: francs (XOF) are sent
// to it in hundredths (https://paystack.com/docs/api/#supported-currency). Paystack's own specification and
// examples, PaystackOSS/openapi and PaystackOSS/doc-code-snippets on GitHub, name these five between them, read in
// November 2026.
var paystackCurrencies = []string{"GHS", "KES", "NGN", "USD", "ZAR"}

// Check refuses a currency that Paystack does not take.
func (p *paystack) Check(_ context.Context, price Price) error {
	return p.client.refuseCurrency(price.Currency, paystackCurrencies)
}

// Verify calls GET /transaction/verify/{reference}.
func (p *paystack) Verify(ctx context.Context, of Asked) (Outcome, error) {
	reference := of.Reference
	if !validReference(reference) {
		return Outcome{}, p.client.fail(ErrUnknownReference, "not a reference")
	}
	var data transaction
	err := p.call(ctx, http.MethodGet, "/transaction/verify/"+url.PathEscape(reference), nil, &data, func() error {
		return data.checkFields(reference)
	})
	if err != nil {
		return Outcome{}, err
	}
	return data.readOutcome(), nil
}

// Refund looks for refunds that carry the key. It calls POST /refund only if none of them may still
// move the money: an earlier call may have made a refund although it timed out, and Paystack itself
// would make a second one.
func (p *paystack) Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 || !validReference(r.Reference) {
		return RefundOutcome{}, p.client.fail(ErrDeclined, "refund: key, reference or amount is not valid")
	}
	return refundOnce(ctx, p.client, p, r)
}

// sendRefund calls POST /refund, under a key for this attempt. If Paystack refuses because all of
// the charge has gone back already, by a chargeback or from the provider's dashboard, the buyer has
// the money.
func (p *paystack) sendRefund(ctx context.Context, r RefundRequest, attempt int) (RefundOutcome, error) {
	var data refund
	err := p.call(ctx, http.MethodPost, "/refund", createRefund{
		Transaction: r.Reference, Amount: r.Amount, Currency: r.Currency,
		CustomerNote: r.CustomerNote, MerchantNote: attemptKey(r.Key, attempt),
	}, &data, func() error { return data.checkFields() })
	if err == nil {
		return data.readOutcome(), nil
	}
	if errors.Is(err, ErrReturned) {
		if o, failure := p.Verify(ctx, Asked{Reference: r.Reference}); failure == nil && o.Status == Refunded {
			return RefundOutcome{Status: RefundProcessed, Amount: r.Amount, Currency: r.Currency}, nil
		}
	}
	return RefundOutcome{}, err
}

const (
	refundsPerPage = 100
	refundPages    = 50 // of one charge; an order has at most 2,000 tickets
)

// refundsOf looks through the charge's refunds for the key. It asks for the list by the provider's
// number, because by reference Paystack answers with an empty list instead of an error. A list that
// does not end is an error: what it hides may be a refund under the key, and another refund would
// send the money twice.
func (p *paystack) refundsOf(ctx context.Context, r RefundRequest) (madeRefunds, error) {
	var found madeRefunds
	for page := 1; page <= refundPages; page++ {
		q := url.Values{
			"transaction": {r.ProviderID},
			"perPage":     {strconv.Itoa(refundsPerPage)},
			"page":        {strconv.Itoa(page)},
		}
		var list []refund
		if err := p.call(ctx, http.MethodGet, "/refund?"+q.Encode(), nil, &list, nil); err != nil {
			return found, err
		}
		for i := range list {
			made := &list[i]
			attempt := attemptOf(r.Key, made.MerchantNote)
			if attempt == 0 {
				continue
			}
			if err := made.checkFields(); err != nil {
				return found, p.client.fail(ErrFault, "refund list: "+err.Error())
			}
			found.addAttempt(attempt, made.readOutcome())
		}
		if len(list) < refundsPerPage {
			return found, nil
		}
	}
	return found, p.client.fail(ErrDeclined, fmt.Sprintf("the charge has more than %d refunds", refundPages*refundsPerPage))
}

// RefundStatus calls GET /refund/{id}.
func (p *paystack) RefundStatus(ctx context.Context, id string) (RefundOutcome, error) {
	var data refund
	err := p.call(ctx, http.MethodGet, "/refund/"+url.PathEscape(id), nil, &data, func() error {
		if string(data.ID) != id {
			return fmt.Errorf("id %q", data.ID)
		}
		return data.checkFields()
	})
	if err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// call makes one call, opens its envelope and decodes the data, which check may refuse. Data that
// can't be decoded, or that check refuses, is a fault.
func (p *paystack) call(ctx context.Context, method, path string, body, data any, check func() error) error {
	return p.client.do(ctx, request{method: method, path: path, body: body}, func(a answer) error {
		var e envelope
		if err := json.Unmarshal(a.body, &e); err != nil {
			if a.status >= 400 {
				return p.client.fail(ErrDeclined, fmt.Sprintf("status %d: %s", a.status, a.body))
			}
			return p.client.fail(ErrFault, "answer: "+err.Error())
		}
		if a.status >= 400 || !e.Status {
			return p.declinedError(a.status, e)
		}
		if err := json.Unmarshal(e.Data, data); err != nil {
			return p.client.fail(ErrFault, "data: "+err.Error())
		}
		if check != nil {
			if err := check(); err != nil {
				return p.client.fail(ErrFault, "data: "+err.Error())
			}
		}
		return nil
	})
}

// declinedError makes the error when Paystack said no. Its docs give 404 for an unknown reference; the
// live API has been seen to answer 400 with the code.
func (p *paystack) declinedError(status int, e envelope) *Error {
	kind := ErrDeclined
	switch {
	case strings.Contains(strings.ToLower(e.Message), "fully reversed"):
		kind = ErrReturned
	case e.Code == "duplicate_reference", strings.EqualFold(e.Message, "Duplicate Transaction Reference"):
		kind = ErrDuplicateReference
	case e.Code == "transaction_not_found", status == http.StatusNotFound:
		kind = ErrUnknownReference
	}
	return p.client.fail(kind, fmt.Sprintf("status %d: %s %s", status, e.Code, e.Message))
}

// Notice checks x-paystack-signature: hex HMAC-SHA512 over the raw body, keyed
// with the secret key.
func (p *paystack) Notice(body []byte, signature string) (Notice, error) {
	mac := hmac.New(sha512.New, []byte(p.client.account.SecretKey))
	mac.Write(body)
	got, err := hex.DecodeString(strings.TrimSpace(signature))
	if err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return Notice{}, p.client.fail(ErrSignature, "")
	}
	var n notice
	if err := json.Unmarshal(body, &n); err != nil || n.Event == "" {
		return Notice{}, p.client.fail(ErrNotice, "not an event")
	}
	return n.notice(), nil
}

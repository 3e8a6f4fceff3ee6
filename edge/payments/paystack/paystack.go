// Package paystack is the adapter to Paystack: it makes the requests, reads the answers, and checks that a
// notice comes from Paystack.
package paystack

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

	"boxoffice/edge/payments/psp"
)

// address is the host of both the live and the test mode; the key decides which of them is used.
const address = "https://api.paystack.co"

// chargeStatuses maps a transaction's status to ours. A status that is missing here is a fault,
// because a wrong guess could free stock or block it.
var chargeStatuses = map[string]psp.Status{
	"success":    psp.Succeeded,
	"failed":     psp.Failed,
	"abandoned":  psp.Pending, // "abandoned" also means "not yet tried"; it is final only when our window closes
	"ongoing":    psp.Processing,
	"pending":    psp.Processing,
	"processing": psp.Processing,
	"queued":     psp.Processing,
	"reversed":   psp.Refunded,
}

// refundStatuses maps a refund's status to ours.
var refundStatuses = map[string]psp.RefundStatus{
	"pending":         psp.RefundPending,
	"processing":      psp.RefundProcessing,
	"processed":       psp.RefundProcessed,
	"failed":          psp.RefundFailed,
	"needs-attention": psp.RefundNeedsAttention,
}

// Provider is the adapter to Paystack's API (https://paystack.com/docs/api).
type Provider struct{ client *psp.Client }

// New makes the adapter of an account. Without a key the error is psp.ErrNotConfigured.
func New(a psp.Account, via http.RoundTripper, log *slog.Logger) (*Provider, error) {
	if a.SecretKey == "" {
		return nil, &psp.Error{Provider: "paystack", Kind: psp.ErrNotConfigured}
	}
	a = a.WithDefaults(address)
	if err := a.CheckFields(); err != nil {
		return nil, err
	}
	return &Provider{client: psp.NewClient("paystack", a, via, log)}, nil
}

// Begin calls POST /transaction/initialize, unless checkCharge refuses the charge. The buyer then pays on Paystack's
// page. An answer without a web address, or for another reference, is psp.ErrFault. If the reference was used before,
// Paystack refuses the call (psp.ErrDuplicateReference).
func (p *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if err := p.checkCharge(c); err != nil {
		return psp.Begun{}, err
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
		return psp.Begun{}, err
	}
	return psp.Begun{AuthorizationURL: data.AuthorizationURL, AccessCode: data.AccessCode}, nil
}

// checkCharge refuses a charge that Paystack would refuse, and one that Paystack would
// wrongly accept.
func (p *Provider) checkCharge(c psp.Charge) error {
	switch {
	case !psp.IsReference(c.Reference):
		return p.client.Fail(psp.ErrDeclined, "reference: 1-64 of letters, digits, . = -")
	case c.Amount <= 0:
		return p.client.Fail(psp.ErrDeclined, "amount: must be above 0")
	case c.Email == "" || c.Currency == "":
		return p.client.Fail(psp.ErrDeclined, "email and currency are required")
	}
	return nil
}

// Currencies are those that Paystack takes and whose minor units it counts as ISO 4217 does. Francs (XOF) are
// left out, because Paystack wants them in hundredths (https://paystack.com/docs/api/#supported-currency).
// Paystack's own specification and examples (PaystackOSS/openapi and PaystackOSS/doc-code-snippets on GitHub,
// read in November 2026) together name these five.
var Currencies = []string{"GHS", "KES", "NGN", "USD", "ZAR"}

// Check refuses a currency that Paystack does not take.
func (p *Provider) Check(_ context.Context, price psp.Price) error {
	return p.client.RefuseCurrency(price.Currency, Currencies)
}

// Verify calls GET /transaction/verify/{reference}. For a text that can be no reference of ours, it returns
// psp.ErrUnknownReference without a call.
func (p *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	reference := of.Reference
	if !psp.IsReference(reference) {
		return psp.Outcome{}, p.client.Fail(psp.ErrUnknownReference, "not a reference")
	}
	var data transaction
	err := p.call(ctx, http.MethodGet, "/transaction/verify/"+url.PathEscape(reference), nil, &data, func() error {
		return data.checkFields(reference)
	})
	if err != nil {
		return psp.Outcome{}, err
	}
	return data.readOutcome(), nil
}

// Refund looks for refunds that carry the key. It calls POST /refund only if none of them may still
// move the money: an earlier call may have made a refund although it timed out, and Paystack itself
// would make a second one.
func (p *Provider) Refund(ctx context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 || !psp.IsReference(r.Reference) {
		return psp.RefundOutcome{}, p.client.Fail(psp.ErrDeclined, "refund: key, reference or amount is not valid")
	}
	return psp.RefundOnce(ctx, p.client, p, r, p.findRefunds, p.sendRefund)
}

// sendRefund calls POST /refund, with a note for this attempt. Paystack refuses if all of the charge has gone back
// already, by a chargeback or from the provider's dashboard. Then the buyer has the money, and the refund counts as
// processed, provided that Verify also says that the charge was refunded.
func (p *Provider) sendRefund(ctx context.Context, r psp.RefundRequest, attempt int) (psp.RefundOutcome, error) {
	var data refund
	err := p.call(ctx, http.MethodPost, "/refund", createRefund{
		Transaction: r.Reference, Amount: r.Amount, Currency: r.Currency,
		CustomerNote: r.CustomerNote, MerchantNote: psp.AttemptKey(r.Key, attempt),
	}, &data, func() error { return data.checkFields() })
	if err == nil {
		return data.readOutcome(), nil
	}
	if errors.Is(err, psp.ErrReturned) {
		if o, failure := p.Verify(ctx, psp.Asked{Reference: r.Reference}); failure == nil && o.Status == psp.Refunded {
			return psp.RefundOutcome{Status: psp.RefundProcessed, Amount: r.Amount, Currency: r.Currency}, nil
		}
	}
	return psp.RefundOutcome{}, err
}

// findRefunds looks through the charge's refunds for the key. It asks for the list by the provider's number,
// because by reference Paystack answers with an empty list instead of an error. More than psp.RefundPages pages
// are an error: the rest may have a refund under the key, and another refund would send the money twice.
func (p *Provider) findRefunds(ctx context.Context, r psp.RefundRequest) (psp.MadeRefunds, error) {
	var found psp.MadeRefunds
	for page := 1; page <= psp.RefundPages; page++ {
		q := url.Values{
			"transaction": {r.ProviderID},
			"perPage":     {strconv.Itoa(psp.RefundsPerPage)},
			"page":        {strconv.Itoa(page)},
		}
		var list []refund
		if err := p.call(ctx, http.MethodGet, "/refund?"+q.Encode(), nil, &list, nil); err != nil {
			return found, err
		}
		for i := range list {
			made := &list[i]
			attempt := psp.AttemptOf(r.Key, made.MerchantNote)
			if attempt == 0 {
				continue
			}
			if err := made.checkFields(); err != nil {
				return found, p.client.Fail(psp.ErrFault, "refund list: "+err.Error())
			}
			found.AddAttempt(attempt, made.readOutcome())
		}
		if len(list) < psp.RefundsPerPage {
			return found, nil
		}
	}
	return found, p.client.Fail(psp.ErrDeclined, fmt.Sprintf("the charge has more than %d refunds", psp.RefundPages*psp.RefundsPerPage))
}

// RefundStatus calls GET /refund/{id}.
func (p *Provider) RefundStatus(ctx context.Context, id string) (psp.RefundOutcome, error) {
	var data refund
	err := p.call(ctx, http.MethodGet, "/refund/"+url.PathEscape(id), nil, &data, func() error {
		if string(data.ID) != id {
			return fmt.Errorf("id %q", data.ID)
		}
		return data.checkFields()
	})
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// call makes one call, opens its envelope and decodes the data. check may refuse the data.
// Data that can't be decoded, or that check refuses, is a fault (psp.ErrFault): what
// Paystack has done is unknown.
func (p *Provider) call(ctx context.Context, method, path string, body, data any, check func() error) error {
	return p.client.Do(ctx, psp.Request{Method: method, Path: path, Body: body}, func(a psp.Answer) error {
		var e envelope
		if err := json.Unmarshal(a.Body, &e); err != nil {
			if a.Status >= 400 {
				return p.client.Fail(psp.ErrDeclined, fmt.Sprintf("status %d: %s", a.Status, a.Body))
			}
			return p.client.Fail(psp.ErrFault, "answer: "+err.Error())
		}
		if a.Status >= 400 || !e.Status {
			return p.refusalError(a.Status, e)
		}
		if err := json.Unmarshal(e.Data, data); err != nil {
			return p.client.Fail(psp.ErrFault, "data: "+err.Error())
		}
		if check != nil {
			if err := check(); err != nil {
				return p.client.Fail(psp.ErrFault, "data: "+err.Error())
			}
		}
		return nil
	})
}

// refusalError makes an error of a refusal by Paystack: money that went back, duplicate or unknown reference, or else
// declined. Paystack's docs give 404 for an unknown reference, but the live API has been seen to answer 400 with the
// code.
func (p *Provider) refusalError(status int, e envelope) *psp.Error {
	kind := psp.ErrDeclined
	switch {
	case strings.Contains(strings.ToLower(e.Message), "fully reversed"):
		kind = psp.ErrReturned
	case e.Code == "duplicate_reference", strings.EqualFold(e.Message, "Duplicate Transaction Reference"):
		kind = psp.ErrDuplicateReference
	case e.Code == "transaction_not_found", status == http.StatusNotFound:
		kind = psp.ErrUnknownReference
	}
	return p.client.Fail(kind, fmt.Sprintf("status %d: %s %s", status, e.Code, e.Message))
}

// Notice checks x-paystack-signature: hex HMAC-SHA512 over the raw body, keyed
// with the secret key.
func (p *Provider) Notice(body []byte, signature string) (psp.Notice, error) {
	mac := hmac.New(sha512.New, []byte(p.client.Account.SecretKey))
	mac.Write(body)
	got, err := hex.DecodeString(strings.TrimSpace(signature))
	if err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return psp.Notice{}, p.client.Fail(psp.ErrSignature, "")
	}
	var n notice
	if err := json.Unmarshal(body, &n); err != nil || n.Event == "" {
		return psp.Notice{}, p.client.Fail(psp.ErrNotice, "not an event")
	}
	return n.readNotice(), nil
}

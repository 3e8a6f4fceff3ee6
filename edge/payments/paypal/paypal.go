// Package paypal is the adapter to PayPal: it makes the requests, reads the answers, and proves
// that a notice comes from PayPal.
package paypal

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"boxoffice/edge/payments/psp"
)

// address is the live host. The sandbox is at https://api-m.sandbox.paypal.com.
const address = "https://api-m.paypal.com"

// Currencies are the currencies that PayPal takes from buyers in every country
// (https://developer.paypal.com/api/rest/reference/currency-codes). Forints and Taiwan's dollars
// are missing, because PayPal takes them without decimals only, and a fee may have decimals. Reais,
// ringgits and yuan are missing, because only accounts of their own countries may use them.
var Currencies = []string{
	"AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "HKD", "ILS", "JPY", "MXN", "NOK", "NZD", "PHP", "PLN", "SEK", "SGD", "THB", "USD",
}

// orders leads from the status of an order without a capture to our status. A capture takes the
// money; as soon as an order has one, the capture's status counts.
var orders = map[string]psp.Status{
	"CREATED":               psp.Pending,
	"SAVED":                 psp.Pending,
	"PAYER_ACTION_REQUIRED": psp.Pending,
	"APPROVED":              psp.Processing, // the buyer has agreed, and we have not taken the money yet
	"COMPLETED":             psp.Processing,
	"VOIDED":                psp.Expired,
}

// captures leads from the status of a capture to our status.
var captures = map[string]psp.Status{
	"COMPLETED":          psp.Succeeded,
	"PARTIALLY_REFUNDED": psp.Succeeded,
	"PENDING":            psp.Processing,
	"REFUNDED":           psp.Refunded,
	"DECLINED":           psp.Failed,
	"FAILED":             psp.Failed,
}

// refusals are the reasons for which PayPal takes no money for an order, although its buyer has
// approved the order. The charge has then failed, and the buyer has to begin again.
var refusals = map[string]bool{
	"COMPLIANCE_VIOLATION": true, "INSTRUMENT_DECLINED": true, "MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED": true,
	"PAYEE_BLOCKED_TRANSACTION": true, "PAYER_ACCOUNT_LOCKED_OR_CLOSED": true, "PAYER_ACCOUNT_RESTRICTED": true,
	"PAYER_CANNOT_PAY": true, "REDIRECT_PAYER_FOR_ALTERNATE_FUNDING": true, "TRANSACTION_BLOCKED_BY_PAYEE": true,
	"TRANSACTION_LIMIT_EXCEEDED": true, "TRANSACTION_REFUSED": true,
}

// refundStatuses maps a refund's status to ours.
var refundStatuses = map[string]psp.RefundStatus{
	"PENDING":   psp.RefundProcessing,
	"COMPLETED": psp.RefundProcessed,
	"FAILED":    psp.RefundFailed,
	"CANCELLED": psp.RefundFailed,
}

// checks is how many notices PayPal may be asked about at once. Each question is a request to PayPal. Notices have
// a client of their own with this limit, so that somebody who floods us with invented notices can't hold up
// payments.
const checks = 8

// Provider is the adapter to PayPal's orders (https://developer.paypal.com/api/orders/v2). A buyer
// approves an order at PayPal, but PayPal takes the money only when we capture the order. Verify
// does that.
type Provider struct {
	client *psp.Client
	checks *psp.Client // asks PayPal whether notices are PayPal's
	hook   psp.Secret  // the id of our webhook
	token  chan token
}

// token is an access token. The channel of a Provider holds the token in use. A call takes the
// token out to read it. While that call gets a new token, the channel is empty, and the other calls
// wait.
type token struct {
	text string    // empty: there is none yet
	ends time.Time // when it has to be replaced, a minute before PayPal ends it
}

// New makes the adapter of an account. The key has the client's id and secret with a colon between them, as
// Basic authentication wants it. Errors must show neither the key nor the secret alone, so the client hides
// both. Without a key the error is psp.ErrNotConfigured.
func New(a psp.Account, via http.RoundTripper, log *slog.Logger) (*Provider, error) {
	if a.SecretKey == "" {
		return nil, &psp.Error{Provider: "paypal", Kind: psp.ErrNotConfigured}
	}
	a = a.WithDefaults(address)
	if err := a.CheckFields(); err != nil {
		return nil, err
	}
	id, secret, ok := strings.Cut(string(a.SecretKey), ":")
	if !ok || id == "" || secret == "" {
		return nil, errors.New("the key must be the client's id and secret, with a colon between them")
	}
	a.SecretKey = psp.Secret(base64.StdEncoding.EncodeToString([]byte(a.SecretKey)))
	p := &Provider{client: psp.NewClient("paypal", a, via, log), hook: a.NoticeSecret, token: make(chan token, 1)}
	// The account is copied with a smaller limit of calls, for the questions about notices.
	a.InFlight = checks
	p.checks = psp.NewClient("paypal", a, via, log)
	for _, c := range []*psp.Client{p.client, p.checks} {
		c.KeyPrefix, c.RepeatHeader, c.Hidden = "Basic ", "PayPal-Request-Id", psp.Secret(secret)
		c.Headers = map[string]string{"Prefer": "return=representation"}
	}
	// The empty token makes the first call get a real one.
	p.token <- token{}
	return p, nil
}

// Check refuses a currency that PayPal does not take.
func (p *Provider) Check(_ context.Context, of psp.Price) error {
	return p.client.RefuseCurrency(of.Currency, Currencies)
}

// money is an amount in PayPal's form: a decimal and a currency. Inside the program amounts are in
// minor units (cents).
type money struct {
	Currency string      `json:"currency_code"`
	Value    psp.Decimal `json:"value"`
}

func (m money) toMinor() int64 { return m.Value.ToMinor(m.Currency) }

func toPaypalMoney(minor int64, currency string) money {
	return money{currency, psp.Decimal(psp.Major(minor, currency))}
}

// Begin calls POST /v2/checkout/orders, with the charge's reference as idempotency key. PayPal
// recognises a repeat for six hours.
func (p *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if !psp.IsReference(c.Reference) || c.Amount <= 0 || c.CallbackURL == "" {
		return psp.Begun{}, p.client.Fail(psp.ErrDeclined, "reference, amount or address to return to is not valid")
	}
	body := map[string]any{
		"intent": "CAPTURE",
		"purchase_units": []map[string]any{{
			"custom_id": c.Reference, "invoice_id": c.Reference, "description": "Order " + c.Reference, "amount": toPaypalMoney(c.Amount, c.Currency),
		}},
		"payment_source": map[string]any{"paypal": map[string]any{"experience_context": map[string]string{
			"return_url": c.CallbackURL, "cancel_url": c.CallbackURL, "user_action": "PAY_NOW", "shipping_preference": "NO_SHIPPING",
		}}},
	}
	var o order
	err := p.call(ctx, psp.Request{Method: http.MethodPost, Path: "/v2/checkout/orders", Body: body, Key: c.Reference}, &o, func() error {
		// The address goes into the buyer's browser, so it must be a whole web address.
		if u, err := url.Parse(o.payAt()); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("link %q", o.payAt())
		}
		return o.checkFields(c.Reference)
	})
	if err != nil {
		return psp.Begun{}, err
	}
	return psp.Begun{AuthorizationURL: o.payAt(), ProviderID: o.ID}, nil
}

// capture has those parts of a capture that the adapter reads.
type capture struct {
	ID      string    `json:"id"`
	Status  string    `json:"status"`
	Amount  money     `json:"amount"`
	Created time.Time `json:"create_time"`
	Details struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
}

// order has those parts of an order that the adapter reads. An order of ours has exactly one unit
// (Units).
type order struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Units  []struct {
		Reference string `json:"custom_id"`
		Amount    money  `json:"amount"`
		Payments  struct {
			Captures []capture `json:"captures"`
			Refunds  []refund  `json:"refunds"`
		} `json:"payments"`
	} `json:"purchase_units"`
	Links []struct {
		Href string `json:"href"`
		Rel  string `json:"rel"`
	} `json:"links"`
}

// payAt returns the page where the buyer approves the order, or "" if the answer has none.
func (o *order) payAt() string {
	for _, l := range o.Links {
		if l.Rel == "payer-action" || l.Rel == "approve" {
			return l.Href
		}
	}
	return ""
}

// checkFields refuses an answer that is not about the charge with this reference, or that has a
// status that the adapter does not know.
func (o *order) checkFields(reference string) error {
	switch _, known := orders[o.Status]; {
	case !known:
		return fmt.Errorf("order's status %q", o.Status)
	case !isID(o.ID) || len(o.Units) != 1 || o.Units[0].Amount.Currency == "":
		return errors.New("no id, amount or currency")
	case o.Units[0].Reference != reference:
		return fmt.Errorf("custom_id %q", o.Units[0].Reference)
	}
	for _, c := range o.Units[0].Payments.Captures {
		if _, known := captures[c.Status]; !known || !isID(c.ID) || c.Amount.Currency == "" {
			return fmt.Errorf("capture %q has status %q", c.ID, c.Status)
		}
	}
	return nil
}

// findCapture returns the capture that has taken or may still take the money. If all captures
// failed, it returns the last of them. It returns nil if there is none.
func (o *order) findCapture() *capture {
	all := o.Units[0].Payments.Captures
	for i := range all {
		if captures[all[i].Status] != psp.Failed {
			return &all[i]
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

// readOutcome returns the outcome of the order, or the one of its capture if it has one.
func (o *order) readOutcome() psp.Outcome {
	asked := o.Units[0].Amount
	out := psp.Outcome{Status: orders[o.Status], Amount: asked.toMinor(), RequestedAmount: asked.toMinor(), Currency: asked.Currency, ProviderID: o.ID}
	if c := o.findCapture(); c != nil {
		out.Status, out.Amount, out.Currency = captures[c.Status], c.Amount.toMinor(), c.Amount.Currency
		out.PaidAt, out.Message = c.Created, c.Details.Reason
	}
	return out
}

// isID reports whether a text may be an id of PayPal. Ids become parts of addresses, so no other
// text may go there.
func isID(id string) bool {
	return id != "" && len(id) <= 64 && strings.IndexFunc(id, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}) < 0
}

// Verify calls GET /v2/checkout/orders/{id}. If the buyer has approved the order, Verify captures
// it, which takes the money. It captures no order of a charge that is over, because the buyer would pay for
// nothing: such a charge is Cancelled. A charge without an id is one whose Begin gave no answer. The buyer never got
// its address, so nobody can have paid it.
func (p *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	o, err := p.readOrder(ctx, of)
	switch {
	// If nobody approves an order, PayPal forgets it after some hours. Its charge has expired.
	case errors.Is(err, psp.ErrUnknownReference) && isID(of.ProviderID):
		return psp.Outcome{Status: psp.Expired, ProviderID: of.ProviderID}, nil
	case err != nil:
		return psp.Outcome{}, err
	}
	out := o.readOutcome()
	switch {
	case o.Status != "APPROVED" || o.findCapture() != nil:
	case of.Over:
		out.Status = psp.Cancelled
	default:
		return p.captureOrder(ctx, of, o)
	}
	return out, nil
}

// readOrder reads the order of a charge, and checks that the order has the charge's reference.
func (p *Provider) readOrder(ctx context.Context, of psp.Asked) (*order, error) {
	if !isID(of.ProviderID) {
		return nil, p.client.Fail(psp.ErrUnknownReference, "the charge has no order")
	}
	o := new(order)
	err := p.call(ctx, psp.Request{Method: http.MethodGet, Path: "/v2/checkout/orders/" + of.ProviderID}, o, func() error { return o.checkFields(of.Reference) })
	if err != nil {
		return nil, err
	}
	return o, nil
}

// captureOrder calls POST /v2/checkout/orders/{id}/capture. PayPal captures an order only once, so
// the call needs no idempotency key. If PayPal says that another call came first or that the order is not approved,
// captureOrder reads the order again. If PayPal refuses the money for one of refusals, the outcome is Failed.
func (p *Provider) captureOrder(ctx context.Context, of psp.Asked, o *order) (psp.Outcome, error) {
	out := new(order)
	issue, err := p.callForIssue(ctx, psp.Request{Method: http.MethodPost, Path: "/v2/checkout/orders/" + o.ID + "/capture", Body: struct{}{}}, out,
		func() error { return out.checkFields(of.Reference) })
	switch {
	case err == nil:
		return out.readOutcome(), nil
	// The refusal of the capture is the outcome of the charge, not an error of this call.
	case refusals[issue]:
		refused := o.readOutcome()
		refused.Status, refused.Message = psp.Failed, issue
		return refused, nil
	case issue == "ORDER_ALREADY_CAPTURED" || issue == "ORDER_COMPLETION_IN_PROGRESS" || issue == "ORDER_NOT_APPROVED":
		if o, err = p.readOrder(ctx, of); err == nil {
			return o.readOutcome(), nil
		}
	}
	return psp.Outcome{}, err
}

// refund has those parts of a refund that the adapter reads.
type refund struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Amount money  `json:"amount"`
	Key    string `json:"custom_id"`
}

// checkFields returns an error for a refund with a status that we don't know, a malformed id or no currency.
func (r *refund) checkFields() error {
	if _, known := refundStatuses[r.Status]; !known || !isID(r.ID) || r.Amount.Currency == "" {
		return fmt.Errorf("refund %q has status %q", r.ID, r.Status)
	}
	return nil
}

func (r *refund) readOutcome() psp.RefundOutcome {
	return psp.RefundOutcome{ID: r.ID, Status: refundStatuses[r.Status], Amount: r.Amount.toMinor(), Currency: r.Amount.Currency}
}

// Refund first looks for refunds of the order that carry the key, because an earlier call may have
// made one and lost the answer. It calls POST /v2/payments/captures/{id}/refund only if none of
// them may still move the money. If all of the money has gone back in another way, the refund counts as
// processed without a call. An amount of 0 gives back all that is left.
func (p *Provider) Refund(ctx context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 {
		return psp.RefundOutcome{}, p.client.Fail(psp.ErrDeclined, "refund: key or amount is not valid")
	}
	o, err := p.readOrder(ctx, psp.Asked{Reference: r.Reference, ProviderID: r.ProviderID})
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	made, err := p.refundsOf(o, r.Key)
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	if was, ok, err := p.client.FindMade(r, made); ok || err != nil {
		return was, err
	}
	c := o.findCapture()
	if c == nil {
		return psp.RefundOutcome{}, p.client.Fail(psp.ErrDeclined, "refund: nothing was paid")
	}
	// If all of the money has gone back, the buyer has it already.
	if captures[c.Status] == psp.Refunded {
		return psp.RefundOutcome{Status: psp.RefundProcessed, Amount: cmp.Or(r.Amount, c.Amount.toMinor()), Currency: c.Amount.Currency}, nil
	}
	// Every attempt has a number in its key: a failed refund must not be taken for the new one.
	key := psp.AttemptKey(r.Key, made.Attempts+1)
	body := map[string]any{"custom_id": key}
	// Without an amount PayPal gives back all that is left.
	if r.Amount > 0 {
		body["amount"] = toPaypalMoney(r.Amount, c.Amount.Currency)
	}
	var data refund
	err = p.call(ctx, psp.Request{Method: http.MethodPost, Path: "/v2/payments/captures/" + c.ID + "/refund", Body: body, Key: key}, &data, func() error { return data.checkFields() })
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// refundsOf looks through the order's refunds for the key. PayPal lists refunds only inside their
// order, and there all at once.
func (p *Provider) refundsOf(o *order, key string) (psp.MadeRefunds, error) {
	var found psp.MadeRefunds
	all := o.Units[0].Payments.Refunds
	for i := range all {
		attempt := psp.AttemptOf(key, all[i].Key)
		if attempt == 0 {
			continue
		}
		if err := all[i].checkFields(); err != nil {
			return found, p.client.Fail(psp.ErrFault, err.Error())
		}
		found.AddAttempt(attempt, all[i].readOutcome())
	}
	return found, nil
}

// RefundStatus calls GET /v2/payments/refunds/{id}.
func (p *Provider) RefundStatus(ctx context.Context, id string) (psp.RefundOutcome, error) {
	if !isID(id) {
		return psp.RefundOutcome{}, p.client.Fail(psp.ErrUnknownReference, "not a refund's id")
	}
	var data refund
	if err := p.call(ctx, psp.Request{Method: http.MethodGet, Path: "/v2/payments/refunds/" + id}, &data, func() error { return data.checkFields() }); err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// Package paypal is the adapter to PayPal: what it is sent, what we read of its answers, and whether a notice is its own.
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

// address is the live host. That of the sandbox is https://api-m.sandbox.paypal.com.
const address = "https://api-m.paypal.com"

// Currencies are those that PayPal takes of buyers everywhere
// (https://developer.paypal.com/api/rest/reference/currency-codes). Forints and Taiwan's dollars are not
// among them: PayPal takes no decimals of theirs, and a fee may have some. Reais, ringgits and yuan are for
// accounts of their countries alone.
var Currencies = []string{
	"AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "HKD", "ILS", "JPY", "MXN", "NOK", "NZD", "PHP", "PLN", "SEK", "SGD", "THB", "USD",
}

// orders maps the status of an order that no capture has been made of to ours.
var orders = map[string]psp.Status{
	"CREATED":               psp.Pending,
	"SAVED":                 psp.Pending,
	"PAYER_ACTION_REQUIRED": psp.Pending,
	"APPROVED":              psp.Processing, // the buyer has agreed, and we have not taken the money yet
	"COMPLETED":             psp.Processing,
	"VOIDED":                psp.Expired,
}

// captures maps the status of a capture, which takes the money, to ours.
var captures = map[string]psp.Status{
	"COMPLETED":          psp.Succeeded,
	"PARTIALLY_REFUNDED": psp.Succeeded,
	"PENDING":            psp.Processing,
	"REFUNDED":           psp.Refunded,
	"DECLINED":           psp.Failed,
	"FAILED":             psp.Failed,
}

// refusals are the reasons for which no money can be taken of an order that its buyer has approved. The buyer
// has to begin again.
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

// checks is how many notices are proven at once. PayPal is asked about each, and nobody who makes notices
// up may hold up payments.
const checks = 8

// Provider is the adapter to PayPal's orders (https://developer.paypal.com/api/orders/v2). A buyer approves an
// order at PayPal, and the money is taken when we capture the order, which Verify does.
type Provider struct {
	client *psp.Client
	checks *psp.Client // by which notices are proven
	hook   psp.Secret  // the id of our webhook
	token  chan token
}

// token is an access token. The channel of a paypal holds the one that is used, except while a call gets another.
type token struct {
	text string
	ends time.Time
}

// New takes the client's id and secret as one key, with a colon between them, as Basic authentication does.
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
	a.InFlight = checks
	p.checks = psp.NewClient("paypal", a, via, log)
	for _, c := range []*psp.Client{p.client, p.checks} {
		c.KeyPrefix, c.RepeatHeader, c.Hidden = "Basic ", "PayPal-Request-Id", psp.Secret(secret)
		c.Headers = map[string]string{"Prefer": "return=representation"}
	}
	p.token <- token{}
	return p, nil
}

// Check refuses a currency that PayPal does not take.
func (p *Provider) Check(_ context.Context, of psp.Price) error {
	return p.client.RefuseCurrency(of.Currency, Currencies)
}

// money is money as PayPal writes it.
type money struct {
	Currency string      `json:"currency_code"`
	Value    psp.Decimal `json:"value"`
}

func (m money) toMinor() int64 { return m.Value.ToMinor(m.Currency) }

func toPaypalMoney(minor int64, currency string) money {
	return money{currency, psp.Decimal(psp.Major(minor, currency))}
}

// Begin calls POST /v2/checkout/orders, under the reference as idempotency key. PayPal knows a repeat for six hours.
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

// capture is what we read of a capture.
type capture struct {
	ID      string    `json:"id"`
	Status  string    `json:"status"`
	Amount  money     `json:"amount"`
	Created time.Time `json:"create_time"`
	Details struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
}

// order is what we read of an order. Ours have one unit.
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

// payAt is the page where the buyer approves the order.
func (o *order) payAt() string {
	for _, l := range o.Links {
		if l.Rel == "payer-action" || l.Rel == "approve" {
			return l.Href
		}
	}
	return ""
}

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

// findCapture returns the capture by which the money came, or the last that was tried; nil: none was.
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

func (o *order) readOutcome() psp.Outcome {
	asked := o.Units[0].Amount
	out := psp.Outcome{Status: orders[o.Status], Amount: asked.toMinor(), RequestedAmount: asked.toMinor(), Currency: asked.Currency, ProviderID: o.ID}
	if c := o.findCapture(); c != nil {
		out.Status, out.Amount, out.Currency = captures[c.Status], c.Amount.toMinor(), c.Amount.Currency
		out.PaidAt, out.Message = c.Created, c.Details.Reason
	}
	return out
}

// isID reports whether a text may be an id of PayPal's.
func isID(id string) bool {
	return id != "" && len(id) <= 64 && strings.IndexFunc(id, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}) < 0
}

// Verify calls GET /v2/checkout/orders/{id}, and captures an order that the buyer has approved: no money is taken
// before, and none of a charge that is over. A charge without an id, whose Begin gave no answer, is one that nobody can have
// paid.
func (p *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	o, err := p.readOrder(ctx, of)
	switch {
	case errors.Is(err, psp.ErrUnknownReference) && isID(of.ProviderID): // PayPal forgets an order that nobody approves within hours
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

// captureOrder calls POST /v2/checkout/orders/{id}/capture. PayPal captures an order once, so that no key is needed: who
// comes second is told so, and reads what the first has done.
func (p *Provider) captureOrder(ctx context.Context, of psp.Asked, o *order) (psp.Outcome, error) {
	out := new(order)
	issue, err := p.callForIssue(ctx, psp.Request{Method: http.MethodPost, Path: "/v2/checkout/orders/" + o.ID + "/capture", Body: struct{}{}}, out,
		func() error { return out.checkFields(of.Reference) })
	switch {
	case err == nil:
		return out.readOutcome(), nil
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

// refund is what we read of a refund.
type refund struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Amount money  `json:"amount"`
	Key    string `json:"custom_id"`
}

func (r *refund) checkFields() error {
	if _, known := refundStatuses[r.Status]; !known || !isID(r.ID) || r.Amount.Currency == "" {
		return fmt.Errorf("refund %q has status %q", r.ID, r.Status)
	}
	return nil
}

func (r *refund) readOutcome() psp.RefundOutcome {
	return psp.RefundOutcome{ID: r.ID, Status: refundStatuses[r.Status], Amount: r.Amount.toMinor(), Currency: r.Amount.Currency}
}

// Refund looks for refunds of the order that carry the key. It calls POST /v2/payments/captures/{id}/refund only if none
// of them may still move the money.
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
	if captures[c.Status] == psp.Refunded { // the buyer has the money already
		return psp.RefundOutcome{Status: psp.RefundProcessed, Amount: cmp.Or(r.Amount, c.Amount.toMinor()), Currency: c.Amount.Currency}, nil
	}
	key := psp.AttemptKey(r.Key, made.Attempts+1)
	body := map[string]any{"custom_id": key}
	if r.Amount > 0 { // all that is left otherwise
		body["amount"] = toPaypalMoney(r.Amount, c.Amount.Currency)
	}
	var data refund
	err = p.call(ctx, psp.Request{Method: http.MethodPost, Path: "/v2/payments/captures/" + c.ID + "/refund", Body: body, Key: key}, &data, func() error { return data.checkFields() })
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// refundsOf looks through the order's refunds for the key. PayPal lists them in the order alone, all at once.
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

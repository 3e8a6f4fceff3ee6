package payments

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
)

// paypalURL is the live host. That of the sandbox is https://api-m.sandbox.paypal.com.
const paypalURL = "https://api-m.paypal.com"

// paypalCurrencies are those that PayPal takes of buyers everywhere
// (https://developer.paypal.com/api/rest/reference/currency-codes). Forints and Taiwan's dollars are not
// among them: PayPal takes no decimals of theirs, and a fee may have some. Reais, ringgits and yuan are for
// accounts of their countries alone.
var paypalCurrencies = []string{
	"AUD", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "HKD", "ILS", "JPY", "MXN", "NOK", "NZD", "PHP", "PLN", "SEK", "SGD", "THB", "USD",
}

// paypalOrders maps the status of an order that no capture has been made of to ours.
var paypalOrders = map[string]Status{
	"CREATED":               Pending,
	"SAVED":                 Pending,
	"PAYER_ACTION_REQUIRED": Pending,
	"APPROVED":              Processing, // the buyer has agreed, and we have not taken the money yet
	"COMPLETED":             Processing,
	"VOIDED":                Expired,
}

// paypalCaptures maps the status of a capture, which takes the money, to ours.
var paypalCaptures = map[string]Status{
	"COMPLETED":          Succeeded,
	"PARTIALLY_REFUNDED": Succeeded,
	"PENDING":            Processing,
	"REFUNDED":           Refunded,
	"DECLINED":           Failed,
	"FAILED":             Failed,
}

// paypalRefusals are the reasons for which no money can be taken of an order that its buyer has approved. The buyer
// has to begin again.
var paypalRefusals = map[string]bool{
	"COMPLIANCE_VIOLATION": true, "INSTRUMENT_DECLINED": true, "MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED": true,
	"PAYEE_BLOCKED_TRANSACTION": true, "PAYER_ACCOUNT_LOCKED_OR_CLOSED": true, "PAYER_ACCOUNT_RESTRICTED": true,
	"PAYER_CANNOT_PAY": true, "REDIRECT_PAYER_FOR_ALTERNATE_FUNDING": true, "TRANSACTION_BLOCKED_BY_PAYEE": true,
	"TRANSACTION_LIMIT_EXCEEDED": true, "TRANSACTION_REFUSED": true,
}

// paypalRefunds maps a refund's status to ours.
var paypalRefunds = map[string]RefundStatus{
	"PENDING":   RefundProcessing,
	"COMPLETED": RefundProcessed,
	"FAILED":    RefundFailed,
	"CANCELLED": RefundFailed,
}

// paypalChecks is how many notices are proven at once. PayPal is asked about each, and nobody who makes notices
// up may hold up payments.
const paypalChecks = 8

// paypal is the adapter to PayPal's orders (https://developer.paypal.com/api/orders/v2). A buyer approves an
// order at PayPal, and the money is taken when we capture the order, which Verify does.
type paypal struct {
	client *client
	checks *client // by which notices are proven
	hook   Secret  // the id of our webhook
	token  chan paypalToken
}

// paypalToken is an access token. The channel of a paypal holds the one that is used, except while a call gets another.
type paypalToken struct {
	text string
	ends time.Time
}

// newPaypal takes the client's id and secret as one key, with a colon between them, as Basic authentication does.
func newPaypal(a Account, via http.RoundTripper, log *slog.Logger) (*paypal, error) {
	if a.SecretKey == "" {
		return nil, &Error{Provider: "paypal", Kind: ErrNotConfigured}
	}
	a = a.withDefaults(paypalURL)
	if err := a.checkFields(); err != nil {
		return nil, err
	}
	id, secret, ok := strings.Cut(string(a.SecretKey), ":")
	if !ok || id == "" || secret == "" {
		return nil, errors.New("the key must be the client's id and secret, with a colon between them")
	}
	a.SecretKey = Secret(base64.StdEncoding.EncodeToString([]byte(a.SecretKey)))
	p := &paypal{client: newClient("paypal", a, via, log), hook: a.NoticeSecret, token: make(chan paypalToken, 1)}
	a.InFlight = paypalChecks
	p.checks = newClient("paypal", a, via, log)
	for _, c := range []*client{p.client, p.checks} {
		c.keyPrefix, c.repeatHeader, c.hidden = "Basic ", "PayPal-Request-Id", Secret(secret)
		c.headers = map[string]string{"Prefer": "return=representation"}
	}
	p.token <- paypalToken{}
	return p, nil
}

// Check refuses a currency that PayPal does not take.
func (p *paypal) Check(_ context.Context, of Price) error {
	return p.client.refuseCurrency(of.Currency, paypalCurrencies)
}

// paypalMoney is money as PayPal writes it.
type paypalMoney struct {
	Currency string  `json:"currency_code"`
	Value    decimal `json:"value"`
}

func (m paypalMoney) toMinor() int64 { return m.Value.toMinor(m.Currency) }

func toPaypalMoney(minor int64, currency string) paypalMoney {
	return paypalMoney{currency, decimal(major(minor, currency))}
}

// Begin calls POST /v2/checkout/orders, under the reference as idempotency key. PayPal knows a repeat for six hours.
func (p *paypal) Begin(ctx context.Context, c Charge) (Begun, error) {
	if !validReference(c.Reference) || c.Amount <= 0 || c.CallbackURL == "" {
		return Begun{}, p.client.fail(ErrDeclined, "reference, amount or address to return to is not valid")
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
	var o paypalOrder
	err := p.call(ctx, request{method: http.MethodPost, path: "/v2/checkout/orders", body: body, key: c.Reference}, &o, func() error {
		if u, err := url.Parse(o.payAt()); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("link %q", o.payAt())
		}
		return o.checkFields(c.Reference)
	})
	if err != nil {
		return Begun{}, err
	}
	return Begun{AuthorizationURL: o.payAt(), ProviderID: o.ID}, nil
}

// paypalCapture is what we read of a capture.
type paypalCapture struct {
	ID      string      `json:"id"`
	Status  string      `json:"status"`
	Amount  paypalMoney `json:"amount"`
	Created time.Time   `json:"create_time"`
	Details struct {
		Reason string `json:"reason"`
	} `json:"status_details"`
}

// paypalOrder is what we read of an order. Ours have one unit.
type paypalOrder struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	Units  []struct {
		Reference string      `json:"custom_id"`
		Amount    paypalMoney `json:"amount"`
		Payments  struct {
			Captures []paypalCapture `json:"captures"`
			Refunds  []paypalRefund  `json:"refunds"`
		} `json:"payments"`
	} `json:"purchase_units"`
	Links []struct {
		Href string `json:"href"`
		Rel  string `json:"rel"`
	} `json:"links"`
}

// payAt is the page where the buyer approves the order.
func (o *paypalOrder) payAt() string {
	for _, l := range o.Links {
		if l.Rel == "payer-action" || l.Rel == "approve" {
			return l.Href
		}
	}
	return ""
}

func (o *paypalOrder) checkFields(reference string) error {
	switch _, known := paypalOrders[o.Status]; {
	case !known:
		return fmt.Errorf("order's status %q", o.Status)
	case !isPaypalID(o.ID) || len(o.Units) != 1 || o.Units[0].Amount.Currency == "":
		return errors.New("no id, amount or currency")
	case o.Units[0].Reference != reference:
		return fmt.Errorf("custom_id %q", o.Units[0].Reference)
	}
	for _, c := range o.Units[0].Payments.Captures {
		if _, known := paypalCaptures[c.Status]; !known || !isPaypalID(c.ID) || c.Amount.Currency == "" {
			return fmt.Errorf("capture %q has status %q", c.ID, c.Status)
		}
	}
	return nil
}

// findCapture returns the capture by which the money came, or the last that was tried; nil: none was.
func (o *paypalOrder) findCapture() *paypalCapture {
	all := o.Units[0].Payments.Captures
	for i := range all {
		if paypalCaptures[all[i].Status] != Failed {
			return &all[i]
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &all[len(all)-1]
}

func (o *paypalOrder) readOutcome() Outcome {
	asked := o.Units[0].Amount
	out := Outcome{Status: paypalOrders[o.Status], Amount: asked.toMinor(), RequestedAmount: asked.toMinor(), Currency: asked.Currency, ProviderID: o.ID}
	if c := o.findCapture(); c != nil {
		out.Status, out.Amount, out.Currency = paypalCaptures[c.Status], c.Amount.toMinor(), c.Amount.Currency
		out.PaidAt, out.Message = c.Created, c.Details.Reason
	}
	return out
}

// isPaypalID reports whether a text may be an id of PayPal's.
func isPaypalID(id string) bool {
	return id != "" && len(id) <= 64 && strings.IndexFunc(id, func(r rune) bool {
		return (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-'
	}) < 0
}

// Verify calls GET /v2/checkout/orders/{id}, and captures an order that the buyer has approved: no money is taken
// before, and none of a charge that is over. A charge without an id, whose Begin gave no answer, is one that nobody can have
// paid.
func (p *paypal) Verify(ctx context.Context, of Asked) (Outcome, error) {
	o, err := p.readOrder(ctx, of)
	switch {
	case errors.Is(err, ErrUnknownReference) && isPaypalID(of.ProviderID): // PayPal forgets an order that nobody approves within hours
		return Outcome{Status: Expired, ProviderID: of.ProviderID}, nil
	case err != nil:
		return Outcome{}, err
	}
	out := o.readOutcome()
	switch {
	case o.Status != "APPROVED" || o.findCapture() != nil:
	case of.Over:
		out.Status = Cancelled
	default:
		return p.captureOrder(ctx, of, o)
	}
	return out, nil
}

func (p *paypal) readOrder(ctx context.Context, of Asked) (*paypalOrder, error) {
	if !isPaypalID(of.ProviderID) {
		return nil, p.client.fail(ErrUnknownReference, "the charge has no order")
	}
	o := new(paypalOrder)
	err := p.call(ctx, request{method: http.MethodGet, path: "/v2/checkout/orders/" + of.ProviderID}, o, func() error { return o.checkFields(of.Reference) })
	if err != nil {
		return nil, err
	}
	return o, nil
}

// captureOrder calls POST /v2/checkout/orders/{id}/capture. PayPal captures an order once, so that no key is needed: who
// comes second is told so, and reads what the first has done.
func (p *paypal) captureOrder(ctx context.Context, of Asked, o *paypalOrder) (Outcome, error) {
	out := new(paypalOrder)
	issue, err := p.callForIssue(ctx, request{method: http.MethodPost, path: "/v2/checkout/orders/" + o.ID + "/capture", body: struct{}{}}, out,
		func() error { return out.checkFields(of.Reference) })
	switch {
	case err == nil:
		return out.readOutcome(), nil
	case paypalRefusals[issue]:
		refused := o.readOutcome()
		refused.Status, refused.Message = Failed, issue
		return refused, nil
	case issue == "ORDER_ALREADY_CAPTURED" || issue == "ORDER_COMPLETION_IN_PROGRESS" || issue == "ORDER_NOT_APPROVED":
		if o, err = p.readOrder(ctx, of); err == nil {
			return o.readOutcome(), nil
		}
	}
	return Outcome{}, err
}

// paypalRefund is what we read of a refund.
type paypalRefund struct {
	ID     string      `json:"id"`
	Status string      `json:"status"`
	Amount paypalMoney `json:"amount"`
	Key    string      `json:"custom_id"`
}

func (r *paypalRefund) checkFields() error {
	if _, known := paypalRefunds[r.Status]; !known || !isPaypalID(r.ID) || r.Amount.Currency == "" {
		return fmt.Errorf("refund %q has status %q", r.ID, r.Status)
	}
	return nil
}

func (r *paypalRefund) readOutcome() RefundOutcome {
	return RefundOutcome{ID: r.ID, Status: paypalRefunds[r.Status], Amount: r.Amount.toMinor(), Currency: r.Amount.Currency}
}

// Refund looks for refunds of the order that carry the key. It calls POST /v2/payments/captures/{id}/refund only if none
// of them may still move the money.
func (p *paypal) Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 {
		return RefundOutcome{}, p.client.fail(ErrDeclined, "refund: key or amount is not valid")
	}
	o, err := p.readOrder(ctx, Asked{Reference: r.Reference, ProviderID: r.ProviderID})
	if err != nil {
		return RefundOutcome{}, err
	}
	made, err := p.refundsOf(o, r.Key)
	if err != nil {
		return RefundOutcome{}, err
	}
	if was, ok, err := p.client.findMade(r, made); ok || err != nil {
		return was, err
	}
	c := o.findCapture()
	if c == nil {
		return RefundOutcome{}, p.client.fail(ErrDeclined, "refund: nothing was paid")
	}
	if paypalCaptures[c.Status] == Refunded { // the buyer has the money already
		return RefundOutcome{Status: RefundProcessed, Amount: cmp.Or(r.Amount, c.Amount.toMinor()), Currency: c.Amount.Currency}, nil
	}
	key := attemptKey(r.Key, made.attempts+1)
	body := map[string]any{"custom_id": key}
	if r.Amount > 0 { // all that is left otherwise
		body["amount"] = toPaypalMoney(r.Amount, c.Amount.Currency)
	}
	var data paypalRefund
	err = p.call(ctx, request{method: http.MethodPost, path: "/v2/payments/captures/" + c.ID + "/refund", body: body, key: key}, &data, func() error { return data.checkFields() })
	if err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// refundsOf looks through the order's refunds for the key. PayPal lists them in the order alone, all at once.
func (p *paypal) refundsOf(o *paypalOrder, key string) (madeRefunds, error) {
	var found madeRefunds
	all := o.Units[0].Payments.Refunds
	for i := range all {
		attempt := attemptOf(key, all[i].Key)
		if attempt == 0 {
			continue
		}
		if err := all[i].checkFields(); err != nil {
			return found, p.client.fail(ErrFault, err.Error())
		}
		found.addAttempt(attempt, all[i].readOutcome())
	}
	return found, nil
}

// RefundStatus calls GET /v2/payments/refunds/{id}.
func (p *paypal) RefundStatus(ctx context.Context, id string) (RefundOutcome, error) {
	if !isPaypalID(id) {
		return RefundOutcome{}, p.client.fail(ErrUnknownReference, "not a refund's id")
	}
	var data paypalRefund
	if err := p.call(ctx, request{method: http.MethodGet, path: "/v2/payments/refunds/" + id}, &data, func() error { return data.checkFields() }); err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

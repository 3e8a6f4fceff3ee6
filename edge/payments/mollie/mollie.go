// Package mollie is the adapter to Mollie: it makes the requests, reads the answers, and checks that a notice
// comes from Mollie.
package mollie

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/edge/payments/psp"
)

// address is the host of both the live and the test mode; the key decides which of them is used.
const address = "https://api.mollie.com/v2"

// Currencies are those that Mollie takes (https://docs.mollie.com/docs/multicurrency).
var Currencies = []string{
	"AED", "AUD", "BRL", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS", "ISK", "JPY", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK",
	"SGD", "THB", "TWD", "USD", "ZAR",
}

// chargeStatuses maps a payment's status to ours. A payment that is canceled or has failed
// has ended: the buyer's next try is another payment.
var chargeStatuses = map[string]psp.Status{
	"open":       psp.Pending,
	"pending":    psp.Processing,
	"authorized": psp.Processing,
	"paid":       psp.Succeeded,
	"canceled":   psp.Failed,
	"failed":     psp.Failed,
	"expired":    psp.Expired,
}

// refundStatuses maps a refund's status to ours.
var refundStatuses = map[string]psp.RefundStatus{
	"queued":     psp.RefundPending,
	"pending":    psp.RefundPending,
	"processing": psp.RefundProcessing,
	"refunded":   psp.RefundProcessed,
	"failed":     psp.RefundFailed,
	"canceled":   psp.RefundFailed,
}

// Provider is the adapter to Mollie's payments (https://docs.mollie.com/reference/payments-api). Each payment
// says where its notices go. Mollie does not sign notices, so that address carries a MAC under our key. Only
// Mollie gets to know the address.
type Provider struct {
	client *psp.Client
	notify string // the address of notices, without the MAC; if it is empty, payments name no address
}

// New makes the adapter of an account. Without a key the error is psp.ErrNotConfigured.
func New(a psp.Account, via http.RoundTripper, log *slog.Logger) (*Provider, error) {
	if a.SecretKey == "" {
		return nil, &psp.Error{Provider: "mollie", Kind: psp.ErrNotConfigured}
	}
	a = a.WithDefaults(address)
	if err := a.CheckFields(); err != nil {
		return nil, err
	}
	return &Provider{client: psp.NewClient("mollie", a, via, log), notify: a.NoticeURL}, nil
}

// Check refuses a currency that Mollie does not take. It checks no amount: Mollie itself offers the buyer only
// those ways to pay whose least amount the payment reaches.
func (m *Provider) Check(_ context.Context, p psp.Price) error {
	return m.client.RefuseCurrency(p.Currency, Currencies)
}

// money is money as Mollie writes it.
type money struct {
	Currency string      `json:"currency"`
	Value    psp.Decimal `json:"value"`
}

// toMinor returns the amount in minor units of its currency.
func (a money) toMinor() int64 { return a.Value.ToMinor(a.Currency) }

// writeMoney returns an amount of minor units in the form in which Mollie reads it.
func writeMoney(minor int64, currency string) money {
	return money{currency, psp.Decimal(psp.Major(minor, currency))}
}

// Begin calls POST /payments, with the reference as the idempotency key. Mollie recognizes a repeat for an hour
// and answers with the same payment. After that a repeat makes another payment. The first payment can then no
// longer be found, but it can't be paid either, because only its answer said where.
func (m *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if !psp.IsReference(c.Reference) || c.Amount <= 0 || c.CallbackURL == "" {
		return psp.Begun{}, m.client.Fail(psp.ErrDeclined, "reference, amount or address to return to is not valid")
	}
	metadata := map[string]string{"reference": c.Reference}
	maps.Copy(metadata, c.Metadata)
	body := map[string]any{
		"amount": writeMoney(c.Amount, c.Currency), "description": "Order " + c.Reference,
		"redirectUrl": c.CallbackURL, "metadata": metadata,
	}
	if m.notify != "" {
		body["webhookUrl"] = m.notify + "?" + url.Values{"reference": {c.Reference}, "sig": {m.macOf(c.Reference)}}.Encode()
	}
	var p paymentAnswer
	err := m.call(ctx, psp.Request{Method: http.MethodPost, Path: "/payments", Body: body, Key: c.Reference}, &p, func() error {
		if u, err := url.Parse(p.Links.Checkout.Href); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("checkout %q", p.Links.Checkout.Href)
		}
		return p.checkFields(c.Reference)
	})
	if err != nil {
		return psp.Begun{}, err
	}
	return psp.Begun{AuthorizationURL: p.Links.Checkout.Href, ProviderID: p.ID}, nil
}

// paymentAnswer is what we read of a payment.
type paymentAnswer struct {
	ID          string    `json:"id"`
	Status      string    `json:"status"`
	Amount      money     `json:"amount"`
	Refunded    money     `json:"amountRefunded"`
	ChargedBack money     `json:"amountChargedBack"`
	PaidAt      time.Time `json:"paidAt"`
	Metadata    struct {
		Reference string `json:"reference"`
	} `json:"metadata"`
	Details struct {
		Failure string `json:"failureMessage"`
	} `json:"details"`
	Links struct {
		Checkout struct {
			Href string `json:"href"`
		} `json:"checkout"`
	} `json:"_links"`
}

// checkFields refuses an answer that is about another payment, or whose status we don't
// know.
func (p *paymentAnswer) checkFields(reference string) error {
	_, known := chargeStatuses[p.Status]
	switch {
	case !isID(p.ID, "tr_") || p.Amount.Currency == "":
		return errors.New("no id or currency")
	case p.Metadata.Reference != reference:
		return fmt.Errorf("reference %q", p.Metadata.Reference)
	case !known:
		return fmt.Errorf("status %q", p.Status)
	}
	return nil
}

// readOutcome reads the payment. A payment whose money went back whole, by refunds or
// because the buyer's bank took it back, pays for nothing any more.
func (p *paymentAnswer) readOutcome() psp.Outcome {
	amount := p.Amount.toMinor()
	o := psp.Outcome{
		Status: chargeStatuses[p.Status], Amount: amount, RequestedAmount: amount, Currency: p.Amount.Currency,
		PaidAt: p.PaidAt, Message: p.Details.Failure, ProviderID: p.ID,
	}
	if o.Status == psp.Succeeded && amount > 0 && p.Refunded.toMinor()+p.ChargedBack.toMinor() >= amount {
		o.Status = psp.Refunded
	}
	return o
}

// isID reports whether a text is an id of Mollie's that begins with prefix, which stands for a kind of things.
func isID(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && rest != "" && len(id) <= 64 && strings.IndexFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// Verify calls GET /payments/{id}. A charge has no id if Begin got no answer. Nobody can
// have paid such a charge, because only Begin's answer says where to pay.
func (m *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	p, err := m.findPayment(ctx, of)
	if err != nil {
		return psp.Outcome{}, err
	}
	return p.readOutcome(), nil
}

// findPayment reads the payment of a charge. A charge without a payment's id is
// psp.ErrUnknownReference.
func (m *Provider) findPayment(ctx context.Context, of psp.Asked) (*paymentAnswer, error) {
	if !isID(of.ProviderID, "tr_") {
		return nil, m.client.Fail(psp.ErrUnknownReference, "the charge has no payment")
	}
	p := new(paymentAnswer)
	err := m.call(ctx, psp.Request{Method: http.MethodGet, Path: "/payments/" + of.ProviderID}, p, func() error { return p.checkFields(of.Reference) })
	if err != nil {
		return nil, err
	}
	return p, nil
}

// refundAnswer is what we read of a refund.
type refundAnswer struct {
	ID       string `json:"id"`
	Payment  string `json:"paymentId"`
	Amount   money  `json:"amount"`
	Status   string `json:"status"`
	Metadata struct {
		Key string `json:"key"`
	} `json:"metadata"`
}

// checkFields refuses a refund whose status we don't know, or without the ids by which it
// is found again.
func (r *refundAnswer) checkFields() error {
	if _, known := refundStatuses[r.Status]; !known || !isID(r.ID, "re_") || !isID(r.Payment, "tr_") {
		return fmt.Errorf("refund %q of %q has status %q", r.ID, r.Payment, r.Status)
	}
	return nil
}

// readOutcome reads the refund. Its id is "<payment>/<refund>", because Mollie finds a
// refund only by both.
func (r *refundAnswer) readOutcome() psp.RefundOutcome {
	return psp.RefundOutcome{
		ID: r.Payment + "/" + r.ID, Status: refundStatuses[r.Status], Amount: r.Amount.toMinor(), Currency: r.Amount.Currency,
	}
}

// Refund looks for refunds of the payment that carry the key. It calls POST /payments/{id}/refunds only if none
// of them may still move the money. An Amount of 0 stands for all that has not gone back yet. If nothing of a
// payment is left, the refund counts as processed.
func (m *Provider) Refund(ctx context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 {
		return psp.RefundOutcome{}, m.client.Fail(psp.ErrDeclined, "refund: key or amount is not valid")
	}
	p, err := m.findPayment(ctx, psp.Asked{Reference: r.Reference, ProviderID: r.ProviderID})
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	made, err := m.refundsOf(ctx, r.Key, p.ID)
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	if o, ok, err := m.client.FindMade(r, made); ok || err != nil {
		return o, err
	}
	// left is what has not gone back yet, by whatever way.
	left := p.Amount.toMinor() - p.Refunded.toMinor() - p.ChargedBack.toMinor()
	if chargeStatuses[p.Status] == psp.Succeeded && left <= 0 { // the buyer has the money already
		return psp.RefundOutcome{Status: psp.RefundProcessed, Amount: r.Amount, Currency: r.Currency}, nil
	}
	amount := r.Amount
	if amount == 0 {
		amount = left
	}
	key := psp.AttemptKey(r.Key, made.Attempts+1)
	body := map[string]any{
		"amount": writeMoney(amount, p.Amount.Currency), "description": "Refund " + r.Reference, "metadata": map[string]string{"key": key},
	}
	var data refundAnswer
	err = m.call(ctx, psp.Request{Method: http.MethodPost, Path: "/payments/" + p.ID + "/refunds", Body: body, Key: key}, &data, func() error { return data.checkFields() })
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// refundsOf calls GET /payments/{id}/refunds, page by page, and returns the refunds that were made under the key.
// More than psp.RefundPages pages are an error, because the rest may have a refund under the key.
func (m *Provider) refundsOf(ctx context.Context, key, payment string) (psp.MadeRefunds, error) {
	var found psp.MadeRefunds
	q := url.Values{"limit": {strconv.Itoa(psp.RefundsPerPage)}}
	for range psp.RefundPages {
		var list struct {
			Embedded struct {
				Refunds []refundAnswer `json:"refunds"`
			} `json:"_embedded"`
			Links struct {
				Next *struct {
					Href string `json:"href"`
				} `json:"next"`
			} `json:"_links"`
		}
		if err := m.call(ctx, psp.Request{Method: http.MethodGet, Path: "/payments/" + payment + "/refunds?" + q.Encode()}, &list, nil); err != nil {
			return found, err
		}
		refunds := list.Embedded.Refunds
		for i := range refunds {
			attempt := psp.AttemptOf(key, refunds[i].Metadata.Key)
			if attempt == 0 {
				continue
			}
			if err := refunds[i].checkFields(); err != nil {
				return found, m.client.Fail(psp.ErrFault, "refund list: "+err.Error())
			}
			found.AddAttempt(attempt, refunds[i].readOutcome())
		}
		if list.Links.Next == nil || len(refunds) == 0 {
			return found, nil
		}
		next, err := url.Parse(list.Links.Next.Href)
		if err != nil || next.Query().Get("from") == "" {
			return found, m.client.Fail(psp.ErrFault, "refund list: the next page has no name")
		}
		q.Set("from", next.Query().Get("from"))
	}
	return found, m.client.Fail(psp.ErrDeclined, fmt.Sprintf("the charge has more than %d refunds", psp.RefundPages*psp.RefundsPerPage))
}

// RefundStatus calls GET /payments/{payment}/refunds/{id}. id has both, with a slash between them; for any other text
// it returns psp.ErrUnknownReference without a call.
func (m *Provider) RefundStatus(ctx context.Context, id string) (psp.RefundOutcome, error) {
	payment, refund, _ := strings.Cut(id, "/")
	if !isID(payment, "tr_") || !isID(refund, "re_") {
		return psp.RefundOutcome{}, m.client.Fail(psp.ErrUnknownReference, "not a refund's id")
	}
	var data refundAnswer
	path := "/payments/" + payment + "/refunds/" + refund
	if err := m.call(ctx, psp.Request{Method: http.MethodGet, Path: path}, &data, func() error { return data.checkFields() }); err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// call makes one call and decodes the answer, which check may refuse.
func (m *Provider) call(ctx context.Context, r psp.Request, data any, check func() error) error {
	return m.client.Fetch(ctx, r, m.refusalError, data, check)
}

// refusalError makes an error of a refusal by Mollie: unknown reference, a fault, too little, or else declined
// (https://docs.mollie.com/reference/handling-errors).
func (m *Provider) refusalError(a psp.Answer) *psp.Error {
	var e struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Field  string `json:"field"`
	}
	if err := json.Unmarshal(a.Body, &e); err != nil {
		return m.client.Fail(psp.ErrDeclined, fmt.Sprintf("status %d: %s", a.Status, a.Body))
	}
	kind := psp.ErrDeclined
	switch {
	case a.Status == http.StatusNotFound, a.Status == http.StatusGone:
		kind = psp.ErrUnknownReference
	case a.Status == http.StatusConflict: // the same request is being worked on, or its key was used for another
		kind = psp.ErrFault
	case a.Status == http.StatusUnprocessableEntity && e.Field == "amount" && strings.Contains(e.Detail, "lower than the minimum"):
		kind = psp.ErrTooLittle
	}
	return m.client.Fail(kind, fmt.Sprintf("status %d: %s: %s", a.Status, e.Title, e.Detail))
}

// macOf returns what the address of notices carries for a reference: the hex HMAC-SHA256, under our key at Mollie, of
// the words "notice of" and the reference.
func (m *Provider) macOf(reference string) string {
	mac := hmac.New(sha256.New, []byte(m.client.Account.SecretKey))
	mac.Write([]byte("notice of " + reference))
	return hex.EncodeToString(mac.Sum(nil))
}

// Notice reads the form "id=tr_...". The signature is "<reference>.<mac>", from the address that the notice came
// to. A payment changes more than once, and all its notices look alike. So the notice's key contains the present
// time, and no notice is dropped as a repeat. That does no harm, because a notice only makes us ask Mollie about
// the payment.
func (m *Provider) Notice(body []byte, signature string) (psp.Notice, error) {
	at := strings.LastIndexByte(signature, '.')
	if at < 0 || !hmac.Equal([]byte(signature[at+1:]), []byte(m.macOf(signature[:at]))) {
		return psp.Notice{}, m.client.Fail(psp.ErrSignature, "")
	}
	form, err := url.ParseQuery(string(body))
	id := form.Get("id")
	if err != nil || !isID(id, "tr_") {
		return psp.Notice{}, m.client.Fail(psp.ErrNotice, "not a payment's id")
	}
	return psp.Notice{Event: "payment", Reference: signature[:at], Dispute: id, Key: id + " " + strconv.FormatInt(time.Now().UnixMilli(), 10)}, nil
}

package payments

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
)

// mollieURL is both the live and the test host; the key tells which.
const mollieURL = "https://api.mollie.com/v2"

// mollieCurrencies are those that Mollie takes (https://docs.mollie.com/docs/multicurrency).
var mollieCurrencies = []string{
	"AED", "AUD", "BRL", "CAD", "CHF", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS", "ISK", "JPY", "MXN", "MYR", "NOK", "NZD", "PHP", "PLN", "RON", "SEK",
	"SGD", "THB", "TWD", "USD", "ZAR",
}

// molliePayments maps a payment's status to ours. One that is canceled or has failed is at its end:
// another attempt to pay is another payment.
var molliePayments = map[string]Status{
	"open":       Pending,
	"pending":    Processing,
	"authorized": Processing,
	"paid":       Succeeded,
	"canceled":   Failed,
	"failed":     Failed,
	"expired":    Expired,
}

// mollieRefunds maps a refund's status to ours.
var mollieRefunds = map[string]RefundStatus{
	"queued":     RefundPending,
	"pending":    RefundPending,
	"processing": RefundProcessing,
	"refunded":   RefundProcessed,
	"failed":     RefundFailed,
	"canceled":   RefundFailed,
}

// mollie is the adapter to Mollie's payments (https://docs.mollie.com/reference/payments-api). Each
// payment says where its notices go. Mollie does not sign them, so the address that a payment names
// carries a MAC under our key, which nobody but Mollie is told.
type mollie struct {
	client *client
	notify string // the address of notices
}

func newMollie(a Account, via http.RoundTripper, log *slog.Logger) (*mollie, error) {
	if a.SecretKey == "" {
		return nil, &Error{Provider: "mollie", Kind: ErrNotConfigured}
	}
	a = a.withDefaults(mollieURL)
	if err := a.checkFields(); err != nil {
		return nil, err
	}
	return &mollie{client: newClient("mollie", a, via, log), notify: a.NoticeURL}, nil
}

// Check refuses a currency that Mollie does not take. It knows the least amount of each way to pay,
// and offers the buyer those that fit.
func (m *mollie) Check(_ context.Context, p Price) error {
	return m.client.refuseCurrency(p.Currency, mollieCurrencies)
}

// mollieAmount is money as Mollie writes it.
type mollieAmount struct {
	Currency string  `json:"currency"`
	Value    decimal `json:"value"`
}

// toMinor returns the amount in minor units of its currency.
func (a mollieAmount) toMinor() int64 { return a.Value.toMinor(a.Currency) }

func mollieMoney(minor int64, currency string) mollieAmount {
	return mollieAmount{currency, decimal(major(minor, currency))}
}

// Begin calls POST /payments, under the reference as idempotency key. Mollie knows a repeat for an
// hour; a payment that another request made is found by neither, and nobody is told where to pay it.
func (m *mollie) Begin(ctx context.Context, c Charge) (Begun, error) {
	if !validReference(c.Reference) || c.Amount <= 0 || c.CallbackURL == "" {
		return Begun{}, m.client.fail(ErrDeclined, "reference, amount or address to return to is not valid")
	}
	metadata := map[string]string{"reference": c.Reference}
	maps.Copy(metadata, c.Metadata)
	body := map[string]any{
		"amount": mollieMoney(c.Amount, c.Currency), "description": "Order " + c.Reference,
		"redirectUrl": c.CallbackURL, "metadata": metadata,
	}
	if m.notify != "" {
		body["webhookUrl"] = m.notify + "?" + url.Values{"reference": {c.Reference}, "sig": {m.macOf(c.Reference)}}.Encode()
	}
	var p molliePayment
	err := m.call(ctx, request{method: http.MethodPost, path: "/payments", body: body, key: c.Reference}, &p, func() error {
		if u, err := url.Parse(p.Links.Checkout.Href); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("checkout %q", p.Links.Checkout.Href)
		}
		return p.checkFields(c.Reference)
	})
	if err != nil {
		return Begun{}, err
	}
	return Begun{AuthorizationURL: p.Links.Checkout.Href, ProviderID: p.ID}, nil
}

// molliePayment is what we read of a payment.
type molliePayment struct {
	ID          string       `json:"id"`
	Status      string       `json:"status"`
	Amount      mollieAmount `json:"amount"`
	Refunded    mollieAmount `json:"amountRefunded"`
	ChargedBack mollieAmount `json:"amountChargedBack"`
	PaidAt      time.Time    `json:"paidAt"`
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

func (p *molliePayment) checkFields(reference string) error {
	_, known := molliePayments[p.Status]
	switch {
	case !isMollieID(p.ID, "tr_") || p.Amount.Currency == "":
		return errors.New("no id or currency")
	case p.Metadata.Reference != reference:
		return fmt.Errorf("reference %q", p.Metadata.Reference)
	case !known:
		return fmt.Errorf("status %q", p.Status)
	}
	return nil
}

// readOutcome reads the payment. One that went back whole, by refunds or because the buyer's bank took
// it back, pays for nothing.
func (p *molliePayment) readOutcome() Outcome {
	amount := p.Amount.toMinor()
	o := Outcome{
		Status: molliePayments[p.Status], Amount: amount, RequestedAmount: amount, Currency: p.Amount.Currency,
		PaidAt: p.PaidAt, Message: p.Details.Failure, ProviderID: p.ID,
	}
	if o.Status == Succeeded && amount > 0 && p.Refunded.toMinor()+p.ChargedBack.toMinor() >= amount {
		o.Status = Refunded
	}
	return o
}

// isMollieID reports whether a text is an id of Mollie's of a kind, which its prefix tells.
func isMollieID(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && rest != "" && len(id) <= 64 && strings.IndexFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9')
	}) < 0
}

// Verify calls GET /payments/{id}. A charge without an id, whose Begin gave no answer, is one that
// nobody can have paid: only Begin's answer says where.
func (m *mollie) Verify(ctx context.Context, of Asked) (Outcome, error) {
	p, err := m.findPayment(ctx, of)
	if err != nil {
		return Outcome{}, err
	}
	return p.readOutcome(), nil
}

func (m *mollie) findPayment(ctx context.Context, of Asked) (*molliePayment, error) {
	if !isMollieID(of.ProviderID, "tr_") {
		return nil, m.client.fail(ErrUnknownReference, "the charge has no payment")
	}
	p := new(molliePayment)
	err := m.call(ctx, request{method: http.MethodGet, path: "/payments/" + of.ProviderID}, p, func() error { return p.checkFields(of.Reference) })
	if err != nil {
		return nil, err
	}
	return p, nil
}

// mollieRefund is what we read of a refund.
type mollieRefund struct {
	ID       string       `json:"id"`
	Payment  string       `json:"paymentId"`
	Amount   mollieAmount `json:"amount"`
	Status   string       `json:"status"`
	Metadata struct {
		Key string `json:"key"`
	} `json:"metadata"`
}

func (r *mollieRefund) checkFields() error {
	if _, known := mollieRefunds[r.Status]; !known || !isMollieID(r.ID, "re_") || !isMollieID(r.Payment, "tr_") {
		return fmt.Errorf("refund %q of %q has status %q", r.ID, r.Payment, r.Status)
	}
	return nil
}

// readOutcome names the refund with its payment, because Mollie finds it by both.
func (r *mollieRefund) readOutcome() RefundOutcome {
	return RefundOutcome{
		ID: r.Payment + "/" + r.ID, Status: mollieRefunds[r.Status], Amount: r.Amount.toMinor(), Currency: r.Amount.Currency,
	}
}

// Refund looks for refunds of the payment that carry the key. It calls POST /payments/{id}/refunds
// only if none of them may still move the money.
func (m *mollie) Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 {
		return RefundOutcome{}, m.client.fail(ErrDeclined, "refund: key or amount is not valid")
	}
	p, err := m.findPayment(ctx, Asked{Reference: r.Reference, ProviderID: r.ProviderID})
	if err != nil {
		return RefundOutcome{}, err
	}
	made, err := m.refundsOf(ctx, r.Key, p.ID)
	if err != nil {
		return RefundOutcome{}, err
	}
	if o, ok, err := m.client.findMade(r, made); ok || err != nil {
		return o, err
	}
	left := p.Amount.toMinor() - p.Refunded.toMinor() - p.ChargedBack.toMinor()
	if molliePayments[p.Status] == Succeeded && left <= 0 { // the buyer has the money already
		return RefundOutcome{Status: RefundProcessed, Amount: r.Amount, Currency: r.Currency}, nil
	}
	amount := r.Amount
	if amount == 0 {
		amount = left
	}
	key := attemptKey(r.Key, made.attempts+1)
	body := map[string]any{
		"amount": mollieMoney(amount, p.Amount.Currency), "description": "Refund " + r.Reference, "metadata": map[string]string{"key": key},
	}
	var data mollieRefund
	err = m.call(ctx, request{method: http.MethodPost, path: "/payments/" + p.ID + "/refunds", body: body, key: key}, &data, func() error { return data.checkFields() })
	if err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// refundsOf calls GET /payments/{id}/refunds, page by page. A list that does not end is an error,
// because what it hides may be a refund under the key.
func (m *mollie) refundsOf(ctx context.Context, key, payment string) (madeRefunds, error) {
	var found madeRefunds
	q := url.Values{"limit": {strconv.Itoa(refundsPerPage)}}
	for range refundPages {
		var list struct {
			Embedded struct {
				Refunds []mollieRefund `json:"refunds"`
			} `json:"_embedded"`
			Links struct {
				Next *struct {
					Href string `json:"href"`
				} `json:"next"`
			} `json:"_links"`
		}
		if err := m.call(ctx, request{method: http.MethodGet, path: "/payments/" + payment + "/refunds?" + q.Encode()}, &list, nil); err != nil {
			return found, err
		}
		refunds := list.Embedded.Refunds
		for i := range refunds {
			attempt := attemptOf(key, refunds[i].Metadata.Key)
			if attempt == 0 {
				continue
			}
			if err := refunds[i].checkFields(); err != nil {
				return found, m.client.fail(ErrFault, "refund list: "+err.Error())
			}
			found.addAttempt(attempt, refunds[i].readOutcome())
		}
		if list.Links.Next == nil || len(refunds) == 0 {
			return found, nil
		}
		next, err := url.Parse(list.Links.Next.Href)
		if err != nil || next.Query().Get("from") == "" {
			return found, m.client.fail(ErrFault, "refund list: the next page has no name")
		}
		q.Set("from", next.Query().Get("from"))
	}
	return found, m.client.fail(ErrDeclined, fmt.Sprintf("the charge has more than %d refunds", refundPages*refundsPerPage))
}

// RefundStatus calls GET /payments/{payment}/refunds/{id}.
func (m *mollie) RefundStatus(ctx context.Context, id string) (RefundOutcome, error) {
	payment, refund, _ := strings.Cut(id, "/")
	if !isMollieID(payment, "tr_") || !isMollieID(refund, "re_") {
		return RefundOutcome{}, m.client.fail(ErrUnknownReference, "not a refund's id")
	}
	var data mollieRefund
	path := "/payments/" + payment + "/refunds/" + refund
	if err := m.call(ctx, request{method: http.MethodGet, path: path}, &data, func() error { return data.checkFields() }); err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// call makes one call and decodes the answer, which check may refuse.
func (m *mollie) call(ctx context.Context, r request, data any, check func() error) error {
	return m.client.fetch(ctx, r, m.declinedError, data, check)
}

// declinedError makes the error when Mollie said no (https://docs.mollie.com/reference/handling-errors).
func (m *mollie) declinedError(a answer) *Error {
	var e struct {
		Title  string `json:"title"`
		Detail string `json:"detail"`
		Field  string `json:"field"`
	}
	if err := json.Unmarshal(a.body, &e); err != nil {
		return m.client.fail(ErrDeclined, fmt.Sprintf("status %d: %s", a.status, a.body))
	}
	kind := ErrDeclined
	switch {
	case a.status == http.StatusNotFound, a.status == http.StatusGone:
		kind = ErrUnknownReference
	case a.status == http.StatusConflict: // the same request is being worked on, or its key was used for another
		kind = ErrFault
	case a.status == http.StatusUnprocessableEntity && e.Field == "amount" && strings.Contains(e.Detail, "lower than the minimum"):
		kind = ErrTooLittle
	}
	return m.client.fail(kind, fmt.Sprintf("status %d: %s: %s", a.status, e.Title, e.Detail))
}

// macOf is what an address of notices carries for a reference: the hex HMAC-SHA256 of it under our
// key at Mollie.
func (m *mollie) macOf(reference string) string {
	mac := hmac.New(sha256.New, []byte(m.client.account.SecretKey))
	mac.Write([]byte("notice of " + reference))
	return hex.EncodeToString(mac.Sum(nil))
}

// Notice reads the form "id=tr_...". The signature is "<reference>.<mac>" of the address that it
// came to. A payment changes more than once and its notices are alike, so the key has the moment:
// each of them is acted on, and none tells more than that there is something to ask.
func (m *mollie) Notice(body []byte, signature string) (Notice, error) {
	at := strings.LastIndexByte(signature, '.')
	if at < 0 || !hmac.Equal([]byte(signature[at+1:]), []byte(m.macOf(signature[:at]))) {
		return Notice{}, m.client.fail(ErrSignature, "")
	}
	form, err := url.ParseQuery(string(body))
	id := form.Get("id")
	if err != nil || !isMollieID(id, "tr_") {
		return Notice{}, m.client.fail(ErrNotice, "not a payment's id")
	}
	return Notice{Event: "payment", Reference: signature[:at], Dispute: id, Key: id + " " + strconv.FormatInt(time.Now().UnixMilli(), 10)}, nil
}

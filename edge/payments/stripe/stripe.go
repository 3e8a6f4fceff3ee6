// Package stripe is the adapter to Stripe: it makes the requests, reads the answers, and checks that a notice
// comes from Stripe.
package stripe

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/edge/payments/psp"
)

const (
	// address is the host of both the live and the test mode; the key decides which of them is used.
	address = "https://api.stripe.com/v1"
	// version pins the shapes of requests and answers.
	version = "2025-09-30.clover"
	// tolerance is how far the time of a signed notice may be from now, so that nobody can send it again later.
	tolerance = 5 * time.Minute
	// minimum is the least amount of a charge in US dollars, in cents. In other currencies we leave it to Stripe to
	// refuse too little money.
	minimum = 50
	// lease is how long after Charge.At a checkout session can be paid: the least that Stripe allows is
	// 30 minutes from when it gets the request.
	lease = psp.CardWindow + time.Minute
)

// Currencies are those that Stripe takes and counts as ISO 4217 does
// (https://docs.stripe.com/currencies). It takes Iceland's crown and Uganda's shilling in
// hundredths, and wants the last digit of currencies with three decimals to be 0. These are
// left out, because we could not always give a ticket's exact money back.
var Currencies = []string{
	"AED", "ALL", "AMD", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BIF", "BMD", "BND", "BOB", "BRL", "BSD", "BWP", "BYN", "BZD", "CAD", "CDF",
	"CHF", "CLP", "CNY", "COP", "CRC", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GIP", "GMD", "GNF",
	"GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "JMD", "JPY", "KES", "KGS", "KHR", "KMF", "KRW", "KYD", "KZT", "LAK", "LKR", "LRD",
	"LSL", "MAD", "MDL", "MKD", "MMK", "MNT", "MOP", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "PAB", "PEN",
	"PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RWF", "SAR", "SBD", "SCR", "SEK", "SGD", "SHP", "SOS", "SRD", "SZL", "THB", "TJS", "TOP",
	"TRY", "TTD", "TWD", "TZS", "UAH", "USD", "UYU", "UZS", "VND", "VUV", "WST", "XAF", "XCD", "XOF", "XPF", "YER", "ZAR", "ZMW",
}

// refundStatuses maps a refund's status to ours.
var refundStatuses = map[string]psp.RefundStatus{
	"pending":         psp.RefundPending,
	"requires_action": psp.RefundNeedsAttention,
	"succeeded":       psp.RefundProcessed,
	"failed":          psp.RefundFailed,
	"canceled":        psp.RefundFailed,
}

// Provider is the adapter to Stripe's API (https://docs.stripe.com/api). A charge is a Checkout
// Session, which lets the buyer pay in any way that the account offers. Some ways take days: their
// session is complete, and its money is on the way.
type Provider struct {
	client  *psp.Client
	secrets []psp.Secret // the secrets of notices; there are two while one replaces the other
}

// New makes the adapter of an account. Without a key the error is psp.ErrNotConfigured.
func New(a psp.Account, via http.RoundTripper, log *slog.Logger) (*Provider, error) {
	if a.SecretKey == "" {
		return nil, &psp.Error{Provider: "stripe", Kind: psp.ErrNotConfigured}
	}
	a = a.WithDefaults(address)
	if err := a.CheckFields(); err != nil {
		return nil, err
	}
	s := &Provider{client: psp.NewClient("stripe", a, via, log)}
	// The account may name several secrets, separated by commas, so that a secret can be
	// replaced without losing a notice.
	for secret := range strings.SplitSeq(string(a.NoticeSecret), ",") {
		if secret = strings.TrimSpace(secret); secret != "" {
			s.secrets = append(s.secrets, psp.Secret(secret))
		}
	}
	return s, nil
}

// Check refuses a currency that Stripe does not take, and fewer US dollars than the minimum.
func (s *Provider) Check(_ context.Context, p psp.Price) error {
	if err := s.client.RefuseCurrency(p.Currency, Currencies); err != nil {
		return err
	}
	if p.Currency == "USD" && p.Amount < minimum {
		return s.client.RefuseBelow(minimum, p.Currency)
	}
	return nil
}

// Begin calls POST /checkout/sessions, under the reference as idempotency key: Stripe answers a repeat with the same
// session. If more than a minute has passed since Charge.At, and Stripe does not know the reference, the session would
// end too early for Stripe. The error is psp.ErrDuplicateReference then, because the caller needs a new reference.
func (s *Provider) Begin(ctx context.Context, c psp.Charge) (psp.Begun, error) {
	if !psp.IsReference(c.Reference) || c.Amount <= 0 || c.Email == "" || c.CallbackURL == "" || c.At.IsZero() {
		return psp.Begun{}, s.client.Fail(psp.ErrDeclined, "reference, amount, e-mail, address to return to or time is not valid")
	}
	form := url.Values{
		"mode":                {"payment"},
		"client_reference_id": {c.Reference},
		"customer_email":      {c.Email},
		"success_url":         {c.CallbackURL},
		"cancel_url":          {c.CallbackURL},
		"expires_at":          {strconv.FormatInt(c.At.Add(lease).Unix(), 10)},
		"metadata[reference]": {c.Reference},
		"payment_intent_data[metadata][reference]":      {c.Reference},
		"line_items[0][quantity]":                       {"1"},
		"line_items[0][price_data][currency]":           {strings.ToLower(c.Currency)},
		"line_items[0][price_data][unit_amount]":        {strconv.FormatInt(c.Amount, 10)},
		"line_items[0][price_data][product_data][name]": {"Order " + c.Reference},
	}
	for key, value := range c.Metadata {
		form.Set("metadata["+key+"]", value)
	}
	var session sessionAnswer
	err := s.call(ctx, psp.Request{Method: http.MethodPost, Path: "/checkout/sessions", Form: form, Key: c.Reference}, &session, func() error {
		if u, err := url.Parse(session.URL); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("url %q", session.URL)
		}
		return session.checkFields(c.Reference)
	})
	if err != nil {
		return psp.Begun{}, err
	}
	return psp.Begun{AuthorizationURL: session.URL, ProviderID: session.ID}, nil
}

// sessionAnswer is what we read of a Checkout Session, with its payment expanded.
type sessionAnswer struct {
	ID            string  `json:"id"`
	URL           string  `json:"url"`
	Reference     string  `json:"client_reference_id"`
	Status        string  `json:"status"`         // open, complete or expired
	PaymentStatus string  `json:"payment_status"` // paid, unpaid or no_payment_required
	Total         int64   `json:"amount_total"`
	Currency      string  `json:"currency"`
	Payment       *intent `json:"payment_intent"`
}

// intent is what we read of a payment intent, with its newest charge expanded.
type intent struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Received int64  `json:"amount_received"`
	Failure  *struct {
		Message string `json:"message"`
	} `json:"last_payment_error"`
	Charge *struct {
		Created  int64 `json:"created"` // unix seconds
		Amount   int64 `json:"amount_captured"`
		Refunded int64 `json:"amount_refunded"`
	} `json:"latest_charge"`
}

// UnmarshalJSON reads the whole intent, or its id alone, which Stripe sends where the intent is not expanded.
func (p *intent) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &p.ID)
	}
	type plain intent
	return json.Unmarshal(b, (*plain)(p))
}

// checkFields refuses an answer that is about another charge, or whose status we don't
// know.
func (s *sessionAnswer) checkFields(reference string) error {
	switch {
	case s.ID == "" || s.Currency == "":
		return errors.New("no id or currency")
	case s.Reference != reference:
		return fmt.Errorf("client_reference_id %q", s.Reference)
	case s.Status != "open" && s.Status != "complete" && s.Status != "expired":
		return fmt.Errorf("status %q", s.Status)
	}
	return nil
}

// readOutcome reads the session. A session that is open may still be paid, even after a
// card was refused. A complete session is paid at once, or later if the way to pay takes
// days.
func (s *sessionAnswer) readOutcome() psp.Outcome {
	o := psp.Outcome{Status: psp.Pending, Amount: s.Total, RequestedAmount: s.Total, Currency: strings.ToUpper(s.Currency), ProviderID: s.ID}
	p := s.Payment
	if p != nil && p.Failure != nil {
		o.Message = p.Failure.Message
	}
	switch {
	case s.Status == "expired":
		o.Status = psp.Expired
	case s.Status == "complete" && s.PaymentStatus == "paid":
		o.Status = psp.Succeeded
		if p == nil {
			break
		}
		if p.Received > 0 {
			o.Amount = p.Received
		}
		if c := p.Charge; c != nil {
			o.PaidAt = time.Unix(c.Created, 0)
			if c.Amount > 0 && c.Refunded >= c.Amount {
				o.Status = psp.Refunded
			}
		}
	case s.Status == "complete" && p != nil && (p.Status == "requires_payment_method" || p.Status == "canceled"):
		o.Status = psp.Failed // a way to pay that takes days has failed in the end
	case s.Status == "complete":
		o.Status = psp.Processing
	}
	return o
}

// Verify calls GET /checkout/sessions/{id}. A charge has no id if Begin got no answer.
// Nobody can have paid such a charge, because only Begin's answer says where to pay.
func (s *Provider) Verify(ctx context.Context, of psp.Asked) (psp.Outcome, error) {
	session, err := s.findSession(ctx, of)
	if err != nil {
		return psp.Outcome{}, err
	}
	return session.readOutcome(), nil
}

// findSession reads the session of a charge, with its payment and the payment's newest charge expanded. If the
// charge has no id of a session, the error is psp.ErrUnknownReference.
func (s *Provider) findSession(ctx context.Context, of psp.Asked) (*sessionAnswer, error) {
	if !isID(of.ProviderID, "cs_") {
		return nil, s.client.Fail(psp.ErrUnknownReference, "the charge has no session")
	}
	session := new(sessionAnswer)
	path := "/checkout/sessions/" + of.ProviderID + "?expand[]=payment_intent.latest_charge"
	if err := s.call(ctx, psp.Request{Method: http.MethodGet, Path: path}, session, func() error { return session.checkFields(of.Reference) }); err != nil {
		return nil, err
	}
	return session, nil
}

// isID reports whether a text is an id of Stripe's that begins with prefix, which stands for a kind of things.
// Ids become parts of paths, so no other text may pass.
func isID(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && rest != "" && len(id) <= 255 && strings.IndexFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}) < 0
}

// Refund looks for refunds of the payment that carry the key. It calls POST /refunds only if none of them may
// still move the money. If Stripe says that all of the money went back already, the refund counts as processed.
func (s *Provider) Refund(ctx context.Context, r psp.RefundRequest) (psp.RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 {
		return psp.RefundOutcome{}, s.client.Fail(psp.ErrDeclined, "refund: key or amount is not valid")
	}
	session, err := s.findSession(ctx, psp.Asked{Reference: r.Reference, ProviderID: r.ProviderID})
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	if session.Payment == nil || !isID(session.Payment.ID, "pi_") {
		return psp.RefundOutcome{}, s.client.Fail(psp.ErrDeclined, "refund: the session was not paid")
	}
	made, err := s.refundsOf(ctx, r.Key, session.Payment.ID)
	if err != nil {
		return psp.RefundOutcome{}, err
	}
	if o, ok, err := s.client.FindMade(r, made); ok || err != nil {
		return o, err
	}
	key := psp.AttemptKey(r.Key, made.Attempts+1)
	form := url.Values{"payment_intent": {session.Payment.ID}, "metadata[key]": {key}}
	if r.Amount > 0 {
		form.Set("amount", strconv.FormatInt(r.Amount, 10))
	}
	var data refundAnswer
	err = s.call(ctx, psp.Request{Method: http.MethodPost, Path: "/refunds", Form: form, Key: key}, &data, func() error { return data.checkFields() })
	switch {
	case errors.Is(err, psp.ErrReturned): // by a dispute or from Stripe's dashboard: the buyer has the money
		return psp.RefundOutcome{Status: psp.RefundProcessed, Amount: r.Amount, Currency: r.Currency}, nil
	case err != nil:
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// refundAnswer is what we read of a refund.
type refundAnswer struct {
	ID       string `json:"id"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	Metadata struct {
		Key string `json:"key"`
	} `json:"metadata"`
}

// checkFields refuses a refund without an id, or whose status we don't know.
func (r *refundAnswer) checkFields() error {
	if _, known := refundStatuses[r.Status]; !known || r.ID == "" {
		return fmt.Errorf("refund %q has status %q", r.ID, r.Status)
	}
	return nil
}

// readOutcome reads the refund, which checkFields has accepted.
func (r *refundAnswer) readOutcome() psp.RefundOutcome {
	return psp.RefundOutcome{ID: r.ID, Status: refundStatuses[r.Status], Amount: r.Amount, Currency: strings.ToUpper(r.Currency)}
}

// refundsOf calls GET /refunds for the payment's refunds, page by page, and returns those that were made under the
// key. More than psp.RefundPages pages are an error, because the rest may have a refund under the key.
func (s *Provider) refundsOf(ctx context.Context, key, payment string) (psp.MadeRefunds, error) {
	var found psp.MadeRefunds
	q := url.Values{"payment_intent": {payment}, "limit": {strconv.Itoa(psp.RefundsPerPage)}}
	for range psp.RefundPages {
		var list struct {
			Data []refundAnswer `json:"data"`
			More bool           `json:"has_more"`
		}
		if err := s.call(ctx, psp.Request{Method: http.MethodGet, Path: "/refunds?" + q.Encode()}, &list, nil); err != nil {
			return found, err
		}
		for i := range list.Data {
			attempt := psp.AttemptOf(key, list.Data[i].Metadata.Key)
			if attempt == 0 {
				continue
			}
			if err := list.Data[i].checkFields(); err != nil {
				return found, s.client.Fail(psp.ErrFault, "refund list: "+err.Error())
			}
			found.AddAttempt(attempt, list.Data[i].readOutcome())
		}
		if !list.More || len(list.Data) == 0 {
			return found, nil
		}
		q.Set("starting_after", list.Data[len(list.Data)-1].ID)
	}
	return found, s.client.Fail(psp.ErrDeclined, fmt.Sprintf("the charge has more than %d refunds", psp.RefundPages*psp.RefundsPerPage))
}

// RefundStatus calls GET /refunds/{id}.
func (s *Provider) RefundStatus(ctx context.Context, id string) (psp.RefundOutcome, error) {
	if !isID(id, "re_") && !isID(id, "pyr_") {
		return psp.RefundOutcome{}, s.client.Fail(psp.ErrUnknownReference, "not a refund's id")
	}
	var data refundAnswer
	if err := s.call(ctx, psp.Request{Method: http.MethodGet, Path: "/refunds/" + id}, &data, func() error { return data.checkFields() }); err != nil {
		return psp.RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// call makes one call and decodes the answer, which check may refuse.
func (s *Provider) call(ctx context.Context, r psp.Request, data any, check func() error) error {
	r.Version = version
	return s.client.Fetch(ctx, r, s.refusalError, data, check)
}

// refusalError makes an error of a refusal by Stripe: money that went back, too little, unknown or duplicate reference, a
// fault, or else declined. A fault is the status 409: the same request is still being worked on, so it may be tried
// again. A refusal that is not JSON is declined.
func (s *Provider) refusalError(a psp.Answer) *psp.Error {
	var e struct {
		Error struct {
			Type    string `json:"type"`
			Code    string `json:"code"`
			Message string `json:"message"`
			Param   string `json:"param"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.Body, &e); err != nil {
		return s.client.Fail(psp.ErrDeclined, fmt.Sprintf("status %d: %s", a.Status, a.Body))
	}
	kind := psp.ErrDeclined
	switch {
	case e.Error.Code == "charge_already_refunded", e.Error.Code == "charge_disputed":
		kind = psp.ErrReturned
	case e.Error.Code == "amount_too_small":
		kind = psp.ErrTooLittle
	case e.Error.Code == "resource_missing":
		kind = psp.ErrUnknownReference
	case e.Error.Type == "idempotency_error": // the key was used for a request that said something else
		kind = psp.ErrDuplicateReference
	case e.Error.Param == "expires_at": // the request came too late (Begin)
		kind = psp.ErrDuplicateReference
	case a.Status == http.StatusConflict: // the same request is being worked on
		kind = psp.ErrFault
	}
	return s.client.Fail(kind, fmt.Sprintf("status %d: %s %s", a.Status, e.Error.Code, e.Error.Message))
}

// Notice checks Stripe-Signature, "t=<unix seconds>,v1=<hex>,...": an HMAC-SHA256 over the time, a
// dot and the raw body, keyed with the endpoint's secret. While Stripe rolls the secret there is one
// v1 for each.
func (s *Provider) Notice(body []byte, signature string) (psp.Notice, error) {
	if !s.isSigned(body, signature, time.Now()) {
		return psp.Notice{}, s.client.Fail(psp.ErrSignature, "")
	}
	var n struct {
		ID   string `json:"id"`
		Type string `json:"type"`
		Data struct {
			Object struct {
				ID        string            `json:"id"`
				Object    string            `json:"object"`
				Reference string            `json:"client_reference_id"`
				Metadata  map[string]string `json:"metadata"`
			} `json:"object"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &n); err != nil || n.Type == "" || n.ID == "" {
		return psp.Notice{}, s.client.Fail(psp.ErrNotice, "not an event")
	}
	about := &n.Data.Object
	if about.Object == "dispute" && isDispute(about.ID) { // it has no reference of ours
		return psp.Notice{Event: n.Type, Dispute: about.ID, Key: n.ID}, nil
	}
	return psp.Notice{Event: n.Type, Reference: cmp.Or(about.Reference, about.Metadata["reference"]), Key: n.ID}, nil
}

// isSigned reports whether one of our secrets has signed the body, at a time that is at most tolerance away from now.
// signature is the header Stripe-Signature: the time (t), and one signature (v1) for each secret that Stripe has for
// us.
func (s *Provider) isSigned(body []byte, signature string, now time.Time) bool {
	var stamp string
	var signed [][]byte
	for part := range strings.SplitSeq(signature, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(part), "="); name {
		case "t":
			stamp = value
		case "v1":
			if mac, err := hex.DecodeString(value); err == nil {
				signed = append(signed, mac)
			}
		}
	}
	at, err := strconv.ParseInt(stamp, 10, 64)
	if age := now.Sub(time.Unix(at, 0)); err != nil || max(age, -age) > tolerance {
		return false
	}
	for _, secret := range s.secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(stamp + "."))
		mac.Write(body)
		want := mac.Sum(nil)
		for _, got := range signed {
			if hmac.Equal(got, want) {
				return true
			}
		}
	}
	return false
}

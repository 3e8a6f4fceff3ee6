package payments

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
)

const (
	// stripeURL is both the live and the test host; the key tells which.
	stripeURL = "https://api.stripe.com/v1"
	// stripeVersion pins the shapes of requests and answers.
	stripeVersion = "2025-09-30.clover"
	// stripeTolerance is how old a signed notice may be, so that nobody can send it again later.
	stripeTolerance = 5 * time.Minute
	// stripeMinimum is the least that a card is charged in dollars, in minor units. Stripe itself
	// refuses too little money of other currencies.
	stripeMinimum = 50
	// stripeLease is how long a checkout session can be paid: the least that Stripe allows is 30
	// minutes from when it gets the request.
	stripeLease = cardWindow + time.Minute
)

// stripeCurrencies are those that Stripe takes and counts as ISO 4217 does
// (https://docs.stripe.com/currencies): not Iceland's crown and Uganda's shilling, which it takes in
// hundredths, and none of three decimals, of which it wants the last to be 0. We could not give a
// ticket's money back.
var stripeCurrencies = []string{
	"AED", "ALL", "AMD", "ARS", "AUD", "AWG", "AZN", "BAM", "BBD", "BDT", "BIF", "BMD", "BND", "BOB", "BRL", "BSD", "BWP", "BYN", "BZD", "CAD", "CDF",
	"CHF", "CLP", "CNY", "COP", "CRC", "CVE", "CZK", "DJF", "DKK", "DOP", "DZD", "EGP", "ETB", "EUR", "FJD", "FKP", "GBP", "GEL", "GIP", "GMD", "GNF",
	"GTQ", "GYD", "HKD", "HNL", "HTG", "HUF", "IDR", "ILS", "INR", "JMD", "JPY", "KES", "KGS", "KHR", "KMF", "KRW", "KYD", "KZT", "LAK", "LKR", "LRD",
	"LSL", "MAD", "MDL", "MKD", "MMK", "MNT", "MOP", "MUR", "MVR", "MWK", "MXN", "MYR", "MZN", "NAD", "NGN", "NIO", "NOK", "NPR", "NZD", "PAB", "PEN",
	"PGK", "PHP", "PKR", "PLN", "PYG", "QAR", "RON", "RSD", "RWF", "SAR", "SBD", "SCR", "SEK", "SGD", "SHP", "SOS", "SRD", "SZL", "THB", "TJS", "TOP",
	"TRY", "TTD", "TWD", "TZS", "UAH", "USD", "UYU", "UZS", "VND", "VUV", "WST", "XAF", "XCD", "XOF", "XPF", "YER", "ZAR", "ZMW",
}

// stripeRefunds maps a refund's status to ours.
var stripeRefunds = map[string]RefundStatus{
	"pending":         RefundPending,
	"requires_action": RefundNeedsAttention,
	"succeeded":       RefundProcessed,
	"failed":          RefundFailed,
	"canceled":        RefundFailed,
}

// stripe is the adapter to Stripe's API (https://docs.stripe.com/api). A charge is a Checkout
// Session, which lets the buyer pay in any way that the account offers. Some ways take days: their
// session is complete, and its money is on the way.
type stripe struct {
	client  *client
	secrets []Secret // of notices; two while one replaces the other
}

func newStripe(a Account, via http.RoundTripper, log *slog.Logger) (*stripe, error) {
	if a.SecretKey == "" {
		return nil, &Error{Provider: "stripe", Kind: ErrNotConfigured}
	}
	a = a.withDefaults(stripeURL)
	if err := a.checkFields(); err != nil {
		return nil, err
	}
	s := &stripe{client: newClient("stripe", a, via, log)}
	for secret := range strings.SplitSeq(string(a.NoticeSecret), ",") {
		if secret = strings.TrimSpace(secret); secret != "" {
			s.secrets = append(s.secrets, Secret(secret))
		}
	}
	return s, nil
}

// Check refuses a currency that Stripe does not take, and less than the minimum.
func (s *stripe) Check(_ context.Context, p Price) error {
	if err := s.client.refuseCurrency(p.Currency, stripeCurrencies); err != nil {
		return err
	}
	if p.Currency == "USD" && p.Amount < stripeMinimum {
		return s.client.tooLittle(stripeMinimum, p.Currency)
	}
	return nil
}

// Begin calls POST /checkout/sessions, under the reference as idempotency key: Stripe answers the
// same request with the same session.
func (s *stripe) Begin(ctx context.Context, c Charge) (Begun, error) {
	if !validReference(c.Reference) || c.Amount <= 0 || c.Email == "" || c.CallbackURL == "" {
		return Begun{}, s.client.fail(ErrDeclined, "reference, amount, e-mail or address to return to is not valid")
	}
	form := url.Values{
		"mode":                {"payment"},
		"client_reference_id": {c.Reference},
		"customer_email":      {c.Email},
		"success_url":         {c.CallbackURL},
		"cancel_url":          {c.CallbackURL},
		"expires_at":          {strconv.FormatInt(time.Now().Add(stripeLease).Unix(), 10)},
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
	var session stripeSession
	err := s.call(ctx, request{method: http.MethodPost, path: "/checkout/sessions", form: form, key: c.Reference}, &session, func() error {
		if u, err := url.Parse(session.URL); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
			return fmt.Errorf("url %q", session.URL)
		}
		return session.checkFields(c.Reference)
	})
	if err != nil {
		return Begun{}, err
	}
	return Begun{AuthorizationURL: session.URL, ProviderID: session.ID}, nil
}

// stripeSession is what we read of a Checkout Session, with its payment expanded.
type stripeSession struct {
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
	Metadata struct {
		Reference string `json:"reference"`
	} `json:"metadata"`
	Failure *struct {
		Message string `json:"message"`
	} `json:"last_payment_error"`
	Charge *struct {
		Created  int64 `json:"created"` // unix seconds
		Amount   int64 `json:"amount_captured"`
		Refunded int64 `json:"amount_refunded"`
	} `json:"latest_charge"`
}

// UnmarshalJSON takes the id alone, too: it stands where nothing is expanded.
func (p *intent) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &p.ID)
	}
	type plain intent
	return json.Unmarshal(b, (*plain)(p))
}

func (s *stripeSession) checkFields(reference string) error {
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

// readOutcome reads the session. One that is open may still be paid, although a card was refused.
func (s *stripeSession) readOutcome() Outcome {
	o := Outcome{Status: Pending, Amount: s.Total, RequestedAmount: s.Total, Currency: strings.ToUpper(s.Currency), ProviderID: s.ID}
	p := s.Payment
	if p != nil && p.Failure != nil {
		o.Message = p.Failure.Message
	}
	switch {
	case s.Status == "expired":
		o.Status = Expired
	case s.Status == "complete" && s.PaymentStatus == "paid":
		o.Status = Succeeded
		if p == nil {
			break
		}
		if p.Received > 0 {
			o.Amount = p.Received
		}
		if c := p.Charge; c != nil {
			o.PaidAt = time.Unix(c.Created, 0)
			if c.Amount > 0 && c.Refunded >= c.Amount {
				o.Status = Refunded
			}
		}
	case s.Status == "complete" && p != nil && (p.Status == "requires_payment_method" || p.Status == "canceled"):
		o.Status = Failed // a way to pay that takes days has failed in the end
	case s.Status == "complete":
		o.Status = Processing
	}
	return o
}

// Verify calls GET /checkout/sessions/{id}. A charge without an id, whose Begin gave no answer, is
// one that nobody can have paid: only Begin's answer says where.
func (s *stripe) Verify(ctx context.Context, of Asked) (Outcome, error) {
	session, err := s.findSession(ctx, of)
	if err != nil {
		return Outcome{}, err
	}
	return session.readOutcome(), nil
}

func (s *stripe) findSession(ctx context.Context, of Asked) (*stripeSession, error) {
	if !isStripeID(of.ProviderID, "cs_") {
		return nil, s.client.fail(ErrUnknownReference, "the charge has no session")
	}
	session := new(stripeSession)
	path := "/checkout/sessions/" + of.ProviderID + "?expand[]=payment_intent.latest_charge"
	if err := s.call(ctx, request{method: http.MethodGet, path: path}, session, func() error { return session.checkFields(of.Reference) }); err != nil {
		return nil, err
	}
	return session, nil
}

// isStripeID reports whether a text is an id of Stripe's of a kind, which its prefix tells.
func isStripeID(id, prefix string) bool {
	rest, ok := strings.CutPrefix(id, prefix)
	return ok && rest != "" && len(id) <= 255 && strings.IndexFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}) < 0
}

// Refund looks for refunds of the payment that carry the key. It calls POST /refunds only if none of
// them may still move the money.
func (s *stripe) Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error) {
	if r.Key == "" || r.Amount < 0 {
		return RefundOutcome{}, s.client.fail(ErrDeclined, "refund: key or amount is not valid")
	}
	session, err := s.findSession(ctx, Asked{Reference: r.Reference, ProviderID: r.ProviderID})
	if err != nil {
		return RefundOutcome{}, err
	}
	if session.Payment == nil || !isStripeID(session.Payment.ID, "pi_") {
		return RefundOutcome{}, s.client.fail(ErrDeclined, "refund: the session was not paid")
	}
	made, err := s.refundsOf(ctx, r.Key, session.Payment.ID)
	if err != nil {
		return RefundOutcome{}, err
	}
	if o, ok, err := s.client.findMade(r, made); ok || err != nil {
		return o, err
	}
	key := attemptKey(r.Key, made.attempts+1)
	form := url.Values{"payment_intent": {session.Payment.ID}, "metadata[key]": {key}}
	if r.Amount > 0 {
		form.Set("amount", strconv.FormatInt(r.Amount, 10))
	}
	var data stripeRefund
	err = s.call(ctx, request{method: http.MethodPost, path: "/refunds", form: form, key: key}, &data, func() error { return data.checkFields() })
	switch {
	case errors.Is(err, ErrReturned): // by a dispute or from Stripe's dashboard: the buyer has the money
		return RefundOutcome{Status: RefundProcessed, Amount: r.Amount, Currency: r.Currency}, nil
	case err != nil:
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// stripeRefund is what we read of a refund.
type stripeRefund struct {
	ID       string `json:"id"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Status   string `json:"status"`
	Metadata struct {
		Key string `json:"key"`
	} `json:"metadata"`
}

func (r *stripeRefund) checkFields() error {
	if _, known := stripeRefunds[r.Status]; !known || r.ID == "" {
		return fmt.Errorf("refund %q has status %q", r.ID, r.Status)
	}
	return nil
}

func (r *stripeRefund) readOutcome() RefundOutcome {
	return RefundOutcome{ID: r.ID, Status: stripeRefunds[r.Status], Amount: r.Amount, Currency: strings.ToUpper(r.Currency)}
}

// refundsOf calls GET /refunds for the payment's refunds, page by page. A list that does not end is
// an error, because what it hides may be a refund under the key.
func (s *stripe) refundsOf(ctx context.Context, key, payment string) (madeRefunds, error) {
	var found madeRefunds
	q := url.Values{"payment_intent": {payment}, "limit": {strconv.Itoa(refundsPerPage)}}
	for range refundPages {
		var list struct {
			Data []stripeRefund `json:"data"`
			More bool           `json:"has_more"`
		}
		if err := s.call(ctx, request{method: http.MethodGet, path: "/refunds?" + q.Encode()}, &list, nil); err != nil {
			return found, err
		}
		for i := range list.Data {
			attempt := attemptOf(key, list.Data[i].Metadata.Key)
			if attempt == 0 {
				continue
			}
			if err := list.Data[i].checkFields(); err != nil {
				return found, s.client.fail(ErrFault, "refund list: "+err.Error())
			}
			found.addAttempt(attempt, list.Data[i].readOutcome())
		}
		if !list.More || len(list.Data) == 0 {
			return found, nil
		}
		q.Set("starting_after", list.Data[len(list.Data)-1].ID)
	}
	return found, s.client.fail(ErrDeclined, fmt.Sprintf("the charge has more than %d refunds", refundPages*refundsPerPage))
}

// RefundStatus calls GET /refunds/{id}.
func (s *stripe) RefundStatus(ctx context.Context, id string) (RefundOutcome, error) {
	if !isStripeID(id, "re_") && !isStripeID(id, "pyr_") {
		return RefundOutcome{}, s.client.fail(ErrUnknownReference, "not a refund's id")
	}
	var data stripeRefund
	if err := s.call(ctx, request{method: http.MethodGet, path: "/refunds/" + id}, &data, func() error { return data.checkFields() }); err != nil {
		return RefundOutcome{}, err
	}
	return data.readOutcome(), nil
}

// call makes one call and decodes the answer, which check may refuse.
func (s *stripe) call(ctx context.Context, r request, data any, check func() error) error {
	r.version = stripeVersion
	return s.client.fetch(ctx, r, s.declinedError, data, check)
}

// declinedError makes the error when Stripe said no.
func (s *stripe) declinedError(a answer) *Error {
	var e struct {
		Error struct {
			Type    string `json:"type"`
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if err := json.Unmarshal(a.body, &e); err != nil {
		return s.client.fail(ErrDeclined, fmt.Sprintf("status %d: %s", a.status, a.body))
	}
	kind := ErrDeclined
	switch {
	case e.Error.Code == "charge_already_refunded", e.Error.Code == "charge_disputed":
		kind = ErrReturned
	case e.Error.Code == "amount_too_small":
		kind = ErrTooLittle
	case e.Error.Code == "resource_missing":
		kind = ErrUnknownReference
	case e.Error.Type == "idempotency_error": // the key was used for a request that said something else
		kind = ErrDuplicateReference
	case a.status == http.StatusConflict: // the same request is being worked on
		kind = ErrFault
	}
	return s.client.fail(kind, fmt.Sprintf("status %d: %s %s", a.status, e.Error.Code, e.Error.Message))
}

// Notice checks Stripe-Signature, "t=<unix seconds>,v1=<hex>,...": an HMAC-SHA256 over the time, a
// dot and the raw body, keyed with the endpoint's secret. While Stripe rolls the secret there is one
// v1 for each.
func (s *stripe) Notice(body []byte, signature string) (Notice, error) {
	if !s.isSigned(body, signature, time.Now()) {
		return Notice{}, s.client.fail(ErrSignature, "")
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
		return Notice{}, s.client.fail(ErrNotice, "not an event")
	}
	about := &n.Data.Object
	if about.Object == "dispute" && isStripeDispute(about.ID) { // it has no reference of ours
		return Notice{Event: n.Type, Dispute: about.ID, Key: n.ID}, nil
	}
	return Notice{Event: n.Type, Reference: cmp.Or(about.Reference, about.Metadata["reference"]), Key: n.ID}, nil
}

// isSigned reports whether one of our secrets has signed the body lately.
func (s *stripe) isSigned(body []byte, signature string, now time.Time) bool {
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
	if age := now.Sub(time.Unix(at, 0)); err != nil || max(age, -age) > stripeTolerance {
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

package paysim

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/engine"
)

// These are the prefixes of PayPal's ids. The ledger's number follows them.
const (
	paypalOrderID   = "5O"
	paypalCaptureID = "3C"
	paypalRefundID  = "1J"
	paypalDisputeID = "PP-D-"
)

// approved is the outcome of a PayPal order to which the buyer has agreed. Nothing is paid until
// the shop captures the order.
const approved = "approved"

// approvalEvent is the webhook by which PayPal tells that a buyer has agreed to an order.
const approvalEvent = "CHECKOUT.ORDER.APPROVED"

// paypalFailure makes an error in PayPal's form. The issue is what programs tell errors apart by.
func paypalFailure(status int, name, issue string) reply {
	body := map[string]any{"name": name, "message": "The requested action could not be performed.", "debug_id": "0", "details": []any{}}
	if issue != "" {
		body["details"] = []any{map[string]string{"issue": issue, "description": issue}}
	}
	return reply{status, body}
}

func noSuchPaypal() reply { return paypalFailure(404, "RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID") }

// paypalToken returns the access token. It depends on the key alone and never expires, so the
// simulator keeps no list of tokens.
func (s *Sim) paypalToken() string {
	mac := hmac.New(sha256.New, []byte(s.cfg.PayPalKey))
	mac.Write([]byte("access token"))
	return "A21AA" + hex.EncodeToString(mac.Sum(nil))
}

// grantPaypal answers POST /paypal/v1/oauth2/token: it exchanges the client's id and secret for the access token.
func (s *Sim) grantPaypal(ctx *fasthttp.RequestCtx) {
	s.calls[opPaypalToken].Add(1)
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(s.cfg.PayPalKey))
	if s.cfg.PayPalKey == "" || string(ctx.Request.Header.Peek("Authorization")) != want || string(ctx.PostArgs().Peek("grant_type")) != "client_credentials" {
		writeJSON(ctx, 401, map[string]string{"error": "invalid_client", "error_description": "Client Authentication failed"})
		return
	}
	writeJSON(ctx, 200, map[string]any{"access_token": s.paypalToken(), "token_type": "Bearer", "expires_in": 32400, "scope": "", "app_id": "APP-80W284485P519543T"})
}

// paypalAPI makes the handler of a call of PayPal's API: it checks the access token, reads the
// call, and performs it as the modes demand.
func (s *Sim) paypalAPI(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if s.cfg.PayPalKey == "" || string(ctx.Request.Header.Peek("Authorization")) != "Bearer "+s.paypalToken() {
			writeJSON(ctx, 401, map[string]string{"error": "invalid_token", "error_description": "Token signature verification failed"})
			return
		}
		t := read(ctx)
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

// paypalMoney is money as PayPal writes it: a decimal of major units in quotes.
type paypalMoney struct {
	Currency string `json:"currency_code"`
	Value    string `json:"value"`
}

func toPaypalMoney(minor int64, currency string) paypalMoney {
	return paypalMoney{currency, engine.Decimal(minor, currency)}
}

// createPaypal answers POST /paypal/v2/checkout/orders. A repeat with the same request id gets the same
// order, or is refused if it asks for other money.
func (s *Sim) createPaypal(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Intent string `json:"intent"`
		Units  []struct {
			Reference string      `json:"custom_id"`
			Amount    paypalMoney `json:"amount"`
		} `json:"purchase_units"`
		Source struct {
			PayPal struct {
				Email   string `json:"email_address"`
				Context struct {
					Return string `json:"return_url"`
					Cancel string `json:"cancel_url"`
				} `json:"experience_context"`
			} `json:"paypal"`
		} `json:"payment_source"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) != nil || in.Intent != "CAPTURE" || len(in.Units) != 1 {
		return done(paypalFailure(400, "INVALID_REQUEST", "MALFORMED_REQUEST_JSON"))
	}
	unit, back := in.Units[0], in.Source.PayPal.Context
	amount, whole := minorUnits(json.Number(unit.Amount.Value), unit.Amount.Currency)
	t := &ledger.Transaction{
		Provider: ledger.PayPal, Reference: unit.Reference, Email: in.Source.PayPal.Email, Currency: unit.Amount.Currency, Callback: back.Return, Asked: amount, Created: s.cfg.Now(),
	}
	switch {
	case !whole || amount <= 0 || len(t.Currency) != 3:
		return done(paypalFailure(422, "UNPROCESSABLE_ENTITY", "CANNOT_BE_ZERO_OR_NEGATIVE"))
	case back.Return == "" || back.Cancel == "" || !validCallback(back.Return):
		return done(paypalFailure(422, "UNPROCESSABLE_ENTITY", "RETURN_URL_REQUIRED"))
	case t.Reference == "" || string(ctx.Request.Header.Peek("PayPal-Request-Id")) != t.Reference: // the simulator's ledger knows charges by our reference
		return done(paypalFailure(400, "INVALID_REQUEST", "PAYPAL_REQUEST_ID_REQUIRED"))
	}
	return task{s.ledger.ModesOf(t), t.Reference, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if !s.ledger.Add(t) {
			was := s.ledger.ByReference(t.Reference)
			if was.Asked != t.Asked || was.Currency != t.Currency {
				return paypalFailure(422, "UNPROCESSABLE_ENTITY", "DUPLICATE_REQUEST_ID")
			}
			t = was
		}
		return reply{201, s.paypalBody(t, s.cfg.Now())}
	}}
}

// approveOrder notes that the buyer agrees to an order, and queues the webhook about that. Nothing
// is paid yet. It does nothing if the buyer has agreed or paid before. The caller holds the ledger's lock.
func (s *Sim) approveOrder(t *ledger.Transaction) {
	if t.Outcome == ledger.Success || t.Outcome == approved {
		return
	}
	t.Outcome = approved
	s.hooks.queueEvent(s.ledger.ModesOf(t), 0, delivery{event: approvalEvent, of: t})
}

// readPaypal answers GET /paypal/v2/checkout/orders/{id}.
func (s *Sim) readPaypal(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.ledger.FindPrefixed(ledger.PayPal, which, paypalOrderID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil {
			return noSuchPaypal()
		}
		return reply{200, s.readPaypalBody(t)}
	}}
}

// readPaypalBody shows an order, and counts the read for the mode "pending": the last pending read
// lets the money arrive and queues its webhook. The caller holds the ledger's lock.
func (s *Sim) readPaypalBody(t *ledger.Transaction) map[string]any {
	now := s.cfg.Now()
	body := s.paypalBody(t, now)
	if t.Status(now) == ledger.Pending && t.PendingLeft > 0 {
		if t.PendingLeft--; t.PendingLeft == 0 {
			s.hooks.announceCharge(t, s.ledger.ModesOf(t), 0)
		}
	}
	return body
}

// capturePaypal answers POST /paypal/v2/checkout/orders/{id}/capture: the shop takes the money of an
// order to which the buyer has agreed.
func (s *Sim) capturePaypal(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.ledger.FindPrefixed(ledger.PayPal, which, paypalOrderID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		switch {
		case t == nil:
			return noSuchPaypal()
		case t.Outcome == ledger.Success:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "ORDER_ALREADY_CAPTURED")
		case t.Outcome != approved:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "ORDER_NOT_APPROVED")
		}
		// A mode may turn the success into a failure, as a bank that declines.
		if s.ledger.Settle(t, ledger.Success, s.cfg.Now()); t.Outcome != ledger.Success {
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "INSTRUMENT_DECLINED")
		}
		return reply{201, s.paypalBody(t, s.cfg.Now())}
	}}
}

// paypalBody shows an order with its capture and refunds. An order whose buyer was refused still
// waits for the buyer. The caller holds the ledger's lock.
func (s *Sim) paypalBody(t *ledger.Transaction, now time.Time) map[string]any {
	number := strconv.FormatInt(t.ID, 10)
	unit := map[string]any{
		"reference_id": "default", "custom_id": t.Reference, "invoice_id": t.Reference, "amount": toPaypalMoney(t.Asked, t.Currency),
	}
	status := "PAYER_ACTION_REQUIRED"
	switch st := t.Status(now); {
	case t.Outcome == approved:
		status = "APPROVED"
	case t.Outcome != "" && st != ledger.Failed && t.Outcome != ledger.Abandoned:
		status = "COMPLETED"
		refunds := []map[string]any{}
		for _, r := range t.Refunds {
			if r.Status(now) != "" {
				refunds = append(refunds, paypalRefundBody(r, now))
			}
		}
		unit["payments"] = map[string]any{"captures": []any{paypalCaptureBody(t, now)}, "refunds": refunds}
	}
	return map[string]any{
		"id": paypalOrderID + number, "intent": "CAPTURE", "status": status, "create_time": t.Created.UTC().Format(time.RFC3339), "purchase_units": []any{unit},
		"links": []any{
			map[string]string{"href": s.base + "/paypal/v2/checkout/orders/" + paypalOrderID + number, "rel": "self", "method": "GET"},
			map[string]string{"href": s.base + "/checkout/" + s.accessCode(t.ID), "rel": "payer-action", "method": "GET"},
		},
	}
}

// paypalCaptureBody shows the capture of an order. The caller holds the ledger's lock.
func paypalCaptureBody(t *ledger.Transaction, now time.Time) map[string]any {
	status, amount, at := "PENDING", t.Asked, t.Created
	switch st := t.Status(now); {
	case st == ledger.Reversed:
		status = "REFUNDED"
	case st == ledger.Success && t.SumRefunded(now) > 0:
		status = "PARTIALLY_REFUNDED"
	case st == ledger.Success:
		status = "COMPLETED"
	}
	if t.Outcome == ledger.Success {
		amount, at = t.Paid, t.PaidAt
	}
	return map[string]any{
		"id": paypalCaptureID + strconv.FormatInt(t.ID, 10), "status": status, "amount": toPaypalMoney(amount, t.Currency), "final_capture": true,
		"custom_id": t.Reference, "invoice_id": t.Reference, "create_time": at.UTC().Format(time.RFC3339),
	}
}

// refundPaypal answers POST /paypal/v2/payments/captures/{id}/refund. A repeat with the same request id
// gets the same refund.
func (s *Sim) refundPaypal(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Amount *paypalMoney `json:"amount"`
		Key    string       `json:"custom_id"`
	}
	bad := json.Unmarshal(ctx.PostBody(), &in) != nil
	which, repeat := param(ctx, "id"), string(ctx.Request.Header.Peek("PayPal-Request-Id"))
	t := s.ledger.FindPrefixed(ledger.PayPal, which, paypalCaptureID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil {
			return noSuchPaypal()
		}
		for _, made := range t.Refunds {
			if repeat != "" && made.CustomerNote == repeat {
				return reply{201, paypalRefundBody(made, now)}
			}
		}
		left, valid := t.Refundable(now), true
		r := &ledger.Refund{Amount: left, Created: now, MerchantNote: in.Key, CustomerNote: repeat}
		if in.Amount != nil {
			r.Amount, valid = minorUnits(json.Number(in.Amount.Value), in.Amount.Currency)
			valid = valid && in.Amount.Currency == t.Currency
		}
		switch st := t.Status(now); {
		case st == ledger.Reversed || ledger.Arrived(st) && left <= 0:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "CAPTURE_FULLY_REFUNDED")
		case bad || !valid || !ledger.Arrived(st) || r.Amount <= 0 || r.Amount > left:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "REFUND_AMOUNT_EXCEEDED")
		}
		if s.ledger.RefusesRefund(t) {
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "REFUND_FAILED_INSUFFICIENT_FUNDS")
		}
		s.ledger.Refund(t, r)
		return reply{201, paypalRefundBody(r, now)}
	}}
}

// paypalRefundBody shows a refund in PayPal's form. The caller holds the ledger's lock.
func paypalRefundBody(r *ledger.Refund, now time.Time) map[string]any {
	status := "PENDING"
	switch r.Status(now) {
	case ledger.RefundProcessed:
		status = "COMPLETED"
	case ledger.Failed:
		status = "FAILED"
	}
	return map[string]any{
		"id": paypalRefundID + strconv.FormatInt(r.ID, 10), "status": status, "amount": toPaypalMoney(r.Amount, r.Of.Currency), "custom_id": r.MerchantNote,
		"create_time": r.Created.UTC().Format(time.RFC3339),
	}
}

// readPaypalRefund answers GET /paypal/v2/payments/refunds/{id}.
func (s *Sim) readPaypalRefund(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	id, _ := strconv.ParseInt(strings.TrimPrefix(which, paypalRefundID), 10, 64)
	return task{s.ledger.ModesOf(nil), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		r := s.ledger.RefundByID(id)
		if r == nil || r.Of.Provider != ledger.PayPal {
			return noSuchPaypal()
		}
		return reply{200, paypalRefundBody(r, s.cfg.Now())}
	}}
}

// readPaypalDispute answers GET /paypal/v1/customer/disputes/{id}.
func (s *Sim) readPaypalDispute(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.ledger.FindPrefixed(ledger.PayPal, which, paypalDisputeID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil || t.Dispute == nil {
			return noSuchPaypal()
		}
		return reply{200, paypalDisputeBody(t)}
	}}
}

// paypalDisputeBody shows a dispute in PayPal's form. The caller holds the ledger's lock.
func paypalDisputeBody(t *ledger.Transaction) map[string]any {
	d := t.Dispute
	body := map[string]any{
		"dispute_id": paypalDisputeID + strconv.FormatInt(t.ID, 10), "reason": "UNAUTHORISED", "status": "WAITING_FOR_SELLER_RESPONSE",
		"dispute_amount": toPaypalMoney(t.Paid, t.Currency), "create_time": d.Opened.UTC().Format(time.RFC3339), "update_time": d.Opened.UTC().Format(time.RFC3339),
		"seller_response_due_date": d.Opened.Add(10 * 24 * time.Hour).UTC().Format(time.RFC3339),
		"disputed_transactions": []any{map[string]string{
			"seller_transaction_id": paypalCaptureID + strconv.FormatInt(t.ID, 10), "custom": t.Reference, "invoice_number": t.Reference,
		}},
	}
	if d.Status == ledger.UnderReview {
		body["status"] = "UNDER_REVIEW"
	}
	if !d.Closed.IsZero() {
		code := "RESOLVED_SELLER_FAVOUR"
		if d.Status == ledger.DisputeLost {
			code = "RESOLVED_BUYER_FAVOUR"
		}
		body["status"], body["dispute_outcome"], body["update_time"] = "RESOLVED", map[string]string{"outcome_code": code}, d.Closed.UTC().Format(time.RFC3339)
	}
	return body
}

// paypalDisputeEvents are the events by which PayPal tells that a dispute has come to a status.
var paypalDisputeEvents = map[string]string{
	ledger.NeedsResponse: "CUSTOMER.DISPUTE.CREATED",
	ledger.UnderReview:   "CUSTOMER.DISPUTE.UPDATED",
	ledger.DisputeWon:    "CUSTOMER.DISPUTE.RESOLVED",
	ledger.DisputeLost:   "CUSTOMER.DISPUTE.RESOLVED",
}

// paypalEvent makes the body of a webhook of PayPal. Each move of a dispute has an id of its own, so that a shop
// does not take it for a repeat.
func (s *Sim) paypalEvent(d *delivery) map[string]any {
	s.ledger.Lock()
	defer s.ledger.Unlock()
	event, object := d.event, map[string]any(nil)
	id := "WH-" + strconv.FormatInt(d.of.ID, 10) + "-"
	switch {
	case d.move > 0:
		id += strconv.Itoa(d.move) + "-"
		event, object = paypalDisputeEvents[d.status], paypalDisputeBody(d.of)
	case d.event == approvalEvent:
		object = s.paypalBody(d.of, s.cfg.Now())
	default:
		object = paypalCaptureBody(d.of, s.cfg.Now())
	}
	return map[string]any{
		"id": id + event, "event_type": event, "event_version": "1.0", "resource": object,
		"create_time": d.of.Created.UTC().Format(time.RFC3339),
	}
}

// signPaypal signs a webhook. PayPal itself signs with an RSA key, and a shop asks PayPal whether
// the signature is right. The simulator signs with an HMAC instead, which makes no difference to a shop, because the
// shop asks the simulator whether the signature is right.
func (s *Sim) signPaypal(h http.Header, secret string, body []byte, at time.Time) {
	stamp := at.UTC().Format(time.RFC3339)
	h.Set("Paypal-Transmission-Id", "69cd13f0-d67a-11e5-baa3-778b53f4ae55")
	h.Set("Paypal-Transmission-Time", stamp)
	h.Set("Paypal-Auth-Algo", "SHA256withRSA")
	h.Set("Paypal-Cert-Url", s.base+"/paypal/v1/notifications/certs/CERT-1")
	h.Set("Paypal-Transmission-Sig", PayPalSignature(secret, h.Get("Paypal-Transmission-Id"), stamp, s.cfg.PayPalHook, body))
}

// PayPalSignature returns the signature that the simulator gives a webhook under its key. It covers
// the id, the time, the webhook's id and a checksum of the body.
func PayPalSignature(key, id, stamp, hook string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(id + "|" + stamp + "|" + hook + "|" + strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// provePaypal answers POST /paypal/v1/notifications/verify-webhook-signature: it says whether a webhook has the
// simulator's signature. The event must have the very bytes that were sent, or its checksum differs.
func (s *Sim) provePaypal(ctx *fasthttp.RequestCtx) task {
	body := bytes.Clone(ctx.PostBody())
	return task{s.ledger.ModesOf(nil), "notice", func() reply {
		var in struct {
			Algo  string          `json:"auth_algo"`
			Cert  string          `json:"cert_url"`
			ID    string          `json:"transmission_id"`
			Time  string          `json:"transmission_time"`
			Sig   string          `json:"transmission_sig"`
			Hook  string          `json:"webhook_id"`
			Event json.RawMessage `json:"webhook_event"`
		}
		if json.Unmarshal(body, &in) != nil || in.Algo == "" || in.Cert == "" || in.ID == "" || in.Time == "" || in.Sig == "" || len(in.Event) == 0 {
			return paypalFailure(400, "VALIDATION_ERROR", "MISSING_REQUIRED_PARAMETER")
		}
		status := "FAILURE"
		if in.Hook == s.cfg.PayPalHook && hmac.Equal([]byte(in.Sig), []byte(PayPalSignature(s.cfg.PayPalKey, in.ID, in.Time, in.Hook, in.Event))) {
			status = "SUCCESS"
		}
		return reply{200, map[string]string{"verification_status": status}}
	}}
}

// paypalReturn adds the parameters that PayPal adds to the address to which a buyer returns.
func paypalReturn(q url.Values, t *ledger.Transaction) {
	q.Set("token", paypalOrderID+strconv.FormatInt(t.ID, 10))
	if t.Outcome == approved || t.Outcome == ledger.Success {
		q.Set("PayerID", "QYR5Z8XDVJNXQ")
	}
}

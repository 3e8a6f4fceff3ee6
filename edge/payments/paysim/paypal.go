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

	"boxoffice/engine"
)

// The prefixes of PayPal's ids, which are followed by our number.
const (
	paypalOrderID   = "5O"
	paypalCaptureID = "3C"
	paypalRefundID  = "1J"
	paypalDisputeID = "PP-D-"
)

// approved is what a buyer leaves an order of PayPal in: nothing is paid until it is captured.
const approved = "approved"

// approvalEvent is what PayPal tells of that.
const approvalEvent = "CHECKOUT.ORDER.APPROVED"

// paypalFailure is PayPal's envelope of errors.
func paypalFailure(status int, name, issue string) reply {
	body := map[string]any{"name": name, "message": "The requested action could not be performed.", "debug_id": "0", "details": []any{}}
	if issue != "" {
		body["details"] = []any{map[string]string{"issue": issue, "description": issue}}
	}
	return reply{status, body}
}

func noSuchPaypal() reply { return paypalFailure(404, "RESOURCE_NOT_FOUND", "INVALID_RESOURCE_ID") }

// paypalToken is the access token: it is the same until the key is another.
func (s *Sim) paypalToken() string {
	mac := hmac.New(sha256.New, []byte(s.cfg.PayPalKey))
	mac.Write([]byte("access token"))
	return "A21AA" + hex.EncodeToString(mac.Sum(nil))
}

// grantPaypal is POST /paypal/v1/oauth2/token.
func (s *Sim) grantPaypal(ctx *fasthttp.RequestCtx) {
	s.calls[opPaypalToken].Add(1)
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(s.cfg.PayPalKey))
	if s.cfg.PayPalKey == "" || string(ctx.Request.Header.Peek("Authorization")) != want || string(ctx.PostArgs().Peek("grant_type")) != "client_credentials" {
		writeJSON(ctx, 401, map[string]string{"error": "invalid_client", "error_description": "Client Authentication failed"})
		return
	}
	writeJSON(ctx, 200, map[string]any{"access_token": s.paypalToken(), "token_type": "Bearer", "expires_in": 32400, "scope": "", "app_id": "APP-80W284485P519543T"})
}

// paypalAPI checks the access token, reads the call, and does it as its modes have it.
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

// paypalMoney is money as PayPal writes it.
type paypalMoney struct {
	Currency string `json:"currency_code"`
	Value    string `json:"value"`
}

func toPaypalMoney(minor int64, currency string) paypalMoney {
	return paypalMoney{currency, engine.Decimal(minor, currency)}
}

// createPaypal is POST /paypal/v2/checkout/orders. The same request id gets the same order.
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
	t := &transaction{
		provider: paypal, reference: unit.Reference, email: in.Source.PayPal.Email, currency: unit.Amount.Currency, callback: back.Return, asked: amount, created: s.cfg.Now(),
	}
	switch {
	case !whole || amount <= 0 || len(t.currency) != 3:
		return done(paypalFailure(422, "UNPROCESSABLE_ENTITY", "CANNOT_BE_ZERO_OR_NEGATIVE"))
	case back.Return == "" || back.Cancel == "" || !validCallback(back.Return):
		return done(paypalFailure(422, "UNPROCESSABLE_ENTITY", "RETURN_URL_REQUIRED"))
	case t.reference == "" || string(ctx.Request.Header.Peek("PayPal-Request-Id")) != t.reference: // the simulator's ledger knows charges by our reference
		return done(paypalFailure(400, "INVALID_REQUEST", "PAYPAL_REQUEST_ID_REQUIRED"))
	}
	return task{s.modesOf(t), t.reference, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.ledger.add(t) {
			was := s.ledger.byRef[t.reference]
			if was.asked != t.asked || was.currency != t.currency {
				return paypalFailure(422, "UNPROCESSABLE_ENTITY", "DUPLICATE_REQUEST_ID")
			}
			t = was
		} else if set, ok := s.dice.Struck(s.modesOf(t), "auto", t.reference); ok {
			s.settle(t, success, t.created.Add(set.Span))
		}
		return reply{201, s.paypalBody(t, s.cfg.Now())}
	}}
}

// approve notes that the buyer agrees to an order: a webhook tells it, and nothing is paid. Sim.mu is held.
func (s *Sim) approve(t *transaction) {
	if t.outcome == success || t.outcome == approved {
		return
	}
	t.outcome = approved
	s.hooks.queueEvent(s.modesOf(t), 0, delivery{event: approvalEvent, of: t})
}

// readPaypal is GET /paypal/v2/checkout/orders/{id}.
func (s *Sim) readPaypal(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.findPrefixed(paypal, which, paypalOrderID)
	return task{s.modesOf(t), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil {
			return noSuchPaypal()
		}
		return reply{200, s.readPaypalBody(t)}
	}}
}

// readPaypalBody is an order as it is read, which may be the read by which money on its way has come. Sim.mu is held.
func (s *Sim) readPaypalBody(t *transaction) map[string]any {
	now := s.cfg.Now()
	body := s.paypalBody(t, now)
	if t.status(now) == pending && t.pendingLeft > 0 {
		if t.pendingLeft--; t.pendingLeft == 0 {
			s.hooks.announceCharge(t, s.modesOf(t), 0)
		}
	}
	return body
}

// capturePaypal is POST /paypal/v2/checkout/orders/{id}/capture: the money of an approved order comes.
func (s *Sim) capturePaypal(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.findPrefixed(paypal, which, paypalOrderID)
	return task{s.modesOf(t), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case t == nil:
			return noSuchPaypal()
		case t.outcome == success:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "ORDER_ALREADY_CAPTURED")
		case t.outcome != approved:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "ORDER_NOT_APPROVED")
		}
		if s.settle(t, success, s.cfg.Now()); t.outcome != success {
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "INSTRUMENT_DECLINED")
		}
		return reply{201, s.paypalBody(t, s.cfg.Now())}
	}}
}

// paypalBody is an order with its capture and refunds. A buyer who was refused is still asked to act. Sim.mu is held.
func (s *Sim) paypalBody(t *transaction, now time.Time) map[string]any {
	number := strconv.FormatInt(t.id, 10)
	unit := map[string]any{
		"reference_id": "default", "custom_id": t.reference, "invoice_id": t.reference, "amount": toPaypalMoney(t.asked, t.currency),
	}
	status := "PAYER_ACTION_REQUIRED"
	switch st := t.status(now); {
	case t.outcome == approved:
		status = "APPROVED"
	case t.outcome != "" && st != failed && t.outcome != abandoned:
		status = "COMPLETED"
		refunds := []map[string]any{}
		for _, r := range t.refunds {
			if r.status(now) != "" {
				refunds = append(refunds, paypalRefundBody(r, now))
			}
		}
		unit["payments"] = map[string]any{"captures": []any{paypalCaptureBody(t, now)}, "refunds": refunds}
	}
	return map[string]any{
		"id": paypalOrderID + number, "intent": "CAPTURE", "status": status, "create_time": t.created.UTC().Format(time.RFC3339), "purchase_units": []any{unit},
		"links": []any{
			map[string]string{"href": s.base + "/paypal/v2/checkout/orders/" + paypalOrderID + number, "rel": "self", "method": "GET"},
			map[string]string{"href": s.base + "/checkout/" + s.accessCode(t.id), "rel": "payer-action", "method": "GET"},
		},
	}
}

// paypalCaptureBody is the capture of an order.
func paypalCaptureBody(t *transaction, now time.Time) map[string]any {
	status, amount, at := "PENDING", t.asked, t.created
	switch st := t.status(now); {
	case st == reversed:
		status = "REFUNDED"
	case st == success && t.sumRefunded(now) > 0:
		status = "PARTIALLY_REFUNDED"
	case st == success:
		status = "COMPLETED"
	}
	if t.outcome == success {
		amount, at = t.paid, t.paidAt
	}
	return map[string]any{
		"id": paypalCaptureID + strconv.FormatInt(t.id, 10), "status": status, "amount": toPaypalMoney(amount, t.currency), "final_capture": true,
		"custom_id": t.reference, "invoice_id": t.reference, "create_time": at.UTC().Format(time.RFC3339),
	}
}

// refundPaypal is POST /paypal/v2/payments/captures/{id}/refund. The same request id gets the same refund.
func (s *Sim) refundPaypal(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Amount *paypalMoney `json:"amount"`
		Key    string       `json:"custom_id"`
	}
	bad := json.Unmarshal(ctx.PostBody(), &in) != nil
	which, repeat := param(ctx, "id"), string(ctx.Request.Header.Peek("PayPal-Request-Id"))
	t := s.findPrefixed(paypal, which, paypalCaptureID)
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil {
			return noSuchPaypal()
		}
		for _, made := range t.refunds {
			if repeat != "" && made.customerNote == repeat {
				return reply{201, paypalRefundBody(made, now)}
			}
		}
		m, left, valid := s.modesOf(t), t.refundable(now), true
		r := &refund{amount: left, created: now, end: s.refundEnd(t, m), merchantNote: in.Key, customerNote: repeat}
		if in.Amount != nil {
			r.amount, valid = minorUnits(json.Number(in.Amount.Value), in.Amount.Currency)
			valid = valid && in.Amount.Currency == t.currency
		}
		switch st := t.status(now); {
		case st == reversed || arrived(st) && left <= 0:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "CAPTURE_FULLY_REFUNDED")
		case bad || !valid || !arrived(st) || r.amount <= 0 || r.amount > left:
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "REFUND_AMOUNT_EXCEEDED")
		}
		if set, ok := s.dice.Struck(m, "refundrefused", t.reference); ok && t.refused < set.Number {
			t.refused++
			return paypalFailure(422, "UNPROCESSABLE_ENTITY", "REFUND_FAILED_INSUFFICIENT_FUNDS")
		}
		if set, ok := s.dice.Struck(m, "refundslow", t.reference); ok {
			r.step = set.Span
		}
		s.ledger.refund(t, r)
		return reply{201, paypalRefundBody(r, now)}
	}}
}

// paypalRefundBody is a refund in PayPal's words.
func paypalRefundBody(r *refund, now time.Time) map[string]any {
	status := "PENDING"
	switch r.status(now) {
	case refundProcessed:
		status = "COMPLETED"
	case failed:
		status = "FAILED"
	}
	return map[string]any{
		"id": paypalRefundID + strconv.FormatInt(r.id, 10), "status": status, "amount": toPaypalMoney(r.amount, r.of.currency), "custom_id": r.merchantNote,
		"create_time": r.created.UTC().Format(time.RFC3339),
	}
}

// readPaypalRefund is GET /paypal/v2/payments/refunds/{id}.
func (s *Sim) readPaypalRefund(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	id, _ := strconv.ParseInt(strings.TrimPrefix(which, paypalRefundID), 10, 64)
	return task{s.modesOf(nil), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.ledger.refunds.get(id)
		if r == nil || r.of.provider != paypal {
			return noSuchPaypal()
		}
		return reply{200, paypalRefundBody(r, s.cfg.Now())}
	}}
}

// readPaypalDispute is GET /paypal/v1/customer/disputes/{id}.
func (s *Sim) readPaypalDispute(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.findPrefixed(paypal, which, paypalDisputeID)
	return task{s.modesOf(t), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil || t.dispute == nil {
			return noSuchPaypal()
		}
		return reply{200, paypalDisputeBody(t)}
	}}
}

// paypalDisputeBody is a dispute in PayPal's words. Sim.mu is held.
func paypalDisputeBody(t *transaction) map[string]any {
	d := t.dispute
	body := map[string]any{
		"dispute_id": paypalDisputeID + strconv.FormatInt(t.id, 10), "reason": "UNAUTHORISED", "status": "WAITING_FOR_SELLER_RESPONSE",
		"dispute_amount": toPaypalMoney(t.paid, t.currency), "create_time": d.opened.UTC().Format(time.RFC3339), "update_time": d.opened.UTC().Format(time.RFC3339),
		"seller_response_due_date": d.opened.Add(10 * 24 * time.Hour).UTC().Format(time.RFC3339),
		"disputed_transactions": []any{map[string]string{
			"seller_transaction_id": paypalCaptureID + strconv.FormatInt(t.id, 10), "custom": t.reference, "invoice_number": t.reference,
		}},
	}
	if d.status == underReview {
		body["status"] = "UNDER_REVIEW"
	}
	if !d.closed.IsZero() {
		code := "RESOLVED_SELLER_FAVOUR"
		if d.status == disputeLost {
			code = "RESOLVED_BUYER_FAVOUR"
		}
		body["status"], body["dispute_outcome"], body["update_time"] = "RESOLVED", map[string]string{"outcome_code": code}, d.closed.UTC().Format(time.RFC3339)
	}
	return body
}

// paypalDisputeEvents are what PayPal tells when a dispute comes to a status.
var paypalDisputeEvents = map[string]string{
	needsResponse: "CUSTOMER.DISPUTE.CREATED",
	underReview:   "CUSTOMER.DISPUTE.UPDATED",
	disputeWon:    "CUSTOMER.DISPUTE.RESOLVED",
	disputeLost:   "CUSTOMER.DISPUTE.RESOLVED",
}

// paypalEvent is what a webhook of PayPal tells.
func (s *Sim) paypalEvent(d *delivery) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	event, object := d.event, map[string]any(nil)
	switch {
	case d.dispute:
		event, object = paypalDisputeEvents[d.status], paypalDisputeBody(d.of)
	case d.event == approvalEvent:
		object = s.paypalBody(d.of, s.cfg.Now())
	default:
		object = paypalCaptureBody(d.of, s.cfg.Now())
	}
	return map[string]any{
		"id": "WH-" + strconv.FormatInt(d.of.id, 10) + "-" + event, "event_type": event, "event_version": "1.0", "resource": object,
		"create_time": d.of.created.UTC().Format(time.RFC3339),
	}
}

// signPaypal signs a webhook. PayPal's own signature is made with a key of RSA, and whoever gets one asks PayPal whether it is good.
func (s *Sim) signPaypal(h http.Header, secret string, body []byte, at time.Time) {
	stamp := at.UTC().Format(time.RFC3339)
	h.Set("Paypal-Transmission-Id", "69cd13f0-d67a-11e5-baa3-778b53f4ae55")
	h.Set("Paypal-Transmission-Time", stamp)
	h.Set("Paypal-Auth-Algo", "SHA256withRSA")
	h.Set("Paypal-Cert-Url", s.base+"/paypal/v1/notifications/certs/CERT-1")
	h.Set("Paypal-Transmission-Sig", PayPalSignature(secret, h.Get("Paypal-Transmission-Id"), stamp, s.cfg.PayPalHook, body))
}

// PayPalSignature is the signature of a webhook of the simulator, under its key.
func PayPalSignature(key, id, stamp, hook string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(id + "|" + stamp + "|" + hook + "|" + strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 10)))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// provePaypal is POST /paypal/v1/notifications/verify-webhook-signature. The event must come as it was sent.
func (s *Sim) provePaypal(ctx *fasthttp.RequestCtx) task {
	body := bytes.Clone(ctx.PostBody())
	return task{s.modesOf(nil), "notice", func() reply {
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

// paypalReturn adds what PayPal does to the address that a buyer comes back to.
func paypalReturn(q url.Values, t *transaction) {
	q.Set("token", paypalOrderID+strconv.FormatInt(t.id, 10))
	if t.outcome == approved || t.outcome == success {
		q.Set("PayerID", "QYR5Z8XDVJNXQ")
	}
}

package paysim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
)

// The prefixes of Stripe's ids, which are followed by our number.
const (
	sessionID = "cs_test_"
	intentID  = "pi_"
	refundID  = "re_"
)

// stripeFailure is Stripe's envelope of errors.
func stripeFailure(status int, code, message string) reply {
	return reply{status, map[string]any{"error": map[string]string{"type": "invalid_request_error", "code": code, "message": message}}}
}

func missing(what string) reply {
	return stripeFailure(404, "resource_missing", "No such "+what)
}

// stripeAPI checks Stripe's key, reads the call, and does it as its modes have it.
func (s *Sim) stripeAPI(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if key, ok := strings.CutPrefix(string(ctx.Request.Header.Peek("Authorization")), "Bearer "); !ok || key == "" || key != s.cfg.StripeKey {
			r := stripeFailure(401, "", "Invalid API Key provided")
			writeJSON(ctx, r.status, r.body)
			return
		}
		t := read(ctx)
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

// createSession is POST /v1/checkout/sessions. The same idempotency key gets the same session, or a
// refusal if the request says something else.
func (s *Sim) createSession(ctx *fasthttp.RequestCtx) task {
	in, err := url.ParseQuery(string(ctx.PostBody()))
	amount, bad := strconv.ParseInt(in.Get("line_items[0][price_data][unit_amount]"), 10, 64)
	ends, badEnd := strconv.ParseInt(in.Get("expires_at"), 10, 64)
	t := &transaction{
		provider: stripe, reference: in.Get("client_reference_id"), email: in.Get("customer_email"),
		currency: strings.ToUpper(in.Get("line_items[0][price_data][currency]")), callback: in.Get("success_url"), asked: amount, created: s.cfg.Now(),
	}
	switch lease := time.Unix(ends, 0).Sub(t.created); {
	case err != nil || bad != nil || in.Get("mode") != "payment" || t.reference == "" || len(t.currency) != 3 || !validCallback(t.callback):
		return done(stripeFailure(400, "parameter_missing", "mode, client_reference_id, success_url and line_items are required"))
	case in.Get("line_items[0][price_data][product_data][name]") == "" || in.Get("line_items[0][quantity]") != "1":
		return done(stripeFailure(400, "parameter_missing", "line_items need a product's name and a quantity"))
	case badEnd != nil || lease < 30*time.Minute-time.Minute || lease > 24*time.Hour: // the request took some time
		return done(stripeFailure(400, "parameter_invalid_integer", "expires_at must be from 30 minutes to 24 hours from now"))
	case amount < 50:
		return done(stripeFailure(400, "amount_too_small", "The Checkout Session's total amount due must add up to at least $0.50 usd"))
	}
	if modes := in.Get("metadata[paysim]"); modes != "" {
		t.metadata, _ = json.Marshal(map[string]string{"paysim": modes}) // a map of texts never fails
		if m, err := faults.Parse(modes); err == nil {
			t.modes.Store(&m)
		}
	}
	return task{s.modesOf(t), t.reference, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.ledger.add(t) {
			was := s.ledger.byRef[t.reference]
			if was.asked != t.asked || was.currency != t.currency || was.email != t.email {
				return reply{400, map[string]any{"error": map[string]string{"type": "idempotency_error", "message": "Keys for idempotent requests can only be used with the same parameters"}}}
			}
			t = was
		} else if set, ok := s.dice.Struck(s.modesOf(t), "auto", t.reference); ok {
			s.settle(t, success, t.created.Add(set.Span))
		}
		return reply{200, s.sessionBody(t, s.cfg.Now())}
	}}
}

// findPrefixed finds a provider's transaction by an id that is a prefix and our number.
func (s *Sim) findPrefixed(provider, id, prefix string) *transaction {
	number, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return nil
	}
	if t := s.find(number); t != nil && t.provider == provider && number != t.reference {
		return t
	}
	return nil
}

// readSession is GET /v1/checkout/sessions/{id}.
func (s *Sim) readSession(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.findPrefixed(stripe, which, sessionID)
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil {
			return missing("checkout.session: " + which)
		}
		body := s.sessionBody(t, now)
		if t.status(now) == pending && t.pendingLeft > 0 {
			if t.pendingLeft--; t.pendingLeft == 0 {
				s.hooks.announceCharge(t, s.modesOf(t), 0)
			}
		}
		return reply{200, body}
	}}
}

// sessionBody is a session with its payment intent and charge. A card that was refused leaves the
// session open; money on its way completes it.
func (s *Sim) sessionBody(t *transaction, now time.Time) map[string]any {
	number := strconv.FormatInt(t.id, 10)
	status, payment := "open", "unpaid"
	var intent map[string]any
	switch st := t.status(now); {
	case arrived(st):
		status, payment = "complete", "paid"
		intent = map[string]any{
			"id": intentID + number, "object": "payment_intent", "status": "succeeded", "amount": t.asked, "amount_received": t.paid,
			"metadata": map[string]string{"reference": t.reference},
			"latest_charge": map[string]any{
				"id": "ch_" + number, "object": "charge", "created": t.paidAt.Unix(), "amount": t.paid, "amount_captured": t.paid, "amount_refunded": t.sumRefunded(now),
			},
		}
	case st == failed:
		intent = map[string]any{
			"id": intentID + number, "object": "payment_intent", "status": "requires_payment_method", "amount": t.asked, "amount_received": 0,
			"last_payment_error": map[string]string{"code": "card_declined", "message": "Your card was declined."},
		}
	case st != abandoned:
		status = "complete"
		intent = map[string]any{"id": intentID + number, "object": "payment_intent", "status": "processing", "amount": t.asked, "amount_received": 0}
	}
	return map[string]any{
		"id": sessionID + number, "object": "checkout.session", "mode": "payment", "livemode": false, "client_reference_id": t.reference,
		"customer_email": t.email, "amount_total": t.asked, "amount_subtotal": t.asked, "currency": strings.ToLower(t.currency),
		"status": status, "payment_status": payment, "payment_intent": intent, "created": t.created.Unix(),
		"metadata": map[string]string{"reference": t.reference}, "url": s.base + "/checkout/" + s.accessCode(t.id),
	}
}

// refundIntent is POST /v1/refunds. The same idempotency key gets the same refund.
func (s *Sim) refundIntent(ctx *fasthttp.RequestCtx) task {
	in, _ := url.ParseQuery(string(ctx.PostBody())) // what can't be read names no payment
	idempotency := string(ctx.Request.Header.Peek("Idempotency-Key"))
	t := s.findPrefixed(stripe, in.Get("payment_intent"), intentID)
	return task{s.modesOf(t), in.Get("payment_intent"), func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil {
			return missing("payment_intent: " + in.Get("payment_intent"))
		}
		for _, made := range t.refunds {
			if idempotency != "" && made.customerNote == idempotency {
				return reply{200, stripeRefundBody(made, now)}
			}
		}
		m, left := s.modesOf(t), t.refundable(now)
		r := &refund{amount: left, created: now, end: s.refundEnd(t, m), merchantNote: in.Get("metadata[key]"), customerNote: idempotency}
		if text := in.Get("amount"); text != "" {
			r.amount, _ = strconv.ParseInt(text, 10, 64)
		}
		switch st := t.status(now); {
		case t.chargedBack() > 0:
			return stripeFailure(400, "charge_disputed", "Charge ch_"+strconv.FormatInt(t.id, 10)+" has been charged back; cannot issue a refund.")
		case st == reversed || arrived(st) && left <= 0:
			return stripeFailure(400, "charge_already_refunded", "Charge ch_"+strconv.FormatInt(t.id, 10)+" has already been refunded.")
		case !arrived(st) || r.amount <= 0 || r.amount > left:
			return stripeFailure(400, "amount_too_large", "Refund amount is greater than unrefunded amount on charge")
		}
		if set, ok := s.dice.Struck(m, "refundrefused", t.reference); ok && t.refused < set.Number {
			t.refused++
			return stripeFailure(400, "balance_insufficient", "Insufficient funds in your Stripe balance to refund this amount.")
		}
		if set, ok := s.dice.Struck(m, "refundslow", t.reference); ok {
			r.step = set.Span
		}
		s.ledger.refund(t, r)
		return reply{200, stripeRefundBody(r, now)}
	}}
}

// stripeRefundBody is a refund in Stripe's words.
func stripeRefundBody(r *refund, now time.Time) map[string]any {
	status := "succeeded"
	switch r.status(now) {
	case pending, refundProcessing:
		status = "pending"
	case failed:
		status = failed
	case "needs-attention":
		status = "requires_action"
	}
	return map[string]any{
		"id": refundID + strconv.FormatInt(r.id, 10), "object": "refund", "amount": r.amount, "currency": strings.ToLower(r.of.currency), "status": status,
		"payment_intent": intentID + strconv.FormatInt(r.of.id, 10), "created": r.created.Unix(), "metadata": map[string]string{"key": r.merchantNote},
	}
}

// stripeRefunds is GET /v1/refunds, the refunds of one payment, the newest first.
func (s *Sim) stripeRefunds(ctx *fasthttp.RequestCtx) task {
	which, after, limit := query(ctx, "payment_intent"), query(ctx, "starting_after"), queryInt(ctx, "limit", 10, 1, 100)
	t := s.findPrefixed(stripe, which, intentID)
	return task{s.modesOf(t), which, func() reply {
		if t == nil {
			return missing("payment_intent: " + which)
		}
		now, found := s.cfg.Now(), after == ""
		list, more := []map[string]any{}, false
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eachRefund(which, t, func(r *refund) bool {
			body := stripeRefundBody(r, now)
			switch {
			case r.status(now) == "":
			case !found:
				found = body["id"] == after
			case len(list) == limit:
				more = true
			default:
				list = append(list, body)
			}
			return !more
		})
		return reply{200, map[string]any{"object": "list", "url": "/v1/refunds", "data": list, "has_more": more}}
	}}
}

// readStripeRefund is GET /v1/refunds/{id}.
func (s *Sim) readStripeRefund(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	id, _ := strconv.ParseInt(strings.TrimPrefix(which, refundID), 10, 64)
	return task{s.modesOf(nil), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.ledger.refunds.get(id)
		if r == nil || r.of.provider != stripe {
			return missing("refund: " + which)
		}
		return reply{200, stripeRefundBody(r, s.cfg.Now())}
	}}
}

// stripeEvent is the body of a webhook.
func (s *Sim) stripeEvent(d *delivery) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, object := "evt_"+strconv.FormatInt(d.of.id, 10), map[string]any(nil)
	if d.dispute {
		id, object = id+"_"+d.event, disputeBody(d.of)
	} else {
		object = s.sessionBody(d.of, s.cfg.Now())
	}
	return map[string]any{
		"id": id, "object": "event", "type": d.event, "livemode": false, "created": d.of.created.Unix(), "data": map[string]any{"object": object},
	}
}

// signStripe is Stripe's signature of a body at a time.
func signStripe(key string, body []byte, at time.Time) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

package paysim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
)

// These are the prefixes of Stripe's ids. The ledger's number follows them.
const (
	sessionID = "cs_test_"
	intentID  = "pi_"
	chargeID  = "ch_"
	refundID  = "re_"
)

// stripeFailure makes an error in Stripe's form.
func stripeFailure(status int, code, message string) reply {
	return stripeError(status, map[string]string{"type": "invalid_request_error", "code": code, "message": message})
}

// stripeError makes Stripe's answer to a call that it refuses. fields are the fields of the error.
func stripeError(status int, fields map[string]string) reply {
	return reply{status, map[string]any{"error": fields}}
}

func missing(what string) reply {
	return stripeFailure(404, "resource_missing", "No such "+what)
}

// stripeAPI makes the handler of a call of Stripe's API: it checks the key, reads the call, and performs it as the
// modes demand. The answer has ids in place of the objects that the call does not ask for (expand[]).
func (s *Sim) stripeAPI(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if key, ok := strings.CutPrefix(string(ctx.Request.Header.Peek("Authorization")), "Bearer "); !ok || key == "" || key != s.cfg.StripeKey {
			r := stripeFailure(401, "", "Invalid API Key provided")
			writeJSON(ctx, r.status, r.body)
			return
		}
		t := read(ctx)
		run := t.run
		t.run = func() reply {
			r := run()
			collapseObjects(r.body, "", listExpansions(ctx))
			return r
		}
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

// listExpansions returns the paths of the objects that a call asks for, such as payment_intent.latest_charge.
func listExpansions(ctx *fasthttp.RequestCtx) (paths []string) {
	for _, args := range []*fasthttp.Args{ctx.QueryArgs(), ctx.PostArgs()} {
		for _, path := range args.PeekMulti("expand[]") {
			paths = append(paths, string(path))
		}
	}
	return paths
}

// collapseObjects replaces each object that has an id, and that lies within a body, by its id, unless one of the paths
// leads to it or through it. at is the path of the body itself, with a dot behind it. Stripe's answers and events have
// such objects only where they were asked for.
func collapseObjects(body any, at string, paths []string) {
	switch body := body.(type) {
	case map[string]any:
		for name, value := range body {
			path := at + name
			wanted := slices.ContainsFunc(paths, func(p string) bool { return p == path || strings.HasPrefix(p, path+".") })
			object, _ := value.(map[string]any)
			if id, ok := object["id"]; ok && !wanted {
				body[name] = id
				continue
			}
			collapseObjects(value, path+".", paths)
		}
	case []map[string]any:
		for _, one := range body {
			collapseObjects(one, at, paths)
		}
	}
}

// createSession answers POST /v1/checkout/sessions. A repeat, known by its reference, gets the same session, or
// is refused if it asks for something else.
func (s *Sim) createSession(ctx *fasthttp.RequestCtx) task {
	in, err := url.ParseQuery(string(ctx.PostBody()))
	amount, bad := strconv.ParseInt(in.Get("line_items[0][price_data][unit_amount]"), 10, 64)
	ends, badEnd := strconv.ParseInt(in.Get("expires_at"), 10, 64)
	t := &ledger.Transaction{
		Provider: ledger.Stripe, Reference: in.Get("client_reference_id"), Email: in.Get("customer_email"),
		Currency: strings.ToUpper(in.Get("line_items[0][price_data][currency]")), Callback: in.Get("success_url"), Asked: amount, Created: s.cfg.Now(),
		Form: string(ctx.PostBody()),
	}
	switch {
	case err != nil || bad != nil || in.Get("mode") != "payment" || t.Reference == "" || len(t.Currency) != 3 || !validCallback(t.Callback):
		return done(stripeFailure(400, "parameter_missing", "mode, client_reference_id, success_url and line_items are required"))
	case in.Get("line_items[0][price_data][product_data][name]") == "" || in.Get("line_items[0][quantity]") != "1":
		return done(stripeFailure(400, "parameter_missing", "line_items need a product's name and a quantity"))
	case amount < 50:
		return done(stripeFailure(400, "amount_too_small", "The Checkout Session's total amount due must add up to at least $0.50 usd"))
	}
	if modes := in.Get("metadata[paysim]"); modes != "" {
		t.Metadata, _ = json.Marshal(map[string]string{"paysim": modes}) // a map of texts never fails
		if m, err := faults.Parse(modes); err == nil {
			t.Modes.Store(&m)
		}
	}
	return task{s.ledger.ModesOf(t), t.Reference, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		lease := time.Unix(ends, 0).Sub(t.Created)
		switch was := s.ledger.ByReference(t.Reference); {
		case was != nil && was.Form != t.Form:
			return stripeError(400, map[string]string{"type": "idempotency_error", "message": "Keys for idempotent requests can only be used with the same parameters"})
		case was != nil:
			t = was
		case badEnd != nil || lease < 30*time.Minute || lease > 24*time.Hour: // a repeat may come later
			return stripeError(400, map[string]string{"type": "invalid_request_error", "param": "expires_at", "message": "The `expires_at` timestamp must be from 30 minutes to 24 hours from Checkout Session creation."})
		default:
			s.ledger.Add(t)
		}
		return reply{200, s.sessionBody(t, s.cfg.Now())}
	}}
}

// readSession answers GET /v1/checkout/sessions/{id}. It counts as a read for the mode "pending".
func (s *Sim) readSession(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.ledger.FindPrefixed(ledger.Stripe, which, sessionID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil {
			return missing("checkout.session: " + which)
		}
		body := s.sessionBody(t, now)
		s.ledger.CountRead(t)
		return reply{200, body}
	}}
}

// sessionBody shows a session with its payment intent. A refused card leaves the session open. Money on its way
// completes the session before it is paid. The caller holds the ledger's lock.
func (s *Sim) sessionBody(t *ledger.Transaction, now time.Time) map[string]any {
	number := strconv.FormatInt(t.ID, 10)
	status, payment := "open", "unpaid"
	switch st := t.Status(now); {
	case ledger.Arrived(st):
		status, payment = "complete", "paid"
	case st != ledger.Failed && st != ledger.Abandoned:
		status = "complete"
	}
	return map[string]any{
		"id": sessionID + number, "object": "checkout.session", "mode": "payment", "livemode": false, "client_reference_id": t.Reference,
		"customer_email": t.Email, "amount_total": t.Asked, "amount_subtotal": t.Asked, "currency": strings.ToLower(t.Currency),
		"status": status, "payment_status": payment, "payment_intent": intentBody(t, now), "created": t.Created.Unix(),
		"metadata": map[string]string{"reference": t.Reference}, "url": s.base + "/checkout/" + s.accessCode(t.ID),
	}
}

// intentBody shows the payment intent of a session, with its charge if the money has come. It returns nil if the buyer
// has not tried to pay. The caller holds the ledger's lock.
func intentBody(t *ledger.Transaction, now time.Time) map[string]any {
	body := map[string]any{
		"id": intentID + strconv.FormatInt(t.ID, 10), "object": "payment_intent", "status": "processing", "amount": t.Asked, "amount_received": int64(0),
		"metadata": map[string]string{"reference": t.Reference}, "latest_charge": nil,
	}
	switch st := t.Status(now); {
	case ledger.Arrived(st):
		body["status"], body["amount_received"], body["latest_charge"] = "succeeded", t.Paid, chargeBody(t, now)
	case st == ledger.Failed:
		body["status"] = "requires_payment_method"
		body["last_payment_error"] = map[string]string{"code": "card_declined", "message": "Your card was declined."}
	case st == ledger.Abandoned:
		return nil
	}
	return body
}

// chargeBody shows the charge that has brought a payment's money. The caller holds the ledger's lock.
func chargeBody(t *ledger.Transaction, now time.Time) map[string]any {
	return map[string]any{
		"id": chargeID + strconv.FormatInt(t.ID, 10), "object": "charge", "created": t.PaidAt.Unix(), "amount": t.Paid, "amount_captured": t.Paid,
		"amount_refunded": t.SumRefunded(now), "payment_intent": intentID + strconv.FormatInt(t.ID, 10),
	}
}

// refundIntent answers POST /v1/refunds. A repeat with the same idempotency key gets the same refund.
func (s *Sim) refundIntent(ctx *fasthttp.RequestCtx) task {
	in, _ := url.ParseQuery(string(ctx.PostBody())) // what can't be read names no payment
	idempotency := string(ctx.Request.Header.Peek("Idempotency-Key"))
	t := s.ledger.FindPrefixed(ledger.Stripe, in.Get("payment_intent"), intentID)
	return task{s.ledger.ModesOf(t), in.Get("payment_intent"), func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil {
			return missing("payment_intent: " + in.Get("payment_intent"))
		}
		for _, made := range t.Refunds {
			if idempotency != "" && made.CustomerNote == idempotency {
				return reply{200, stripeRefundBody(made, now)}
			}
		}
		left := t.Refundable(now)
		r := &ledger.Refund{Amount: left, Created: now, MerchantNote: in.Get("metadata[key]"), CustomerNote: idempotency}
		if text := in.Get("amount"); text != "" {
			r.Amount, _ = strconv.ParseInt(text, 10, 64)
		}
		switch st := t.Status(now); {
		// Stripe refuses to refund a disputed charge, because the bank has taken the money already.
		case t.ChargedBack() > 0:
			return stripeFailure(400, "charge_disputed", "Charge "+chargeID+strconv.FormatInt(t.ID, 10)+" has been charged back; cannot issue a refund.")
		case st == ledger.Reversed || ledger.Arrived(st) && left <= 0:
			return stripeFailure(400, "charge_already_refunded", "Charge "+chargeID+strconv.FormatInt(t.ID, 10)+" has already been refunded.")
		case !ledger.Arrived(st) || r.Amount <= 0 || r.Amount > left:
			return stripeFailure(400, "amount_too_large", "Refund amount is greater than unrefunded amount on charge")
		}
		if s.ledger.RefusesRefund(t) {
			return stripeFailure(400, "balance_insufficient", "Insufficient funds in your Stripe balance to refund this amount.")
		}
		s.ledger.Refund(t, r)
		return reply{200, stripeRefundBody(r, now)}
	}}
}

// stripeRefundBody shows a refund in Stripe's form. The caller holds the ledger's lock.
func stripeRefundBody(r *ledger.Refund, now time.Time) map[string]any {
	status := "succeeded"
	switch r.Status(now) {
	case ledger.Pending, ledger.RefundProcessing:
		status = "pending"
	case ledger.Failed:
		status = ledger.Failed
	case "needs-attention":
		status = "requires_action"
	}
	return map[string]any{
		"id": refundID + strconv.FormatInt(r.ID, 10), "object": "refund", "amount": r.Amount, "currency": strings.ToLower(r.Of.Currency), "status": status,
		"payment_intent": intentID + strconv.FormatInt(r.Of.ID, 10), "created": r.Created.Unix(), "metadata": map[string]string{"key": r.MerchantNote},
	}
}

// stripeRefunds answers GET /v1/refunds: the refunds of one payment, the newest first. A page follows
// the refund that starting_after names.
func (s *Sim) stripeRefunds(ctx *fasthttp.RequestCtx) task {
	which, after, limit := query(ctx, "payment_intent"), query(ctx, "starting_after"), queryInt(ctx, "limit", 10, 1, 100)
	t := s.ledger.FindPrefixed(ledger.Stripe, which, intentID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		if t == nil {
			return missing("payment_intent: " + which)
		}
		now, found := s.cfg.Now(), after == ""
		list, more := []map[string]any{}, false
		s.ledger.Lock()
		defer s.ledger.Unlock()
		s.ledger.EachRefund(which, t, func(r *ledger.Refund) bool {
			body := stripeRefundBody(r, now)
			switch {
			case r.Status(now) == "":
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

// readStripeRefund answers GET /v1/refunds/{id}.
func (s *Sim) readStripeRefund(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	id, _ := strconv.ParseInt(strings.TrimPrefix(which, refundID), 10, 64)
	return task{s.ledger.ModesOf(nil), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		r := s.ledger.RefundByID(id)
		if r == nil || r.Of.Provider != ledger.Stripe {
			return missing("refund: " + which)
		}
		return reply{200, stripeRefundBody(r, s.cfg.Now())}
	}}
}

// stripeEvent makes the body of a webhook of Stripe. Each move of a dispute has an id of its own, so that a
// shop does not take it for a repeat of the payment's event or of another move.
func (s *Sim) stripeEvent(d *delivery) map[string]any {
	s.ledger.Lock()
	defer s.ledger.Unlock()
	id, object := "evt_"+strconv.FormatInt(d.of.ID, 10), map[string]any(nil)
	if d.move > 0 {
		id, object = id+"_"+strconv.Itoa(d.move), disputeBody(d.of, s.cfg.Now())
	} else {
		object = s.sessionBody(d.of, s.cfg.Now())
	}
	collapseObjects(object, "", nil)
	return map[string]any{
		"id": id, "object": "event", "type": d.event, "livemode": false, "created": d.of.Created.Unix(), "data": map[string]any{"object": object},
	}
}

// signStripe returns Stripe's signature of a body: an HMAC-SHA256 over the time and the body.
func signStripe(key string, body []byte, at time.Time) string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(stamp + "."))
	mac.Write(body)
	return "t=" + stamp + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

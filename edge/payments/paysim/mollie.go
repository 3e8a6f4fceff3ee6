package paysim

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
)

// The prefixes of Mollie's ids, which are followed by our number.
const (
	molliePaymentID = "tr_"
	mollieRefundID  = "re_"
)

// mollieFailure is Mollie's envelope of errors.
func mollieFailure(status int, title, detail, field string) reply {
	body := map[string]any{"status": status, "title": title, "detail": detail}
	if field != "" {
		body["field"] = field
	}
	return reply{status, body}
}

func noSuchMollie(what, id string) reply {
	return mollieFailure(404, "Not Found", "No "+what+" exists with token "+id+".", "")
}

// mollieAPI checks Mollie's key, reads the call, and does it as its modes have it.
func (s *Sim) mollieAPI(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if key, ok := strings.CutPrefix(string(ctx.Request.Header.Peek("Authorization")), "Bearer "); !ok || key == "" || key != s.cfg.MollieKey {
			r := mollieFailure(401, "Unauthorized Request", "Missing authentication, or failed to authenticate", "")
			writeJSON(ctx, r.status, r.body)
			return
		}
		t := read(ctx)
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

// mollieAmount is money as Mollie writes it: its value has all places of its currency and stands in quotes.
type mollieAmount struct {
	Currency string `json:"currency"`
	Value    string `json:"value"`
}

func mollieMoney(minor int64, currency string) mollieAmount {
	return mollieAmount{currency, string(majorUnits(minor, currency))}
}

// minor returns the amount in minor units; false if it is not one above 0.
func (a mollieAmount) minor() (int64, bool) {
	n, ok := minorUnits(json.Number(a.Value), a.Currency)
	return n, ok && n > 0
}

// createMollie is POST /v2/payments. The same idempotency key gets the same payment.
func (s *Sim) createMollie(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Amount      mollieAmount      `json:"amount"`
		Description string            `json:"description"`
		Redirect    string            `json:"redirectUrl"`
		Webhook     string            `json:"webhookUrl"`
		Metadata    map[string]string `json:"metadata"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) != nil {
		return done(mollieFailure(400, "Bad Request", "The request body is not valid JSON", ""))
	}
	amount, valid := in.Amount.minor()
	idempotency := string(ctx.Request.Header.Peek("Idempotency-Key"))
	t := &transaction{
		provider: mollie, reference: in.Metadata["reference"], currency: in.Amount.Currency, callback: in.Redirect, hook: in.Webhook,
		asked: amount, created: s.cfg.Now(),
	}
	switch {
	case !valid || len(t.currency) != 3:
		return done(mollieFailure(422, "Unprocessable Entity", "The amount is lower than the minimum", "amount"))
	case in.Description == "":
		return done(mollieFailure(422, "Unprocessable Entity", "The description is invalid", "description"))
	case t.callback == "" || !validCallback(t.callback) || !validCallback(t.hook):
		return done(mollieFailure(422, "Unprocessable Entity", "The redirect or webhook URL is invalid", "redirectUrl"))
	case t.reference == "" || idempotency != t.reference: // the simulator's ledger knows charges by our reference
		return done(mollieFailure(422, "Unprocessable Entity", "metadata has no reference that the idempotency key repeats", "metadata"))
	}
	if modes := in.Metadata["paysim"]; modes != "" {
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
			if was.asked != t.asked || was.currency != t.currency {
				return mollieFailure(409, "Conflict", "The idempotency key was used for another request", "")
			}
			t = was
		} else if set, ok := s.dice.Struck(s.modesOf(t), "auto", t.reference); ok {
			s.settle(t, success, t.created.Add(set.Span))
		}
		return reply{201, s.mollieBody(t, s.cfg.Now())}
	}}
}

// readMollie is GET /v2/payments/{id}.
func (s *Sim) readMollie(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.findPrefixed(mollie, which, molliePaymentID)
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil {
			return noSuchMollie("payment", which)
		}
		body := s.mollieBody(t, now)
		if t.status(now) == pending && t.pendingLeft > 0 {
			if t.pendingLeft--; t.pendingLeft == 0 {
				s.hooks.announceCharge(t, s.modesOf(t), 0)
			}
		}
		return reply{200, body}
	}}
}

// mollieBody is a payment. Mollie's page lets a buyer try again after a refusal, so that a payment
// whose buyer was refused is open.
func (s *Sim) mollieBody(t *transaction, now time.Time) map[string]any {
	amount := t.asked
	body := map[string]any{
		"resource": "payment", "id": molliePaymentID + strconv.FormatInt(t.id, 10), "mode": "test", "description": "Order " + t.reference,
		"redirectUrl": t.callback, "webhookUrl": t.hook, "createdAt": t.created.UTC().Format(time.RFC3339),
		"metadata": map[string]string{"reference": t.reference}, "status": "open",
		"_links": map[string]any{"checkout": map[string]string{"href": s.base + "/checkout/" + s.accessCode(t.id), "type": "text/html"}},
	}
	switch st := t.status(now); {
	case arrived(st):
		amount = t.paid
		body["status"], body["paidAt"] = "paid", t.paidAt.UTC().Format(time.RFC3339)
		body["amountRefunded"] = mollieMoney(t.paid-t.chargedBack()-t.refundable(now), t.currency)
		body["amountChargedBack"] = mollieMoney(t.chargedBack(), t.currency)
		body["amountRemaining"] = mollieMoney(max(t.refundable(now), 0), t.currency)
	case st != abandoned && st != failed:
		body["status"] = "pending"
	}
	body["amount"] = mollieMoney(amount, t.currency)
	return body
}

// refundMollie is POST /v2/payments/{id}/refunds. The same idempotency key gets the same refund.
func (s *Sim) refundMollie(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	var in struct {
		Amount   mollieAmount      `json:"amount"`
		Metadata map[string]string `json:"metadata"`
	}
	bad := json.Unmarshal(ctx.PostBody(), &in) != nil
	idempotency := string(ctx.Request.Header.Peek("Idempotency-Key"))
	t := s.findPrefixed(mollie, which, molliePaymentID)
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil {
			return noSuchMollie("payment", which)
		}
		for _, made := range t.refunds {
			if idempotency != "" && made.customerNote == idempotency {
				return reply{201, mollieRefundBody(made, now)}
			}
		}
		m := s.modesOf(t)
		amount, valid := in.Amount.minor()
		r := &refund{amount: amount, created: now, end: s.refundEnd(t, m), merchantNote: in.Metadata["key"], customerNote: idempotency}
		switch left := t.refundable(now); {
		case bad || !valid || in.Amount.Currency != t.currency:
			return mollieFailure(422, "Unprocessable Entity", "The amount is invalid", "amount")
		case !arrived(t.status(now)) || amount > left:
			return mollieFailure(422, "Unprocessable Entity", "The specified amount cannot be refunded", "amount")
		}
		if set, ok := s.dice.Struck(m, "refundrefused", t.reference); ok && t.refused < set.Number {
			t.refused++
			return mollieFailure(422, "Unprocessable Entity", "The balance is too low for the refund", "amount")
		}
		if set, ok := s.dice.Struck(m, "refundslow", t.reference); ok {
			r.step = set.Span
		}
		s.ledger.refund(t, r)
		return reply{201, mollieRefundBody(r, now)}
	}}
}

// mollieRefundBody is a refund in Mollie's words.
func mollieRefundBody(r *refund, now time.Time) map[string]any {
	status := "refunded"
	switch r.status(now) {
	case pending:
		status = "pending"
	case refundProcessing, "needs-attention":
		status = "processing"
	case failed:
		status = failed
	}
	return map[string]any{
		"resource": "refund", "id": mollieRefundID + strconv.FormatInt(r.id, 10), "paymentId": molliePaymentID + strconv.FormatInt(r.of.id, 10),
		"amount": mollieMoney(r.amount, r.of.currency), "status": status, "createdAt": r.created.UTC().Format(time.RFC3339),
		"metadata": map[string]string{"key": r.merchantNote},
	}
}

// mollieRefunds is GET /v2/payments/{id}/refunds, the newest first. A page names the first refund of
// the next.
func (s *Sim) mollieRefunds(ctx *fasthttp.RequestCtx) task {
	which, from, limit := param(ctx, "id"), query(ctx, "from"), queryInt(ctx, "limit", 50, 1, 250)
	t := s.findPrefixed(mollie, which, molliePaymentID)
	return task{s.modesOf(t), which, func() reply {
		if t == nil {
			return noSuchMollie("payment", which)
		}
		now, found, next := s.cfg.Now(), from == "", ""
		list := []map[string]any{}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eachRefund(which, t, func(r *refund) bool {
			id := mollieRefundID + strconv.FormatInt(r.id, 10)
			found = found || id == from
			switch {
			case r.status(now) == "" || !found:
			case len(list) == limit:
				next = id
			default:
				list = append(list, mollieRefundBody(r, now))
			}
			return next == ""
		})
		links := map[string]any{"next": nil}
		if next != "" {
			links["next"] = map[string]string{"href": s.base + "/v2/payments/" + which + "/refunds?from=" + next + "&limit=" + strconv.Itoa(limit)}
		}
		return reply{200, map[string]any{"count": len(list), "_embedded": map[string]any{"refunds": list}, "_links": links}}
	}}
}

// readMollieRefund is GET /v2/payments/{id}/refunds/{refund}.
func (s *Sim) readMollieRefund(ctx *fasthttp.RequestCtx) task {
	payment, which := param(ctx, "id"), param(ctx, "refund")
	id, _ := strconv.ParseInt(strings.TrimPrefix(which, mollieRefundID), 10, 64)
	return task{s.modesOf(nil), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.ledger.refunds.get(id)
		if r == nil || r.of.provider != mollie || molliePaymentID+strconv.FormatInt(r.of.id, 10) != payment {
			return noSuchMollie("refund", which)
		}
		return reply{200, mollieRefundBody(r, s.cfg.Now())}
	}}
}

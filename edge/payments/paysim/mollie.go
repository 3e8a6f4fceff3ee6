package paysim

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
)

// These are the prefixes of Mollie's ids. The ledger's number follows them.
const (
	molliePaymentID = "tr_"
	mollieRefundID  = "re_"
)

// mollieFailure makes an error in Mollie's form. The field names the wrong member of the request, if one is wrong.
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

// mollieAPI makes the handler of a call of Mollie's API: it checks the key, reads the call, and
// performs it as the modes demand.
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

// mollieAmount is money as Mollie writes it: a decimal in quotes that always has all the places of its currency.
type mollieAmount struct {
	Currency string `json:"currency"`
	Value    string `json:"value"`
}

func mollieMoney(minor int64, currency string) mollieAmount {
	return mollieAmount{currency, string(majorUnits(minor, currency))}
}

// minor returns the amount in minor units. It returns false if the text is no amount above 0.
func (a mollieAmount) minor() (int64, bool) {
	n, ok := minorUnits(json.Number(a.Value), a.Currency)
	return n, ok && n > 0
}

// createMollie answers POST /v2/payments. A repeat with the same idempotency key gets the same payment, or is refused
// if it asks for other money.
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
	t := &ledger.Transaction{
		Provider: ledger.Mollie, Reference: in.Metadata["reference"], Currency: in.Amount.Currency, Callback: in.Redirect, Hook: in.Webhook,
		Asked: amount, Created: s.cfg.Now(),
	}
	switch {
	case !valid || len(t.Currency) != 3:
		return done(mollieFailure(422, "Unprocessable Entity", "The amount is lower than the minimum", "amount"))
	case in.Description == "":
		return done(mollieFailure(422, "Unprocessable Entity", "The description is invalid", "description"))
	case t.Callback == "" || !validCallback(t.Callback) || !validCallback(t.Hook):
		return done(mollieFailure(422, "Unprocessable Entity", "The redirect or webhook URL is invalid", "redirectUrl"))
	case t.Reference == "" || idempotency != t.Reference: // the simulator's ledger knows charges by our reference
		return done(mollieFailure(422, "Unprocessable Entity", "metadata has no reference that the idempotency key repeats", "metadata"))
	}
	if modes := in.Metadata["paysim"]; modes != "" {
		t.Metadata, _ = json.Marshal(map[string]string{"paysim": modes}) // a map of texts never fails
		if m, err := faults.Parse(modes); err == nil {
			t.Modes.Store(&m)
		}
	}
	return task{s.ledger.ModesOf(t), t.Reference, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		// The idempotency key is our reference, so a reference that is taken means a repeat. A
		// repeat must ask for the same money.
		if !s.ledger.Add(t) {
			was := s.ledger.ByReference(t.Reference)
			if was.Asked != t.Asked || was.Currency != t.Currency {
				return mollieFailure(409, "Conflict", "The idempotency key was used for another request", "")
			}
			t = was
		}
		return reply{201, s.mollieBody(t, s.cfg.Now())}
	}}
}

// readMollie answers GET /v2/payments/{id}. It counts as a read for the mode "pending".
func (s *Sim) readMollie(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.ledger.FindPrefixed(ledger.Mollie, which, molliePaymentID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil {
			return noSuchMollie("payment", which)
		}
		body := s.mollieBody(t, now)
		s.ledger.CountRead(t)
		return reply{200, body}
	}}
}

// mollieBody shows a payment in Mollie's form. Mollie's page lets a refused buyer try again, so the
// payment of such a buyer stays open. The caller holds the ledger's lock.
func (s *Sim) mollieBody(t *ledger.Transaction, now time.Time) map[string]any {
	amount := t.Asked
	body := map[string]any{
		"resource": "payment", "id": molliePaymentID + strconv.FormatInt(t.ID, 10), "mode": "test", "description": "Order " + t.Reference,
		"redirectUrl": t.Callback, "webhookUrl": t.Hook, "createdAt": t.Created.UTC().Format(time.RFC3339),
		"metadata": map[string]string{"reference": t.Reference}, "status": "open",
		"_links": map[string]any{"checkout": map[string]string{"href": s.base + "/checkout/" + s.accessCode(t.ID), "type": "text/html"}},
	}
	switch st := t.Status(now); {
	case ledger.Arrived(st):
		amount = t.Paid
		body["status"], body["paidAt"] = "paid", t.PaidAt.UTC().Format(time.RFC3339)
		body["amountRefunded"] = mollieMoney(t.Paid-t.ChargedBack()-t.Refundable(now), t.Currency)
		body["amountChargedBack"] = mollieMoney(t.ChargedBack(), t.Currency)
		body["amountRemaining"] = mollieMoney(max(t.Refundable(now), 0), t.Currency)
	case st != ledger.Abandoned && st != ledger.Failed:
		body["status"] = "pending"
	}
	body["amount"] = mollieMoney(amount, t.Currency)
	return body
}

// refundMollie answers POST /v2/payments/{id}/refunds. A repeat with the same idempotency key gets the same refund.
func (s *Sim) refundMollie(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	var in struct {
		Amount   mollieAmount      `json:"amount"`
		Metadata map[string]string `json:"metadata"`
	}
	bad := json.Unmarshal(ctx.PostBody(), &in) != nil
	idempotency := string(ctx.Request.Header.Peek("Idempotency-Key"))
	t := s.ledger.FindPrefixed(ledger.Mollie, which, molliePaymentID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil {
			return noSuchMollie("payment", which)
		}
		// A refund keeps its idempotency key as the note to the customer, a field that Mollie does not have.
		for _, made := range t.Refunds {
			if idempotency != "" && made.CustomerNote == idempotency {
				return reply{201, mollieRefundBody(made, now)}
			}
		}
		amount, valid := in.Amount.minor()
		r := &ledger.Refund{Amount: amount, Created: now, MerchantNote: in.Metadata["key"], CustomerNote: idempotency}
		switch left := t.Refundable(now); {
		case bad || !valid || in.Amount.Currency != t.Currency:
			return mollieFailure(422, "Unprocessable Entity", "The amount is invalid", "amount")
		case !ledger.Arrived(t.Status(now)) || amount > left:
			return mollieFailure(422, "Unprocessable Entity", "The specified amount cannot be refunded", "amount")
		}
		if s.ledger.RefusesRefund(t) {
			return mollieFailure(422, "Unprocessable Entity", "The balance is too low for the refund", "amount")
		}
		s.ledger.Refund(t, r)
		return reply{201, mollieRefundBody(r, now)}
	}}
}

// mollieRefundBody shows a refund in Mollie's form. The caller holds the ledger's lock.
func mollieRefundBody(r *ledger.Refund, now time.Time) map[string]any {
	status := "refunded"
	switch r.Status(now) {
	case ledger.Pending:
		status = "pending"
	case ledger.RefundProcessing, "needs-attention":
		status = "processing"
	case ledger.Failed:
		status = ledger.Failed
	}
	return map[string]any{
		"resource": "refund", "id": mollieRefundID + strconv.FormatInt(r.ID, 10), "paymentId": molliePaymentID + strconv.FormatInt(r.Of.ID, 10),
		"amount": mollieMoney(r.Amount, r.Of.Currency), "status": status, "createdAt": r.Created.UTC().Format(time.RFC3339),
		"metadata": map[string]string{"key": r.MerchantNote},
	}
}

// mollieRefunds answers GET /v2/payments/{id}/refunds: the refunds of one payment, the newest first. Each page
// but the last has a link to the next page, which names that page's first refund.
func (s *Sim) mollieRefunds(ctx *fasthttp.RequestCtx) task {
	which, from, limit := param(ctx, "id"), query(ctx, "from"), queryInt(ctx, "limit", 50, 1, 250)
	t := s.ledger.FindPrefixed(ledger.Mollie, which, molliePaymentID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		if t == nil {
			return noSuchMollie("payment", which)
		}
		now, found, next := s.cfg.Now(), from == "", ""
		list := []map[string]any{}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		s.ledger.EachRefund(which, t, func(r *ledger.Refund) bool {
			id := mollieRefundID + strconv.FormatInt(r.ID, 10)
			found = found || id == from
			switch {
			case r.Status(now) == "" || !found:
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

// readMollieRefund answers GET /v2/payments/{id}/refunds/{refund}. A refund of another payment does not exist there.
func (s *Sim) readMollieRefund(ctx *fasthttp.RequestCtx) task {
	payment, which := param(ctx, "id"), param(ctx, "refund")
	id, _ := strconv.ParseInt(strings.TrimPrefix(which, mollieRefundID), 10, 64)
	return task{s.ledger.ModesOf(nil), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		r := s.ledger.RefundByID(id)
		if r == nil || r.Of.Provider != ledger.Mollie || molliePaymentID+strconv.FormatInt(r.Of.ID, 10) != payment {
			return noSuchMollie("refund", which)
		}
		return reply{200, mollieRefundBody(r, s.cfg.Now())}
	}}
}

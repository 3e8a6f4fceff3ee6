package paysim

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/engine"
)

// hosted is the envelope of Flutterwave's answers.
type hosted struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

func refusedHosted(status int, message string) reply {
	return reply{status, hosted{"error", message, nil}}
}

func noTransaction() reply { return refusedHosted(404, "No transaction was found for this id") }

// hostedAPI checks Flutterwave's key, reads the call, and does it as its modes have it.
func (s *Sim) hostedAPI(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if key, ok := strings.CutPrefix(string(ctx.Request.Header.Peek("Authorization")), "Bearer "); !ok || key == "" || key != s.cfg.FlutterwaveKey {
			writeJSON(ctx, 401, hosted{"error", "Invalid authorization key", nil})
			return
		}
		t := read(ctx)
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

// createHosted is POST /v3/payments. A tx_ref that is known leads to its page again.
func (s *Sim) createHosted(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Reference string      `json:"tx_ref"`
		Amount    json.Number `json:"amount"`
		Currency  string      `json:"currency"`
		Redirect  string      `json:"redirect_url"`
		Customer  struct {
			Email string `json:"email"`
		} `json:"customer"`
	}
	err := json.Unmarshal(ctx.PostBody(), &in)
	minor, whole := minorUnits(in.Amount, in.Currency)
	if err != nil || in.Reference == "" || !whole || minor <= 0 || in.Redirect == "" || in.Customer.Email == "" || !validCallback(in.Redirect) {
		return done(refusedHosted(400, "tx_ref, amount, redirect_url and customer.email are required"))
	}
	t := &transaction{
		provider: flutterwave, reference: in.Reference, email: in.Customer.Email, currency: in.Currency, callback: in.Redirect, asked: minor, created: s.cfg.Now(),
	}
	if t.currency == "" {
		t.currency = "NGN"
	}
	return task{s.modesOf(t), t.reference, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.ledger.add(t) {
			t = s.ledger.byRef[t.reference]
		} else if set, ok := s.dice.Struck(s.modesOf(t), "auto", t.reference); ok {
			s.settle(t, success, t.created.Add(set.Span))
		}
		return reply{200, hosted{"success", "Hosted Link", map[string]string{"link": s.base + "/checkout/" + s.accessCode(t.id)}}}
	}}
}

// verifyHosted is GET /v3/transactions/{id}/verify and .../verify_by_reference. A
// buyer who has not tried to pay has no transaction.
func (s *Sim) verifyHosted(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	if which == "" {
		which = query(ctx, "tx_ref")
	}
	t := s.find(which)
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil || t.provider != flutterwave || t.status(now) == abandoned {
			return noTransaction()
		}
		body := hostedBody(t, now)
		if t.status(now) == pending && t.pendingLeft > 0 {
			if t.pendingLeft--; t.pendingLeft == 0 {
				s.hooks.announceCharge(t, s.modesOf(t), 0)
			}
		}
		return reply{200, hosted{"success", "Transaction fetched successfully", body}}
	}}
}

// hostedBody is a transaction in Flutterwave's words, its amounts in major units.
func hostedBody(t *transaction, now time.Time) map[string]any {
	status := "pending"
	switch st := t.status(now); {
	case arrived(st):
		status = "successful"
	case st == failed:
		status = failed
	}
	amount := t.asked
	if t.outcome == success {
		amount = t.paid
	}
	paid := majorUnits(amount, t.currency)
	return map[string]any{
		"id": t.id, "tx_ref": t.reference, "flw_ref": "FLW-" + strconv.FormatInt(t.id, 10), "device_fingerprint": "N/A", "narration": "CARD Transaction", "card": nil, "amount": paid, "currency": t.currency,
		"charged_amount": paid, "app_fee": 1, "merchant_fee": 0, "processor_response": "Approved", "auth_model": "PIN", "ip": "127.0.0.1",
		"status": status, "payment_type": "card", "created_at": stamp(t.created), "account_id": 1, "meta": nil, "amount_settled": paid,
		"customer": map[string]any{"id": 1, "name": t.email, "phone_number": nil, "email": t.email, "created_at": stamp(t.created)},
	}
}

// refundHosted is POST /v3/transactions/{id}/refund. The money is gone at once, unless a
// mode says otherwise; nothing tells a repeat from a second refund, as live.
func (s *Sim) refundHosted(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Amount   json.Number `json:"amount"`
		Comments string      `json:"comments"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in) // the body may be left out
	t := s.find(param(ctx, "id"))
	return task{s.modesOf(t), param(ctx, "id"), func() reply {
		now := s.cfg.Now()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil || t.provider != flutterwave {
			return noTransaction()
		}
		m := s.modesOf(t)
		r := &refund{amount: t.refundable(now), created: now, end: s.refundEnd(t, m), merchantNote: in.Comments}
		if in.Amount != "" {
			r.amount, _ = minorUnits(in.Amount, t.currency)
		}
		if !arrived(t.status(now)) || r.amount <= 0 || r.amount > t.refundable(now) {
			return refusedHosted(400, "Refund amount cannot be more than the transaction's")
		}
		if set, ok := s.dice.Struck(m, "refundrefused", t.reference); ok && t.refused < set.Number {
			t.refused++
			return refusedHosted(400, "Insufficient funds to process the refund")
		}
		if set, ok := s.dice.Struck(m, "refundslow", t.reference); ok {
			r.step = set.Span
		}
		s.ledger.refund(t, r)
		return reply{200, hosted{"success", "Transaction refund initiated", map[string]any{
			"id": r.id, "account_id": 1, "tx_id": t.id, "flw_ref": "URF-" + strconv.FormatInt(r.id, 10), "wallet_id": 1, "amount_refunded": majorUnits(r.amount, r.of.currency),
			"status": hostedRefund(r.status(now)), "destination": "payment_source", "meta": map[string]any{"source": "availablebalance"}, "created_at": stamp(now),
		}}}
	}}
}

// hostedRefund is a refund's status in Flutterwave's words.
func hostedRefund(status string) string {
	switch status {
	case refundProcessed:
		return "completed-mpgs"
	case failed:
		return failed
	}
	return "new"
}

// hostedRefundBody is a refund as lists of them have it.
func hostedRefundBody(r *refund, now time.Time) map[string]any {
	return map[string]any{
		"id": r.id, "amount_refunded": majorUnits(r.amount, r.of.currency), "status": hostedRefund(r.status(now)), "flw_ref": "URF-" + strconv.FormatInt(r.id, 10),
		"comment": r.merchantNote, "settlement_id": "NEW", "meta": "{}", "created_at": stamp(r.created), "account_id": 1, "transaction_id": r.of.id,
	}
}

// hostedPage is how many refunds a page has.
const hostedPage = 20

// hostedRefunds is GET /v3/refunds: the newest first, of one transaction if its id is given.
func (s *Sim) hostedRefunds(ctx *fasthttp.RequestCtx) task {
	which, page := query(ctx, "id"), queryInt(ctx, "page", 1, 1, 1_000_000)
	t := s.find(which)
	return task{s.modesOf(t), which, func() reply {
		now := s.cfg.Now()
		all := []map[string]any{}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eachRefund(which, t, func(r *refund) bool {
			if r.of.provider == flutterwave && r.status(now) != "" {
				all = append(all, hostedRefundBody(r, now))
			}
			return true
		})
		pages := (len(all) + hostedPage - 1) / hostedPage
		first := min((page-1)*hostedPage, len(all))
		return reply{200, hostedList{
			hosted: hosted{"success", "Refunds fetched", all[first:min(first+hostedPage, len(all))]},
			Meta:   map[string]any{"page_info": map[string]int{"total": len(all), "current_page": page, "total_pages": pages, "page_size": hostedPage}},
		}}
	}}
}

// hostedList is the envelope of lists.
type hostedList struct {
	hosted
	Meta any `json:"meta"`
}

// readHostedRefund is GET /v3/refunds/{id}.
func (s *Sim) readHostedRefund(ctx *fasthttp.RequestCtx) task {
	id, _ := strconv.ParseInt(param(ctx, "id"), 10, 64)
	return task{s.modesOf(nil), param(ctx, "id"), func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		r := s.ledger.refunds.get(id)
		if r == nil || r.of.provider != flutterwave {
			return refusedHosted(404, "Refund not found")
		}
		return reply{200, hosted{"success", "Refund fetched", hostedRefundBody(r, s.cfg.Now())}}
	}}
}

// majorUnits writes minor units of a currency as a decimal number of major ones.
func majorUnits(minor int64, currency string) json.Number {
	return json.Number(engine.Decimal(minor, currency))
}

// hostedReturn adds what Flutterwave does to the address that a buyer comes back to.
func hostedReturn(q url.Values, t *transaction) {
	q.Set("tx_ref", t.reference)
	if t.outcome == abandoned {
		q.Set("status", "cancelled")
		return
	}
	q.Set("status", map[bool]string{true: "successful", false: failed}[t.outcome == success])
	q.Set("transaction_id", strconv.FormatInt(t.id, 10))
}

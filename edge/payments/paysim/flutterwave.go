package paysim

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/paystack"
	"boxoffice/engine"
)

// hosted is the JSON object around every answer of Flutterwave.
type hosted struct {
	Status  string `json:"status"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

func refusedHosted(status int, message string) reply {
	return reply{status, hosted{"error", message, nil}}
}

func noTransaction() reply { return refusedHosted(404, "No transaction was found for this id") }

// hostedAPI makes the handler of a call of Flutterwave's API: it checks the key, reads the call, and performs it as
// the modes demand. The part of each provider has such a function, because each answers a wrong key in its own way.
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

// createHosted answers POST /v3/payments. A tx_ref that is already known leads to the same checkout page
// again and is no error.
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
	t := &ledger.Transaction{
		Provider: ledger.Flutterwave, Reference: in.Reference, Email: in.Customer.Email, Currency: in.Currency, Callback: in.Redirect, Asked: minor, Created: s.cfg.Now(),
	}
	if t.Currency == "" {
		t.Currency = "NGN"
	}
	return task{s.ledger.ModesOf(t), t.Reference, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if !s.ledger.Add(t) {
			t = s.ledger.ByReference(t.Reference)
		}
		return reply{200, hosted{"success", "Hosted Link", map[string]string{"link": s.base + "/checkout/" + s.accessCode(t.ID)}}}
	}}
}

// verifyHosted answers GET /v3/transactions/{id}/verify and .../verify_by_reference. Flutterwave makes a transaction
// only when a buyer tries to pay, so until then there is none. The call counts as a read for the mode "pending".
func (s *Sim) verifyHosted(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	if which == "" {
		which = query(ctx, "tx_ref")
	}
	t := s.ledger.Find(which)
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil || t.Provider != ledger.Flutterwave || t.Status(now) == ledger.Abandoned {
			return noTransaction()
		}
		body := hostedBody(t, now)
		s.ledger.CountRead(t)
		return reply{200, hosted{"success", "Transaction fetched successfully", body}}
	}}
}

// hostedBody shows a transaction in Flutterwave's form, with amounts in major units. The caller
// holds the ledger's lock.
func hostedBody(t *ledger.Transaction, now time.Time) map[string]any {
	status := "pending"
	switch st := t.Status(now); {
	case ledger.Arrived(st):
		status = "successful"
	case st == ledger.Failed:
		status = ledger.Failed
	}
	amount := t.Asked
	if t.Outcome == ledger.Success {
		amount = t.Paid
	}
	paid := majorUnits(amount, t.Currency)
	return map[string]any{
		"id": t.ID, "tx_ref": t.Reference, "flw_ref": "FLW-" + strconv.FormatInt(t.ID, 10), "device_fingerprint": "N/A", "narration": "CARD Transaction", "card": nil, "amount": paid, "currency": t.Currency,
		"charged_amount": paid, "app_fee": 1, "merchant_fee": 0, "processor_response": "Approved", "auth_model": "PIN", "ip": "127.0.0.1",
		"status": status, "payment_type": "card", "created_at": paystack.Stamp(t.Created), "account_id": 1, "meta": nil, "amount_settled": paid,
		"customer": map[string]any{"id": 1, "name": t.Email, "phone_number": nil, "email": t.Email, "created_at": paystack.Stamp(t.Created)},
	}
}

// refundHosted answers POST /v3/transactions/{id}/refund. The money is gone at once unless a mode delays
// it. Flutterwave cannot tell a repeat from a second refund.
func (s *Sim) refundHosted(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Amount   json.Number `json:"amount"`
		Comments string      `json:"comments"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in) // the body may be left out
	t := s.ledger.Find(param(ctx, "id"))
	return task{s.ledger.ModesOf(t), param(ctx, "id"), func() reply {
		now := s.cfg.Now()
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil || t.Provider != ledger.Flutterwave {
			return noTransaction()
		}
		r := &ledger.Refund{Amount: t.Refundable(now), Created: now, MerchantNote: in.Comments}
		if in.Amount != "" {
			r.Amount, _ = minorUnits(in.Amount, t.Currency)
		}
		if !ledger.Arrived(t.Status(now)) || r.Amount <= 0 || r.Amount > t.Refundable(now) {
			return refusedHosted(400, "Refund amount cannot be more than the transaction's")
		}
		if s.ledger.RefusesRefund(t) {
			return refusedHosted(400, "Insufficient funds to process the refund")
		}
		s.ledger.Refund(t, r)
		return reply{200, hosted{"success", "Transaction refund initiated", map[string]any{
			"id": r.ID, "account_id": 1, "tx_id": t.ID, "flw_ref": "URF-" + strconv.FormatInt(r.ID, 10), "wallet_id": 1, "amount_refunded": majorUnits(r.Amount, r.Of.Currency),
			"status": hostedRefund(r.Status(now)), "destination": "payment_source", "meta": map[string]any{"source": "availablebalance"}, "created_at": paystack.Stamp(now),
		}}}
	}}
}

// hostedRefund translates a refund's status into Flutterwave's words.
func hostedRefund(status string) string {
	switch status {
	case ledger.RefundProcessed:
		return "completed-mpgs"
	case ledger.Failed:
		return ledger.Failed
	}
	return "new"
}

// hostedRefundBody shows a refund in the form that Flutterwave's lists have. The caller holds the ledger's lock.
func hostedRefundBody(r *ledger.Refund, now time.Time) map[string]any {
	return map[string]any{
		"id": r.ID, "amount_refunded": majorUnits(r.Amount, r.Of.Currency), "status": hostedRefund(r.Status(now)), "flw_ref": "URF-" + strconv.FormatInt(r.ID, 10),
		"comment": r.MerchantNote, "settlement_id": "NEW", "meta": "{}", "created_at": paystack.Stamp(r.Created), "account_id": 1, "transaction_id": r.Of.ID,
	}
}

// hostedPage is the number of refunds on a page of Flutterwave's list, which a caller cannot choose.
const hostedPage = 20

// hostedRefunds answers GET /v3/refunds: all of Flutterwave's refunds, the newest first, or the refunds of one
// transaction if its id is given.
func (s *Sim) hostedRefunds(ctx *fasthttp.RequestCtx) task {
	which, page := query(ctx, "id"), queryInt(ctx, "page", 1, 1, 1_000_000)
	t := s.ledger.Find(which)
	return task{s.ledger.ModesOf(t), which, func() reply {
		now := s.cfg.Now()
		all := []map[string]any{}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		s.ledger.EachRefund(which, t, func(r *ledger.Refund) bool {
			if r.Of.Provider == ledger.Flutterwave && r.Status(now) != "" {
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

// hostedList is the JSON object around Flutterwave's lists.
type hostedList struct {
	hosted
	Meta any `json:"meta"`
}

// readHostedRefund answers GET /v3/refunds/{id}.
func (s *Sim) readHostedRefund(ctx *fasthttp.RequestCtx) task {
	id, _ := strconv.ParseInt(param(ctx, "id"), 10, 64)
	return task{s.ledger.ModesOf(nil), param(ctx, "id"), func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		r := s.ledger.RefundByID(id)
		if r == nil || r.Of.Provider != ledger.Flutterwave {
			return refusedHosted(404, "Refund not found")
		}
		return reply{200, hosted{"success", "Refund fetched", hostedRefundBody(r, s.cfg.Now())}}
	}}
}

// majorUnits writes an amount of minor units as a decimal number of major units.
func majorUnits(minor int64, currency string) json.Number {
	return json.Number(engine.Decimal(minor, currency))
}

// hostedReturn adds the parameters that Flutterwave adds to the address to which a buyer returns.
func hostedReturn(q url.Values, t *ledger.Transaction) {
	q.Set("tx_ref", t.Reference)
	if t.Outcome == ledger.Abandoned {
		q.Set("status", "cancelled")
		return
	}
	q.Set("status", map[bool]string{true: "successful", false: ledger.Failed}[t.Outcome == ledger.Success])
	q.Set("transaction_id", strconv.FormatInt(t.ID, 10))
}

package paysim

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// Stripe's words for a dispute.
const (
	needsResponse = "needs_response"
	underReview   = "under_review"
	disputeWon    = "won"
	disputeLost   = "lost"
)

// The prefixes of the ids of disputes, which are followed by the number of their transaction.
const (
	stripeDisputeID = "du_"
	chargebackID    = "chb_"
)

// disputeEvents are what Stripe tells when a dispute comes to a status. Mollie tells that the payment has changed.
var disputeEvents = map[string]string{
	needsResponse: "charge.dispute.created",
	underReview:   "charge.dispute.updated",
	disputeWon:    "charge.dispute.closed",
	disputeLost:   "charge.dispute.closed",
}

// disputed are the providers that tell of disputes.
var disputed = map[string]bool{stripe: true, mollie: true, paypal: true}

// dispute is what a transaction's buyer has had the bank take back: all that was paid.
type dispute struct {
	status string // in Stripe's words
	opened time.Time
	closed time.Time // zero until it is won or lost
}

// chargedBack is what the bank has taken back and not returned.
func (t *transaction) chargedBack() int64 {
	if t.dispute == nil || t.dispute.status == disputeWon {
		return 0
	}
	return t.paid
}

// MoveDispute opens a bank's dispute about a payment of Stripe, Mollie or PayPal, or moves it on to a status: needs_response,
// under_review, won or lost. It reports whether there are such a payment and status.
func (s *Sim) MoveDispute(reference, status string) bool {
	event, now := disputeEvents[status], s.cfg.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.ledger.byRef[reference]
	if t == nil || !disputed[t.provider] || !arrived(t.status(now)) || event == "" {
		return false
	}
	if t.dispute == nil {
		t.dispute = &dispute{opened: now}
	}
	t.dispute.status, t.dispute.closed = status, time.Time{}
	if status == disputeWon || status == disputeLost {
		t.dispute.closed = now
	}
	s.hooks.queueEvent(s.modesOf(t), 0, delivery{event: event, of: t, status: status, dispute: true})
	return true
}

// postDispute is POST /_sim/dispute: MoveDispute by a reference and a status.
func (s *Sim) postDispute(ctx *fasthttp.RequestCtx) {
	var in struct {
		Reference string `json:"reference"`
		Status    string `json:"status"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in) // what can't be read names no payment
	if !s.MoveDispute(in.Reference, in.Status) {
		writeJSON(ctx, 409, failure{Message: "no such payment, or no such status: needs_response, under_review, won or lost"})
		return
	}
	writeJSON(ctx, 200, map[string]string{"status": in.Status})
}

// readDispute is GET /v1/disputes/{id}.
func (s *Sim) readDispute(ctx *fasthttp.RequestCtx) task {
	which, expand := param(ctx, "id"), query(ctx, "expand[]")
	t := s.findPrefixed(stripe, which, stripeDisputeID)
	return task{s.modesOf(t), which, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		if t == nil || t.dispute == nil {
			return missing("dispute: " + which)
		}
		body := disputeBody(t)
		if expand == "payment_intent" {
			body["payment_intent"] = s.sessionBody(t, s.cfg.Now())["payment_intent"]
		}
		return reply{200, body}
	}}
}

// disputeBody is a dispute in Stripe's words. Like Stripe's it says nothing of our reference. Sim.mu is held.
func disputeBody(t *transaction) map[string]any {
	number := strconv.FormatInt(t.id, 10)
	due := t.dispute.opened.Add(7 * 24 * time.Hour).Unix()
	return map[string]any{
		"id": stripeDisputeID + number, "object": "dispute", "amount": t.paid, "currency": strings.ToLower(t.currency), "charge": "ch_" + number,
		"payment_intent": intentID + number, "created": t.dispute.opened.Unix(), "reason": "fraudulent", "status": t.dispute.status,
		"metadata": map[string]string{}, "evidence_details": map[string]any{"due_by": due, "has_evidence": false},
	}
}

// listChargebacks is GET /v2/payments/{id}/chargebacks.
func (s *Sim) listChargebacks(ctx *fasthttp.RequestCtx) task {
	which, embed := param(ctx, "id"), query(ctx, "embed")
	t := s.findPrefixed(mollie, which, molliePaymentID)
	return task{s.modesOf(t), which, func() reply {
		if t == nil {
			return noSuchMollie("payment", which)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		list := []map[string]any{}
		if d := t.dispute; d != nil {
			var reversed *string
			if d.status == disputeWon {
				at := d.closed.UTC().Format(time.RFC3339)
				reversed = &at
			}
			body := map[string]any{
				"resource": "chargeback", "id": chargebackID + strconv.FormatInt(t.id, 10), "paymentId": which, "amount": mollieMoney(t.paid, t.currency),
				"reason": map[string]string{"code": "4837", "description": "No cardholder authorization"}, "createdAt": d.opened.UTC().Format(time.RFC3339),
				"reversedAt": reversed,
			}
			if embed == "payment" {
				body["_embedded"] = map[string]any{"payment": s.mollieBody(t, s.cfg.Now())}
			}
			list = append(list, body)
		}
		return reply{200, map[string]any{"count": len(list), "_embedded": map[string]any{"chargebacks": list}, "_links": map[string]any{"next": nil}}}
	}}
}

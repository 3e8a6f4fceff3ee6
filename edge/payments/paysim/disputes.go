package paysim

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/paystack"
)

// These are the prefixes of the ids of Stripe's and Mollie's disputes. The number of the disputed transaction
// follows them.
const (
	stripeDisputeID = "du_"
	chargebackID    = "chb_"
)

// disputeEvents are the events by which Stripe tells that a dispute has come to a status. PayPal has its own
// (paypalDisputeEvents). Mollie has none: it only tells that the payment has changed.
var disputeEvents = map[string]string{
	ledger.NeedsResponse: "charge.dispute.created",
	ledger.UnderReview:   "charge.dispute.updated",
	ledger.DisputeWon:    "charge.dispute.closed",
	ledger.DisputeLost:   "charge.dispute.closed",
}

// MoveDispute opens a dispute about a payment of Stripe, Mollie or PayPal, or moves it on to a status:
// needs_response, under_review, won or lost. It also queues the webhook about that. It returns false if there is no
// such payment or status, or if no money of the payment has come.
func (s *Sim) MoveDispute(reference, status string) bool {
	event := disputeEvents[status]
	if event == "" {
		return false
	}
	s.ledger.Lock()
	defer s.ledger.Unlock()
	t := s.ledger.MoveDispute(reference, status)
	if t == nil {
		return false
	}
	s.hooks.queueEvent(s.ledger.ModesOf(t), 0, delivery{event: event, of: t, status: status, move: t.Dispute.Moves})
	return true
}

// postDispute answers POST /_sim/dispute, by which tests call MoveDispute over HTTP.
func (s *Sim) postDispute(ctx *fasthttp.RequestCtx) {
	var in struct {
		Reference string `json:"reference"`
		Status    string `json:"status"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in) // what can't be read names no payment
	if !s.MoveDispute(in.Reference, in.Status) {
		writeJSON(ctx, 409, paystack.Failure{Message: "no such payment, or no such status: needs_response, under_review, won or lost"})
		return
	}
	writeJSON(ctx, 200, map[string]string{"status": in.Status})
}

// readDispute answers GET /v1/disputes/{id} of Stripe.
func (s *Sim) readDispute(ctx *fasthttp.RequestCtx) task {
	which := param(ctx, "id")
	t := s.ledger.FindPrefixed(ledger.Stripe, which, stripeDisputeID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		if t == nil || t.Dispute == nil {
			return missing("dispute: " + which)
		}
		return reply{200, disputeBody(t, s.cfg.Now())}
	}}
}

// disputeBody shows a dispute in Stripe's form. Like Stripe's own it does not have our reference,
// so a shop must find the order through the payment intent. The caller holds the ledger's lock.
func disputeBody(t *ledger.Transaction, now time.Time) map[string]any {
	number := strconv.FormatInt(t.ID, 10)
	// A merchant has seven days to answer.
	due := t.Dispute.Opened.Add(7 * 24 * time.Hour).Unix()
	return map[string]any{
		"id": stripeDisputeID + number, "object": "dispute", "amount": t.Paid, "currency": strings.ToLower(t.Currency), "charge": chargeBody(t, now),
		"payment_intent": intentBody(t, now), "created": t.Dispute.Opened.Unix(), "reason": "fraudulent", "status": t.Dispute.Status,
		"metadata": map[string]string{}, "evidence_details": map[string]any{"due_by": due, "has_evidence": false},
	}
}

// listChargebacks answers GET /v2/payments/{id}/chargebacks of Mollie. A payment has at most one chargeback here. A
// dispute that the merchant won shows as a reversed chargeback.
func (s *Sim) listChargebacks(ctx *fasthttp.RequestCtx) task {
	which, embed := param(ctx, "id"), query(ctx, "embed")
	t := s.ledger.FindPrefixed(ledger.Mollie, which, molliePaymentID)
	return task{s.ledger.ModesOf(t), which, func() reply {
		if t == nil {
			return noSuchMollie("payment", which)
		}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		list := []map[string]any{}
		if d := t.Dispute; d != nil {
			var reversed *string
			if d.Status == ledger.DisputeWon {
				at := d.Closed.UTC().Format(time.RFC3339)
				reversed = &at
			}
			body := map[string]any{
				"resource": "chargeback", "id": chargebackID + strconv.FormatInt(t.ID, 10), "paymentId": which, "amount": mollieMoney(t.Paid, t.Currency),
				"reason": map[string]string{"code": "4837", "description": "No cardholder authorization"}, "createdAt": d.Opened.UTC().Format(time.RFC3339),
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

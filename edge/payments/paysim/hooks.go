package paysim

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/outbox"
)

// delivery is one webhook to send. Its body is made only when it is sent, so that it tells the
// state of that moment, as real providers do.
type delivery struct {
	event string
	of    *ledger.Transaction
	// Nil for a webhook about the charge itself or its dispute.
	refund *ledger.Refund
	// The status that the webhook tells, of the refund, the dispute or the coins (NOWPayments), which may have moved
	// on by the time of sending. If it is empty, the webhook tells the payment's status at that time.
	status string
	// The number of the move of the transaction's dispute that the webhook tells, from 1; 0 if the webhook is about
	// something else.
	move int
	// The mode "badsig" has struck: the webhook is signed with a wrong key.
	badsig bool
}

// hooks makes the webhooks that tell shops about the progress of their payments. It knows which events there
// are, to which address each of them goes, and how each provider signs. The outbox sends them.
type hooks struct {
	sim *Sim
	box *outbox.Outbox
}

// webhookURL returns the address to which a transaction's webhooks go, or "" if there is none. Two
// providers take it with each payment; for the others it is configured.
func (h *hooks) webhookURL(t *ledger.Transaction) string {
	switch t.Provider {
	case ledger.NOWPayments, ledger.Mollie:
		return t.Hook
	case ledger.Flutterwave:
		return h.sim.cfg.FlutterwaveURL
	case ledger.Stripe:
		return h.sim.cfg.StripeURL
	case ledger.PayPal:
		return h.sim.cfg.PayPalURL
	}
	return h.sim.cfg.WebhookURL
}

// announceCharge queues the webhooks about a payment, to be sent after the duration in. Failed and abandoned
// checkouts are not announced, as at the real providers. It is called under the ledger's lock and must not take it.
func (h *hooks) announceCharge(t *ledger.Transaction, m faults.Modes, in time.Duration) {
	switch t.Provider {
	case ledger.NOWPayments: // NOWPayments sends a webhook for each status
		h.queueEvent(m, in, delivery{event: "confirming", of: t, status: "confirming"})
		h.queueEvent(m, in, delivery{event: "settled", of: t})
	case ledger.Flutterwave:
		h.queueEvent(m, in, delivery{event: "charge.completed", of: t})
	case ledger.Stripe:
		h.queueEvent(m, in, delivery{event: "checkout.session.completed", of: t})
	case ledger.Mollie:
		h.queueEvent(m, in, delivery{event: "payment", of: t})
	case ledger.PayPal:
		h.queueEvent(m, in, delivery{event: "PAYMENT.CAPTURE.COMPLETED", of: t})
	default:
		h.queueEvent(m, in, delivery{event: "charge.success", of: t})
	}
}

// announceRefund queues a webhook for each status that the refund will go through. Only Paystack
// announces refunds in this simulator.
func (h *hooks) announceRefund(r *ledger.Refund, m faults.Modes, in time.Duration) {
	if r.Of.Provider != "" {
		return
	}
	for _, step := range []struct {
		status string
		after  time.Duration
	}{{ledger.Pending, 0}, {ledger.RefundProcessing, r.Step}, {r.End, 2 * r.Step}} {
		if r.Step > 0 || step.status == r.End {
			h.queueEvent(m, in+step.after, delivery{event: "refund." + step.status, of: r.Of, refund: r, status: step.status})
		}
		if step.status == r.End {
			return
		}
	}
}

// queueEvent queues an event once, several times or never, as the modes demand. They may also delay it or have
// it signed wrongly. Nothing is queued if there is no address to send it to. The random draws depend on the
// seed, the event's name, the transaction's reference and the refund's id, so that a run can be repeated.
func (h *hooks) queueEvent(m faults.Modes, in time.Duration, d delivery) {
	if h.webhookURL(d.of) == "" {
		return
	}
	name := d.event + "/" + d.of.Reference
	if d.refund != nil {
		name += "/" + strconv.FormatInt(d.refund.ID, 10)
	}
	dice := h.sim.dice
	if _, ok := dice.Struck(m, "drop", name); ok {
		h.box.Drop()
		return
	}
	if set, ok := dice.Struck(m, "hookdelay", name); ok {
		in += set.Span
	}
	if set, ok := dice.Struck(m, "reorder", name); ok {
		in += time.Duration(dice.Once("wait/"+name) * float64(set.Span))
	}
	_, d.badsig = dice.Struck(m, "badsig", name)
	times := int64(1)
	if set, ok := dice.Struck(m, "duplicate", name); ok {
		times = set.Number
	}
	// Webhooks are sent by the real clock, even if the statuses run on another one.
	due := time.Now().Add(in)
	for range times {
		h.box.Push(due, func(ctx context.Context) (*http.Request, error) { return h.makeRequest(ctx, &d) })
	}
}

// makeRequest makes the request of a webhook and signs it in its provider's way. The outbox calls
// it for each attempt.
func (h *hooks) makeRequest(ctx context.Context, d *delivery) (*http.Request, error) {
	body, err := h.sim.encodeHook(d)
	if err != nil {
		return nil, err
	}
	// A wrong key makes a signature of the right form with a wrong value.
	wrong := ""
	if d.badsig {
		wrong = "?"
	}
	target := h.webhookURL(d.of)
	if d.of.Provider == ledger.Mollie {
		target += strings.ReplaceAll(wrong, "?", "0") // the MAC is the end of the address
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	switch d.of.Provider {
	case ledger.Mollie:
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case ledger.NOWPayments: // the encoder has sorted the keys, and there is nothing that it escapes
		req.Header.Set("X-Nowpayments-Sig", sign(h.sim.cfg.NOWPaymentsSign+wrong, body))
	case ledger.Flutterwave:
		req.Header.Set("Verif-Hash", h.sim.cfg.FlutterwaveHash+wrong)
	case ledger.Stripe:
		req.Header.Set("Stripe-Signature", signStripe(h.sim.cfg.StripeSecret+wrong, body, time.Now()))
	case ledger.PayPal:
		h.sim.signPaypal(req.Header, h.sim.cfg.PayPalKey+wrong, body, time.Now())
	default:
		req.Header.Set("X-Paystack-Signature", sign(h.sim.cfg.SecretKey+wrong, body))
	}
	return req, nil
}

// encodeHook returns the body of a webhook. Mollie sends only the payment's id, as a form, and the
// shop then reads the payment.
func (s *Sim) encodeHook(d *delivery) ([]byte, error) {
	if d.of.Provider == ledger.Mollie {
		return []byte("id=" + molliePaymentID + strconv.FormatInt(d.of.ID, 10)), nil
	}
	return json.Marshal(s.told(d))
}

// told returns the body of a webhook, in its provider's form. It takes the ledger's lock.
func (s *Sim) told(d *delivery) any {
	switch d.of.Provider {
	case ledger.NOWPayments:
		s.ledger.Lock()
		defer s.ledger.Unlock()
		status := d.status
		if status == "" {
			status = depositStatus(d.of, s.cfg.Now())
		}
		return s.depositBody(d.of, status)
	case ledger.Flutterwave:
		s.ledger.Lock()
		defer s.ledger.Unlock()
		return map[string]any{"event": d.event, "event.type": "CARD_TRANSACTION", "data": hostedBody(d.of, s.cfg.Now())}
	}
	switch d.of.Provider {
	case ledger.Stripe:
		return s.stripeEvent(d)
	case ledger.PayPal:
		return s.paypalEvent(d)
	}
	s.ledger.Lock()
	defer s.ledger.Unlock()
	if d.refund != nil {
		return s.words.RefundMoved(d.event, d.refund, d.status)
	}
	return s.words.Charge(d.event, d.of)
}

// sign returns the HMAC-SHA512 of a body in lower-case hex, as Paystack and NOWPayments sign.
func sign(key string, body []byte) string {
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

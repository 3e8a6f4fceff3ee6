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
	"boxoffice/edge/payments/paysim/outbox"
)

// delivery is one webhook to send; its body is made when it is sent.
type delivery struct {
	event   string
	of      *transaction
	refund  *refund // nil for a charge
	status  string  // of the refund or the dispute
	dispute bool    // it is about the transaction's dispute
	badsig  bool
}

// hooks tells shops what becomes of their payments: it knows what is told, where, and how that is signed.
type hooks struct {
	sim *Sim
	box *outbox.Outbox
}

// target is where a transaction's webhooks go; "" for nowhere.
func (h *hooks) target(t *transaction) string {
	switch t.provider {
	case nowpayments, mollie:
		return t.hook
	case flutterwave:
		return h.sim.cfg.FlutterwaveURL
	case stripe:
		return h.sim.cfg.StripeURL
	case paypal:
		return h.sim.cfg.PayPalURL
	}
	return h.sim.cfg.WebhookURL
}

// announceCharge announces a payment, as a webhook that arrives after the duration in. As at the real
// providers, failures and abandoned checkouts are not announced.
func (h *hooks) announceCharge(t *transaction, m faults.Modes, in time.Duration) {
	switch t.provider {
	case nowpayments: // each status is told
		h.queueEvent(m, in, delivery{event: "confirming", of: t, status: "confirming"})
		h.queueEvent(m, in, delivery{event: "settled", of: t})
	case flutterwave:
		h.queueEvent(m, in, delivery{event: "charge.completed", of: t})
	case stripe:
		h.queueEvent(m, in, delivery{event: "checkout.session.completed", of: t})
	case mollie:
		h.queueEvent(m, in, delivery{event: "payment", of: t})
	case paypal:
		h.queueEvent(m, in, delivery{event: "PAYMENT.CAPTURE.COMPLETED", of: t})
	default:
		h.queueEvent(m, in, delivery{event: "charge.success", of: t})
	}
}

// announceRefund announces each status that the refund will go through.
func (h *hooks) announceRefund(r *refund, m faults.Modes, in time.Duration) {
	if r.of.provider != "" {
		return
	}
	for _, step := range []struct {
		status string
		after  time.Duration
	}{{pending, 0}, {refundProcessing, r.step}, {r.end, 2 * r.step}} {
		if r.step > 0 || step.status == r.end {
			h.queueEvent(m, in+step.after, delivery{event: "refund." + step.status, of: r.of, refund: r, status: step.status})
		}
		if step.status == r.end {
			return
		}
	}
}

// queueEvent queues one event as the modes have it.
func (h *hooks) queueEvent(m faults.Modes, in time.Duration, d delivery) {
	if h.target(d.of) == "" {
		return
	}
	name := d.event + "/" + d.of.reference
	if d.refund != nil {
		name += "/" + strconv.FormatInt(d.refund.id, 10)
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
	due := time.Now().Add(in)
	for range times {
		h.box.Push(due, func(ctx context.Context) (*http.Request, error) { return h.makeRequest(ctx, &d) })
	}
}

// makeRequest makes a delivery as it is sent now, signed in its provider's way.
func (h *hooks) makeRequest(ctx context.Context, d *delivery) (*http.Request, error) {
	body, err := h.sim.encodeHook(d)
	if err != nil {
		return nil, err
	}
	wrong := ""
	if d.badsig {
		wrong = "?"
	}
	target := h.target(d.of)
	if d.of.provider == mollie {
		target += strings.ReplaceAll(wrong, "?", "0") // the MAC is the end of the address
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	switch d.of.provider {
	case mollie:
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	case nowpayments: // the encoder has sorted the keys, and there is nothing that it escapes
		req.Header.Set("X-Nowpayments-Sig", sign(h.sim.cfg.NOWPaymentsSign+wrong, body))
	case flutterwave:
		req.Header.Set("Verif-Hash", h.sim.cfg.FlutterwaveHash+wrong)
	case stripe:
		req.Header.Set("Stripe-Signature", signStripe(h.sim.cfg.StripeSecret+wrong, body, time.Now()))
	case paypal:
		h.sim.signPaypal(req.Header, h.sim.cfg.PayPalKey+wrong, body, time.Now())
	default:
		req.Header.Set("X-Paystack-Signature", sign(h.sim.cfg.SecretKey+wrong, body))
	}
	return req, nil
}

// encodeHook is a webhook's body as it is sent: Mollie tells an id alone, as a form.
func (s *Sim) encodeHook(d *delivery) ([]byte, error) {
	if d.of.provider == mollie {
		return []byte("id=" + molliePaymentID + strconv.FormatInt(d.of.id, 10)), nil
	}
	return json.Marshal(s.told(d))
}

// told is what a webhook tells.
func (s *Sim) told(d *delivery) any {
	switch d.of.provider {
	case nowpayments:
		s.mu.Lock()
		defer s.mu.Unlock()
		status := d.status
		if status == "" {
			status = depositStatus(d.of, s.cfg.Now())
		}
		return s.depositBody(d.of, status)
	case flutterwave:
		s.mu.Lock()
		defer s.mu.Unlock()
		return map[string]any{"event": d.event, "event.type": "CARD_TRANSACTION", "data": hostedBody(d.of, s.cfg.Now())}
	}
	switch d.of.provider {
	case stripe:
		return s.stripeEvent(d)
	case paypal:
		return s.paypalEvent(d)
	}
	return s.webhook(d)
}

// sign is the lower-case hex HMAC-SHA512 of the raw body.
func sign(key string, body []byte) string {
	mac := hmac.New(sha512.New, []byte(key))
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

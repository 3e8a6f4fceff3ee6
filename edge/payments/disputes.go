package payments

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Dispute is money of a paid charge that the buyer wants back from the bank, which takes it from our account at the
// provider. Whether it stays there is decided between that account's holder and the bank.
type Dispute struct {
	ID        string // the provider's
	Reference string // of the charge; empty if the charge is none of ours
	Amount    int64  // minor units
	Currency  string
	Reason    string // the provider's word or words; empty if it tells none
	Status    DisputeStatus
	OpenedAt  time.Time
	DueBy     time.Time // until when it can be answered at the provider; zero if it can't be, or that is not told
	ClosedAt  time.Time // zero if it is open, or the provider does not tell
}

// DisputeStatus is a dispute's status at the provider, in our words.
type DisputeStatus string

// These are the statuses of a dispute.
const (
	DisputeOpen DisputeStatus = "open" // nothing is decided yet, although the money may be gone
	DisputeWon  DisputeStatus = "won"  // the money stays, or came back
	DisputeLost DisputeStatus = "lost" // the buyer has the money
)

// disputeLister is a provider that tells of disputes.
type disputeLister interface {
	listDisputes(ctx context.Context, id string) ([]Dispute, error)
}

// ListDisputes returns the disputes that a notice may be about, by the Dispute that it names. It may be repeated at
// will.
func (g *Gateway) ListDisputes(ctx context.Context, id string) ([]Dispute, error) {
	if p, ok := g.Provider.(disputeLister); ok {
		return p.listDisputes(ctx, id)
	}
	return nil, nil
}

// stripeDisputes maps a dispute's status to ours. A warning is a question of the bank, which takes no money yet; a
// dispute is prevented by giving the money back at once.
var stripeDisputes = map[string]DisputeStatus{
	"warning_needs_response": DisputeOpen,
	"warning_under_review":   DisputeOpen,
	"warning_closed":         DisputeWon,
	"needs_response":         DisputeOpen,
	"under_review":           DisputeOpen,
	"won":                    DisputeWon,
	"lost":                   DisputeLost,
	"prevented":              DisputeLost,
}

// stripeDispute is what we read of a dispute, with its payment expanded.
type stripeDispute struct {
	ID       string  `json:"id"`
	Amount   int64   `json:"amount"`
	Currency string  `json:"currency"`
	Reason   string  `json:"reason"`
	Status   string  `json:"status"`
	Created  int64   `json:"created"` // unix seconds
	Payment  *intent `json:"payment_intent"`
	Evidence struct {
		DueBy int64 `json:"due_by"` // unix seconds; 0 if there is nothing to answer
	} `json:"evidence_details"`
}

func isStripeDispute(id string) bool { return isStripeID(id, "du_") || isStripeID(id, "dp_") }

// listDisputes calls GET /disputes/{id}.
func (s *stripe) listDisputes(ctx context.Context, id string) ([]Dispute, error) {
	if !isStripeDispute(id) {
		return nil, s.client.fail(ErrUnknownReference, "not a dispute's id")
	}
	var d stripeDispute
	err := s.call(ctx, request{method: http.MethodGet, path: "/disputes/" + id + "?expand[]=payment_intent"}, &d, func() error {
		if _, known := stripeDisputes[d.Status]; !known || d.ID != id || d.Currency == "" || d.Amount < 0 {
			return fmt.Errorf("dispute %q has status %q", d.ID, d.Status)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := Dispute{
		ID: d.ID, Amount: d.Amount, Currency: strings.ToUpper(d.Currency), Reason: shortenWords(d.Reason), Status: stripeDisputes[d.Status],
		OpenedAt: time.Unix(d.Created, 0),
	}
	if d.Payment != nil {
		out.Reference = d.Payment.Metadata.Reference
	}
	if d.Evidence.DueBy > 0 {
		out.DueBy = time.Unix(d.Evidence.DueBy, 0)
	}
	return []Dispute{out}, nil
}

// mollieChargeback is what we read of a chargeback.
type mollieChargeback struct {
	ID     string       `json:"id"`
	Amount mollieAmount `json:"amount"`
	Reason struct {
		Code        string `json:"code"`
		Description string `json:"description"`
	} `json:"reason"`
	CreatedAt  time.Time `json:"createdAt"`
	ReversedAt time.Time `json:"reversedAt"` // zero if it stands
	Embedded   struct {
		Payment molliePayment `json:"payment"`
	} `json:"_embedded"`
}

// readOutcome reads the chargeback. Mollie never tells that one is final, so that it is open until it is reversed.
func (b *mollieChargeback) readOutcome() Dispute {
	d := Dispute{
		ID: b.ID, Reference: b.Embedded.Payment.Metadata.Reference, Amount: b.Amount.toMinor(), Currency: b.Amount.Currency, Status: DisputeOpen,
		Reason: shortenWords(cmp.Or(b.Reason.Description, b.Reason.Code)), OpenedAt: b.CreatedAt,
	}
	if !b.ReversedAt.IsZero() {
		d.Status, d.ClosedAt = DisputeWon, b.ReversedAt
	}
	return d
}

// listDisputes calls GET /payments/{id}/chargebacks. One page has far more than a payment can have.
func (m *mollie) listDisputes(ctx context.Context, id string) ([]Dispute, error) {
	if !isMollieID(id, "tr_") {
		return nil, m.client.fail(ErrUnknownReference, "not a payment's id")
	}
	var list struct {
		Embedded struct {
			Chargebacks []mollieChargeback `json:"chargebacks"`
		} `json:"_embedded"`
	}
	err := m.call(ctx, request{method: http.MethodGet, path: "/payments/" + id + "/chargebacks?limit=250&embed=payment"}, &list, func() error {
		for i := range list.Embedded.Chargebacks {
			if b := &list.Embedded.Chargebacks[i]; !isMollieID(b.ID, "chb_") || b.Amount.Currency == "" || b.CreatedAt.IsZero() {
				return fmt.Errorf("chargeback %q is of %q", b.ID, b.Amount.Currency)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	disputes := make([]Dispute, len(list.Embedded.Chargebacks))
	for i := range disputes {
		disputes[i] = list.Embedded.Chargebacks[i].readOutcome()
	}
	return disputes, nil
}

// paypalDisputes maps the outcome of a dispute that is resolved to ours. One that PayPal pays for itself leaves us the money.
var paypalDisputes = map[string]DisputeStatus{
	"RESOLVED_BUYER_FAVOUR":  DisputeLost,
	"ACCEPTED":               DisputeLost,
	"RESOLVED_SELLER_FAVOUR": DisputeWon,
	"RESOLVED_WITH_PAYOUT":   DisputeWon,
	"CANCELED_BY_BUYER":      DisputeWon,
	"DENIED":                 DisputeWon,
	"NONE":                   DisputeWon, // it ended without anybody's money
}

// paypalOpenDisputes are the statuses of a dispute that is not resolved.
var paypalOpenDisputes = map[string]bool{
	"OPEN": true, "WAITING_FOR_BUYER_RESPONSE": true, "WAITING_FOR_SELLER_RESPONSE": true, "UNDER_REVIEW": true, "OTHER": true,
}

// paypalDispute is what we read of a dispute.
type paypalDispute struct {
	ID       string      `json:"dispute_id"`
	Reason   string      `json:"reason"`
	Status   string      `json:"status"`
	Amount   paypalMoney `json:"dispute_amount"`
	Created  time.Time   `json:"create_time"`
	Updated  time.Time   `json:"update_time"`
	DueBy    time.Time   `json:"seller_response_due_date"`
	Disputed []struct {
		Reference string `json:"custom"`
	} `json:"disputed_transactions"`
	Outcome struct {
		Code string `json:"outcome_code"`
	} `json:"dispute_outcome"`
}

func (d *paypalDispute) checkFields(id string) error {
	_, known := paypalDisputes[d.Outcome.Code]
	switch {
	case d.ID != id || d.Amount.Currency == "" || d.Created.IsZero():
		return fmt.Errorf("dispute %q is of %q", d.ID, d.Amount.Currency)
	case !paypalOpenDisputes[d.Status] && (d.Status != "RESOLVED" || !known):
		return fmt.Errorf("dispute %q has status %q and outcome %q", d.ID, d.Status, d.Outcome.Code)
	}
	return nil
}

// listDisputes calls GET /v1/customer/disputes/{id}.
func (p *paypal) listDisputes(ctx context.Context, id string) ([]Dispute, error) {
	if !isPaypalID(id) {
		return nil, p.client.fail(ErrUnknownReference, "not a dispute's id")
	}
	var d paypalDispute
	if err := p.call(ctx, request{method: http.MethodGet, path: "/v1/customer/disputes/" + id}, &d, func() error { return d.checkFields(id) }); err != nil {
		return nil, err
	}
	out := Dispute{
		ID: d.ID, Amount: d.Amount.toMinor(), Currency: d.Amount.Currency, Reason: shortenWords(d.Reason), Status: DisputeOpen, OpenedAt: d.Created, DueBy: d.DueBy,
	}
	if d.Status == "RESOLVED" {
		out.Status, out.ClosedAt, out.DueBy = paypalDisputes[d.Outcome.Code], d.Updated, time.Time{}
	}
	if len(d.Disputed) > 0 {
		out.Reference = d.Disputed[0].Reference
	}
	return []Dispute{out}, nil
}

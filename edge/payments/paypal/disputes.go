package paypal

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"boxoffice/edge/payments/psp"
)

// disputes maps the outcome of a dispute that is resolved to ours. One that PayPal pays for itself leaves us the money.
var disputes = map[string]psp.DisputeStatus{
	"RESOLVED_BUYER_FAVOUR":  psp.DisputeLost,
	"ACCEPTED":               psp.DisputeLost,
	"RESOLVED_SELLER_FAVOUR": psp.DisputeWon,
	"RESOLVED_WITH_PAYOUT":   psp.DisputeWon,
	"CANCELED_BY_BUYER":      psp.DisputeWon,
	"DENIED":                 psp.DisputeWon,
	"NONE":                   psp.DisputeWon, // it ended without anybody's money
}

// openDisputes are the statuses of a dispute that is not resolved.
var openDisputes = map[string]bool{
	"OPEN": true, "WAITING_FOR_BUYER_RESPONSE": true, "WAITING_FOR_SELLER_RESPONSE": true, "UNDER_REVIEW": true, "OTHER": true,
}

// dispute is what we read of a dispute.
type dispute struct {
	ID       string    `json:"dispute_id"`
	Reason   string    `json:"reason"`
	Status   string    `json:"status"`
	Amount   money     `json:"dispute_amount"`
	Created  time.Time `json:"create_time"`
	Updated  time.Time `json:"update_time"`
	DueBy    time.Time `json:"seller_response_due_date"`
	Disputed []struct {
		Reference string `json:"custom"`
	} `json:"disputed_transactions"`
	Outcome struct {
		Code string `json:"outcome_code"`
	} `json:"dispute_outcome"`
}

func (d *dispute) checkFields(id string) error {
	_, known := disputes[d.Outcome.Code]
	switch {
	case d.ID != id || d.Amount.Currency == "" || d.Created.IsZero():
		return fmt.Errorf("dispute %q is of %q", d.ID, d.Amount.Currency)
	case !openDisputes[d.Status] && (d.Status != "RESOLVED" || !known):
		return fmt.Errorf("dispute %q has status %q and outcome %q", d.ID, d.Status, d.Outcome.Code)
	}
	return nil
}

// ListDisputes calls GET /v1/customer/disputes/{id}.
func (p *Provider) ListDisputes(ctx context.Context, id string) ([]psp.Dispute, error) {
	if !isID(id) {
		return nil, p.client.Fail(psp.ErrUnknownReference, "not a dispute's id")
	}
	var d dispute
	if err := p.call(ctx, psp.Request{Method: http.MethodGet, Path: "/v1/customer/disputes/" + id}, &d, func() error { return d.checkFields(id) }); err != nil {
		return nil, err
	}
	out := psp.Dispute{
		ID: d.ID, Amount: d.Amount.toMinor(), Currency: d.Amount.Currency, Reason: psp.ShortenWords(d.Reason), Status: psp.DisputeOpen, OpenedAt: d.Created, DueBy: d.DueBy,
	}
	if d.Status == "RESOLVED" {
		out.Status, out.ClosedAt, out.DueBy = disputes[d.Outcome.Code], d.Updated, time.Time{}
	}
	if len(d.Disputed) > 0 {
		out.Reference = d.Disputed[0].Reference
	}
	return []psp.Dispute{out}, nil
}

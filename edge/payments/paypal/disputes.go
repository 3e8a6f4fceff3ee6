package paypal

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"boxoffice/edge/payments/psp"
)

// disputes leads from the outcome of a resolved dispute to our status. If PayPal pays the buyer
// from its own money (RESOLVED_WITH_PAYOUT), we keep ours, so the dispute counts as won.
var disputes = map[string]psp.DisputeStatus{
	"RESOLVED_BUYER_FAVOUR":  psp.DisputeLost,
	"ACCEPTED":               psp.DisputeLost,
	"RESOLVED_SELLER_FAVOUR": psp.DisputeWon,
	"RESOLVED_WITH_PAYOUT":   psp.DisputeWon,
	"CANCELED_BY_BUYER":      psp.DisputeWon,
	"DENIED":                 psp.DisputeWon,
	"NONE":                   psp.DisputeWon, // it ended, and neither side was paid
}

// openDisputes are the statuses of a dispute that is not resolved yet. They have no outcome.
var openDisputes = map[string]bool{
	"OPEN": true, "WAITING_FOR_BUYER_RESPONSE": true, "WAITING_FOR_SELLER_RESPONSE": true, "UNDER_REVIEW": true, "OTHER": true,
}

// dispute has those parts of a dispute of PayPal that the adapter reads.
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

// checkFields refuses an answer of another dispute, without a currency or a date of creation, or with a status or an
// outcome that the adapter does not know. An unknown outcome must be an error: to guess it would book money.
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

// ListDisputes calls GET /v1/customer/disputes/{id}. At PayPal the id names one dispute, so the
// list has one element.
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
	// A resolved dispute has no date any more by which somebody must answer.
	if d.Status == "RESOLVED" {
		out.Status, out.ClosedAt, out.DueBy = disputes[d.Outcome.Code], d.Updated, time.Time{}
	}
	if len(d.Disputed) > 0 {
		out.Reference = d.Disputed[0].Reference
	}
	return []psp.Dispute{out}, nil
}

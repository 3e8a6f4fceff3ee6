package stripe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"boxoffice/edge/payments/psp"
)

// disputes maps a dispute's status to ours. A warning is a question of the bank, which takes no money yet; a
// dispute is prevented by giving the money back at once.
var disputes = map[string]psp.DisputeStatus{
	"warning_needs_response": psp.DisputeOpen,
	"warning_under_review":   psp.DisputeOpen,
	"warning_closed":         psp.DisputeWon,
	"needs_response":         psp.DisputeOpen,
	"under_review":           psp.DisputeOpen,
	"won":                    psp.DisputeWon,
	"lost":                   psp.DisputeLost,
	"prevented":              psp.DisputeLost,
}

// dispute is what we read of a dispute, with its payment expanded.
type dispute struct {
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

func isDispute(id string) bool { return isID(id, "du_") || isID(id, "dp_") }

// ListDisputes calls GET /disputes/{id}.
func (s *Provider) ListDisputes(ctx context.Context, id string) ([]psp.Dispute, error) {
	if !isDispute(id) {
		return nil, s.client.Fail(psp.ErrUnknownReference, "not a dispute's id")
	}
	var d dispute
	err := s.call(ctx, psp.Request{Method: http.MethodGet, Path: "/disputes/" + id + "?expand[]=payment_intent"}, &d, func() error {
		if _, known := disputes[d.Status]; !known || d.ID != id || d.Currency == "" || d.Amount < 0 {
			return fmt.Errorf("dispute %q has status %q", d.ID, d.Status)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := psp.Dispute{
		ID: d.ID, Amount: d.Amount, Currency: strings.ToUpper(d.Currency), Reason: psp.ShortenWords(d.Reason), Status: disputes[d.Status],
		OpenedAt: time.Unix(d.Created, 0),
	}
	if d.Payment != nil {
		out.Reference = d.Payment.Metadata.Reference
	}
	if d.Evidence.DueBy > 0 {
		out.DueBy = time.Unix(d.Evidence.DueBy, 0)
	}
	return []psp.Dispute{out}, nil
}

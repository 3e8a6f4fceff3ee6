package stripe

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"boxoffice/edge/payments/psp"
)

// disputes maps a dispute's status to ours. A warning is a question of the buyer's bank,
// which takes no money yet. A dispute is "prevented" when the money is given back at once,
// so for us it is lost.
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

// dispute is what we read of a dispute, with its payment expanded. The payment's charge is not expanded, so intent
// can't read the payment.
type dispute struct {
	ID       string `json:"id"`
	Amount   int64  `json:"amount"`
	Currency string `json:"currency"`
	Reason   string `json:"reason"`
	Status   string `json:"status"`
	Created  int64  `json:"created"` // unix seconds
	Payment  *struct {
		Metadata struct {
			Reference string `json:"reference"`
		} `json:"metadata"`
	} `json:"payment_intent"`
	Evidence struct {
		DueBy int64 `json:"due_by"` // until when evidence may be sent, unix seconds; 0 if the buyer's bank allows no answer
	} `json:"evidence_details"`
}

// isDispute reports whether a text is the id of a dispute. Stripe has two prefixes for
// these.
func isDispute(id string) bool { return isID(id, "du_") || isID(id, "dp_") }

// ListDisputes calls GET /disputes/{id}, with the payment expanded, whose metadata has our
// reference. It returns one dispute.
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

package mollie

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"boxoffice/edge/payments/psp"
)

// chargeback is what we read of a chargeback.
type chargeback struct {
	ID     string `json:"id"`
	Amount money  `json:"amount"`
	Reason struct {
		Code        string `json:"code"`
		Description string `json:"description"`
	} `json:"reason"`
	CreatedAt  time.Time `json:"createdAt"`
	ReversedAt time.Time `json:"reversedAt"` // zero if it stands
	Embedded   struct {
		Payment paymentAnswer `json:"payment"`
	} `json:"_embedded"`
}

// readOutcome reads the chargeback. Mollie never tells that one is final, so that it is open until it is reversed.
func (b *chargeback) readOutcome() psp.Dispute {
	d := psp.Dispute{
		ID: b.ID, Reference: b.Embedded.Payment.Metadata.Reference, Amount: b.Amount.toMinor(), Currency: b.Amount.Currency, Status: psp.DisputeOpen,
		Reason: psp.ShortenWords(cmp.Or(b.Reason.Description, b.Reason.Code)), OpenedAt: b.CreatedAt,
	}
	if !b.ReversedAt.IsZero() {
		d.Status, d.ClosedAt = psp.DisputeWon, b.ReversedAt
	}
	return d
}

// ListDisputes calls GET /payments/{id}/chargebacks. One page has far more than a payment can have.
func (m *Provider) ListDisputes(ctx context.Context, id string) ([]psp.Dispute, error) {
	if !isID(id, "tr_") {
		return nil, m.client.Fail(psp.ErrUnknownReference, "not a payment's id")
	}
	var list struct {
		Embedded struct {
			Chargebacks []chargeback `json:"chargebacks"`
		} `json:"_embedded"`
	}
	err := m.call(ctx, psp.Request{Method: http.MethodGet, Path: "/payments/" + id + "/chargebacks?limit=250&embed=payment"}, &list, func() error {
		for i := range list.Embedded.Chargebacks {
			if b := &list.Embedded.Chargebacks[i]; !isID(b.ID, "chb_") || b.Amount.Currency == "" || b.CreatedAt.IsZero() {
				return fmt.Errorf("chargeback %q is of %q", b.ID, b.Amount.Currency)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	disputes := make([]psp.Dispute, len(list.Embedded.Chargebacks))
	for i := range disputes {
		disputes[i] = list.Embedded.Chargebacks[i].readOutcome()
	}
	return disputes, nil
}

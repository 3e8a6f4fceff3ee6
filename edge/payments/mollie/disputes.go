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

// reasons translates the codes of banks that Mollie passes on (of SEPA direct debits, ISO 20022, of Mastercard
// and of Visa) into Stripe's words for the reasons of disputes. Pages and mails have these words in all their
// languages.
var reasons = map[string]string{
	"AC01": "incorrect_account_details", "AM04": "insufficient_funds", "AM05": "duplicate", "MD01": "debit_not_authorized", "MD06": "customer_initiated", "MS02": "customer_initiated",
	"4837": "fraudulent", "4855": "product_not_received", "4863": "unrecognized", "4870": "fraudulent", "4871": "fraudulent",
	"10.1": "fraudulent", "10.2": "fraudulent", "10.3": "fraudulent", "10.4": "fraudulent", "10.5": "fraudulent",
	"12.6.1": "duplicate", "13.1": "product_not_received", "13.2": "subscription_canceled", "13.3": "product_unacceptable", "13.6": "credit_not_processed",
}

// readOutcome reads the chargeback. Mollie never tells that a chargeback is final, so it
// stays open until it is reversed.
func (b *chargeback) readOutcome() psp.Dispute {
	d := psp.Dispute{
		ID: b.ID, Reference: b.Embedded.Payment.Metadata.Reference, Amount: b.Amount.toMinor(), Currency: b.Amount.Currency, Status: psp.DisputeOpen,
		Reason: cmp.Or(reasons[b.Reason.Code], psp.ShortenWords(cmp.Or(b.Reason.Description, b.Reason.Code))), OpenedAt: b.CreatedAt,
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

package paystack

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/v1"

	"boxoffice/edge/payments/psp"
)

// envelope surrounds every answer of Paystack.
type envelope struct {
	Status  bool            `json:"status"`
	Message string          `json:"message"`
	Code    string          `json:"code"` // which error it is; empty without an error
	Data    json.RawMessage `json:"data"`
}

// initialize is what we send to begin a transaction. Amount is in minor units.
type initialize struct {
	Email       string            `json:"email"`
	Amount      int64             `json:"amount"`
	Currency    string            `json:"currency"`
	Reference   string            `json:"reference"`
	CallbackURL string            `json:"callback_url,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// transaction is what we read of GET /transaction/verify's data. Amounts are in minor
// units. We ignore the field metadata, which may be an object, "" or 0.
type transaction struct {
	ID              psp.Number `json:"id"`
	Status          string     `json:"status"`
	Reference       string     `json:"reference"`
	Amount          *minor     `json:"amount"`
	RequestedAmount minor      `json:"requested_amount"`
	Fees            *minor     `json:"fees"`
	Currency        string     `json:"currency"`
	GatewayResponse string     `json:"gateway_response"`
	Message         string     `json:"message"`
	PaidAt          psp.Moment `json:"paid_at"`
	PaidAtToo       psp.Moment `json:"paidAt"` // time of PaidAt, under its older name
}

// checkFields refuses an answer that is about another transaction, or from which no outcome
// can be read.
func (t transaction) checkFields(reference string) error {
	_, known := chargeStatuses[t.Status]
	switch {
	case !known:
		return fmt.Errorf("status %q", t.Status)
	case t.Reference != reference:
		return fmt.Errorf("reference %q", t.Reference)
	case t.Amount == nil:
		return errors.New("no amount")
	case t.Currency == "":
		return errors.New("no currency")
	case t.ID == "":
		return errors.New("no id")
	}
	return nil
}

// readOutcome reads the transaction, which checkFields has accepted. If the buyer bore the fee, it leaves the fee out
// of the amount, so that the amount is what was asked for.
func (t transaction) readOutcome() psp.Outcome {
	if t.Fees != nil && *t.Amount-*t.Fees == t.RequestedAmount { // the buyer bore the fee
		*t.Amount = t.RequestedAmount
	}
	o := psp.Outcome{
		Status:          chargeStatuses[t.Status],
		Amount:          int64(*t.Amount),
		RequestedAmount: int64(t.RequestedAmount),
		Currency:        t.Currency,
		PaidAt:          time.Time(t.PaidAt),
		Message:         cmp.Or(t.GatewayResponse, t.Message),
		ProviderID:      string(t.ID),
	}
	if o.PaidAt.IsZero() {
		o.PaidAt = time.Time(t.PaidAtToo)
	}
	return o
}

// createRefund is what we send to refund. MerchantNote carries the key by which the refund
// is found again.
type createRefund struct {
	Transaction  string `json:"transaction"`
	Amount       int64  `json:"amount,omitempty"`
	Currency     string `json:"currency,omitempty"`
	CustomerNote string `json:"customer_note,omitempty"`
	MerchantNote string `json:"merchant_note"`
}

// refund is what we read of a refund. We ignore its transaction: it comes as a number or an object.
type refund struct {
	ID           psp.Number `json:"id"`
	Status       string     `json:"status"`
	Amount       *minor     `json:"amount"`
	Currency     string     `json:"currency"`
	MerchantNote string     `json:"merchant_note"`
}

// checkFields refuses a refund from which no outcome can be read.
func (r refund) checkFields() error {
	_, known := refundStatuses[r.Status]
	switch {
	case !known:
		return fmt.Errorf("status %q", r.Status)
	case r.Amount == nil:
		return errors.New("no amount")
	case r.ID == "":
		return errors.New("no id")
	}
	return nil
}

// readOutcome reads the refund, which checkFields has accepted.
func (r refund) readOutcome() psp.RefundOutcome {
	return psp.RefundOutcome{
		ID: string(r.ID), Status: refundStatuses[r.Status],
		Amount: int64(*r.Amount), Currency: r.Currency,
	}
}

// notice is what we read of a webhook's body.
type notice struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// readNotice finds the charge that the event is about. The events charge.* name it as
// reference, refund.* as transaction_reference, and disputes inside transaction. If the
// data has another shape, the event counts as one about no charge of ours, and not as an
// error.
func (n notice) readNotice() psp.Notice {
	var d struct {
		ID                   json.RawMessage `json:"id"` // a number, or digits in quotes
		Status               string          `json:"status"`
		Reference            string          `json:"reference"`
		TransactionReference string          `json:"transaction_reference"`
		RefundReference      string          `json:"refund_reference"`
		Transaction          json.RawMessage `json:"transaction"` // a number, or an object
	}
	_ = json.Unmarshal(n.Data, &d)
	ref := cmp.Or(d.TransactionReference, d.Reference)
	if ref == "" {
		var t struct {
			Reference string `json:"reference"`
		}
		_ = json.Unmarshal(d.Transaction, &t)
		ref = t.Reference
	}
	// The key tells events apart: a repeat of one event has the same key, and another
	// status of the same charge has another.
	which := cmp.Or(psp.Unquote(d.ID), d.RefundReference)
	return psp.Notice{
		Event:     n.Event,
		Reference: ref,
		Key:       strings.Join([]string{n.Event, ref, which, d.Status}, "|"),
	}
}

// minor is an amount in minor units. It comes as a number, or as digits in quotes.
type minor int64

// UnmarshalJSON reads 5000 and "5000". It leaves m as it is for null; anything else is an error.
func (m *minor) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(psp.Unquote(b), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("amount %s", b)
	}
	*m = minor(n)
	return nil
}

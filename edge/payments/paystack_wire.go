package payments

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/v1"
)

// envelope surrounds every answer of Paystack.
type envelope struct {
	Status  bool            `json:"status"`
	Message string          `json:"message"`
	Code    string          `json:"code"` // of an error
	Data    json.RawMessage `json:"data"`
}

type initialize struct {
	Email       string            `json:"email"`
	Amount      int64             `json:"amount"`
	Currency    string            `json:"currency"`
	Reference   string            `json:"reference"`
	CallbackURL string            `json:"callback_url,omitempty"`
	Metadata    map[string]string `json:"metadata,omitempty"`
}

// transaction is what we read of GET /transaction/verify's data. We ignore metadata: it comes as an
// object, "" or 0.
type transaction struct {
	ID              number `json:"id"`
	Status          string `json:"status"`
	Reference       string `json:"reference"`
	Amount          *minor `json:"amount"`
	RequestedAmount minor  `json:"requested_amount"`
	Fees            *minor `json:"fees"`
	Currency        string `json:"currency"`
	GatewayResponse string `json:"gateway_response"`
	Message         string `json:"message"`
	PaidAt          moment `json:"paid_at"`
	PaidAtToo       moment `json:"paidAt"` // the same under its older name
}

func (t transaction) checkFields(reference string) error {
	_, known := paystackStatuses[t.Status]
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

func (t transaction) readOutcome() Outcome {
	if t.Fees != nil && *t.Amount-*t.Fees == t.RequestedAmount { // the buyer bore the fee
		*t.Amount = t.RequestedAmount
	}
	o := Outcome{
		Status:          paystackStatuses[t.Status],
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

type createRefund struct {
	Transaction  string `json:"transaction"`
	Amount       int64  `json:"amount,omitempty"`
	Currency     string `json:"currency,omitempty"`
	CustomerNote string `json:"customer_note,omitempty"`
	MerchantNote string `json:"merchant_note"`
}

// refund is what we read of a refund. We ignore its transaction: it comes as a number or an object.
type refund struct {
	ID           number `json:"id"`
	Status       string `json:"status"`
	Amount       *minor `json:"amount"`
	Currency     string `json:"currency"`
	MerchantNote string `json:"merchant_note"`
}

func (r refund) checkFields() error {
	_, known := paystackRefunds[r.Status]
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

func (r refund) readOutcome() RefundOutcome {
	return RefundOutcome{
		ID: string(r.ID), Status: paystackRefunds[r.Status],
		Amount: int64(*r.Amount), Currency: r.Currency,
	}
}

// notice is what we read of a webhook's body.
type notice struct {
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// notice finds the charge that the event is about: charge.* names it directly, refund.* as
// transaction_reference, disputes inside transaction. If the data has another shape, the event
// counts as one about no charge of ours, not as an error.
func (n notice) notice() Notice {
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
	which := cmp.Or(unquote(d.ID), d.RefundReference)
	return Notice{
		Event:     n.Event,
		Reference: ref,
		Key:       strings.Join([]string{n.Event, ref, which, d.Status}, "|"),
	}
}

// toMinor is an amount in minor units. It comes as a number, or as digits in quotes; anything else is
// an error.
type minor int64

// UnmarshalJSON reads 5000 and "5000".
func (m *minor) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	n, err := strconv.ParseInt(unquote(b), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("amount %s", b)
	}
	*m = minor(n)
	return nil
}

// number is an id. It comes as a number or in quotes, and its digits are kept as they are.
type number string

// UnmarshalJSON reads 4099260516 and "4099260516".
func (n *number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	s := unquote(b)
	if !isNumber(s) {
		return fmt.Errorf("id %s", b)
	}
	*n = number(s)
	return nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

func unquote(b []byte) string {
	s := string(b)
	if len(s) >= 2 && s[0] == '"' && s[len(s)-1] == '"' {
		return s[1 : len(s)-1]
	}
	return s
}

// moment is a time that is only shown to people, so a time that cannot be read is no reason to
// refuse a payment.
type moment time.Time

// UnmarshalJSON reads RFC 3339 and takes anything else for none.
func (m *moment) UnmarshalJSON(b []byte) error {
	t, err := time.Parse(time.RFC3339, unquote(b))
	if err == nil {
		*m = moment(t)
	}
	return nil
}

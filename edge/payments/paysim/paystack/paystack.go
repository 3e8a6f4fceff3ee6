// Package paystack writes the simulator's transactions and refunds in Paystack's words: the bodies
// of its API's answers and of its webhooks.
//
// The bodies have the same fields in the same order as Paystack's own samples (PaystackOSS/doc-code-snippets,
// 2026-02), and the quirks of these samples. Without metadata, the field metadata is "" on reads and 0 in
// webhooks. Some refund events carry their amount as a string, and a charge event lacks requested_amount.
//
// The package keeps nothing and locks nothing: the caller of a method of Words holds the ledger's lock.
package paystack

import (
	"strconv"
	"time"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
)

// integration is the number of the merchant's account.
const integration = 100_982

// empty is {} on the wire.
type empty struct{}

// Envelope is the JSON object around every answer that is no failure.
type Envelope struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
	Data    any    `json:"data"`
	Meta    any    `json:"meta,omitempty"` // of lists: which page this is
}

// Failure is the answer to a call that is refused.
type Failure struct {
	Status  bool      `json:"status"`
	Message string    `json:"message"`
	Meta    *NextStep `json:"meta,omitempty"`
	Type    string    `json:"type,omitempty"`
	Code    string    `json:"code,omitempty"`
}

// NextStep is what a merchant is advised to do about a failure.
type NextStep struct {
	NextStep string `json:"nextStep"`
}

// Initialized is the data of the answer to POST /transaction/initialize.
type Initialized struct {
	AuthorizationURL string `json:"authorization_url"`
	AccessCode       string `json:"access_code"`
	Reference        string `json:"reference"`
}

// Transaction is a transaction as it is read. A field that the simulator never fills in is null or {}, as in the samples.
type Transaction struct {
	ID              int64       `json:"id"`
	Domain          string      `json:"domain"`
	Status          string      `json:"status"`
	Reference       string      `json:"reference"`
	ReceiptNumber   *string     `json:"receipt_number"`
	Amount          int64       `json:"amount"`
	Message         *string     `json:"message"`
	GatewayResponse string      `json:"gateway_response"`
	PaidAt          *string     `json:"paid_at"`
	CreatedAt       string      `json:"created_at"`
	Channel         string      `json:"channel"`
	Currency        string      `json:"currency"`
	IPAddress       string      `json:"ip_address"`
	Metadata        any         `json:"metadata"`
	Log             *attemptLog `json:"log"`
	Fees            *int64      `json:"fees"`
	FeesSplit       *empty      `json:"fees_split"`
	Authorization   any         `json:"authorization"`
	Customer        customer    `json:"customer"`
	Plan            *string     `json:"plan"`
	Split           empty       `json:"split"`
	OrderID         *string     `json:"order_id"`
	PaidAtToo       *string     `json:"paidAt"`
	CreatedAtToo    string      `json:"createdAt"`
	RequestedAmount int64       `json:"requested_amount"`
	POS             *empty      `json:"pos_transaction_data"`
	Source          *empty      `json:"source"`
	FeesBreakdown   *empty      `json:"fees_breakdown"`
	Connect         *empty      `json:"connect"`
	TransactionDate string      `json:"transaction_date"`
	PlanObject      empty       `json:"plan_object"`
	Subaccount      empty       `json:"subaccount"`
}

// attemptLog is what the buyer did at the checkout. Its times are in seconds.
type attemptLog struct {
	StartTime int64      `json:"start_time"`
	TimeSpent int        `json:"time_spent"`
	Attempts  int        `json:"attempts"`
	Errors    int        `json:"errors"`
	Success   bool       `json:"success"`
	Mobile    bool       `json:"mobile"`
	Input     []string   `json:"input"`
	History   []logEntry `json:"history"`
}

type logEntry struct {
	Type    string `json:"type"`
	Message string `json:"message"`
	Time    int    `json:"time"`
}

type authorization struct {
	Code        string  `json:"authorization_code"`
	Bin         string  `json:"bin"`
	Last4       string  `json:"last4"`
	ExpMonth    string  `json:"exp_month"`
	ExpYear     string  `json:"exp_year"`
	Channel     string  `json:"channel"`
	CardType    string  `json:"card_type"`
	Bank        string  `json:"bank"`
	CountryCode string  `json:"country_code"`
	Brand       string  `json:"brand"`
	Reusable    bool    `json:"reusable"`
	Signature   string  `json:"signature"`
	AccountName *string `json:"account_name"`
}

type customer struct {
	ID           int64   `json:"id"`
	FirstName    *string `json:"first_name"`
	LastName     *string `json:"last_name"`
	Email        string  `json:"email"`
	CustomerCode string  `json:"customer_code"`
	Phone        *string `json:"phone"`
	Metadata     *empty  `json:"metadata"`
	RiskAction   string  `json:"risk_action"`
	IntlPhone    *string `json:"international_format_phone"`
}

// Refund is a refund as it is read.
type Refund struct {
	Integration    int64   `json:"integration"`
	Transaction    any     `json:"transaction"` // an object on create, its number on reads
	Dispute        *int64  `json:"dispute"`
	Settlement     *int64  `json:"settlement"`
	ID             int64   `json:"id"`
	Domain         string  `json:"domain"`
	Currency       string  `json:"currency"`
	Amount         int64   `json:"amount"`
	Status         string  `json:"status"`
	RefundedAt     *string `json:"refunded_at"`
	ExpectedAt     string  `json:"expected_at"`
	Channel        *string `json:"channel"`
	RefundedBy     string  `json:"refunded_by"`
	CustomerNote   string  `json:"customer_note"`
	MerchantNote   string  `json:"merchant_note"`
	DeductedAmount int64   `json:"deducted_amount"`
	FullyDeducted  bool    `json:"fully_deducted"`
	CreatedAt      string  `json:"createdAt"`
	UpdatedAt      string  `json:"updatedAt"`
}

// refundedTransaction is the short form of a transaction that POST /refund answers with.
type refundedTransaction struct {
	ID        int64   `json:"id"`
	Domain    string  `json:"domain"`
	Reference string  `json:"reference"`
	Amount    int64   `json:"amount"`
	PaidAt    *string `json:"paid_at"`
	Channel   string  `json:"channel"`
	Currency  string  `json:"currency"`
	PaidAtToo *string `json:"paidAt"`
}

// Event is the body of a webhook.
type Event struct {
	Event string `json:"event"`
	Data  any    `json:"data"`
}

// chargeEvent is the data of a webhook about a payment. Unlike Transaction, it has each time once.
type chargeEvent struct {
	ID              int64         `json:"id"`
	Domain          string        `json:"domain"`
	Status          string        `json:"status"`
	Reference       string        `json:"reference"`
	Amount          int64         `json:"amount"`
	Message         *string       `json:"message"`
	GatewayResponse string        `json:"gateway_response"`
	PaidAt          string        `json:"paid_at"`
	CreatedAt       string        `json:"created_at"`
	Channel         string        `json:"channel"`
	Currency        string        `json:"currency"`
	IPAddress       string        `json:"ip_address"`
	Metadata        any           `json:"metadata"`
	Log             *attemptLog   `json:"log"`
	Fees            *int64        `json:"fees"`
	Customer        customer      `json:"customer"`
	Authorization   authorization `json:"authorization"`
	Plan            empty         `json:"plan"`
}

// refundEvent is the data of a webhook about a refund. It names the payment by reference alone.
type refundEvent struct {
	Status               string          `json:"status"`
	TransactionReference string          `json:"transaction_reference"`
	RefundReference      *string         `json:"refund_reference"`
	Amount               any             `json:"amount"`
	Currency             string          `json:"currency"`
	Processor            string          `json:"processor,omitempty"`
	Customer             refundRecipient `json:"customer"`
	Integration          int64           `json:"integration"`
	Domain               string          `json:"domain"`
	ID                   string          `json:"id,omitempty"`
	CustomerNote         string          `json:"customer_note,omitempty"`
	MerchantNote         string          `json:"merchant_note,omitempty"`
}

type refundRecipient struct {
	FirstName *string `json:"first_name"`
	LastName  *string `json:"last_name"`
	Email     string  `json:"email"`
}

// Stamp writes an instant as Paystack does.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Words makes Paystack's bodies from the ledger's records.
type Words struct {
	Domain string // "test" or "live"
}

// gatewayResponses has the answer of the buyer's bank that Paystack reports for a status; the other statuses
// have none.
var gatewayResponses = map[string]string{
	ledger.Success:   "Successful",
	ledger.Reversed:  "Successful",
	ledger.Failed:    "Declined",
	ledger.Abandoned: "The transaction was not completed",
}

// Transaction returns a transaction as a read at that time shows it.
func (w Words) Transaction(t *ledger.Transaction, now time.Time) Transaction {
	st := t.Status(now)
	b := Transaction{
		ID: t.ID, Domain: w.Domain, Status: st, Reference: t.Reference,
		Amount: t.Asked, RequestedAmount: t.Asked, Currency: t.Currency,
		GatewayResponse: gatewayResponses[st], Channel: "card", IPAddress: "127.0.0.1",
		CreatedAt: Stamp(t.Created), CreatedAtToo: Stamp(t.Created), TransactionDate: Stamp(t.Created),
		Metadata: "", Authorization: empty{}, Customer: customerOf(t),
	}
	if t.Metadata != nil {
		b.Metadata = t.Metadata
	}
	if ledger.Arrived(st) {
		paidAt, fees := Stamp(t.PaidAt), feeOf(t)
		b.Amount, b.PaidAt, b.PaidAtToo, b.Fees = t.Paid, &paidAt, &paidAt, &fees
		b.Log, b.Authorization = logOf(t), authorizationOf(t)
	}
	return b
}

// feeOf returns the provider's fee, 1.5 % as in Nigeria. The merchant pays it.
func feeOf(t *ledger.Transaction) int64 { return t.Paid * 15 / 1000 }

// customerOf invents a buyer for the address. The same address always gives the same buyer.
func customerOf(t *ledger.Transaction) customer {
	n := faults.Scramble(0, t.Email, 0)
	return customer{
		ID: int64(n % 1e9), Email: t.Email, RiskAction: "default",
		CustomerCode: "CUS_" + strconv.FormatUint(n, 36),
	}
}

// authorizationOf invents codes for the reference. The card is always the test card that ends in 4081.
func authorizationOf(t *ledger.Transaction) authorization {
	n := strconv.FormatUint(faults.Scramble(0, t.Reference, 0), 36)
	return authorization{
		Code: "AUTH_" + n, Bin: "408408", Last4: "4081", ExpMonth: "12", ExpYear: "2030", Channel: "card",
		CardType: "visa ", Bank: "TEST BANK", CountryCode: "NG", Brand: "visa", Reusable: true, Signature: "SIG_" + n,
	}
}

// logOf returns the invented log of a payment that succeeded at once.
func logOf(t *ledger.Transaction) *attemptLog {
	return &attemptLog{
		StartTime: t.Created.Unix(), TimeSpent: 4, Attempts: 1, Success: true, Input: []string{},
		History: []logEntry{
			{"action", "Attempted to pay with card", 3},
			{ledger.Success, "Successfully paid with card", 4},
		},
	}
}

// Refund returns a refund as a read at that time shows it.
func (w Words) Refund(r *ledger.Refund, now time.Time) Refund {
	b := Refund{
		Integration: integration, Transaction: r.Of.ID, ID: r.ID, Domain: w.Domain,
		Currency: r.Of.Currency, Amount: r.Amount, Status: r.Status(now),
		ExpectedAt: Stamp(r.Created.AddDate(0, 0, 9)), RefundedBy: "api@paysim.test",
		CustomerNote: r.CustomerNote, MerchantNote: r.MerchantNote,
		CreatedAt: Stamp(r.Created), UpdatedAt: Stamp(r.Created),
	}
	if b.Status == ledger.RefundProcessed {
		at := Stamp(r.Created.Add(2 * r.Step))
		b.RefundedAt, b.DeductedAmount, b.FullyDeducted = &at, r.Amount, true
	}
	return b
}

// NewRefund returns a refund as POST /refund shows it: with its transaction.
func (w Words) NewRefund(r *ledger.Refund, now time.Time) Refund {
	t, b := r.Of, w.Refund(r, now)
	paidAt := Stamp(t.PaidAt)
	b.Transaction = refundedTransaction{t.ID, w.Domain, t.Reference, t.Paid, &paidAt, "card", t.Currency, &paidAt}
	return b
}

// Charge returns the body of a webhook about a payment.
func (w Words) Charge(event string, t *ledger.Transaction) Event {
	var metadata any = 0
	if t.Metadata != nil {
		metadata = t.Metadata
	}
	fees := feeOf(t)
	return Event{event, chargeEvent{
		ID: t.ID, Domain: w.Domain, Status: ledger.Success, Reference: t.Reference, Amount: t.Paid,
		GatewayResponse: "Approved by Financial Institution", PaidAt: Stamp(t.PaidAt), CreatedAt: Stamp(t.Created),
		Channel: "card", Currency: t.Currency, IPAddress: "127.0.0.1", Metadata: metadata, Log: logOf(t), Fees: &fees,
		Customer: customerOf(t), Authorization: authorizationOf(t),
	}}
}

// RefundMoved returns the body of a webhook about a refund that has reached a status.
func (w Words) RefundMoved(event string, r *ledger.Refund, status string) Event {
	id := strconv.FormatInt(r.ID, 10)
	ref := "TRF_" + id
	e := refundEvent{
		Status: status, TransactionReference: r.Of.Reference, RefundReference: &ref,
		Amount: r.Amount, Currency: r.Of.Currency, Processor: "instant-transfer",
		Customer: refundRecipient{Email: r.Of.Email}, Integration: integration, Domain: w.Domain,
	}
	switch status {
	case ledger.Pending, ledger.RefundProcessing:
		e.RefundReference = nil
		e.Amount = strconv.FormatInt(r.Amount, 10)
	case ledger.RefundProcessed:
		e.Amount = strconv.FormatInt(r.Amount, 10)
	case "needs-attention":
		e.ID, e.CustomerNote, e.MerchantNote, e.Processor = id, r.CustomerNote, r.MerchantNote, ""
	}
	return Event{event, e}
}

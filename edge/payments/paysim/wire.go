package paysim

import (
	"strconv"
	"strings"
	"time"

	"boxoffice/edge/payments/paysim/faults"
)

// The bodies below have the fields, in the order, of Paystack's own samples
// (PaystackOSS/doc-code-snippets, 2026-02), with the quirks that they show:
// metadata is "" on reads and 0 in webhooks when there is none, some refund
// events carry their amount as a string, and a charge event lacks
// requested_amount.

const integration = 100_982

// empty is {} on the wire.
type empty struct{}

type envelope struct {
	Status  bool   `json:"status"`
	Message string `json:"message"`
	Data    any    `json:"data"`
	Meta    any    `json:"meta,omitempty"`
}

type failure struct {
	Status  bool      `json:"status"`
	Message string    `json:"message"`
	Meta    *nextStep `json:"meta,omitempty"`
	Type    string    `json:"type,omitempty"`
	Code    string    `json:"code,omitempty"`
}

type nextStep struct {
	NextStep string `json:"nextStep"`
}

type initialized struct {
	AuthorizationURL string `json:"authorization_url"`
	AccessCode       string `json:"access_code"`
	Reference        string `json:"reference"`
}

type transactionBody struct {
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

type refundBody struct {
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

// refundedTransaction is the short form that POST /refund answers with.
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

type event struct {
	Event string `json:"event"`
	Data  any    `json:"data"`
}

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

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// domain is test or live, by the key.
func (s *Sim) domain() string {
	if strings.HasPrefix(s.cfg.SecretKey, "sk_live_") {
		return "live"
	}
	return "test"
}

// gatewayResponses is what the bank is said to have said.
var gatewayResponses = map[string]string{
	success:   "Successful",
	reversed:  "Successful",
	failed:    "Declined",
	abandoned: "The transaction was not completed",
}

// transactionBody is a transaction as it is read at that time.
func (s *Sim) transactionBody(t *transaction, now time.Time) transactionBody {
	st := t.status(now)
	b := transactionBody{
		ID: t.id, Domain: s.domain(), Status: st, Reference: t.reference,
		Amount: t.asked, RequestedAmount: t.asked, Currency: t.currency,
		GatewayResponse: gatewayResponses[st], Channel: "card", IPAddress: "127.0.0.1",
		CreatedAt: stamp(t.created), CreatedAtToo: stamp(t.created), TransactionDate: stamp(t.created),
		Metadata: "", Authorization: empty{}, Customer: customerOf(t),
	}
	if t.metadata != nil {
		b.Metadata = t.metadata
	}
	if arrived(st) {
		paidAt, fees := stamp(t.paidAt), feeOf(t)
		b.Amount, b.PaidAt, b.PaidAtToo, b.Fees = t.paid, &paidAt, &paidAt, &fees
		b.Log, b.Authorization = logOf(t), authorizationOf(t)
	}
	return b
}

// feeOf is the provider's cut, 1.5 % as in Nigeria, which the merchant bears.
func feeOf(t *transaction) int64 { return t.paid * 15 / 1000 }

func customerOf(t *transaction) customer {
	n := faults.Scramble(0, t.email, 0)
	return customer{
		ID: int64(n % 1e9), Email: t.email, RiskAction: "default",
		CustomerCode: "CUS_" + strconv.FormatUint(n, 36),
	}
}

func authorizationOf(t *transaction) authorization {
	n := strconv.FormatUint(faults.Scramble(0, t.reference, 0), 36)
	return authorization{
		Code: "AUTH_" + n, Bin: "408408", Last4: "4081", ExpMonth: "12", ExpYear: "2030", Channel: "card",
		CardType: "visa ", Bank: "TEST BANK", CountryCode: "NG", Brand: "visa", Reusable: true, Signature: "SIG_" + n,
	}
}

func logOf(t *transaction) *attemptLog {
	return &attemptLog{
		StartTime: t.created.Unix(), TimeSpent: 4, Attempts: 1, Success: true, Input: []string{},
		History: []logEntry{
			{"action", "Attempted to pay with card", 3},
			{success, "Successfully paid with card", 4},
		},
	}
}

// refundBody is a refund as it is read at that time.
func (s *Sim) refundBody(r *refund, now time.Time) refundBody {
	b := refundBody{
		Integration: integration, Transaction: r.of.id, ID: r.id, Domain: s.domain(),
		Currency: r.of.currency, Amount: r.amount, Status: r.status(now),
		ExpectedAt: stamp(r.created.AddDate(0, 0, 9)), RefundedBy: "api@paysim.test",
		CustomerNote: r.customerNote, MerchantNote: r.merchantNote,
		CreatedAt: stamp(r.created), UpdatedAt: stamp(r.created),
	}
	if b.Status == refundProcessed {
		at := stamp(r.created.Add(2 * r.step))
		b.RefundedAt, b.DeductedAmount, b.FullyDeducted = &at, r.amount, true
	}
	return b
}

// webhook is the body of a delivery.
func (s *Sim) webhook(d *delivery) event {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := d.of
	if d.refund != nil {
		return event{d.event, s.refundEvent(d)}
	}
	var metadata any = 0
	if t.metadata != nil {
		metadata = t.metadata
	}
	fees := feeOf(t)
	return event{d.event, chargeEvent{
		ID: t.id, Domain: s.domain(), Status: success, Reference: t.reference, Amount: t.paid,
		GatewayResponse: "Approved by Financial Institution", PaidAt: stamp(t.paidAt), CreatedAt: stamp(t.created),
		Channel: "card", Currency: t.currency, IPAddress: "127.0.0.1", Metadata: metadata, Log: logOf(t), Fees: &fees,
		Customer: customerOf(t), Authorization: authorizationOf(t),
	}}
}

func (s *Sim) refundEvent(d *delivery) refundEvent {
	r := d.refund
	id := strconv.FormatInt(r.id, 10)
	ref := "TRF_" + id
	e := refundEvent{
		Status: d.status, TransactionReference: r.of.reference, RefundReference: &ref,
		Amount: r.amount, Currency: r.of.currency, Processor: "instant-transfer",
		Customer: refundRecipient{Email: r.of.email}, Integration: integration, Domain: s.domain(),
	}
	switch d.status {
	case pending, refundProcessing:
		e.RefundReference = nil
		e.Amount = strconv.FormatInt(r.amount, 10)
	case refundProcessed:
		e.Amount = strconv.FormatInt(r.amount, 10)
	case "needs-attention":
		e.ID, e.CustomerNote, e.MerchantNote, e.Processor = id, r.customerNote, r.merchantNote, ""
	}
	return e
}

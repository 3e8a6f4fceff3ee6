package paysim

import (
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/fasthttp/router"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/paystack"
)

// operation names an endpoint in counts, and in what chance is drawn for.
type operation int

const (
	opInitialize operation = iota
	opVerify
	opTransaction
	opTransactions
	opRefund
	opRefundRead
	opRefunds
	opCheckout
	opPay
	opCoins
	opDeposit
	opDepositRead
	opHosted
	opHostedVerify
	opHostedRefund
	opHostedRefundRead
	opHostedRefunds
	opSession
	opSessionRead
	opStripeRefund
	opStripeRefundRead
	opStripeRefunds
	opMollie
	opMollieRead
	opMollieRefund
	opMollieRefundRead
	opMollieRefunds
	opDispute
	opChargebacks
	opPaypalToken
	opPaypal
	opPaypalRead
	opPaypalCapture
	opPaypalRefund
	opPaypalRefundRead
	opPaypalDispute
	opPaypalProof
	operations
)

var operationNames = [operations]string{
	"initialize", "verify", "transaction", "transactions", "refund", "refund_read", "refunds", "checkout", "pay",
	"coins", "deposit", "deposit_read", "hosted", "hosted_verify", "hosted_refund",
	"hosted_refund_read", "hosted_refunds", "session", "session_read", "stripe_refund", "stripe_refund_read", "stripe_refunds",
	"mollie", "mollie_read", "mollie_refund", "mollie_refund_read", "mollie_refunds", "dispute", "chargebacks",
	"paypal_token", "paypal", "paypal_read", "paypal_capture", "paypal_refund", "paypal_refund_read", "paypal_dispute", "paypal_proof",
}

// calls counts what was asked for.
type calls [operations]atomic.Int64

// snapshot reads the counts, one after the other, while others count on.
func (c *calls) snapshot() map[string]int64 {
	out := make(map[string]int64, operations)
	for op, name := range operationNames {
		out[name] = c[op].Load()
	}
	return out
}

// routes is the provider's API, its checkout page, and our own /_sim.
func (s *Sim) routes() fasthttp.RequestHandler {
	r := router.New()
	r.POST("/transaction/initialize", s.api(opInitialize, s.initializeTransaction))
	r.GET("/transaction/verify/{reference}", s.api(opVerify, s.verifyTransaction))
	r.GET("/transaction/{id}", s.api(opTransaction, s.readTransaction))
	r.GET("/transaction", s.api(opTransactions, s.listTransactions))
	r.POST("/refund", s.api(opRefund, s.createRefund))
	r.GET("/refund/{id}", s.api(opRefundRead, s.readRefund))
	r.GET("/refund", s.api(opRefunds, s.listRefunds))
	r.GET("/v1/status", func(ctx *fasthttp.RequestCtx) { writeJSON(ctx, 200, map[string]string{"message": "OK"}) })
	r.GET("/v1/merchant/coins", s.coinAPI(opCoins, s.listed("coins", merchantCoins)))
	r.GET("/v1/full-currencies", s.coinAPI(opCoins, s.listed("full", fullCurrencies)))
	r.GET("/v1/min-amount", s.coinAPI(opCoins, s.listed("minimum", minAmount)))
	r.POST("/v1/payment", s.coinAPI(opDeposit, s.createDeposit))
	r.GET("/v1/payment/{id}", s.coinAPI(opDepositRead, s.readDeposit))
	r.POST("/v3/payments", s.hostedAPI(opHosted, s.createHosted))
	r.GET("/v3/transactions/verify_by_reference", s.hostedAPI(opHostedVerify, s.verifyHosted))
	r.GET("/v3/transactions/{id}/verify", s.hostedAPI(opHostedVerify, s.verifyHosted))
	r.POST("/v3/transactions/{id}/refund", s.hostedAPI(opHostedRefund, s.refundHosted))
	r.GET("/v3/refunds", s.hostedAPI(opHostedRefunds, s.hostedRefunds))
	r.GET("/v3/refunds/{id}", s.hostedAPI(opHostedRefundRead, s.readHostedRefund))
	r.POST("/v1/checkout/sessions", s.stripeAPI(opSession, s.createSession))
	r.GET("/v1/checkout/sessions/{id}", s.stripeAPI(opSessionRead, s.readSession))
	r.POST("/v1/refunds", s.stripeAPI(opStripeRefund, s.refundIntent))
	r.GET("/v1/refunds", s.stripeAPI(opStripeRefunds, s.stripeRefunds))
	r.GET("/v1/refunds/{id}", s.stripeAPI(opStripeRefundRead, s.readStripeRefund))
	r.GET("/v1/disputes/{id}", s.stripeAPI(opDispute, s.readDispute))
	r.POST("/v2/payments", s.mollieAPI(opMollie, s.createMollie))
	r.GET("/v2/payments/{id}", s.mollieAPI(opMollieRead, s.readMollie))
	r.POST("/v2/payments/{id}/refunds", s.mollieAPI(opMollieRefund, s.refundMollie))
	r.GET("/v2/payments/{id}/refunds", s.mollieAPI(opMollieRefunds, s.mollieRefunds))
	r.GET("/v2/payments/{id}/refunds/{refund}", s.mollieAPI(opMollieRefundRead, s.readMollieRefund))
	r.GET("/v2/payments/{id}/chargebacks", s.mollieAPI(opChargebacks, s.listChargebacks))
	r.POST("/paypal/v1/oauth2/token", s.grantPaypal)
	r.POST("/paypal/v2/checkout/orders", s.paypalAPI(opPaypal, s.createPaypal))
	r.GET("/paypal/v2/checkout/orders/{id}", s.paypalAPI(opPaypalRead, s.readPaypal))
	r.POST("/paypal/v2/checkout/orders/{id}/capture", s.paypalAPI(opPaypalCapture, s.capturePaypal))
	r.POST("/paypal/v2/payments/captures/{id}/refund", s.paypalAPI(opPaypalRefund, s.refundPaypal))
	r.GET("/paypal/v2/payments/refunds/{id}", s.paypalAPI(opPaypalRefundRead, s.readPaypalRefund))
	r.GET("/paypal/v1/customer/disputes/{id}", s.paypalAPI(opPaypalDispute, s.readPaypalDispute))
	r.POST("/paypal/v1/notifications/verify-webhook-signature", s.paypalAPI(opPaypalProof, s.provePaypal))
	r.GET("/checkout/{code}", s.checkout)
	r.POST("/checkout/{code}", s.pay)
	r.POST("/_sim/return", s.returnDeposit)
	r.POST("/_sim/dispute", s.postDispute)
	r.POST("/_sim/modes", s.putModes)
	r.GET("/_sim/modes", s.getModes)
	r.GET("/_sim/transactions", s.audit)
	r.GET("/_sim/stats", func(ctx *fasthttp.RequestCtx) { writeJSON(ctx, 200, s.Stats()) })
	r.NotFound = func(ctx *fasthttp.RequestCtx) { writeJSON(ctx, 404, paystack.Failure{Message: "Route not found"}) }
	return r.Handler
}

// reply is an answer of the API.
type reply struct {
	status int
	body   any
}

// ok is a success in Paystack's envelope.
func ok(message string, data any) reply {
	return reply{200, paystack.Envelope{Status: true, Message: message, Data: data}}
}

// refused is a failure in Paystack's envelope, with the next step that it suggests.
func refused(status int, message, code, next string) reply {
	return reply{status, paystack.Failure{Message: message, Meta: &paystack.NextStep{NextStep: next}, Type: "validation_error", Code: code}}
}

// task is a call of the API, understood but not yet done: whose modes it is
// under, what it is about, and how to do it.
type task struct {
	modes faults.Modes
	about string
	run   func() reply
}

// done is a task that only answers.
func done(r reply) task { return task{run: func() reply { return r }} }

// api checks the key, reads the call, and does it as its modes have it.
func (s *Sim) api(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if why := s.unauthorized(ctx); why != "" {
			writeJSON(ctx, 401, paystack.Failure{Message: why})
			return
		}
		t := read(ctx)
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

func (s *Sim) unauthorized(ctx *fasthttp.RequestCtx) string {
	header := string(ctx.Request.Header.Peek("Authorization"))
	key, bearer := strings.CutPrefix(header, "Bearer ")
	switch {
	case header == "":
		return "No Authorization Header was found"
	case !bearer:
		return "Format is Authorization Bearer [secret key]"
	case key != s.cfg.SecretKey:
		return "Invalid key"
	}
	return ""
}

// perform does the task, with what strikes it before and after.
func (s *Sim) perform(ctx *fasthttp.RequestCtx, t task, name string) {
	if set, ok := s.dice.Strikes(t.modes, "slow", name); ok {
		s.pause(s.dice.Latency(set, name))
	}
	if set, ok := s.dice.Strikes(t.modes, "timeout", name); ok {
		s.pause(set.Span)
		reset(ctx)
		return
	}
	if _, ok := s.dice.Strikes(t.modes, "reset", name); ok {
		reset(ctx)
		return
	}
	if set, ok := s.dice.Strikes(t.modes, "error", name); ok {
		writeJSON(ctx, int(set.Number), paystack.Failure{
			Message: "An error occurred while processing your request", Type: "api_error", Code: "unknown",
		})
		return
	}
	r := t.run()
	if _, ok := s.dice.Strikes(t.modes, "lost", name); ok {
		reset(ctx)
		return
	}
	writeJSON(ctx, r.status, r.body)
	if _, ok := s.dice.Strikes(t.modes, "malformed", name); ok {
		ctx.Response.SetBody(append([]byte(nil), ctx.Response.Body()[:len(ctx.Response.Body())/2]...))
	}
}

// reset breaks the connection off with a TCP reset instead of an answer.
func reset(ctx *fasthttp.RequestCtx) {
	if tcp, ok := ctx.Conn().(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	ctx.HijackSetNoResponse(true)
	ctx.Hijack(func(net.Conn) {})
}

func writeJSON(ctx *fasthttp.RequestCtx, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		ctx.Error(err.Error(), 500)
		return
	}
	ctx.SetStatusCode(status)
	ctx.SetContentType("application/json; charset=utf-8")
	ctx.SetBody(b)
}

// param is a path parameter, copied out of the request.
func param(ctx *fasthttp.RequestCtx, name string) string {
	text, _ := ctx.UserValue(name).(string)
	return strings.Clone(text)
}

// query is a query parameter, copied out of the request.
func query(ctx *fasthttp.RequestCtx, name string) string {
	return string(ctx.QueryArgs().Peek(name))
}

// queryInt is a query parameter from low to high; standard if it is not there
// or is no number.
func queryInt(ctx *fasthttp.RequestCtx, name string, standard, low, high int) int {
	n, err := strconv.Atoi(query(ctx, name))
	if err != nil {
		return standard
	}
	return min(max(n, low), high)
}

// putModes sets the process's modes: {"modes": "..."} or the text itself.
func (s *Sim) putModes(ctx *fasthttp.RequestCtx) {
	text := string(ctx.PostBody())
	var in struct {
		Modes string `json:"modes"`
	}
	if json.Unmarshal(ctx.PostBody(), &in) == nil {
		text = in.Modes
	}
	m, err := faults.Parse(text)
	if err != nil {
		writeJSON(ctx, 400, paystack.Failure{Message: err.Error()})
		return
	}
	s.SetModes(m)
	s.getModes(ctx)
}

// getModes tells the process's modes, and which there are.
func (s *Sim) getModes(ctx *fasthttp.RequestCtx) {
	catalog := make(map[string]string, len(faults.Catalog))
	for name, m := range faults.Catalog {
		catalog[name] = m.Help
	}
	writeJSON(ctx, 200, struct {
		Modes   string            `json:"modes"`
		Catalog map[string]string `json:"catalog"`
	}{s.ledger.ModesOf(nil).String(), catalog})
}

// audit lists transactions: ?status=&from=&limit=, the next page from next.
func (s *Sim) audit(ctx *fasthttp.RequestCtx) {
	from := queryInt(ctx, "from", 0, 0, int(^uint(0)>>1))
	rows, next := s.Transactions(int64(from), query(ctx, "status"), queryInt(ctx, "limit", 1000, 1, ledger.AuditPage))
	if rows == nil {
		rows = []ledger.Row{}
	}
	writeJSON(ctx, 200, struct {
		Transactions []ledger.Row `json:"transactions"`
		Next         int64        `json:"next"`
	}{rows, next})
}

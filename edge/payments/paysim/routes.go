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

// operation is a kind of call. The counts of calls use its name, and so do the random draws of a mode that
// strikes calls.
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

// operationNames has the names in the order of the constants above.
var operationNames = [operations]string{
	"initialize", "verify", "transaction", "transactions", "refund", "refund_read", "refunds", "checkout", "pay",
	"coins", "deposit", "deposit_read", "hosted", "hosted_verify", "hosted_refund",
	"hosted_refund_read", "hosted_refunds", "session", "session_read", "stripe_refund", "stripe_refund_read", "stripe_refunds",
	"mollie", "mollie_read", "mollie_refund", "mollie_refund_read", "mollie_refunds", "dispute", "chargebacks",
	"paypal_token", "paypal", "paypal_read", "paypal_capture", "paypal_refund", "paypal_refund_read", "paypal_dispute", "paypal_proof",
}

// calls counts the calls of each operation.
type calls [operations]atomic.Int64

// snapshot reads the counts one after another, while calls go on.
func (c *calls) snapshot() map[string]int64 {
	out := make(map[string]int64, operations)
	for op, name := range operationNames {
		out[name] = c[op].Load()
	}
	return out
}

// routes returns the handler of everything that the simulator serves: the providers' APIs, the
// checkout page and the paths under /_sim, which are ours. It answers any other path as Paystack does.
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

// ok returns a success in Paystack's envelope.
func ok(message string, data any) reply {
	return reply{200, paystack.Envelope{Status: true, Message: message, Data: data}}
}

// refused returns a failure in Paystack's envelope, with the next step that it suggests.
func refused(status int, message, code, next string) reply {
	return reply{status, paystack.Failure{Message: message, Meta: &paystack.NextStep{NextStep: next}, Type: "validation_error", Code: code}}
}

// task is a call that has been read but not done. The modes and the text about decide what goes wrong, and run does
// the call. Reading and doing are apart because a mode may delay or break off the call before anything happened.
type task struct {
	modes faults.Modes
	// What the call is about, such as a reference. The random draws of faults depend on it.
	about string
	run   func() reply
}

// done returns a task that only answers.
func done(r reply) task { return task{run: func() reply { return r }} }

// api makes the handler of a call of Paystack's API: it checks the key, reads the call, and
// performs it as the modes demand.
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

// unauthorized returns why a call of Paystack's API is refused, in Paystack's words, or "" if the call has our secret
// key as its bearer token.
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

// perform does a task together with the faults that its modes draw. "slow" only delays the task. "timeout", "reset"
// and "error" strike before run, so that nothing is done. "lost" and "malformed" strike after it, so that the caller
// cannot know what was done. No lock is held during a pause.
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

// reset breaks the connection off by a TCP reset, without an answer. A linger of 0 makes the kernel send the reset.
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

// param returns a path parameter. It is a copy, because fasthttp uses a request's memory again.
func param(ctx *fasthttp.RequestCtx, name string) string {
	text, _ := ctx.UserValue(name).(string)
	return strings.Clone(text)
}

// query returns a query parameter. It is a copy, because fasthttp uses a request's memory again.
func query(ctx *fasthttp.RequestCtx, name string) string {
	return string(ctx.QueryArgs().Peek(name))
}

// queryInt returns a query parameter, moved into the range from low to high. It returns standard if
// the parameter is missing or no number.
func queryInt(ctx *fasthttp.RequestCtx, name string, standard, low, high int) int {
	n, err := strconv.Atoi(query(ctx, name))
	if err != nil {
		return standard
	}
	return min(max(n, low), high)
}

// putModes answers POST /_sim/modes: it sets the modes of all transactions without their own. The body
// is {"modes": "..."} or the text itself.
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

// getModes answers GET /_sim/modes: it returns the modes that hold now, and explains every mode that there is.
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

// audit answers GET /_sim/transactions: a page of transactions, by ?status=, ?from= and ?limit=. The
// next page begins at next.
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

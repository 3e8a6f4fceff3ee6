package paysim

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/engine"
)

// depositWindow is how long a fixed rate holds, and so an address without a deposit.
const depositWindow = 20 * time.Minute

// coin is a crypto currency that the simulator takes. A price is in US cents.
type coin struct {
	code, name, network string
	price               int64
	memo                bool
}

var coins = []coin{
	{"BTC", "Bitcoin", "btc", 50_000_00, false},
	{"ETH", "Ethereum", "eth", 2_500_00, false},
	{"SOL", "Solana", "sol", 150_00, false},
	{"USDTTRC20", "Tether USD (Tron)", "trx", 1_00, false},
	{"USDCBSC", "USD Coin (BSC)", "bsc", 1_00, false},
	{"XRP", "Ripple", "xrp", 50, true},
}

// leastDeposit is the minimum of every coin, in US cents.
const leastDeposit = 1_00

// coinOf finds a coin by its ticker.
func coinOf(ticker string) *coin {
	i := slices.IndexFunc(coins, func(c coin) bool { return strings.EqualFold(c.code, ticker) })
	if i < 0 {
		return nil
	}
	return &coins[i]
}

// amount returns what a number of US cents is in the coin, a decimal of eight places.
func (c *coin) amount(cents int64) json.Number {
	units := cents * 100_000_000 / c.price
	return json.Number(fmt.Sprintf("%d.%08d", units/100_000_000, units%100_000_000))
}

// coinFailure is how NOWPayments says no.
type coinFailure struct {
	StatusCode int    `json:"statusCode"`
	Code       string `json:"code"`
	Message    string `json:"message"`
}

func refusedCoin(status int, code, message string) reply {
	return reply{status, coinFailure{status, code, message}}
}

// coinAPI checks NOWPayments' key, reads the call, and does it as its modes have it.
func (s *Sim) coinAPI(op operation, read func(*fasthttp.RequestCtx) task) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		s.calls[op].Add(1)
		if key := string(ctx.Request.Header.Peek("X-Api-Key")); key == "" || key != s.cfg.NOWPaymentsKey {
			writeJSON(ctx, 403, coinFailure{403, "INVALID_API_KEY", "Invalid api key"})
			return
		}
		t := read(ctx)
		s.perform(ctx, t, operationNames[op]+"/"+t.about)
	}
}

// listed is a task that answers what does not depend on any payment.
func (s *Sim) listed(about string, body func(*fasthttp.RequestCtx) reply) func(*fasthttp.RequestCtx) task {
	return func(ctx *fasthttp.RequestCtx) task {
		r := body(ctx)
		return task{s.modesOf(nil), about, func() reply { return r }}
	}
}

// merchantCoins is GET /v1/merchant/coins, in its older form.
func merchantCoins(*fasthttp.RequestCtx) reply {
	codes := make([]string, len(coins))
	for i := range coins {
		codes[i] = coins[i].code
	}
	return reply{200, map[string]any{"selectedCurrencies": codes}}
}

// fullCurrencies is GET /v1/full-currencies.
func fullCurrencies(*fasthttp.RequestCtx) reply {
	all := make([]map[string]any, len(coins))
	for i, c := range coins {
		all[i] = map[string]any{
			"id": i + 1, "code": c.code, "name": c.name, "enable": true, "priority": 1, "extra_id_exists": c.memo,
			"logo_url": "/images/coins/" + strings.ToLower(c.code) + ".svg", "is_maxlimit": false, "network": c.network, "network_precision": "8",
		}
	}
	return reply{200, map[string]any{"currencies": all}}
}

// minAmount is GET /v1/min-amount.
func minAmount(ctx *fasthttp.RequestCtx) reply {
	c := coinOf(query(ctx, "currency_from"))
	if c == nil {
		return refusedCoin(400, "BAD_REQUEST", "Currency is not supported")
	}
	return reply{200, map[string]any{
		"currency_from": query(ctx, "currency_from"), "currency_to": query(ctx, "currency_to"),
		"min_amount": c.amount(leastDeposit), "fiat_equivalent": majorUnits(leastDeposit, "USD"),
	}}
}

// createDeposit is POST /v1/payment. A repeat makes another payment, as live.
func (s *Sim) createDeposit(ctx *fasthttp.RequestCtx) task {
	var in struct {
		Price       json.Number `json:"price_amount"`
		Currency    string      `json:"price_currency"`
		PayCurrency string      `json:"pay_currency"`
		Order       string      `json:"order_id"`
		Callback    string      `json:"ipn_callback_url"`
	}
	err := json.Unmarshal(ctx.PostBody(), &in)
	cents, whole := minorUnits(in.Price, "USD")
	c := coinOf(in.PayCurrency)
	switch {
	case err != nil || !whole || cents <= 0 || in.Order == "":
		return done(refusedCoin(400, "INVALID_REQUEST_PARAMS", "price_amount is required"))
	case !strings.EqualFold(in.Currency, "usd"):
		return done(refusedCoin(400, "BAD_REQUEST", "Can not get estimate from "+in.Currency))
	case c == nil:
		return done(refusedCoin(400, "INVALID_REQUEST_PARAMS", "Currency "+in.PayCurrency+" was not found"))
	case cents < leastDeposit:
		return done(refusedCoin(400, "AMOUNT_MINIMAL_ERROR", "Crypto amount is less than minimal"))
	}
	t := &transaction{
		provider: nowpayments, coin: c, order: in.Order, currency: "USD", asked: cents, hook: in.Callback, created: s.cfg.Now(),
	}
	t.reference = "deposit-" + in.Order + "-" + strconv.FormatInt(s.calls[opDeposit].Load(), 10)
	return task{s.modesOf(t), in.Order, func() reply {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.ledger.add(t)
		if set, ok := s.dice.Struck(s.modesOf(t), "auto", t.reference); ok {
			s.settle(t, success, t.created.Add(set.Span))
		}
		body := s.depositBody(t, depositStatus(t, s.cfg.Now()))
		body["payment_id"] = strconv.FormatInt(t.id, 10) // numbers everywhere else
		body["purchase_id"] = strconv.FormatInt(t.id+7, 10)
		until := stamp(t.created.Add(depositWindow))
		maps.Copy(body, map[string]any{
			"amount_received": nil, "network": c.network, "network_precision": 8, "valid_until": until, "expiration_estimate_date": until,
			"is_fixed_rate": true, "is_fee_paid_by_user": false, "ipn_callback_url": in.Callback, "smart_contract": "", "time_limit": nil,
		})
		delete(body, "actually_paid")
		return reply{201, body}
	}}
}

// minorUnits reads a decimal of a currency.
func minorUnits(n json.Number, currency string) (int64, bool) {
	decimals := engine.DecimalsOf(currency)
	whole, fraction, _ := strings.Cut(string(n), ".")
	v, err := strconv.ParseInt(whole+(fraction + "000")[:max(decimals, len(fraction))], 10, 64)
	return v, err == nil && len(fraction) <= decimals
}

// readDeposit is GET /v1/payment/{id}.
func (s *Sim) readDeposit(ctx *fasthttp.RequestCtx) task {
	id, _ := strconv.ParseInt(param(ctx, "id"), 10, 64)
	s.mu.Lock()
	t := s.ledger.txs.get(id)
	s.mu.Unlock()
	return task{s.modesOf(t), param(ctx, "id"), func() reply {
		if t == nil || t.provider != nowpayments {
			return refusedCoin(404, "NOT_FOUND", "Payment not found")
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		status := depositStatus(t, s.cfg.Now())
		if t.pendingLeft > 0 && status == "confirming" {
			if t.pendingLeft--; t.pendingLeft == 0 {
				s.hooks.announceCharge(t, s.modesOf(t), 0)
			}
		}
		return reply{200, s.depositBody(t, status)}
	}}
}

// depositAgain is coins that come to an address that has been paid: the provider makes a
// payment of its own of them, and tells that. Sim.mu is held.
func (s *Sim) depositAgain(t *transaction, at time.Time) {
	again := &transaction{
		provider: nowpayments, coin: t.coin, order: t.order, parent: t.id, reference: t.reference + "-again", currency: t.currency, asked: t.asked,
		hook: t.hook, created: t.created, outcome: success, paid: t.asked, paidAt: at,
	}
	if s.ledger.add(again) {
		s.hooks.announceCharge(again, s.modesOf(t), at.Sub(s.cfg.Now()))
	}
}

// returnDeposit is POST /_sim/return: a person sends coins of a payment back, by an amount in
// minor units of its price.
func (s *Sim) returnDeposit(ctx *fasthttp.RequestCtx) {
	var in struct {
		Payment int64 `json:"payment"`
		Amount  int64 `json:"amount"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in) // what can't be read names no payment
	now := s.cfg.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.ledger.txs.get(in.Payment)
	if t == nil || t.provider != nowpayments || in.Amount <= 0 || !arrived(t.status(now)) || in.Amount > t.refundable(now) {
		writeJSON(ctx, 409, failure{Message: "no such payment, or there is less of it left"})
		return
	}
	s.ledger.refund(t, &refund{amount: in.Amount, created: now, end: refundProcessed})
	writeJSON(ctx, 200, map[string]int64{"left": t.refundable(now)})
}

// depositStatus is the payment's status in NOWPayments' words.
func depositStatus(t *transaction, now time.Time) string {
	switch st := t.status(now); st {
	case success:
		if t.paid < t.asked {
			return "partially_paid"
		}
		return "finished"
	case reversed:
		return "refunded"
	case failed:
		return failed
	case abandoned:
		if now.Sub(t.created) >= depositWindow {
			return "expired"
		}
		return "waiting"
	}
	return "confirming"
}

// depositBody is a payment as it is read, and told: ids are numbers. Sim.mu is held.
func (s *Sim) depositBody(t *transaction, status string) map[string]any {
	var memo, parent any
	if t.parent != 0 {
		parent = t.parent
	}
	if t.coin.memo {
		memo = strconv.FormatInt(t.id%1_000_000, 10)
	}
	paid := json.Number("0")
	if status != "waiting" && status != "expired" && t.outcome == success {
		paid = t.coin.amount(t.paid)
	}
	return map[string]any{
		"payment_id": t.id, "parent_payment_id": parent, "invoice_id": nil, "payment_status": status, "pay_address": s.accessCode(t.id),
		"payin_extra_id": memo, "price_amount": majorUnits(t.asked, t.currency), "price_currency": "usd",
		"pay_amount": t.coin.amount(t.asked), "actually_paid": paid, "actually_paid_at_fiat": 0, "pay_currency": strings.ToLower(t.coin.code),
		"order_id": t.order, "order_description": "Order " + t.order, "purchase_id": t.id + 7, "outcome_amount": paid, "outcome_currency": strings.ToLower(t.coin.code),
		"payin_hash": nil, "payout_hash": nil, "created_at": stamp(t.created), "updated_at": stamp(s.cfg.Now()), "type": "crypto2crypto", "payment_extra_ids": nil, "burning_percent": "null",
		"fee": map[string]any{"currency": strings.ToLower(t.coin.code), "depositFee": 0, "withdrawalFee": 0, "serviceFee": 0},
	}
}

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

	"boxoffice/edge/payments/paysim/ledger"
	"boxoffice/edge/payments/paysim/paystack"
	"boxoffice/engine"
)

// depositWindow is how long NOWPayments keeps a fixed rate. An address without a deposit expires with the rate.
const depositWindow = 20 * time.Minute

// coin is a crypto currency that the simulator takes. Its price is in US cents. A deposit of a coin
// with a memo must name the memo beside the address.
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

// leastDeposit is the smallest deposit of every coin, in US cents.
const leastDeposit = 1_00

// coinOf finds a coin by its ticker, in upper or lower case. It returns nil if there is none.
func coinOf(ticker string) *coin {
	i := slices.IndexFunc(coins, func(c coin) bool { return strings.EqualFold(c.code, ticker) })
	if i < 0 {
		return nil
	}
	return &coins[i]
}

// amount converts US cents into the coin, as a decimal with eight places, rounded down.
func (c *coin) amount(cents int64) json.Number {
	units := cents * 100_000_000 / c.price
	return json.Number(fmt.Sprintf("%d.%08d", units/100_000_000, units%100_000_000))
}

// coinFailure is an error in NOWPayments' form.
type coinFailure struct {
	StatusCode int    `json:"statusCode"`
	Code       string `json:"code"`
	Message    string `json:"message"`
}

func refusedCoin(status int, code, message string) reply {
	return reply{status, coinFailure{status, code, message}}
}

// coinAPI makes the handler of a call of NOWPayments' API: it checks the key, reads the call, and
// performs it as the modes demand.
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

// listed returns the reader of a call whose answer does not depend on any payment, such as a list of coins.
func (s *Sim) listed(about string, body func(*fasthttp.RequestCtx) reply) func(*fasthttp.RequestCtx) task {
	return func(ctx *fasthttp.RequestCtx) task {
		r := body(ctx)
		return task{s.ledger.ModesOf(nil), about, func() reply { return r }}
	}
}

// merchantCoins answers GET /v1/merchant/coins, in its older form: only the tickers.
func merchantCoins(*fasthttp.RequestCtx) reply {
	codes := make([]string, len(coins))
	for i := range coins {
		codes[i] = coins[i].code
	}
	return reply{200, map[string]any{"selectedCurrencies": codes}}
}

// fullCurrencies answers GET /v1/full-currencies.
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

// minAmount answers GET /v1/min-amount.
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

// createDeposit answers POST /v1/payment. NOWPayments knows no idempotency, so a repeat makes another
// payment for the same order.
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
	t := &ledger.Transaction{
		Provider: ledger.NOWPayments, Coin: c.code, Order: in.Order, Currency: "USD", Asked: cents, Hook: in.Callback, Created: s.cfg.Now(),
	}
	// The ledger wants unique references, and an order may have several payments. So the number of
	// the call is part of the reference.
	t.Reference = "deposit-" + in.Order + "-" + strconv.FormatInt(s.calls[opDeposit].Load(), 10)
	return task{s.ledger.ModesOf(t), in.Order, func() reply {
		s.ledger.Lock()
		defer s.ledger.Unlock()
		s.ledger.Add(t)
		if set, ok := s.dice.Struck(s.ledger.ModesOf(t), "auto", t.Reference); ok {
			s.ledger.Settle(t, ledger.Success, t.Created.Add(set.Span))
		}
		body := s.depositBody(t, depositStatus(t, s.cfg.Now()))
		body["payment_id"] = strconv.FormatInt(t.ID, 10) // a text here, as NOWPayments sends it; in all other answers a number
		body["purchase_id"] = strconv.FormatInt(t.ID+7, 10)
		until := paystack.Stamp(t.Created.Add(depositWindow))
		maps.Copy(body, map[string]any{
			"amount_received": nil, "network": c.network, "network_precision": 8, "valid_until": until, "expiration_estimate_date": until,
			"is_fixed_rate": true, "is_fee_paid_by_user": false, "ipn_callback_url": in.Callback, "smart_contract": "", "time_limit": nil,
		})
		delete(body, "actually_paid")
		return reply{201, body}
	}}
}

// minorUnits reads a decimal of a currency. It returns false if the text is no number, or has more places than the
// currency.
func minorUnits(n json.Number, currency string) (int64, bool) {
	decimals := engine.DecimalsOf(currency)
	whole, fraction, _ := strings.Cut(string(n), ".")
	v, err := strconv.ParseInt(whole+(fraction + "000")[:max(decimals, len(fraction))], 10, 64)
	return v, err == nil && len(fraction) <= decimals
}

// readDeposit answers GET /v1/payment/{id}. With the mode "pending" the first reads show the deposit as unconfirmed.
func (s *Sim) readDeposit(ctx *fasthttp.RequestCtx) task {
	id, _ := strconv.ParseInt(param(ctx, "id"), 10, 64)
	s.ledger.Lock()
	t := s.ledger.ByID(id)
	s.ledger.Unlock()
	return task{s.ledger.ModesOf(t), param(ctx, "id"), func() reply {
		if t == nil || t.Provider != ledger.NOWPayments {
			return refusedCoin(404, "NOT_FOUND", "Payment not found")
		}
		s.ledger.Lock()
		defer s.ledger.Unlock()
		status := depositStatus(t, s.cfg.Now())
		if t.PendingLeft > 0 && status == "confirming" {
			if t.PendingLeft--; t.PendingLeft == 0 {
				s.hooks.announceCharge(t, s.ledger.ModesOf(t), 0)
			}
		}
		return reply{200, s.depositBody(t, status)}
	}}
}

// returnDeposit answers POST /_sim/return: a person sends a payment's coins, or a part of them, back, which
// the API has no call for. The amount is in minor units of the price's currency.
func (s *Sim) returnDeposit(ctx *fasthttp.RequestCtx) {
	var in struct {
		Payment int64 `json:"payment"`
		Amount  int64 `json:"amount"`
	}
	_ = json.Unmarshal(ctx.PostBody(), &in) // what can't be read names no payment
	now := s.cfg.Now()
	s.ledger.Lock()
	defer s.ledger.Unlock()
	t := s.ledger.ByID(in.Payment)
	if t == nil || t.Provider != ledger.NOWPayments || in.Amount <= 0 || !ledger.Arrived(t.Status(now)) || in.Amount > t.Refundable(now) {
		writeJSON(ctx, 409, paystack.Failure{Message: "no such payment, or there is less of it left"})
		return
	}
	s.ledger.Record(t, &ledger.Refund{Amount: in.Amount, Created: now, End: ledger.RefundProcessed})
	writeJSON(ctx, 200, map[string]int64{"left": t.Refundable(now)})
}

// depositStatus translates a payment's status into NOWPayments' words. A deposit smaller than the
// price is partially_paid.
func depositStatus(t *ledger.Transaction, now time.Time) string {
	switch st := t.Status(now); st {
	case ledger.Success:
		if t.Paid < t.Asked {
			return "partially_paid"
		}
		return "finished"
	case ledger.Reversed:
		return "refunded"
	case ledger.Failed:
		return ledger.Failed
	case ledger.Abandoned:
		if now.Sub(t.Created) >= depositWindow {
			return "expired"
		}
		return "waiting"
	}
	return "confirming"
}

// depositBody shows a payment in the form that NOWPayments' API and webhooks have, with ids as numbers. The caller
// holds the ledger's lock.
func (s *Sim) depositBody(t *ledger.Transaction, status string) map[string]any {
	var memo, parent any
	coin := coinOf(t.Coin)
	if t.Parent != 0 {
		parent = t.Parent
	}
	if coin.memo {
		memo = strconv.FormatInt(t.ID%1_000_000, 10)
	}
	paid := json.Number("0")
	if status != "waiting" && status != "expired" && t.Outcome == ledger.Success {
		paid = coin.amount(t.Paid)
	}
	return map[string]any{
		"payment_id": t.ID, "parent_payment_id": parent, "invoice_id": nil, "payment_status": status, "pay_address": s.accessCode(t.ID),
		"payin_extra_id": memo, "price_amount": majorUnits(t.Asked, t.Currency), "price_currency": "usd",
		"pay_amount": coin.amount(t.Asked), "actually_paid": paid, "actually_paid_at_fiat": 0, "pay_currency": strings.ToLower(coin.code),
		"order_id": t.Order, "order_description": "Order " + t.Order, "purchase_id": t.ID + 7, "outcome_amount": paid, "outcome_currency": strings.ToLower(coin.code),
		"payin_hash": nil, "payout_hash": nil, "created_at": paystack.Stamp(t.Created), "updated_at": paystack.Stamp(s.cfg.Now()), "type": "crypto2crypto", "payment_extra_ids": nil, "burning_percent": "null",
		"fee": map[string]any{"currency": strings.ToLower(coin.code), "depositFee": 0, "withdrawalFee": 0, "serviceFee": 0},
	}
}

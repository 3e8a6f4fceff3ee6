package payments_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/psp"
)

// coins opens NOWPayments' adapter on a server that answers by path.
func coins(t *testing.T, answers map[string]string) (p psp.Provider, asked map[string]string) {
	t.Helper()
	asked = make(map[string]string)
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked[r.Method+" "+r.URL.Path] = string(body)
		if r.Header.Get("X-Api-Key") != "np-key" {
			w.WriteHeader(401)
		}
		if r.Method == "POST" {
			w.WriteHeader(201)
		}
		_, _ = io.WriteString(w, answers[r.URL.Path])
	}))
	g, err := payments.Open(payments.Config{NOWPayments: psp.Account{URL: url + "/v1", SecretKey: "np-key", NoticeSecret: " ipn \n"}}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(g.Close)
	p, err = g.Provider("nowpayments")
	require.NoError(t, err)
	return p, asked
}

// created and read are a payment as NOWPayments' API answers: its id is a text when it is
// made, and a number when it is read.
const (
	created = `{"payment_id":"5745459419","payment_status":"waiting","pay_address":"3EZ2uTdVDAMFXTfc6uLDDKR6o8qKBZXVkj","payin_extra_id":null,
"price_amount":3999.5,"price_currency":"usd","pay_amount":0.17070286,"pay_currency":"btc","order_id":"RGDBP-1","purchase_id":"5837122679",
"amount_received":null,"smart_contract":"","network":"btc","network_precision":8,"burning_percent":null,
"valid_until":"2026-11-24T20:00:00.000Z","type":"crypto2crypto"}`
	read = `{"payment_id":5745459419,"parent_payment_id":null,"payment_status":"STATUS","pay_address":"3EZ2","price_amount":3999.5,"price_currency":"usd",
"pay_amount":"0.17070286","actually_paid":PAID,"pay_currency":"btc","order_id":"RGDBP-1","purchase_id":5837122679,"burning_percent":"null"}`
)

func TestDeposit(t *testing.T) {
	t.Parallel()
	p, asked := coins(t, map[string]string{"/v1/payment": created})
	begun, err := p.Begin(t.Context(), psp.Charge{Reference: "RGDBP-1", Amount: 399950, Currency: "USD", Email: "a@example.org"})
	require.NoError(t, err)
	require.Equal(t, "5745459419", begun.ProviderID)
	require.Equal(t, "3EZ2uTdVDAMFXTfc6uLDDKR6o8qKBZXVkj 0.17070286 btc btc", strings.Join([]string{begun.Deposit.Address, begun.Deposit.Amount, begun.Deposit.Currency, begun.Deposit.Network}, " "))
	require.JSONEq(t, `{"price_amount":3999.50,"price_currency":"usd","pay_currency":"btc","order_id":"RGDBP-1","order_description":"Order RGDBP-1","is_fixed_rate":true}`, asked["POST /v1/payment"])
}

func TestDepositStatuses(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		status psp.Status
		amount int64
	}{
		"waiting 0": {psp.Pending, 0}, "confirming 0.17070286": {psp.Processing, 399950}, "confirmed 0.17070286": {psp.Processing, 399950},
		"sending 0.17070286": {psp.Processing, 399950}, "finished 0.17070286": {psp.Succeeded, 399950}, "finished 0.34141": {psp.Succeeded, 799900},
		"finished null": {psp.Succeeded, 0}, "partially_paid 0.08535143": {psp.Succeeded, 199975}, "partially_paid 1e-7": {psp.Succeeded, 0},
		"failed 0": {psp.Failed, 0}, "refunded 0.17070286": {psp.Refunded, 399950}, "expired 0": {psp.Expired, 0},
		"cancelled 0": {psp.Cancelled, 0}, "canceled 0": {psp.Cancelled, 0},
	} {
		status, paid, _ := strings.Cut(name, " ")
		p, _ := coins(t, map[string]string{"/v1/payment/5745459419": strings.NewReplacer("STATUS", status, "PAID", paid).Replace(read)})
		got, err := p.Verify(t.Context(), psp.Asked{Reference: "RGDBP-1", ProviderID: "5745459419"})
		require.NoError(t, err, name)
		require.Equal(t, want.status, got.Status, name)
		require.InDelta(t, want.amount, got.Amount, 10, name)
		require.LessOrEqual(t, min(want.amount, 399950), got.Amount+1, name)
	}
	finished := strings.NewReplacer("STATUS", "finished", "PAID", "0.17070286").Replace(read)
	for name, answer := range map[string]string{
		"a later deposit": strings.Replace(finished, `"parent_payment_id":null`, `"parent_payment_id":7`, 1), "another order": strings.Replace(finished, "RGDBP-1", "RGDBP-2", 1),
		"another payment": strings.Replace(finished, "5745459419", "5745459418", 1), "a new status": strings.Replace(finished, "finished", "paid", 1),
		"no amount": strings.Replace(finished, "0.17070286,\"pay_c", "\"x\",\"pay_c", 1), "nothing": "",
	} {
		p, _ := coins(t, map[string]string{"/v1/payment/5745459419": answer})
		_, err := p.Verify(t.Context(), psp.Asked{Reference: "RGDBP-1", ProviderID: "5745459419"})
		require.ErrorIs(t, err, psp.ErrFault, name)
	}
}

// TestDepositNotice signs what JavaScript would have made of each body.
func TestDepositNotice(t *testing.T) {
	t.Parallel()
	p, _ := coins(t, nil)
	sign := func(text string) string {
		mac := hmac.New(sha512.New, []byte("ipn"))
		mac.Write([]byte(text))
		return hex.EncodeToString(mac.Sum(nil))
	}
	for body, signed := range map[string]string{
		`{ "payment_status":"finished", "payment_id":1, "actually_paid":1e-7 }`: `{"actually_paid":1e-7,"payment_id":1,"payment_status":"finished"}`,
		`{"payment_id":1,"payment_extra_ids":[5513339153,{"b":1,"a":2}]}`:       `{"payment_extra_ids":[5513339153,{"a":2,"b":1}],"payment_id":1}`,
		`{"payment_id":1,"payment_extra_ids":[5513339153]}`:                     `{"payment_extra_ids":{"0":5513339153},"payment_id":1}`,
		`{"payment_id":1,"order_description":"Zo\u00eb <&> \/ \u2028 \\u2028"}`: "{\"order_description\":\"Zoë <&> / \u2028 \\\\u2028\",\"payment_id\":1}",
		`{"payment_id":"1","fee":{"z":0.10,"a":12345678901234567890},"x":null}`: `{"fee":{"a":12345678901234567890,"z":0.10},"payment_id":"1","x":null}`,
	} {
		n, err := p.Notice([]byte(body), " "+sign(signed)+" ")
		require.NoError(t, err, body)
		require.NotEmpty(t, n.Key)
		_, err = p.Notice([]byte(strings.Replace(body, "1", "2", 1)), sign(signed))
		require.ErrorIs(t, err, psp.ErrSignature, body)
	}
	for _, body := range []string{"", "{", "[", "nope", `{"a":1}{}`, strings.Repeat("[", 100_000), `{"a":` + strings.Repeat("[", 20) + strings.Repeat("]", 20) + `}`} {
		for _, signature := range []string{"", "00", "zz", sign(body), strings.Repeat("0", 128)} {
			_, err := p.Notice([]byte(body), signature)
			require.Error(t, err, body)
		}
	}
	n, err := p.Notice([]byte(`{"payment_id":2,"parent_payment_id":1}`), sign(`{"parent_payment_id":1,"payment_id":2}`))
	require.NoError(t, err)
	require.Equal(t, "2", n.ProviderID)
}

// TestPrices refuses what a provider would.
func TestPrices(t *testing.T) {
	t.Parallel()
	p, asked := coins(t, map[string]string{
		"/v1/merchant/coins": `{"selectedCurrencies":["BTC","USDTTRC20"]}`, "/v1/min-amount": `{"min_amount":0.0002,"fiat_equivalent":"12.001"}`,
		"/v1/full-currencies": `{"currencies":[{"code":"BTC","name":"Bitcoin","network":"btc"},{"code":"USDTTRC20","name":"Tether","network":"trc20"},{"code":"XMR","name":"Monero","network":"xmr"}]}`,
	})
	check := func(amount int64, currency, coin string) error {
		return p.Check(context.Background(), psp.Price{Amount: amount, Currency: currency, PayCurrency: coin})
	}
	require.NoError(t, check(1201, "USD", ""))
	require.NoError(t, check(1201, "USD", "usdttrc20"))
	require.ErrorIs(t, check(1200, "USD", "btc"), psp.ErrTooLittle)
	require.ErrorIs(t, check(5000, "NGN", "btc"), psp.ErrCurrency)
	require.ErrorIs(t, check(5000, "USD", "xmr"), psp.ErrUnknownCoin)
	clear(asked)
	require.NoError(t, check(1201, "USD", "btc"))
	require.Empty(t, asked, "it is kept for some minutes")
}

// TestMinimumThatCannotBeRead: without a readable minimum no price is known to be enough, and the next price asks again.
func TestMinimumThatCannotBeRead(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"/v1/merchant/coins":  `{"selectedCurrencies":["BTC"]}`,
		"/v1/full-currencies": `{"currencies":[{"code":"BTC","name":"Bitcoin","network":"btc"}]}`,
	}
	p, _ := coins(t, answers)
	price := psp.Price{Amount: 1200, Currency: "USD", PayCurrency: "btc"}
	for _, answer := range []string{`{"min_amount":0.0002}`, `{"min_amount":0.0002,"fiat_equivalent":null}`} {
		answers["/v1/min-amount"] = answer
		for range 20 { // one coin without a price does not pause the provider
			require.ErrorIs(t, p.Check(t.Context(), price), psp.ErrFault, answer)
		}
	}
	answers["/v1/min-amount"] = `{"min_amount":0.0002,"fiat_equivalent":"12.001"}`
	require.ErrorIs(t, p.Check(t.Context(), price), psp.ErrTooLittle)
}

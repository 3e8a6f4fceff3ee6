package paysim_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
)

// These tests call the simulators of NOWPayments and Flutterwave, and compare the fields of
// each answer, and their types, with what the providers' documents list.

// exchange makes one call with a key in a header, and decodes the answer.
func exchange(t *testing.T, method, address, header, key, body string) (status int, out map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set(header, key)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	if len(text) > 0 && text[0] == '{' {
		require.NoError(t, json.Unmarshal(text, &out), string(text))
	}
	return res.StatusCode, out
}

// has checks that an object has the fields, written as name:type or name; the type is
// number, text, bool, null or object.
func has(t *testing.T, object map[string]any, fields string) {
	t.Helper()
	for field := range strings.FieldsSeq(fields) {
		name, kind, typed := strings.Cut(field, ":")
		v, ok := object[name]
		require.True(t, ok, "no %s in %v", name, object)
		if !typed {
			continue
		}
		is := "object"
		switch v.(type) {
		case nil:
			is = "null"
		case float64:
			is = "number"
		case string:
			is = "text"
		case bool:
			is = "bool"
		}
		require.Equal(t, kind, is, "%s: %v", name, v)
	}
}

// told collects the webhooks that a simulator sends.
func told(t *testing.T) (address string, got <-chan *http.Request, bodies <-chan map[string]any) {
	t.Helper()
	requests, texts := make(chan *http.Request, 100), make(chan map[string]any, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if json.NewDecoder(r.Body).Decode(&body) == nil {
			requests <- r
			texts <- body
		}
	}))
	t.Cleanup(srv.Close)
	return srv.URL, requests, texts
}

const readDeposit = `payment_id:number parent_payment_id invoice_id payment_status:text pay_address:text payin_extra_id price_amount:number price_currency:text
	pay_amount:number actually_paid:number actually_paid_at_fiat:number pay_currency:text order_id:text order_description:text purchase_id:number
	outcome_amount:number outcome_currency:text payin_hash payout_hash created_at:text updated_at:text type:text payment_extra_ids fee:object`

func TestNOWPaymentsOnTheWire(t *testing.T) {
	t.Parallel()
	hook, requests, bodies := told(t)
	sim := start(t, paysim.Config{NOWPaymentsKey: "np", NOWPaymentsSign: "ipn"})
	call := func(method, path, body string) (int, map[string]any) {
		return exchange(t, method, sim.URL()+"/v1"+path, "X-Api-Key", "np", body)
	}
	status, refused := exchange(t, "GET", sim.URL()+"/v1/merchant/coins", "X-Api-Key", "other", "")
	require.Equal(t, 403, status)
	has(t, refused, "statusCode:number code:text message:text")
	_, up := call("GET", "/status", "")
	require.Equal(t, map[string]any{"message": "OK"}, up)
	_, coins := call("GET", "/full-currencies", "")
	has(t, coins["currencies"].([]any)[0].(map[string]any), "id:number code:text name:text enable:bool priority:number extra_id_exists:bool logo_url:text is_maxlimit:bool network:text network_precision")
	_, least := call("GET", "/min-amount?currency_from=btc&currency_to=btc&fiat_equivalent=usd", "")
	has(t, least, "currency_from:text currency_to:text min_amount:number fiat_equivalent:number")

	status, made := call("POST", "/payment", `{"price_amount":26.25,"price_currency":"usd","pay_currency":"btc","order_id":"A-1","is_fixed_rate":true,"ipn_callback_url":"`+hook+`"}`)
	require.Equal(t, 201, status)
	has(t, made, `payment_id:text payment_status:text pay_address:text payin_extra_id price_amount:number price_currency:text pay_amount:number pay_currency:text order_id:text
		order_description:text ipn_callback_url:text created_at:text updated_at:text purchase_id:text amount_received:null smart_contract:text network:text network_precision:number
		time_limit:null burning_percent expiration_estimate_date:text is_fixed_rate:bool is_fee_paid_by_user:bool valid_until:text type:text`)
	require.Equal(t, "waiting", made["payment_status"])
	until, err := time.Parse(time.RFC3339, made["valid_until"].(string))
	require.NoError(t, err)
	require.InDelta(t, 20*time.Minute, time.Until(until), float64(time.Minute), "a fixed rate holds for 20 minutes")
	id := made["payment_id"].(string)
	_, read := call("GET", "/payment/"+id, "")
	has(t, read, readDeposit)

	status, _ = exchange(t, "POST", sim.URL()+"/checkout/"+made["pay_address"].(string)+"?paysim=again", "Content-Type", "application/json", `{"outcome":"success"}`)
	require.Equal(t, 200, status)
	statuses := make(map[string]bool)
	var again map[string]any
	for range 4 { // confirming and finished, of the deposit and of the one that came later
		r, body := <-requests, <-bodies
		require.Len(t, r.Header.Get("X-Nowpayments-Sig"), 128)
		has(t, body, readDeposit)
		if body["parent_payment_id"] != nil {
			again = body
			continue
		}
		statuses[body["payment_status"].(string)] = true
	}
	require.Equal(t, map[string]bool{"confirming": true, "finished": true}, statuses)
	require.Equal(t, read["payment_id"], again["parent_payment_id"])
	require.Equal(t, "A-1", again["order_id"])
	_, read = call("GET", "/payment/"+id, "")
	require.Equal(t, "finished", read["payment_status"])
}

func TestFlutterwaveOnTheWire(t *testing.T) {
	t.Parallel()
	hook, requests, bodies := told(t)
	sim := start(t, paysim.Config{FlutterwaveKey: "flw", FlutterwaveHash: "hash", FlutterwaveURL: hook})
	call := func(method, path, body string) (int, map[string]any) {
		return exchange(t, method, sim.URL()+"/v3"+path, "Authorization", "Bearer flw", body)
	}
	envelope := func(status, want int, out map[string]any, word string) any {
		t.Helper()
		require.Equal(t, want, status, out)
		has(t, out, "status:text message:text data")
		require.Equal(t, word, out["status"])
		return out["data"]
	}
	status, out := exchange(t, "GET", sim.URL()+"/v3/transactions/1/verify", "Authorization", "Bearer other", "")
	envelope(status, 401, out, "error")
	status, out = call("POST", "/payments", `{"tx_ref":"A-1","amount":26.25,"currency":"USD","redirect_url":"https://shop.example","customer":{"email":"ada@example.org"}}`)
	link := envelope(status, 200, out, "success").(map[string]any)["link"].(string)
	require.Equal(t, "Hosted Link", out["message"])
	status, out = call("GET", "/transactions/verify_by_reference?tx_ref=A-1", "")
	envelope(status, 404, out, "error")

	status, _ = exchange(t, "POST", link, "Content-Type", "application/json", `{"outcome":"success"}`)
	require.Equal(t, 303, status)
	r, body := <-requests, <-bodies
	require.Equal(t, "hash", r.Header.Get("Verif-Hash"))
	require.Equal(t, "charge.completed", body["event"])
	has(t, body["data"].(map[string]any), "id:number tx_ref:text flw_ref:text amount:number currency:text charged_amount:number status:text payment_type:text customer:object")
	status, out = call("GET", "/transactions/verify_by_reference?tx_ref=A-1", "")
	paid := envelope(status, 200, out, "success").(map[string]any)
	has(t, paid, `id:number tx_ref:text flw_ref:text device_fingerprint amount:number currency:text charged_amount:number app_fee:number merchant_fee:number processor_response:text
		auth_model:text ip:text narration status:text payment_type:text created_at:text account_id:number card meta amount_settled:number customer:object`)
	require.Equal(t, []any{"successful", 26.25, "USD"}, []any{paid["status"], paid["amount"], paid["currency"]})
	id := strconv.FormatInt(int64(paid["id"].(float64)), 10)

	status, out = call("POST", "/transactions/"+id+"/refund", `{"amount":6.25,"comments":"A-1-refund-0"}`)
	back := envelope(status, 200, out, "success").(map[string]any)
	has(t, back, "id:number account_id:number tx_id:number flw_ref:text wallet_id:number amount_refunded:number status:text destination:text meta:object created_at:text")
	require.Equal(t, []any{paid["id"], 6.25}, []any{back["tx_id"], back["amount_refunded"]})
	require.True(t, strings.HasPrefix(back["status"].(string), "completed"))
	status, out = call("GET", "/refunds?id="+id, "")
	list := envelope(status, 200, out, "success").([]any)
	require.Len(t, list, 1)
	has(t, list[0].(map[string]any), "id:number amount_refunded:number status:text flw_ref:text comment:text settlement_id:text meta created_at:text account_id:number transaction_id:number")
	has(t, out["meta"].(map[string]any)["page_info"].(map[string]any), "total:number current_page:number total_pages:number page_size:number")
	status, out = call("POST", "/transactions/"+id+"/refund", `{"amount":20.01}`)
	envelope(status, 400, out, "error")
}

package paysim_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
)

// TestDisputeEvents moves disputes at Stripe and PayPal to and fro. Each move is told by an event with an id of its own,
// also the second one to a status, so that no shop takes it for a repeat.
func TestDisputeEvents(t *testing.T) {
	t.Parallel()
	hook, _, bodies := told(t)
	sim := start(t, paysim.Config{StripeKey: "sk", StripeSecret: "wh", StripeURL: hook, PayPalKey: "id:key", PayPalURL: hook})
	newClient(t, sim).do("POST", "/_sim/modes", "text/plain", "", "auto")
	call := func(path, kind, authorization, body string) (answer map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, sim.URL()+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Authorization", authorization)
		req.Header.Set("Paypal-Request-Id", "P-1")
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		require.NoError(t, err)
		require.Less(t, res.StatusCode, 300)
		require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
		require.NoError(t, res.Body.Close())
		return answer
	}
	const form = "application/x-www-form-urlencoded"
	call("/v1/checkout/sessions", form, "Bearer sk", url.Values{
		"mode": {"payment"}, "client_reference_id": {"S-1"}, "success_url": {"https://shop.example.org/back"}, "expires_at": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)},
		"line_items[0][quantity]": {"1"}, "line_items[0][price_data][unit_amount]": {"4200"}, "line_items[0][price_data][currency]": {"eur"},
		"line_items[0][price_data][product_data][name]": {"Tickets"},
	}.Encode())
	token, ok := call("/paypal/v1/oauth2/token", form, "Basic "+base64.StdEncoding.EncodeToString([]byte("id:key")), "grant_type=client_credentials")["access_token"].(string)
	require.True(t, ok)
	call("/paypal/v2/checkout/orders", "application/json", "Bearer "+token, `{"intent":"CAPTURE","purchase_units":[{"custom_id":"P-1","amount":{"currency_code":"EUR","value":"42.00"}}],
		"payment_source":{"paypal":{"experience_context":{"return_url":"https://shop.example.org/back","cancel_url":"https://shop.example.org/back"}}}}`)

	moves := []string{"needs_response", "won", "needs_response", "lost"}
	for _, reference := range []string{"S-1", "P-1"} {
		for _, status := range moves {
			require.True(t, sim.MoveDispute(reference, status))
		}
	}
	ids := map[any]bool{}
	for range 2 + 2*len(moves) { // also of the two payments
		body := <-bodies
		require.NotContains(t, ids, body["id"])
		ids[body["id"]] = true
	}
}

// TestStripeExpands asks Stripe's part for a paid session and for a dispute. What can be
// expanded is an id unless the call asks for the whole, also within what it asks for, and in an event.
func TestStripeExpands(t *testing.T) {
	t.Parallel()
	hook, _, bodies := told(t)
	sim := start(t, paysim.Config{StripeKey: "sk", StripeSecret: "wh", StripeURL: hook})
	c := newClient(t, sim)
	c.do("POST", "/_sim/modes", "text/plain", "", "auto")
	form := url.Values{
		"mode": {"payment"}, "client_reference_id": {"S-1"}, "success_url": {"https://shop.example.org/back"}, "expires_at": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)},
		"line_items[0][quantity]": {"1"}, "line_items[0][price_data][unit_amount]": {"4200"}, "line_items[0][price_data][currency]": {"eur"},
		"line_items[0][price_data][product_data][name]": {"Tickets"}, "expand[]": {"payment_intent"},
	}
	call := func(method, path, body string) (answer map[string]any) {
		t.Helper()
		res := c.do(method, path, "application/x-www-form-urlencoded", "Bearer sk", body)
		require.Equal(t, http.StatusOK, res.status, res.body)
		require.NoError(t, json.Unmarshal([]byte(res.body), &answer))
		return answer
	}
	within := func(value any, names ...string) any {
		t.Helper()
		for _, name := range names {
			object, ok := value.(map[string]any)
			require.True(t, ok, "%s of %v", name, value)
			value = object[name]
		}
		return value
	}
	made := call("POST", "/v1/checkout/sessions", form.Encode())
	id, ok := made["id"].(string)
	require.True(t, ok)
	number := strings.TrimPrefix(id, "cs_test_")
	require.Equal(t, "ch_"+number, within(made, "payment_intent", "latest_charge"))
	require.True(t, sim.MoveDispute("S-1", "needs_response"))
	for range 2 {
		event := <-bodies
		require.Equal(t, "pi_"+number, within(event, "data", "object", "payment_intent"))
	}

	for _, path := range []string{"/v1/checkout/sessions/cs_test_" + number, "/v1/disputes/du_" + number} {
		require.Equal(t, "pi_"+number, within(call("GET", path, ""), "payment_intent"))
		require.Equal(t, "ch_"+number, within(call("GET", path+"?expand[]=payment_intent", ""), "payment_intent", "latest_charge"))
		require.Equal(t, "ch_"+number, within(call("GET", path+"?expand[]=payment_intent.latest_charge", ""), "payment_intent", "latest_charge", "id"))
	}
	require.Equal(t, "ch_"+number, within(call("GET", "/v1/disputes/du_"+number, ""), "charge"))
	both := call("GET", "/v1/disputes/du_"+number+"?expand[]=charge&expand[]=payment_intent", "")
	require.Equal(t, "ch_"+number, within(both, "charge", "id"))
	require.Equal(t, "S-1", within(both, "payment_intent", "metadata", "reference"))
}

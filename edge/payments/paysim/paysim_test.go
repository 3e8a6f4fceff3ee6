package paysim_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments/paysim"
	"boxoffice/edge/payments/paysim/faults"
	"boxoffice/edge/payments/paysim/ledger"
)

func TestAuthorization(t *testing.T) {
	t.Parallel()
	c := newClient(t, start(t, paysim.Config{}))
	for auth, want := range map[string]string{
		"":                       `{"status":false,"message":"No Authorization Header was found"}`,
		"Basic x":                `{"status":false,"message":"Format is Authorization Bearer [secret key]"}`,
		"Bearer sk_test_other":   `{"status":false,"message":"Invalid key"}`,
		"Bearer " + secret + "x": `{"status":false,"message":"Invalid key"}`,
	} {
		for _, call := range [][2]string{
			{"POST", "/transaction/initialize"},
			{"GET", "/transaction/verify/A-1"},
			{"GET", "/transaction/1"},
			{"GET", "/transaction"},
			{"POST", "/refund"},
			{"GET", "/refund/1"},
			{"GET", "/refund"},
		} {
			a := c.do(call[0], call[1], "application/json", auth, "{}")
			require.Equal(t, 401, a.status)
			require.JSONEq(t, want, a.body)
		}
	}
}

func TestInitialize(t *testing.T) {
	t.Parallel()
	sim := start(t, paysim.Config{Seed: 1})
	c := newClient(t, sim)
	for name, in := range map[string]struct{ body, message, code string }{
		"no JSON":       {`{`, "Invalid request body", "invalid_params"},
		"no email":      {`{"amount":100}`, "Invalid Email Address Passed", "invalid_params"},
		"bad email":     {`{"email":"ada","amount":100}`, "Invalid Email Address Passed", "invalid_params"},
		"no amount":     {`{"email":"a@b.c"}`, "Invalid Amount Sent", "invalid_params"},
		"fraction":      {`{"email":"a@b.c","amount":1.5}`, "Invalid Amount Sent", "invalid_params"},
		"zero":          {`{"email":"a@b.c","amount":"0"}`, "Invalid Amount Sent", "invalid_params"},
		"currency":      {`{"email":"a@b.c","amount":100,"currency":"EUR"}`, "Currency not supported by merchant", "unsupported_currency"},
		"bad reference": {`{"email":"a@b.c","amount":100,"reference":"a_b"}`, "Invalid character in transaction reference", "invalid_params"},
		"bad callback":  {`{"email":"a@b.c","amount":100,"callback_url":"javascript:alert(1)"}`, "Invalid callback URL passed", "invalid_params"},
	} {
		a := c.post("/transaction/initialize", in.body)
		require.Equal(t, 400, a.status, name)
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(a.body), &got))
		require.Equal(t, false, got["status"], name)
		require.Equal(t, in.message, got["message"], name)
		require.Equal(t, "validation_error", got["type"], name)
		require.Equal(t, in.code, got["code"], name)
		require.NotEmpty(t, got["meta"].(map[string]any)["nextStep"], name)
	}
	require.Empty(t, c.get("/transaction").list(t))

	a := c.post("/transaction/initialize", `{"email":"a@b.c","amount":"100","reference":"A.1=x-2"}`)
	require.Equal(t, 200, a.status)
	code := a.data(t)["access_code"].(string)
	require.JSONEq(t, fmt.Sprintf(`{"status":true,"message":"Authorization URL created","data":{"authorization_url":"%s/checkout/%s",`+
		`"access_code":"%s","reference":"A.1=x-2"}}`, sim.URL(), code, code), a.body)
	again := c.post("/transaction/initialize", `{"email":"a@b.c","amount":"100","reference":"A.1=x-2"}`)
	require.Equal(t, 400, again.status)
	require.JSONEq(t, `{"status":false,"message":"Duplicate Transaction Reference","meta":{"nextStep":"Try and create the Transaction or Charge with a new reference"},`+
		`"type":"validation_error","code":"duplicate_reference"}`, again.body)
	require.NotEmpty(t, c.post("/transaction/initialize", `{"email":"a@b.c","amount":100}`).data(t)["reference"])
}

// The fields of Paystack's own samples.
const (
	verifyFields = "amount authorization channel connect createdAt created_at currency customer domain fees fees_breakdown fees_split " +
		"gateway_response id ip_address log message metadata order_id paidAt paid_at plan plan_object pos_transaction_data receipt_number " +
		"reference requested_amount source split status subaccount transaction_date"
	refundFields = "amount channel createdAt currency customer_note deducted_amount dispute domain expected_at fully_deducted id integration " +
		"merchant_note refunded_at refunded_by settlement status transaction updatedAt"
)

func fields(m map[string]any) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }

func TestReads(t *testing.T) {
	t.Parallel()
	c := newClient(t, start(t, paysim.Config{RefundStep: time.Hour}))
	c.begin("unpaid", "")
	c.pay("paid", "")

	unknown := c.get("/transaction/verify/nobody")
	require.Equal(t, 404, unknown.status)
	require.JSONEq(t, `{"status":false,"message":"Transaction reference not found.","meta":{"nextStep":"Ensure that you're passing the reference `+
		`of a transaction that exists on this integration"},"type":"validation_error","code":"transaction_not_found"}`, unknown.body)

	unpaid := c.get("/transaction/verify/unpaid").data(t)
	require.Equal(t, verifyFields, fields(unpaid))
	require.Equal(t, "abandoned", unpaid["status"])
	require.Nil(t, unpaid["paid_at"])
	require.Equal(t, "", unpaid["metadata"])
	require.Empty(t, unpaid["authorization"])

	paid := c.get("/transaction/verify/paid").data(t)
	require.Equal(t, verifyFields, fields(paid))
	require.Equal(t, "success", paid["status"])
	require.Equal(t, "test", paid["domain"])
	require.EqualValues(t, 30050, paid["amount"])
	require.EqualValues(t, 450, paid["fees"])
	require.Greater(t, paid["id"].(float64), float64(1<<32), "live ids exceed 32 bits")
	id := fmt.Sprintf("%.0f", paid["id"])
	require.Equal(t, "paid", c.get("/transaction/" + id).data(t)["reference"])
	require.Equal(t, 400, c.get("/transaction/paid").status)
	require.Equal(t, 404, c.get("/transaction/7").status)

	refund := c.post("/refund", `{"transaction":`+id+`,"amount":"50","merchant_note":"k"}`)
	require.Contains(t, refund.body, `"message":"Refund has been queued for processing"`)
	require.Equal(t, refundFields, fields(refund.data(t)))
	require.Equal(t, "pending", refund.data(t)["status"])
	require.Equal(t, "paid", refund.data(t)["transaction"].(map[string]any)["reference"])
	one := c.get(fmt.Sprintf("/refund/%.0f", refund.data(t)["id"])).data(t)
	require.Equal(t, id, fmt.Sprintf("%.0f", one["transaction"]))
	c.post("/refund", `{"transaction":"paid","amount":60}`)
	require.Len(t, c.get("/refund").list(t), 2)
	require.Len(t, c.get("/refund?transaction="+id).list(t), 2)
	require.EqualValues(t, 50, c.get("/refund?perPage=1&page=2&transaction=" + id).list(t)[0]["amount"])
	require.Empty(t, c.get("/refund?transaction=paid").list(t), "by reference the list is empty, as live")
}

func TestListOfTransactions(t *testing.T) {
	t.Parallel()
	c := newClient(t, start(t, paysim.Config{}))
	for i := range 5 {
		c.pay(fmt.Sprintf("p%d", i), "")
		c.begin(fmt.Sprintf("u%d", i), "")
	}
	refs := func(path string) (out []string) {
		for _, tx := range c.get(path).list(t) {
			out = append(out, tx["reference"].(string))
		}
		return out
	}
	require.Equal(t, []string{"u4", "p4", "u3"}, refs("/transaction?perPage=3"))
	require.Equal(t, []string{"p2", "p1"}, refs("/transaction?status=success&perPage=2&page=2"))
	require.Empty(t, refs("/transaction?status=reversed"))
}

func TestCheckoutPage(t *testing.T) {
	t.Parallel()
	c := newClient(t, start(t, paysim.Config{}))
	a := c.post("/transaction/initialize", `{"email":"<script>@b.c","amount":1205,"reference":"A-1","callback_url":"https://shop.example/r?x=1"}`)
	require.Equal(t, 200, a.status)
	code := a.data(t)["access_code"].(string)
	path := "/checkout/" + code

	page := c.do("GET", path, "", "", "")
	require.Equal(t, 200, page.status)
	require.Contains(t, page.body, "NGN 12.05")
	require.Contains(t, page.body, `value="success"`)
	require.NotContains(t, page.body, "<script>")
	require.Equal(t, 404, c.do("GET", path[:len(path)-1]+"!", "", "", "").status)
	require.Equal(t, 404, c.do("GET", "/checkout/"+code[8:], "", "", "").status)
	require.Equal(t, 400, c.do("POST", path, "application/x-www-form-urlencoded", "", "outcome=rich").status)

	paid := c.do("POST", path, "application/x-www-form-urlencoded", "", "outcome=success")
	require.Equal(t, http.StatusSeeOther, paid.status)
	require.Equal(t, "https://shop.example/r?reference=A-1&trxref=A-1&x=1", paid.header.Get("Location"))
	page = c.do("GET", path, "", "", "")
	require.NotContains(t, page.body, `value="success"`)
	require.Contains(t, page.body, "https://shop.example/r?")

	late := c.do("POST", c.begin("A-2", "")+"?paysim=late%3D1h", "application/json", "", `{"outcome":"success"}`)
	require.Equal(t, "abandoned", late.data(t)["status"])
}

func TestModes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                             "",
		"success":                      "success",
		" slow=50ms..2s , error@0.05 ": "error=500@0.05,slow=50ms..2s",
		"pending,late=90s,short=100":   "late=1m30s,pending=3,short=100",
		"refund,duplicate=3,badsig@0":  "badsig@0,duplicate=3,refund=failed",
	} {
		m, err := faults.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, m.String())
		again, err := faults.Parse(m.String())
		require.NoError(t, err)
		require.Equal(t, m, again)
	}
	for _, text := range []string{
		"sloow", "slow=x", "slow=2s..1s", "slow=-1s", "late=1s..2s", "pending=x", "pending=-1", "reset=1",
		"error=200", "error@2", "error@NaN", "refund=lost",
	} {
		_, err := faults.Parse(text)
		require.Error(t, err, text)
	}
	for name := range faults.Catalog {
		_, err := faults.Parse(name)
		require.NoError(t, err, "a mode's name alone is enough")
	}
}

func TestModesOfTheProcess(t *testing.T) {
	t.Parallel()
	sim := start(t, paysim.Config{})
	c := newClient(t, sim)
	require.Equal(t, 200, c.do("POST", "/_sim/modes", "text/plain", "", "failed").status)
	require.Equal(t, "failed", sim.Stats().Modes)
	c.pay("A-1", "")
	c.pay("A-2", "success")
	require.Equal(t, "failed", c.get("/transaction/verify/A-1").data(t)["status"])
	require.Equal(t, "success", c.get("/transaction/verify/A-2").data(t)["status"])

	a := c.do("POST", "/_sim/modes", "application/json", "", `{"modes":"error=503"}`)
	require.Contains(t, a.body, `"modes":"error=503"`)
	require.Equal(t, 503, c.get("/transaction").status)
	require.Equal(t, 400, c.do("POST", "/_sim/modes", "", "", "nonsense").status)
	require.Equal(t, 200, c.do("POST", "/_sim/modes", "", "", "").status)
	require.Equal(t, 200, c.get("/transaction").status)
}

func TestSameSeedSameFate(t *testing.T) {
	t.Parallel()
	fates := func(seed uint64, order []int) map[string]string {
		m, err := faults.Parse("failed@0.4,short@0.3,error@0.5")
		require.NoError(t, err)
		sim := start(t, paysim.Config{Seed: seed})
		c := newClient(t, sim)
		out := map[string]string{}
		for _, i := range order {
			c.begin(fmt.Sprintf("r%d", i), "success")
		}
		sim.SetModes(m)
		for _, i := range order {
			ref := fmt.Sprintf("s%d", i)
			for n := 0; ; n++ {
				a := c.post("/transaction/initialize", `{"email":"a@b.c","amount":100,"reference":"`+ref+`"}`)
				if a.status != 200 {
					continue
				}
				c.do("POST", "/checkout/"+a.data(t)["access_code"].(string), "application/json", "", `{"outcome":"success"}`)
				out[ref] = fmt.Sprint(n)
				break
			}
		}
		rows, _ := sim.Transactions(0, "", 1000)
		for _, r := range rows {
			out[r.Reference] += fmt.Sprint(" ", r.Status, r.Paid)
		}
		return out
	}
	up := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	down := slices.Clone(up)
	slices.Reverse(down)
	first := fates(7, up)
	require.Equal(t, first, fates(7, down))
	require.NotEqual(t, first, fates(8, up))
}

func TestAudit(t *testing.T) {
	t.Parallel()
	sim := start(t, paysim.Config{RefundStep: time.Nanosecond})
	c := newClient(t, sim)
	for i := range 7 {
		c.pay(fmt.Sprintf("p%d", i), "")
	}
	c.pay("short", "short=50")
	c.pay("late", "late=1h")
	c.begin("unpaid", "")
	c.post("/refund", `{"transaction":"p0","amount":1000}`)
	c.post("/refund", `{"transaction":"p1"}`)
	c.post("/refund", `{"transaction":"p1"}`)

	var all []ledger.Row
	for from := int64(0); ; {
		rows, next := sim.Transactions(from, "", 3)
		require.LessOrEqual(t, len(rows), 3)
		all = append(all, rows...)
		if from = next; next == 0 {
			break
		}
	}
	require.Len(t, all, 10)
	require.Equal(t, ledger.Row{ID: all[0].ID, Provider: "paystack", Reference: "p0", Order: "p0", Status: "success", Currency: "ZAR", Asked: 30050, Paid: 30050, Refunded: 1000}, all[0])
	require.Equal(t, "reversed", all[1].Status)
	require.EqualValues(t, 30050, all[1].Refunded)
	require.Zero(t, all[8].Paid, "late money was counted early")

	st := sim.Stats()
	require.Equal(t, map[string]int64{"success": 7, "reversed": 1, "abandoned": 2}, st.Statuses)
	require.Equal(t, map[string]ledger.Total{"ZAR": {Asked: 10 * 30050, Paid: 8*30050 - 50, Refunded: 31050}}, st.Totals)
	require.EqualValues(t, 3, st.Calls["refund"])

	var page struct {
		Transactions []ledger.Row `json:"transactions"`
		Next         int64        `json:"next"`
	}
	a := c.do("GET", "/_sim/transactions?status=success&limit=5", "", "", "")
	require.NoError(t, json.Unmarshal([]byte(a.body), &page))
	require.Len(t, page.Transactions, 5)
	a = c.do("GET", fmt.Sprintf("/_sim/transactions?status=success&limit=5&from=%d", page.Next), "", "", "")
	require.NoError(t, json.Unmarshal([]byte(a.body), &page))
	require.Len(t, page.Transactions, 2)
	require.Zero(t, page.Next)
	var over paysim.Stats
	require.NoError(t, json.Unmarshal([]byte(c.do("GET", "/_sim/stats", "", "", "").body), &over))
	require.Equal(t, st.Totals, over.Totals)
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	sim := start(t, paysim.Config{MaxTransactions: 20, RefundStep: time.Nanosecond})
	c := newClient(t, sim)
	c.begin("waiting", "")
	for i := range 50 {
		c.pay(fmt.Sprintf("p%d", i), "")
		c.post("/refund", fmt.Sprintf(`{"transaction":"p%d","amount":50}`, i))
	}
	rows, _ := sim.Transactions(0, "", 100)
	require.Len(t, rows, 20)
	require.Equal(t, "waiting", rows[0].Reference, "an open transaction was forgotten before a settled one")
	require.Equal(t, "p49", rows[19].Reference)
	require.Equal(t, 404, c.get("/transaction/verify/p0").status)
	require.Len(t, c.get("/refund").list(t), 19)
	st := sim.Stats()
	require.EqualValues(t, 51, st.Transactions)
	require.EqualValues(t, 31, st.Forgotten)
	require.Equal(t, ledger.Total{Asked: 51 * 30050, Paid: 50 * 30050, Refunded: 50 * 50}, st.Totals["ZAR"])

	for i := range 50 {
		c.begin(fmt.Sprintf("u%d", i), "")
	}
	rows, _ = sim.Transactions(0, "", 100)
	require.Len(t, rows, 20)
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	sim := start(t, paysim.Config{RefundStep: time.Nanosecond})
	const workers, each = 8, 50
	var wg sync.WaitGroup
	for w := range workers {
		c := newClient(t, sim)
		wg.Go(func() {
			for i := range each {
				ref := fmt.Sprintf("w%d-%d", w, i)
				c.pay(ref, "")
				c.get("/transaction/verify/" + ref)
				c.post("/transaction/initialize", `{"email":"a@b.c","amount":1,"currency":"ZAR","reference":"shared"}`)
				if i%5 == 0 {
					c.post("/refund", `{"transaction":"`+ref+`","amount":50}`)
					sim.Stats()
				}
			}
		})
	}
	wg.Wait()
	st := sim.Stats()
	require.EqualValues(t, workers*each+1, st.Transactions)
	require.Equal(t, ledger.Total{Asked: workers*each*30050 + 1, Paid: workers * each * 30050, Refunded: workers * each / 5 * 50}, st.Totals["ZAR"])
}

func TestStop(t *testing.T) {
	t.Parallel()
	t.Run("never started, and twice", func(t *testing.T) {
		t.Parallel()
		sim := paysim.New(paysim.Config{})
		require.NoError(t, sim.Stop(context.Background()))
		require.NoError(t, sim.Stop(context.Background()))
	})
	t.Run("ends the waits it imposed", func(t *testing.T) {
		t.Parallel()
		sim := start(t, paysim.Config{})
		c := newClient(t, sim)
		m, err := faults.Parse("timeout=1h")
		require.NoError(t, err)
		sim.SetModes(m)
		failed := make(chan error, 1)
		go func() {
			req, _ := http.NewRequest("GET", c.base+"/transaction", nil)
			req.Header.Set("Authorization", "Bearer "+secret)
			resp, err := c.http.Do(req)
			if err == nil {
				err = resp.Body.Close()
			}
			failed <- err
		}()
		require.Eventually(t, func() bool { return sim.Stats().Calls["transactions"] == 1 }, time.Minute, time.Millisecond)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, sim.Stop(ctx))
		require.Error(t, <-failed)
	})
}

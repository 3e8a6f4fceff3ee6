package payments_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/edge/payments"
	"boxoffice/edge/payments/psp"
	"boxoffice/engine"
)

// verified is Paystack's sample of GET /transaction/verify, with gaps for what
// the tests vary: status, amount, metadata.
const verified = `{"status":true,"message":"Verification successful","data":{"id":4099260516,"domain":"test",` +
	`"status":%s,"reference":"re4lyvq3s3","receipt_number":null,"amount":%s,"message":null,"gateway_response":"Successful",` +
	`"paid_at":"2024-08-22T09:15:02.000Z","created_at":"2024-08-22T09:14:24.000Z","channel":"card","currency":"NGN",` +
	`"ip_address":"197.210.54.33","metadata":%s,"log":{"start_time":1724318098,"history":[]},"fees":10283,"fees_split":null,` +
	`"authorization":{"authorization_code":"AUTH_uh8bcl3zbn"},"customer":{"id":181873746,"email":"demo@test.com"},` +
	`"plan":null,"split":{},"order_id":null,"paidAt":"2024-08-22T09:15:02.000Z","createdAt":"2024-08-22T09:14:24.000Z",` +
	`"requested_amount":30050,"transaction_date":"2024-08-22T09:14:24.000Z","plan_object":{},"subaccount":{}}}`

func TestGoldenInitialize(t *testing.T) {
	t.Parallel()
	s := &script{status: 200, body: `{"status":true,"message":"Authorization URL created","data":{` +
		`"authorization_url":"https://checkout.paystack.com/3ni8kdavz62431k","access_code":"3ni8kdavz62431k","reference":"re4lyvq3s3"}}`}
	p, _ := open(t, psp.Account{URL: serve(t, s)})
	c := charge("re4lyvq3s3")
	c.Metadata = map[string]string{"order": "A-1"}

	got, err := p.Begin(t.Context(), c)

	require.NoError(t, err)
	require.Equal(t, psp.Begun{AuthorizationURL: "https://checkout.paystack.com/3ni8kdavz62431k", AccessCode: "3ni8kdavz62431k"}, got)
	require.Equal(t, []seen{{
		"POST", "/transaction/initialize", "Bearer " + secret,
		`{"email":"ada@example.com","amount":30050,"currency":"NGN","reference":"re4lyvq3s3",` +
			`"callback_url":"https://tickets.example/return","metadata":{"order":"A-1"}}`,
	}}, s.requests())
}

func TestGoldenVerify(t *testing.T) {
	t.Parallel()
	s := &script{status: 200, body: fmt.Sprintf(verified, `"success"`, "40333", `""`)}
	p, _ := open(t, psp.Account{URL: serve(t, s)})

	got, err := p.Verify(t.Context(), psp.Asked{Reference: "re4lyvq3s3"})

	require.NoError(t, err)
	require.Equal(t, psp.Outcome{
		Status: psp.Succeeded, Amount: 30050, RequestedAmount: 30050, Currency: "NGN",
		PaidAt:  time.Date(2024, 8, 22, 9, 15, 2, 0, time.UTC),
		Message: "Successful", ProviderID: "4099260516",
	}, got)
	require.Equal(t, []seen{{"GET", "/transaction/verify/re4lyvq3s3", "Bearer " + secret, ""}}, s.requests())
}

func TestGoldenRefund(t *testing.T) {
	t.Parallel()
	var reqs script
	mux := http.NewServeMux()
	answer := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			one := script{status: 200, body: body}
			one.ServeHTTP(w, r)
			reqs.mu.Lock()
			defer reqs.mu.Unlock()
			reqs.reqs = append(reqs.reqs, one.reqs...)
		}
	}
	mux.HandleFunc("GET /refund", answer(`{"status":true,"message":"Refunds retrieved","data":[]}`))
	mux.HandleFunc("POST /refund", answer(`{"status":true,"message":"Refund has been queued for processing","data":{`+
		`"transaction":{"id":1004723697,"domain":"live","reference":"T685312322670591","amount":10000,"currency":"NGN"},`+
		`"integration":412829,"deducted_amount":0,"channel":null,"merchant_note":"rf-1","customer_note":"sorry","status":"pending",`+
		`"refunded_by":"test@me.com","expected_at":"2021-12-16T09:21:17.016Z","currency":"NGN","domain":"live","amount":10000,`+
		`"fully_deducted":false,"id":3018284,"createdAt":"2021-12-07T09:21:17.122Z","updatedAt":"2021-12-07T09:21:17.122Z"}}`))
	mux.HandleFunc("GET /refund/{id}", answer(`{"status":true,"message":"Refund retrieved","data":{"integration":100982,`+
		`"transaction":1641,"dispute":null,"settlement":null,"domain":"live","amount":"500000","deducted_amount":500000,`+
		`"fully_deducted":true,"currency":"NGN","channel":"migs","status":"processed","id":3018284,"merchant_note":"xxx"}}`))
	p, _ := open(t, psp.Account{URL: serve(t, mux)})

	made, err := p.Refund(t.Context(), psp.RefundRequest{
		Key: "rf-1", Reference: "T685312322670591", ProviderID: "1004723697", Amount: 10000, Currency: "NGN", CustomerNote: "sorry",
	})
	require.NoError(t, err)
	require.Equal(t, psp.RefundOutcome{ID: "3018284", Status: psp.RefundPending, Amount: 10000, Currency: "NGN"}, made)
	later, err := p.RefundStatus(t.Context(), made.ID)
	require.NoError(t, err)
	require.Equal(t, psp.RefundOutcome{ID: "3018284", Status: psp.RefundProcessed, Amount: 500000, Currency: "NGN"}, later)

	require.Equal(t, []seen{
		{"GET", "/refund?page=1&perPage=100&transaction=1004723697", "Bearer " + secret, ""},
		{
			"POST", "/refund", "Bearer " + secret,
			`{"transaction":"T685312322670591","amount":10000,"currency":"NGN","customer_note":"sorry","merchant_note":"rf-1"}`,
		},
		{"GET", "/refund/3018284", "Bearer " + secret, ""},
	}, reqs.requests())
}

func TestVerifyReadsEveryStatusAndQuirk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, amount, metadata string
		want                     psp.Status
	}{
		{`"success"`, `30050`, `""`, psp.Succeeded},
		{`"success"`, `"30050"`, `0`, psp.Succeeded},
		{`"failed"`, `30050`, `{"a":{"b":[1]}}`, psp.Failed},
		{`"abandoned"`, `30050`, `null`, psp.Pending},
		{`"ongoing"`, `30050`, `"x"`, psp.Processing},
		{`"pending"`, `30050`, `[]`, psp.Processing},
		{`"processing"`, `30050`, `""`, psp.Processing},
		{`"queued"`, `30050`, `""`, psp.Processing},
		{`"reversed"`, `30050`, `""`, psp.Refunded},
	} {
		t.Run(c.status+c.amount+c.metadata, func(t *testing.T) {
			t.Parallel()
			p, _ := open(t, psp.Account{URL: serve(t, &script{status: 200, body: fmt.Sprintf(verified, c.status, c.amount, c.metadata)})})
			got, err := p.Verify(t.Context(), psp.Asked{Reference: "re4lyvq3s3"})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Status)
			require.EqualValues(t, 30050, got.Amount)
		})
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	sample := fmt.Sprintf(verified, `"success"`, "40333", `""`)
	for name, c := range map[string]struct {
		status int
		body   string
		want   error
		code   engine.Code
		tries  int
	}{
		"500":               {500, `{"status":false,"message":"oops"}`, psp.ErrFault, engine.ProviderError, 3},
		"502 page":          {502, `<html>bad gateway</html>`, psp.ErrFault, engine.ProviderError, 3},
		"redirect":          {302, ``, psp.ErrFault, engine.ProviderError, 3},
		"malformed":         {200, sample[:200], psp.ErrFault, engine.ProviderError, 3},
		"page":              {200, `<html>hello</html>`, psp.ErrFault, engine.ProviderError, 3},
		"no data":           {200, `{"status":true,"message":"x"}`, psp.ErrFault, engine.ProviderError, 3},
		"null data":         {200, `{"status":true,"data":null}`, psp.ErrFault, engine.ProviderError, 3},
		"unknown status":    {200, fmt.Sprintf(verified, `"teleported"`, "1", `0`), psp.ErrFault, engine.ProviderError, 3},
		"fraction":          {200, fmt.Sprintf(verified, `"success"`, "40333.5", `0`), psp.ErrFault, engine.ProviderError, 3},
		"negative":          {200, fmt.Sprintf(verified, `"success"`, "-1", `0`), psp.ErrFault, engine.ProviderError, 3},
		"no amount":         {200, fmt.Sprintf(verified, `"success"`, "null", `0`), psp.ErrFault, engine.ProviderError, 3},
		"other reference":   {200, strings.Replace(sample, "re4lyvq3s3", "other", 1), psp.ErrFault, engine.ProviderError, 3},
		"too long":          {200, `{"status":true,"message":"` + strings.Repeat("x", 1<<20) + `"}`, psp.ErrFault, engine.ProviderError, 3},
		"invalid key":       {401, `{"status":false,"message":"Invalid key"}`, psp.ErrDeclined, engine.ProviderError, 1},
		"declined in a 200": {200, `{"status":false,"message":"no"}`, psp.ErrDeclined, engine.ProviderError, 1},
		"declined page":     {403, `<html>forbidden</html>`, psp.ErrDeclined, engine.ProviderError, 1},
		"unknown, 404":      {404, `{"status":false,"message":"Transaction reference not found"}`, psp.ErrUnknownReference, engine.ProviderError, 1},
		"unknown, as live":  {400, `{"status":false,"message":"Transaction reference not found.","type":"validation_error","code":"transaction_not_found"}`, psp.ErrUnknownReference, engine.ProviderError, 1},
		"throttled":         {429, `{"status":false,"message":"Please wait"}`, psp.ErrThrottled, engine.ProviderError, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{status: c.status, body: c.body, header: http.Header{"Retry-After": {"7"}, "Location": {"/elsewhere"}}}
			p, _ := open(t, psp.Account{URL: serve(t, s)})

			_, err := p.Verify(t.Context(), psp.Asked{Reference: "re4lyvq3s3"})

			require.ErrorIs(t, err, c.want)
			require.Len(t, s.requests(), c.tries)
			var refusal *engine.Refusal
			require.ErrorAs(t, err, &refusal)
			require.Equal(t, engine.Refuse(c.code, nil), refusal)
			var e *psp.Error
			require.ErrorAs(t, err, &e)
			if c.status == 429 || c.status >= 500 {
				require.Equal(t, 7*time.Second, e.RetryAfter)
			}
			require.Less(t, len(err.Error()), 300)
		})
	}
}

func TestBeginIsSentOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status    int
		body      string
		want      error
		ambiguous bool
	}{
		"500":       {500, ``, psp.ErrFault, true},
		"duplicate": {400, `{"status":false,"message":"Duplicate Transaction Reference","meta":{"nextStep":"Try and create the Transaction or Charge with a new reference"},"type":"validation_error","code":"duplicate_reference","errorCodeMappingNotFound":false}`, psp.ErrDuplicateReference, false},
		"declined":  {400, `{"status":false,"message":"Invalid Email Address Passed","type":"validation_error","code":"invalid_params"}`, psp.ErrDeclined, false},
		"javascript": {
			200, `{"status":true,"data":{"authorization_url":"javascript:alert(1)","access_code":"x","reference":"re4lyvq3s3"}}`,
			psp.ErrFault, true,
		},
		"other reference": {
			200, `{"status":true,"data":{"authorization_url":"https://c.example/x","access_code":"x","reference":"other"}}`,
			psp.ErrFault, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &script{status: c.status, body: c.body}
			p, _ := open(t, psp.Account{URL: serve(t, s)})
			_, err := p.Begin(t.Context(), charge("re4lyvq3s3"))
			require.ErrorIs(t, err, c.want)
			require.Equal(t, c.ambiguous, psp.Ambiguous(err))
			require.Len(t, s.requests(), 1)
		})
	}
}

func TestBeginRefusesWithoutSending(t *testing.T) {
	t.Parallel()
	s := &script{status: 500}
	p, _ := open(t, psp.Account{URL: serve(t, s)})
	for _, spoil := range []func(*psp.Charge){
		func(c *psp.Charge) { c.Reference = "" },
		func(c *psp.Charge) { c.Reference = "a/b" },
		func(c *psp.Charge) { c.Reference = "a_b" },
		func(c *psp.Charge) { c.Reference = strings.Repeat("a", 65) },
		func(c *psp.Charge) { c.Amount = 0 },
		func(c *psp.Charge) { c.Email = "" },
		func(c *psp.Charge) { c.Currency = "" },
	} {
		c := charge("A-1.x=2")
		spoil(&c)
		_, err := p.Begin(t.Context(), c)
		require.ErrorIs(t, err, psp.ErrDeclined)
	}
	_, err := p.Verify(t.Context(), psp.Asked{Reference: "../balance"})
	require.ErrorIs(t, err, psp.ErrUnknownReference)
	require.Empty(t, s.requests())
}

func TestSecretStaysSecret(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]*script{
		"echoed in an error": {status: 401, body: `{"status":false,"message":"Invalid key ` + secret + `"}`},
		"echoed in a page":   {status: 500, body: "you sent Bearer " + secret},
		"echoed as amount":   {status: 200, body: fmt.Sprintf(verified, `"success"`, `"`+secret+`"`, `0`)},
		"echoed as status":   {status: 200, body: fmt.Sprintf(verified, `"`+secret+`"`, `1`, `0`)},
		"in a redirect":      {status: 302, header: http.Header{"Location": {"http://" + secret + ".example/"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, logs := open(t, psp.Account{URL: serve(t, s), Breaker: psp.Breaker{Failures: 1}})
			_, err := p.Verify(t.Context(), psp.Asked{Reference: "re4lyvq3s3"})
			require.Error(t, err)
			for _, text := range []string{err.Error(), fmt.Sprintf("%+v %#v", err, err), logs.String()} {
				require.NotContains(t, text, secret)
				require.NotContains(t, text, secret[:20])
			}
		})
	}
	t.Run("in the configuration", func(t *testing.T) {
		t.Parallel()
		cfg := payments.Config{Paystack: psp.Account{SecretKey: secret}}
		var logs logBuffer
		slog.New(slog.NewJSONHandler(&logs, nil)).Info("x", slog.Any("cfg", cfg), slog.Any("key", cfg.Paystack.SecretKey))
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", cfg, cfg, cfg)+logs.String(), secret)
	})
}

func TestTimeoutAndCancel(t *testing.T) {
	t.Parallel()
	hang := func(entered chan<- struct{}) http.HandlerFunc {
		return func(_ http.ResponseWriter, r *http.Request) {
			// A server notices that its client left only once the body is read.
			_, _ = io.Copy(io.Discard, r.Body)
			entered <- struct{}{}
			<-r.Context().Done()
		}
	}
	t.Run("our timeout", func(t *testing.T) {
		t.Parallel()
		p, _ := open(t, psp.Account{URL: serve(t, hang(make(chan struct{}, 1))), Timeout: 50 * time.Millisecond})
		_, err := p.Verify(t.Context(), psp.Asked{Reference: "re4lyvq3s3"})
		require.ErrorIs(t, err, psp.ErrTimeout)
		var refusal *engine.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, engine.ProviderTimeout, refusal.Code)
		require.True(t, psp.Ambiguous(err))
	})
	t.Run("the caller leaves, which tells nothing of the provider", func(t *testing.T) {
		t.Parallel()
		entered := make(chan struct{}, 2)
		p, _ := open(t, psp.Account{URL: serve(t, hang(entered)), Timeout: 5 * time.Second, Breaker: psp.Breaker{Failures: 1}})
		for range 2 { // the second would find an open breaker
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() {
				_, err := p.Begin(ctx, charge("re4lyvq3s3"))
				done <- err
			}()
			<-entered
			cancel()
			err := <-done
			require.ErrorIs(t, err, context.Canceled)
			require.NotErrorIs(t, err, psp.ErrPaused)
		}
	})
}

func TestBreakerFailsFast(t *testing.T) {
	t.Parallel()
	var s script
	s.status = 500
	p, logs := open(t, psp.Account{URL: serve(t, &s), Breaker: psp.Breaker{Failures: 2, Pause: 500 * time.Millisecond}})
	for range 2 {
		_, err := p.Begin(t.Context(), charge("r"))
		require.ErrorIs(t, err, psp.ErrFault)
	}

	_, err := p.Begin(t.Context(), charge("r"))

	require.ErrorIs(t, err, psp.ErrPaused)
	require.False(t, psp.Ambiguous(err))
	var e *psp.Error
	require.ErrorAs(t, err, &e)
	require.Positive(t, e.RetryAfter)
	require.Equal(t, engine.ProviderError, e.Refusal().Code)
	require.Len(t, s.requests(), 2, "the third call went out")
	require.Contains(t, logs.String(), "payment provider paused")
	require.Eventually(t, func() bool {
		_, err := p.Begin(t.Context(), charge("r"))
		return errors.Is(err, psp.ErrFault)
	}, time.Minute, 20*time.Millisecond, "no probe after the pause")
}

func TestCallsAtOnceAreLimited(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}, 8), make(chan struct{})
	h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		entered <- struct{}{}
		<-release
		fmt.Fprintf(w, verified, `"success"`, "1", `0`)
	})
	p, _ := open(t, psp.Account{URL: serve(t, h), InFlight: 1})
	results := make(chan error, 6)
	call := func() {
		_, err := p.Verify(t.Context(), psp.Asked{Reference: "re4lyvq3s3"})
		results <- err
	}
	go call()
	<-entered
	for range 5 { // four may wait for the one slot, for a second
		go call()
	}
	for range 5 {
		err := <-results
		require.ErrorIs(t, err, psp.ErrBusy)
		var e *psp.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, engine.Overloaded, e.Refusal().Code)
		require.Positive(t, e.RetryAfter)
	}
	close(release)
	require.NoError(t, <-results)
	require.Empty(t, entered, "more than one call went out at once")
}

func TestNotice(t *testing.T) {
	t.Parallel()
	p, _ := open(t, psp.Account{})
	sign := func(key, body string) string {
		mac := hmac.New(sha512.New, []byte(key))
		mac.Write([]byte(body))
		return hex.EncodeToString(mac.Sum(nil))
	}
	for name, c := range map[string]struct {
		body string
		want psp.Notice
	}{
		"charge": {
			`{"event":"charge.success","data":{  "id":302961,"status":"success","reference":"qTPrJoy9Bx","amount":10000,"metadata":0}}`,
			psp.Notice{Event: "charge.success", Reference: "qTPrJoy9Bx", Key: "charge.success|qTPrJoy9Bx|302961|success"},
		},
		"refund": {
			`{"event":"refund.processed","data":{"status":"processed","transaction_reference":"T1","refund_reference":"1320","amount":"5000"}}`,
			psp.Notice{Event: "refund.processed", Reference: "T1", Key: "refund.processed|T1|1320|processed"},
		},
		"dispute": {
			`{"event":"charge.dispute.create","data":{"id":358950,"status":"x","transaction":{"reference":"v3m"},"transaction_reference":null}}`,
			psp.Notice{Event: "charge.dispute.create", Reference: "v3m", Key: "charge.dispute.create|v3m|358950|x"},
		},
		"of another shape": {
			`{"event":"something.new","data":{"id":{"a":1},"reference":7}}`,
			psp.Notice{Event: "something.new", Key: `something.new||{"a":1}|`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := sign(secret, c.body)
			got, err := p.Notice([]byte(c.body), " "+strings.ToUpper(good)+"\n")
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			for _, bad := range []string{"", "zz", good[:126], sign("sk_test_other", c.body), sign(secret, c.body+" ")} {
				_, err := p.Notice([]byte(c.body), bad)
				require.ErrorIs(t, err, psp.ErrSignature)
			}
		})
	}
	_, err := p.Notice([]byte("[]"), sign(secret, "[]"))
	require.ErrorIs(t, err, psp.ErrNotice)
}

func TestOpen(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	g, err := payments.Open(payments.Config{}, log)
	require.NoError(t, err)
	for _, name := range []string{"paystack", "stripe"} {
		_, err = g.Provider(name)
		require.ErrorIs(t, err, psp.ErrNotConfigured)
		var refusal *engine.Refusal
		require.ErrorAs(t, err, &refusal)
		require.Equal(t, engine.ProviderMissing, refusal.Code)
	}
	for _, a := range []psp.Account{
		{SecretKey: "sk_live_x", URL: "http://api.example"},
		{SecretKey: "sk_test_x", URL: "ftp://api.example"},
		{SecretKey: "sk_test_x", URL: "https://user:password@api.example"},
		{SecretKey: "sk_test_x", URL: "api.example"},
	} {
		_, err := payments.Open(payments.Config{Paystack: a}, log)
		require.Error(t, err, a.URL)
		require.NotContains(t, err.Error(), "password@")
	}
}

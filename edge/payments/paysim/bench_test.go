package paysim_test

import (
	"bytes"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"boxoffice/edge/payments/paysim"
)

// BenchmarkPayment is initialize, checkout and verify over loopback, client
// included: what one payment costs a load run on the same machine.
func BenchmarkPayment(b *testing.B) {
	sim := start(b, paysim.Config{})
	client := &fasthttp.HostClient{Addr: sim.URL()[len("http://"):], MaxConns: 64}
	b.Cleanup(client.CloseIdleConnections)
	var n, live atomic.Int64
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		req, resp := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
		call := func(method, path, body string, want int) {
			req.Reset()
			req.Header.SetMethod(method)
			req.SetRequestURI(sim.URL() + path)
			req.Header.Set("Authorization", "Bearer "+secret)
			req.Header.SetContentType("application/json")
			req.SetBodyString(body)
			require.NoError(b, client.Do(req, resp))
			require.Equal(b, want, resp.StatusCode())
		}
		for pb.Next() {
			ref := fmt.Sprintf("BX%09d-1", n.Add(1))
			call("POST", "/transaction/initialize", `{"email":"ada@example.com","amount":30050,"currency":"NGN","reference":"`+ref+
				`","callback_url":"http://127.0.0.1:8080/return","metadata":{"order":"`+ref+`"}}`, 200)
			_, code, _ := bytes.Cut(resp.Body(), []byte(`"access_code":"`))
			code, _, _ = bytes.Cut(code, []byte(`"`))
			call("POST", "/checkout/"+string(code), `{"outcome":"success"}`, 303)
			call("GET", "/transaction/verify/"+ref, "", 200)
			live.Add(1)
		}
	})
	b.StopTimer()
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(int64(after.HeapAlloc)-int64(before.HeapAlloc))/float64(live.Load()), "B-kept/op")
}

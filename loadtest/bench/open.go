package main

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// latency is what an open loop saw, in milliseconds from the intended send time.
type latency struct {
	P50, P99 float64
	Invalid  []string
	Done     int64 // wanted answers
}

// open sends one request per arrival at a Poisson rate, and keeps latencies after
// the warm-up.
func (b *bench) open(ctx context.Context, host, path string, types []string, k keys, rate float64) (*latency, error) {
	l := &latency{}
	cfg := openloop.Config{Ops: []string{"POST order"}, SLO: time.Second, Warm: b.cmd.Warm}
	st, err := openloop.Run(ctx, cfg, openloop.Poisson(rate, b.cmd.Warm+b.cmd.Measure), rand.New(rand.NewPCG(1, 1)),
		func(int) openloop.Actor {
			n := b.numbers.Add(1)
			return &single{b: b, n: n, host: host, path: path, key: string(k.append(nil, n)), ticketType: types[n%uint64(len(types))]}
		})
	if err != nil {
		return nil, err
	}
	l.P50, l.P99, l.Invalid = st.All.Corrected.P50, st.All.Corrected.P99, st.Invalid(cfg)
	l.Done = st.All.Count
	for _, n := range st.Errors {
		l.Done -= n
	}
	return l, nil
}

// single is an actor that places one order.
type single struct {
	b               *bench
	n               uint64
	host, path      string
	key, ticketType string
}

// Step sends the order.
func (s *single) Step(ctx context.Context) openloop.Result {
	resp := fasthttp.AcquireResponse()
	defer fasthttp.ReleaseResponse(resp)
	req := client.Request{
		Method: "POST", Host: s.host, Path: s.path, Key: s.key, ContentType: "application/json",
		Body: appendOrder(make([]byte, 0, 160), s.ticketType, s.n),
	}
	r := openloop.Result{Done: true}
	if err := s.b.net.Source(int(s.n)).Do(ctx, &req, resp); err != nil {
		r.Code = client.CodeConnection
		return r
	}
	if r.Status = resp.StatusCode(); r.Status != 201 {
		r.Code = "not created"
	}
	return r
}

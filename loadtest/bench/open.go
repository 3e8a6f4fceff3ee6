package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/openloop"
)

// latency is the outcome of an open loop, in milliseconds from the intended send time.
type latency struct {
	P50, P99 float64
	Invalid  []string
	Done     int64 // wanted answers
}

// openTries is how often a load is tried. A try in which the generator itself was late, for example
// because the machine stood still, says nothing about the service.
const openTries = 3

// openValid runs open, again if necessary. Done counts the wanted answers of all tries. The reason
// of a repetition is printed and kept in the result.
func (b *bench) openValid(ctx context.Context, name, host, path string, types []string, k keys, rate float64) (*latency, error) {
	var done int64
	for try := 1; ; try++ {
		l, err := b.open(ctx, host, path, types, k, rate)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		done += l.Done
		l.Done = done
		if len(l.Invalid) == 0 {
			return l, nil
		}
		if try == openTries {
			b.doubt(name, l)
			return l, nil
		}
		why := fmt.Sprintf("%s: %s; p99 %.2f ms not counted", name, strings.Join(l.Invalid, "; "), l.P99)
		say("%s", why)
		b.result.Repeated = append(b.result.Repeated, why)
	}
}

// A load comes from a number of client addresses, and a number of buyers may wait at each at once. With
// more buyers, connections would be opened in the middle of the load.
const (
	sources = 250
	waiting = 8
)

// open sends one request for each arrival of a Poisson process, and keeps the latencies after the warm-up.
func (b *bench) open(ctx context.Context, host, path string, types []string, k keys, rate float64) (*latency, error) {
	l := &latency{}
	for i := range sources {
		if err := b.net.Source(i).Open(ctx, &client.Request{Method: "GET", Host: host, Path: "/healthz"}, waiting); err != nil {
			return nil, err
		}
	}
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

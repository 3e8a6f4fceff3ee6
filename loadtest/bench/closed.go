package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
)

// request appends one whole HTTP request; n is a number that no other request of the run has.
type request func(b []byte, n uint64) []byte

// closedResult is the outcome of a closed loop.
type closedResult struct {
	done   int64         // wanted answers after the warm-up
	span   time.Duration // the time in which they came
	total  int64         // wanted answers in all
	usage  rig.Usage     // from the first request until nothing was left to do
	other  int64         // other answers
	sample string        // the first of the other answers
}

func (r *closedResult) rps() float64 { return float64(r.done) / r.span.Seconds() }

// micros returns the CPU time of the i-th process for each wanted answer, including the work that
// was done for it later.
func (r *closedResult) micros(i int) float64 {
	return r.usage.Total[i].Seconds() * 1e6 / float64(max(r.total, 1))
}

// closed is a loop of connections that each send the next request when the answer to the last has come. It finds the
// most that a service can do. Its latencies would be misleading and are not measured.
type closed struct {
	net     *client.Network
	hosts   []string // the connections go to them in turn
	conns   int
	want    int    // status
	wanted  []byte // text that must be in the body too; nil: any
	numbers *atomic.Uint64
	make    request
	warm    time.Duration
	measure time.Duration
	cpu     []rig.Target
	// drained returns when the service has also done what it puts off under load, so that the CPU
	// for it is counted; nil if it puts nothing off.
	drained func(context.Context) error

	counting atomic.Bool
	ending   atomic.Bool
	done     atomic.Int64
	other    atomic.Int64
	total    atomic.Int64
	sample   atomic.Pointer[string] // the first other answer
}

// run saturates the service for the measured time after the warm-up, and returns when every request has been
// answered; a lost connection is an error. Without a measured time it runs until there is nothing left to ask for.
func (c *closed) run(ctx context.Context) (*closedResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	sampler := rig.StartSampler(c.cpu...)
	conns := c.start(ctx, cancel)
	wait(ctx, c.warm)
	c.counting.Store(true)
	start := time.Now()
	if c.measure > 0 {
		wait(ctx, c.measure)
		c.counting.Store(false)
	} else {
		conns.Wait()
	}
	r := &closedResult{span: time.Since(start)}
	c.ending.Store(true)
	conns.Wait()
	err := context.Cause(ctx)
	if err == nil && c.drained != nil {
		err = c.drained(ctx)
	}
	r.usage = sampler.Stop()
	r.done, r.other, r.total = c.done.Load(), c.other.Load(), c.total.Load()
	if s := c.sample.Load(); s != nil {
		r.sample = *s
	}
	if err == nil && r.other > 0 {
		err = fmt.Errorf("%d of %d answers were not wanted; the first: %s", r.other, r.other+r.total, r.sample)
	}
	return r, err
}

// start starts the connections; the first that fails ends the others.
func (c *closed) start(ctx context.Context, cancel context.CancelCauseFunc) *sync.WaitGroup {
	var conns sync.WaitGroup
	for i := range c.conns {
		conns.Go(func() {
			if err := c.loop(ctx, c.net.Source(i), c.hosts[i%len(c.hosts)]); err != nil {
				cancel(err)
			}
		})
	}
	return &conns
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// loop sends the requests of one connection.
func (c *closed) loop(ctx context.Context, from *client.Source, host string) error {
	conn, err := from.Dial(ctx, host)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	in := bufio.NewReaderSize(conn, 8192)
	var out []byte
	for !c.ending.Load() && ctx.Err() == nil {
		out = c.make(out[:0], c.numbers.Add(1))
		if len(out) == 0 {
			return nil // nothing left to ask for
		}
		if _, err := conn.Write(out); err != nil {
			return fmt.Errorf("closed loop: %w", err)
		}
		status, body, err := readAnswer(in)
		if err != nil {
			return fmt.Errorf("closed loop: %w", err)
		}
		c.count(status, body)
	}
	return nil
}

func (c *closed) count(status int, body []byte) {
	if status != c.want || !bytes.Contains(body, c.wanted) {
		c.other.Add(1)
		if c.sample.Load() == nil {
			text := strconv.Itoa(status) + " " + string(body[:min(len(body), 300)])
			c.sample.CompareAndSwap(nil, &text)
		}
		return
	}
	c.total.Add(1)
	if c.counting.Load() {
		c.done.Add(1)
	}
}

var contentLength = []byte("content-length:")

// readAnswer reads an answer that has a Content-Length. The body is valid until the next read, and may be cut short.
func readAnswer(in *bufio.Reader) (status int, body []byte, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, nil, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, nil, errors.New("no status line")
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, nil, err
	}
	length := -1
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return 0, nil, err
		}
		if len(line) <= 2 {
			break
		}
		if len(line) > len(contentLength) && bytes.EqualFold(line[:len(contentLength)], contentLength) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(line[len(contentLength):]))); err != nil {
				return 0, nil, err
			}
		}
	}
	if length < 0 {
		return 0, nil, errors.New("an answer without Content-Length")
	}
	if length > in.Size() {
		_, err = io.CopyN(io.Discard, in, int64(length))
		return status, nil, err
	}
	body, err = in.Peek(length)
	if err != nil {
		return 0, nil, err
	}
	_, err = in.Discard(length)
	return status, body, err
}

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
	"boxoffice/loadtest/procstat"
)

// request appends one whole HTTP request; n is a number that no other request
// of the run has.
type request func(b []byte, n uint64) []byte

// closedResult is what a closed loop saw after the warm-up.
type closedResult struct {
	done   int64 // wanted answers
	other  int64 // other answers
	total  int64 // wanted answers, the warm-up's too
	sample string
	span   time.Duration
	usage  procstat.Usage
}

func (r *closedResult) rps() float64 { return float64(r.done) / r.span.Seconds() }

// micros is the CPU time per wanted answer of the i-th process.
func (r *closedResult) micros(i int) float64 {
	return r.usage.Total[i].Seconds() * 1e6 / float64(max(r.done, 1))
}

// closed is a loop of connections that each send the next request when the
// answer to the last has come. It finds the most a service can do; its
// latencies would lie and are not taken.
type closed struct {
	net     *client.Network
	host    string
	conns   int
	want    int    // status
	wanted  []byte // must stand in the body too, if not nil
	numbers *atomic.Uint64
	make    request
	warm    time.Duration
	measure time.Duration
	cpu     []procstat.Target

	counting atomic.Bool
	ending   atomic.Bool
	done     atomic.Int64
	other    atomic.Int64
	total    atomic.Int64
	sample   atomic.Pointer[string] // the first other answer
}

// run returns when every request has been answered; a lost connection is an
// error.
func (c *closed) run(ctx context.Context) (*closedResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conns := c.start(ctx, cancel)
	wait(ctx, c.warm)
	c.counting.Store(true)
	start := time.Now()
	sampler := procstat.Start(c.cpu...)
	wait(ctx, c.measure)
	c.counting.Store(false)
	span := time.Since(start)
	usage := sampler.Stop()
	c.ending.Store(true)
	conns.Wait()
	return c.result(ctx, span, usage)
}

// start starts the connections; the first to fail ends the others.
func (c *closed) start(ctx context.Context, cancel context.CancelCauseFunc) *sync.WaitGroup {
	var conns sync.WaitGroup
	for i := range c.conns {
		conns.Go(func() {
			if err := c.loop(ctx, c.net.Source(i)); err != nil {
				cancel(err)
			}
		})
	}
	return &conns
}

// runOut measures from the start until there is nothing left to ask for.
func (c *closed) runOut(ctx context.Context) (*closedResult, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.counting.Store(true)
	start := time.Now()
	sampler := procstat.Start(c.cpu...)
	c.start(ctx, cancel).Wait()
	return c.result(ctx, time.Since(start), sampler.Stop())
}

func (c *closed) result(ctx context.Context, span time.Duration, usage procstat.Usage) (*closedResult, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &closedResult{done: c.done.Load(), other: c.other.Load(), total: c.total.Load(), span: span, usage: usage}
	if s := c.sample.Load(); s != nil {
		r.sample = *s
	}
	return r, nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// loop is one connection.
func (c *closed) loop(ctx context.Context, from *client.Source) error {
	conn, err := from.Dial(ctx, c.host)
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

// readAnswer reads an answer that has a Content-Length. The body is valid until
// the next read and may be cut short.
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

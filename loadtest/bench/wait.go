package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"sync"
	"time"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// waitAt is what those cost who wait in a room.
type waitAt struct {
	Look  readAt  `json:"look"`  // of one's own place
	Room  readAt  `json:"room"`  // of what everybody sees
	Watch float64 `json:"watch"` // CPU of the server for a stream and second, in microseconds, while somebody joins all the time
}

const (
	visitors = 1000 // whose places are looked at in turn
	watchers = 1000 // streams that are open at a time
)

// measureWait measures a waiting room that nobody is admitted from: visitors who ask for their places, and streams.
func (b *bench) measureWait(ctx context.Context) error {
	svc, err := client.ParseTarget(b.node.URL)
	if err != nil {
		return err
	}
	sale, err := b.organizer.OpenSale(ctx, []rush.SaleType{{Name: "Any", Quantity: plenty, MaxPerOrder: 10, MaxPerCustomer: 10}})
	if err != nil {
		return err
	}
	own, path := "/organizer/events/"+url.PathEscape(sale.EventID)+"/queue", "/public/events/"+url.PathEscape(sale.EventID)+"/queue"
	err = b.organizer.Send(ctx, "PUT", own, map[string]any{"enabled": true, "mode": "arrival", "admitPerMinute": 60}, nil)
	if err == nil {
		err = b.organizer.Post(ctx, own+"/pause", nil, nil)
	}
	if err != nil {
		return err
	}
	tokens := make([]string, visitors)
	for i := range tokens {
		if tokens[i], err = b.joinRoom(ctx, svc, path); err != nil {
			return err
		}
	}
	at := &waitAt{}
	b.result.Wait = at
	look := func(n uint64) string { return "/api/v1" + path + "?ticket=" + tokens[n%visitors] }
	if at.Look, err = b.readsCase(ctx, svc.Host, "a look at one's own place", look); err != nil {
		return err
	}
	room := func(uint64) string { return "/api/v1" + path }
	if at.Room, err = b.readsCase(ctx, svc.Host, "a look at the room", room); err != nil {
		return err
	}
	at.Watch, err = b.watchRoom(ctx, svc, path)
	return err
}

// joinRoom returns the token of a new visitor.
func (b *bench) joinRoom(ctx context.Context, svc client.API, path string) (string, error) {
	var joined struct{ Token string }
	key := newKeys().append(nil, b.numbers.Add(1))
	a := svc.Do(ctx, b.net.Source(0), client.Call{Method: "POST", Path: path, Key: string(key), Body: []byte("{}")}, &joined)
	if !a.OK() {
		return "", fmt.Errorf("join: %w", a.Err())
	}
	return joined.Token, nil
}

// watchRoom measures what a stream costs in a second in which its numbers change.
func (b *bench) watchRoom(ctx context.Context, svc client.API, path string) (float64, error) {
	var streams sync.WaitGroup
	defer streams.Wait()
	for i := range watchers {
		conn, err := b.net.Source(i).Dial(ctx, svc.Host)
		if err != nil {
			return 0, fmt.Errorf("stream: %w", err)
		}
		defer func() { _ = conn.Close() }()
		if _, err := fmt.Fprintf(conn, "GET /api/v1%s/live HTTP/1.1\r\nHost: %s\r\nAccept: text/event-stream\r\n\r\n", path, svc.Host); err != nil {
			return 0, fmt.Errorf("stream: %w", err)
		}
		streams.Go(func() { _, _ = io.Copy(io.Discard, conn) }) // it ends with the connection
	}
	wait(ctx, b.cmd.Warm)
	sampler, began := rig.StartSampler(b.cpuOf(b.node.PID)...), time.Now()
	for time.Since(began) < b.cmd.Measure && ctx.Err() == nil {
		if _, err := b.joinRoom(ctx, svc, path); err != nil {
			return 0, err
		}
		wait(ctx, 200*time.Millisecond)
	}
	usage := sampler.Stop()
	micros := round(usage.Total[0].Seconds() * 1e6 / time.Since(began).Seconds() / watchers)
	say("a stream of the room: server %.1f us a second (an echo's %.1f)", micros, b.result.EchoCPU)
	return micros, context.Cause(ctx)
}

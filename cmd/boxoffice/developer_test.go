package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"boxoffice/cmd/boxoffice/nodetest"
	"boxoffice/edge/webhook"
)

// developing opens a shop, and returns it with a developer's key.
func developing(t *testing.T) (*nodetest.Shop, developer) {
	t.Helper()
	s := nodetest.Open(t)
	s.Own("GET", "/organizer/events", nil).Is(200, "")
	return s, developer{Server: strings.TrimSuffix(s.URL, "/api/v1"), Key: s.Key(nil).Str("secret")}
}

// TestTriggers makes sure that each trigger makes the fact happen that it is named after.
func TestTriggers(t *testing.T) {
	t.Parallel()
	s, dev := developing(t)
	for _, made := range triggers {
		row, ok := webhook.Find(made.typ)
		require.True(t, ok && row.Active(), made.typ)
		begin := s.Own("GET", nodetest.FactsPath+"?after=now", nil).Is(200, "").Str("cursor")
		var said strings.Builder
		require.NoError(t, (&triggerCmd{developer: dev, Type: made.typ}).trigger(t.Context(), &said), made.typ)
		require.Regexp(t, "^"+made.typ+" happened to event [0-9]+", said.String())
		s.Becomes("1", func() string {
			page := s.Own("GET", nodetest.FactsPath+"?limit=100&types="+made.typ+"&after="+begin, nil).Is(200, "")
			return fmt.Sprint(min(1, len(page.Data("items").([]any))))
		})
	}

	t.Log("what can't be made to happen")
	var list strings.Builder
	require.NoError(t, (&triggerCmd{List: true}).trigger(t.Context(), &list))
	require.Len(t, strings.Fields(list.String()), len(triggers))
	for want, c := range map[string]triggerCmd{
		`nothing makes "payout.paid" happen`:                {developer: dev, Type: "payout.paid"},
		`nothing makes "" happen`:                           {developer: dev},
		"there is no API key":                               {Type: "event.created"},
		"not one of a test organization":                    {developer: developer{Key: "vt_live_x"}, Type: "event.created"},
		"POST /organizer/events answered 401 UNAUTHORIZED:": {developer: developer{Server: dev.Server, Key: "vt_test_x"}, Type: "event.created"},
	} {
		require.ErrorContains(t, c.trigger(t.Context(), io.Discard), want)
	}
}

// received is a request to a developer's receiver.
type received struct {
	headers http.Header
	body    string
}

// receiver starts a server that answers each POST with status, and passes it to posts.
func receiver(t *testing.T, status *atomic.Int64) (url string, posts chan received) {
	t.Helper()
	posts = make(chan received, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("receiver: %v", err)
		}
		w.WriteHeader(int(status.Load()))
		posts <- received{r.Header, string(body)}
	}))
	t.Cleanup(server.Close)
	return server.URL + "/hook", posts
}

// listening runs a listener. says returns the next line that contains a text, and stop stops the
// listener.
func listening(t *testing.T, c *listenCmd) (says func(text string) string, stop func() (rest string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	screen, shown := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		ended <- c.serve(ctx, shown)
		_ = shown.Close()
	}()
	t.Cleanup(func() { _ = screen.Close() })
	lines := make(chan string, 100) // a listener whose output is not read would stop
	go func() {
		defer close(lines)
		for read := bufio.NewScanner(screen); read.Scan(); {
			lines <- read.Text()
		}
	}()
	says = func(text string) string {
		for line := range lines {
			if strings.Contains(line, text) {
				return line
			}
		}
		require.Fail(t, "it ended without saying "+text)
		return ""
	}
	return says, func() string {
		cancel()
		rest := says("Stopped")
		require.NoError(t, <-ended)
		return rest
	}
}

// TestListen makes sure that a listener forwards the same as an endpoint of the service gets.
func TestListen(t *testing.T) {
	t.Parallel()
	s, dev := developing(t)
	var ok atomic.Int64
	ok.Store(204)
	endpoint, real := receiver(t, &ok)
	hook := s.Own("POST", nodetest.WebhooksPath, nodetest.Object{"url": endpoint, "events": []string{"order.completed"}}).Is(201, "")
	before := triggerCmd{developer: dev, Type: "order.completed"}
	require.NoError(t, before.trigger(t.Context(), io.Discard))
	<-real
	s.Becomes("1", func() string { // the feed may end before what a webhook has already sent
		return fmt.Sprint(len(s.Own("GET", nodetest.FactsPath+"?types=order.completed", nil).Is(200, "").Data("items").([]any)))
	})

	forward, forwarded := receiver(t, &ok)
	c := listenCmd{developer: dev, Forward: forward, Events: []string{"order.completed"}, Every: 20 * time.Millisecond, Pause: time.Millisecond}
	says, stop := listening(t, &c)
	secret := strings.Fields(says("Its signing secret"))
	require.NoError(t, before.trigger(t.Context(), io.Discard))
	says("order.completed evt_")
	want, got := <-real, <-forwarded
	require.Equal(t, want.body, got.body, "the same bytes")
	names := func(h http.Header) (all []string) {
		for name := range h {
			all = append(all, name)
		}
		slices.Sort(all)
		return all
	}
	require.Equal(t, names(want.headers), names(got.headers))
	require.Equal(t, "order.completed 1 1", got.headers.Get("X-Service-Event")+" "+got.headers.Get("X-Service-Delivery")+" "+got.headers.Get("X-Service-Attempt"))
	for _, signed := range []struct {
		received
		secret string
	}{{want, hook.Str("secret")}, {got, secret[len(secret)-1]}} {
		signature := signed.headers.Get("X-Service-Signature")
		var at int64
		_, err := fmt.Sscanf(signature, "t=%d,", &at)
		require.NoError(t, err)
		require.Equal(t, webhook.Sign(signed.secret, time.Unix(at, 0), []byte(signed.body)), signature)
	}

	t.Log("a receiver that fails gets it again, and then the next")
	ok.Store(500)
	require.NoError(t, before.trigger(t.Context(), io.Discard))
	for n := range forwardAttempts {
		require.Equal(t, fmt.Sprint(n+1), (<-forwarded).headers.Get("X-Service-Attempt"))
	}
	require.Contains(t, says("given up"), "HTTP 500; given up after 4 attempts")
	ok.Store(200)
	require.NoError(t, before.trigger(t.Context(), io.Discard))
	require.Contains(t, says("order.completed"), "HTTP 200")
	require.Equal(t, "Stopped: 2 taken, 1 given up.", stop())
}

// TestListenRefused starts listeners with configurations that must be refused.
func TestListenRefused(t *testing.T) {
	t.Parallel()
	s, dev := developing(t)
	var secrets strings.Builder
	for range 2 {
		require.NoError(t, (&listenCmd{developer: dev, PrintSecret: true}).serve(t.Context(), &secrets))
	}
	require.Regexp(t, `^(whsec_[0-9a-f]{64}\n){2}$`, secrets.String())
	blind := s.Key(nodetest.Object{"scopes": []string{"orders:read"}}).Str("secret")
	for want, c := range map[string]listenCmd{
		"there is no type order.eaten":   {developer: dev, Events: []string{"order.eaten"}},
		"answered 403 FORBIDDEN":         {developer: developer{Server: dev.Server, Key: blind}},
		"connection refused":             {developer: developer{Server: "http://127.0.0.1:1", Key: dev.Key}},
		"there is no API key":            {},
		"not one of a test organization": {developer: developer{Key: "vt_live_x"}},
	} {
		require.ErrorContains(t, c.serve(t.Context(), io.Discard), want)
	}
}

// TestListenOutage makes the service unreachable for a listener for a while: it misses nothing.
func TestListenOutage(t *testing.T) {
	t.Parallel()
	s, dev := developing(t)
	var ok atomic.Int64
	ok.Store(200)
	forward, _ := receiver(t, &ok)
	c := listenCmd{developer: dev, Forward: forward, Events: []string{"event.created"}, Every: 20 * time.Millisecond, Pause: time.Millisecond}
	says, stop := listening(t, &c)
	says("Its signing secret")
	s.Restart(func() { says("the service does not answer") })
	says("nothing was missed")
	require.NoError(t, (&triggerCmd{developer: dev, Type: "event.created"}).trigger(t.Context(), io.Discard))
	says("event.created")
	require.Equal(t, "Stopped: 1 taken, 0 given up.", stop())
}

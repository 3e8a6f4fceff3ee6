package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"boxoffice/edge/webhook"
	"boxoffice/persistence/deliveries"
)

// listenCmd brings the webhooks of a test organization to a machine without a public address. It
// reads the pull feed and sends each fact in the form in which the service would send it to an
// endpoint.
type listenCmd struct {
	developer
	Forward     string        `default:"http://localhost:3000/hook" help:"Address that gets what happens, by POST."`
	Events      []string      `help:"Types of the catalogue, separated by commas; all if left out."`
	PrintSecret bool          `help:"Only print the signing secret, for the receiver's environment."`
	Every       time.Duration `default:"1s" help:"How often the service is asked."`
	Pause       time.Duration `default:"1s" help:"How long the receiver is left alone when it has not answered 2xx: twice as long each time."`
}

// forwardAttempts is how often a fact is sent before the listener goes on to the next fact. The
// service itself would try for a week, but here a developer is waiting.
const forwardAttempts = 4

// Run forwards facts until a signal, or until the service refuses the key. With PrintSecret it only prints the secret.
func (c *listenCmd) Run(ctx context.Context) error { return c.serve(ctx, os.Stdout) }

// serve does the work of Run. It begins at the present end of the feed, so that only new facts are sent. It refuses
// types that the catalogue does not have. A signal ends it without an error, and it prints how many facts the receiver
// took and how many were given up. With PrintSecret it only prints the secret.
func (c *listenCmd) serve(ctx context.Context, out io.Writer) error {
	client, err := c.open()
	if err != nil {
		return err
	}
	// An unknown type would be a filter that lets nothing through, and the developer would wait in
	// vain.
	for _, name := range c.Events {
		if _, ok := webhook.Find(name); !ok {
			return fmt.Errorf("there is no type %s: %s/webhooks/catalog lists them", name, client.url)
		}
	}
	l := &listener{cmd: c, feed: client, out: out, secret: signingSecret(c.Key), receiver: &http.Transport{DisableCompression: true}}
	if c.PrintSecret {
		_, err := fmt.Fprintln(out, l.secret)
		return err
	}
	defer l.receiver.CloseIdleConnections()
	// This read only finds the end of the feed. It also shows at once if the key is refused.
	if _, err := l.read(ctx, fromNow); err != nil {
		return err
	}
	fmt.Fprintf(out, "What happens from now on at %s is sent to %s. Ctrl-C ends it.\nIts signing secret, the same whenever this key listens: %s\n", c.root(), c.Forward, l.secret)
	// After a signal the end of the listener is no error, whatever was under way.
	if err := l.follow(ctx); ctx.Err() == nil {
		return err
	}
	fmt.Fprintf(out, "Stopped: %d taken, %d given up.\n", l.taken, l.sent-l.taken)
	return nil
}

// signingSecret derives the secret that signs forwarded facts from the API key. So the secret stays
// the same when the listener restarts. The secret does not reveal the key.
func signingSecret(key string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("boxoffice listen"))
	return "whsec_" + hex.EncodeToString(mac.Sum(nil))
}

// listener is the state of a running listenCmd.
type listener struct {
	cmd      *listenCmd
	feed     *apiClient
	receiver *http.Transport
	out      io.Writer
	secret   string
	cursor   string // how far the feed was read
	away     bool   // the service did not answer the last time
	sent     int64  // how many facts were sent; it also numbers them
	taken    int64  // how many of them the receiver accepted
}

// fromNow is the cursor that stands for the present end of the feed.
const fromNow = "now"

// read reads the page of facts after a cursor, and notes the cursor after that page.
func (l *listener) read(ctx context.Context, after string) (facts []json.RawMessage, err error) {
	query := url.Values{"after": {after}, "limit": {"100"}}
	if len(l.cmd.Events) > 0 {
		query.Set("types", strings.Join(l.cmd.Events, ","))
	}
	var page struct {
		Items  []json.RawMessage
		Cursor string
	}
	if err := l.feed.sendOnce(ctx, "", http.MethodGet, "/organizer/facts?"+query.Encode(), nil, &page); err != nil {
		return nil, err
	}
	l.cursor = page.Cursor
	return page.Items, nil
}

// follow forwards what the feed has, page by page. It ends with ctx, or when the service refuses
// the listener for good.
func (l *listener) follow(ctx context.Context) error {
	ticker := time.NewTicker(l.cmd.Every)
	defer ticker.Stop()
	for {
		facts, err := l.read(ctx, l.cursor)
		var refused *apiRefusal
		// A refusal such as a revoked key will not go away. Errors of the server and too many
		// requests do, so those are tried again.
		if errors.As(err, &refused) && refused.status < 500 && refused.status != http.StatusTooManyRequests {
			return err
		}
		if away := err != nil; away != l.away && ctx.Err() == nil {
			l.away = away
			l.sayWhetherAway(err)
		}
		// The feed is read on only when all facts of the page were taken or given up, so facts arrive in their
		// order.
		for _, fact := range facts {
			if err := l.forward(ctx, fact); err != nil {
				return err
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sayWhetherAway prints that the service does not answer, or that it is back. It is called only
// when this changes.
func (l *listener) sayWhetherAway(err error) {
	if err != nil {
		l.say("the service does not answer, and is asked again: %v", err)
		return
	}
	l.say("the service is back: nothing was missed")
}

// forward sends a fact until the receiver accepts it, or until forwardAttempts have failed. A fact
// that is given up is no error: later facts still have to be sent.
func (l *listener) forward(ctx context.Context, fact json.RawMessage) error {
	var named struct{ ID, Type string }
	if err := json.Unmarshal(fact, &named); err != nil {
		return err
	}
	// The number of the delivery stays the same for all attempts, as it does with the service's own
	// webhooks.
	l.sent++
	pause := l.cmd.Pause
	for n := 1; ; n++ {
		attempt := &deliveries.Attempt{Delivery: l.sent, Number: n, Type: named.Type}
		taken, outcome := webhook.Forward(ctx, l.receiver, l.cmd.Forward, l.secret, attempt, fact)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case taken:
			l.taken++
			l.say("%s %s: %s", named.Type, named.ID, outcome)
			return nil
		case n == forwardAttempts:
			l.say("%s %s: %s; given up after %d attempts", named.Type, named.ID, outcome, n)
			return nil
		}
		l.say("%s %s: %s; sent again in %s", named.Type, named.ID, outcome, pause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
		pause *= 2
	}
}

// say prints a line that begins with the time.
func (l *listener) say(format string, args ...any) {
	fmt.Fprintf(l.out, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

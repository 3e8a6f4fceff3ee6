// Package poison is the scenario of a rush during which extreme requests arrive at
// every operation. Run returns when every goroutine and process that it started has
// ended.
package poison

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/valyala/fasthttp"

	"boxoffice/loadtest/client"
	"boxoffice/loadtest/extremes"
	"boxoffice/loadtest/report"
	"boxoffice/loadtest/rig"
	"boxoffice/loadtest/rush"
)

// Config is `boxoffice loadtest poison`.
type Config struct {
	rush.Config `embed:""`
	Requests    int           `default:"10000" help:"Extreme requests that arrive during the rush."`
	Drain       time.Duration `default:"1m" help:"By when every follower must be at the head."`
}

// lagEvery is the pause between two looks at how far the followers are behind.
const lagEvery = time.Second

// Run runs a rush on a node of its own while extreme requests arrive at every
// operation. No answer may blame the service, the audits must be clean, and at
// the end every follower must be at the head. The error is rush.ErrFindings, or why
// there is no report.
func Run(ctx context.Context, cfg Config, out io.Writer, log *slog.Logger) (_ *report.Report, err error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, fmt.Errorf("poison: %w", err)
	}
	node, stopNode, err := rig.StartNodeForRun(ctx, cfg.Out, out, log, cfg.NodeEnv()...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stopNode()) }()
	svc, err := client.ParseTarget(node.URL)
	if err != nil {
		return nil, err
	}
	s, err := rush.OpenSession(ctx, cfg.Config, svc, false, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close(context.WithoutCancel(ctx))) }()
	p, err := newPoisoner(ctx, s, svc)
	if err != nil {
		return nil, err
	}
	r := s.NewReport("A rush among poison", node.URL, cfg)
	if err := p.sendDuring(ctx, cfg.Requests, cfg.Duration, func(ctx context.Context) error {
		return s.Measure(ctx, r, node.Targets(), out, nil)
	}); err != nil {
		return nil, err
	}
	found := s.Conclude(ctx, r, node.Paysim, cfg.Out, out, log)
	// Findings of the rush do not end the run here. The answers to the poison are judged too, and both errors are
	// returned.
	if found != nil && !errors.Is(found, rush.ErrFindings) {
		return nil, found
	}
	lag, err := followersLag(ctx, node, cfg.Drain)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(out, "\npoison: %d operations, %d fields, %d values; %d requests sent, answers by status %v; followers behind: %d batches\n",
		len(p.api.Operations), p.api.CountFields(), len(p.cases), p.sent, p.statuses, lag)
	// A follower that stands still may have met a fact that it can't take in. That is a finding although every
	// answer was right.
	if len(p.faults) > 0 || lag > 0 {
		found = errors.Join(found, fmt.Errorf("%w: %d answers blame the service, followers are %d batches behind: %s",
			rush.ErrFindings, len(p.faults), lag, strings.Join(p.faults[:min(len(p.faults), 5)], "; ")))
	}
	return r, found
}

// poisoner sends extreme requests as an organizer who has an event of their own.
type poisoner struct {
	svc    client.API
	from   *client.Source
	bearer string
	api    *extremes.API
	cases  []extremes.Case
	params map[string]string // the values of the parameters in paths

	// What has come of it, read when it is over.
	sent     int
	statuses map[int]int
	faults   []string
}

// newPoisoner registers an organizer with a sale of their own, so that the poison may spoil that sale and not the
// one of the rush. It reads the cases from the document that the node itself serves.
func newPoisoner(ctx context.Context, s *rush.Session, svc client.API) (*poisoner, error) {
	p := &poisoner{svc: svc, from: s.Network.Source(1), statuses: map[int]int{}}
	organizer, err := rush.Register(ctx, svc, p.from)
	if err != nil {
		return nil, err
	}
	sale, err := organizer.OpenSale(ctx, []rush.SaleType{{Name: "Poisoned", Quantity: 1000, Free: true, MaxPerOrder: 10, MaxPerCustomer: 10}})
	if err != nil {
		return nil, err
	}
	// The organizer's session would end in the middle of a long run. A key of the API does not.
	if err := organizer.UseKey(ctx); err != nil {
		return nil, err
	}
	p.bearer = organizer.Bearer
	p.params = map[string]string{
		"id": sale.EventID, "eventId": sale.EventID, "slug": sale.Slug, "ticketTypeId": sale.Types[0].ID, "orgId": organizer.Organization, "currency": "NGN",
	}
	var resp fasthttp.Response
	if err := p.from.Do(ctx, &client.Request{Method: "GET", Host: svc.Host, Path: "/api/v1/openapi.json"}, &resp); err != nil {
		return nil, fmt.Errorf("poison: %w", err)
	}
	if p.api, err = extremes.Read(resp.Body()); err != nil {
		return nil, err
	}
	for _, c := range p.api.Cases() {
		// A drain in order would end the node, and a stream the sender's turn.
		if c.Operation.ID != "drainNode" && !strings.HasSuffix(c.Operation.Path, "/live") && c.Field.In != extremes.InHeader {
			p.cases = append(p.cases, c)
		}
	}
	return p, nil
}

// sendDuring sends n requests evenly over the time that the rush lasts. It returns when both are over. If one of
// them fails, the other is ended, and the first failure is returned.
func (p *poisoner) sendDuring(ctx context.Context, n int, lasting time.Duration, rush func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := p.sendAll(ctx, n, lasting); err != nil {
			cancel(err)
		}
	}()
	err := rush(ctx)
	if err != nil {
		cancel(err)
	}
	<-over
	return context.Cause(ctx)
}

// sendAll sends n cases drawn at random, one at a time: a request that the node is slow to answer delays the next
// ones.
func (p *poisoner) sendAll(ctx context.Context, n int, lasting time.Duration) error {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same requests in every run
	tick := time.NewTicker(max(lasting/time.Duration(n), time.Microsecond))
	defer tick.Stop()
	for range n {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := p.send(ctx, &p.cases[random.IntN(len(p.cases))]); err != nil {
			return err
		}
	}
	return nil
}

// send sends one case and notes the answer. An answer blames the service if its status is 500 or more. A connection
// that the service cuts is a fault of its own. The one 5xx that is right says that the node has no such payment
// provider.
func (p *poisoner) send(ctx context.Context, c *extremes.Case) error {
	request := c.Apply(extremes.Request{Params: p.params, Body: p.body(c.Operation)})
	var resp fasthttp.Response
	err := p.from.Do(ctx, &client.Request{
		Method: c.Operation.Method, Host: p.svc.Host, Path: request.Target(c.Operation), Bearer: p.bearer,
		ContentType: "application/json", Body: []byte(request.Body),
	}, &resp)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the run is over, and says why
	}
	p.sent++
	p.statuses[resp.StatusCode()]++
	switch {
	case err != nil:
		p.faults = append(p.faults, fmt.Sprintf("%s: %v", c, err))
	case resp.StatusCode() >= 500 && !bytes.Contains(resp.Body(), []byte("PROVIDER_NOT_CONFIGURED")):
		p.faults = append(p.faults, fmt.Sprintf("%s: %d %.200s", c, resp.StatusCode(), resp.Body()))
	}
	return nil
}

// body returns a valid request for the operations for which the poisoner has one, so that the extreme value is the
// only thing that is wrong. Other operations get an empty object: the service names what is wrong with a field also
// if other fields are missing.
func (p *poisoner) body(op *extremes.Operation) string {
	start := time.Now().Add(48 * time.Hour).UTC()
	at := func(d time.Duration) string { return start.Add(d).Format(time.RFC3339) }
	var body any
	switch op.ID {
	case "createEvent":
		body = map[string]any{
			"title": "Poisoned", "category": "music", "venueType": "physical", "timezone": "UTC", "startDate": at(0), "endDate": at(time.Hour),
		}
	case "createTicketType":
		body = map[string]any{"name": "Poisoned", "type": "general", "saleStart": at(-72 * time.Hour), "saleEnd": at(-time.Hour)}
	case "placeOrder":
		body = map[string]any{
			"guestEmail": "ada@example.org", "items": []any{map[string]any{"ticketTypeId": p.params["ticketTypeId"], "quantity": 1}},
		}
	case "scanTicket":
		body = map[string]any{"eventId": p.params["eventId"], "qrData": "ABCDEF", "deviceId": "poisoned"}
	default:
		if !op.HasBody {
			return ""
		}
		body = map[string]any{}
	}
	text, _ := json.Marshal(body) // maps of text and numbers
	return string(text)
}

// followersLag waits until every follower has read what is committed. If that takes too long, it returns how many
// batches all followers together are behind.
func followersLag(ctx context.Context, node *rig.Node, patience time.Duration) (int64, error) {
	deadline := time.Now().Add(patience)
	for {
		var status struct {
			Followers []struct {
				Lag int64 `json:"lagBatches"`
			} `json:"followers"`
		}
		cmd := node.Process.Command(ctx, "status", "--json")
		var text bytes.Buffer
		cmd.Stdout = &text
		if err := cmd.Run(); err != nil {
			return 0, fmt.Errorf("status: %w", err)
		}
		if err := json.Unmarshal(text.Bytes(), &status); err != nil {
			return 0, fmt.Errorf("status: %w", err)
		}
		var lag int64
		for _, f := range status.Followers {
			lag += f.Lag
		}
		if lag == 0 || time.Now().After(deadline) {
			return lag, nil
		}
		select {
		case <-time.After(lagEvery):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

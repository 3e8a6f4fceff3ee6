package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// triggerCmd makes something happen that webhooks tell about. It takes the steps of an organizer
// and of a buyer, each time for a new event.
type triggerCmd struct {
	developer
	Type string `arg:"" optional:"" help:"What is to happen, such as order.completed."`
	List bool   `help:"List what can be made to happen."`
}

// Run makes the fact happen, and prints the event and the order that it happened to.
func (c *triggerCmd) Run(ctx context.Context) error { return c.trigger(ctx, os.Stdout) }

// trigger takes the steps that lead to the fact, one after another. It stops at the first step that
// fails. With List it only prints the types of facts that it can make happen.
func (c *triggerCmd) trigger(ctx context.Context, out io.Writer) error {
	if c.List {
		for i := range triggers {
			fmt.Fprintln(out, triggers[i].typ)
		}
		return nil
	}
	i := slices.IndexFunc(triggers, func(t trigger) bool { return t.typ == c.Type })
	if i < 0 {
		return fmt.Errorf("nothing makes %q happen: trigger --list says what can", c.Type)
	}
	// The key is checked only now: the list needs none.
	client, err := c.open()
	if err != nil {
		return err
	}
	s := &stage{apiClient: client, root: c.root()}
	for _, step := range triggers[i].steps {
		if err := step(s, ctx); err != nil {
			return fmt.Errorf("trigger: %w", err)
		}
	}
	fmt.Fprintf(out, "%s happened to event %s%s\n", c.Type, s.event.ID, s.sayOrder())
	return nil
}

// trigger is a type of public fact together with the steps that lead to such a fact.
type trigger struct {
	typ   string
	steps []step
}

// step is what an organizer or a buyer does, by one request or by a few. It leaves on the stage what
// later steps need, such as an id.
type step = func(*stage, context.Context) error

// triggers lists the types that the public API can make happen at once. Other types need a buyer
// who reads mail, or the end of an order's time, or are not made yet.
var triggers = func() []trigger {
	drafted := []step{(*stage).draftEvent}
	published := append(slices.Clone(drafted), (*stage).addTickets, (*stage).publishEvent)
	ordered := append(slices.Clone(published), (*stage).placeOrder)
	paid := append(slices.Clone(ordered), (*stage).payOrder)
	// A plain append could let two triggers share one array and overwrite each other's steps.
	then := func(before []step, more ...step) []step { return append(slices.Clone(before), more...) }
	return []trigger{
		{"event.created", drafted},
		{"event.updated", then(drafted, (*stage).renameEvent)},
		{"event.published", published},
		{"event.cancelled", then(published, (*stage).cancelEvent)},
		{"event.completed", then(published, (*stage).completeEvent)},
		{"ticket_type.created", then(drafted, (*stage).addTickets)},
		{"ticket_type.sold_out", then(drafted, (*stage).addLastTicket, (*stage).publishEvent, (*stage).placeOrder, (*stage).payOrder)},
		{"order.created", ordered},
		{"order.completed", paid},
		{"order.cancelled", then(ordered, (*stage).cancelOrder)},
		{"ticket.created", paid},
		{"ticket.checked_in", then(paid, (*stage).scanTicket)},
		{"ticket.checkin_denied", then(paid, (*stage).scanTicket, (*stage).scanTicket)},
		{"refund.processed", then(paid, (*stage).refundOrder)},
		{"attendee.tagged", then(paid, (*stage).tagAttendee)},
		{"agent.action", then(drafted, (*stage).actAsAgent)},
	}
}()

// stage is what the steps of one trigger have made so far.
type stage struct {
	*apiClient
	root       string // the address of the service, without the path of the API
	event      struct{ ID, OrganizationID string }
	ticketType struct{ ID string }
	order      struct {
		ID, AccessToken string
		Tickets         []struct{ ID, QR string }
	}
}

// sayOrder returns the end of the command's only line: the order's id, if the steps have made an order.
func (s *stage) sayOrder() string {
	if s.order.ID == "" {
		return ""
	}
	return ", order " + s.order.ID
}

// post sends a POST request and reads its answer into data. A nil data ignores the answer.
func (s *stage) post(ctx context.Context, path string, body, data any) error {
	return s.send(ctx, http.MethodPost, path, body, data)
}

// ownPath returns the path of the event's record, as the organizer reaches it.
func (s *stage) ownPath() string { return "/organizer/events/" + s.event.ID }

// inDays writes the moment that is a number of days from now, as the API takes it.
func inDays(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.RFC3339) }

// draftEvent makes the event that all other steps act on. It takes place next week and is not published yet.
func (s *stage) draftEvent(ctx context.Context) error {
	return s.post(ctx, "/organizer/events", fields{
		"title": "Triggered " + time.Now().UTC().Format(time.DateTime), "category": "music", "timezone": "UTC",
		"venueType": "physical", "startDate": inDays(7), "endDate": inDays(8),
	}, &s.event)
}

// renameEvent changes the title of the draft, which makes the fact event.updated.
func (s *stage) renameEvent(ctx context.Context) error {
	return s.send(ctx, http.MethodPut, s.ownPath(), fields{"title": "Triggered, and renamed"}, nil)
}

// addTickets adds a type with enough tickets that one order does not sell it out.
func (s *stage) addTickets(ctx context.Context) error { return s.addType(ctx, 100) }

// addLastTicket adds a type of one ticket, so that a single order sells it out.
func (s *stage) addLastTicket(ctx context.Context) error { return s.addType(ctx, 1) }

// addType adds a paid ticket type whose sale has begun already, so that the order of a later step is accepted.
func (s *stage) addType(ctx context.Context, quantity int) error {
	return s.post(ctx, s.ownPath()+"/tickets", fields{
		"name": "Floor", "type": "general", "price": 25, "quantityTotal": quantity, "saleStart": inDays(-1), "saleEnd": inDays(6),
	}, &s.ticketType)
}

// publishEvent publishes the draft, which must have a ticket type.
func (s *stage) publishEvent(ctx context.Context) error {
	return s.post(ctx, s.ownPath()+"/publish", nil, nil)
}

// cancelEvent cancels the event before anybody has ordered.
func (s *stage) cancelEvent(ctx context.Context) error { return s.setStatus(ctx, "cancelled") }

// completeEvent ends the event before its time. An event completes only after it was in progress,
// so two requests are needed.
func (s *stage) completeEvent(ctx context.Context) error {
	if err := s.setStatus(ctx, "in_progress"); err != nil {
		return err
	}
	return s.setStatus(ctx, "completed")
}

// setStatus moves the event to a status. The service refuses a move that the status before does not allow.
func (s *stage) setStatus(ctx context.Context, status string) error {
	return s.send(ctx, http.MethodPut, s.ownPath()+"/status", fields{"status": status}, nil)
}

// placeOrder places an order as a new buyer, so that no limit on one buyer's orders applies.
func (s *stage) placeOrder(ctx context.Context) error {
	return s.post(ctx, "/orders", fields{
		"guestEmail": "buyer-" + strings.ToLower(uuid.NewString()[:8]) + "@example.org",
		"items":      []fields{{"ticketTypeId": s.ticketType.ID, "quantity": 1}},
	}, &s.order)
}

// payOrder pays at the page of the payment simulator. The page of a real provider does not accept
// this answer, so no real money can move.
func (s *stage) payOrder(ctx context.Context) error {
	var checkout struct{ AuthorizationURL string }
	if err := s.post(ctx, "/orders/"+s.order.ID+"/pay", fields{"provider": "paystack", "token": s.order.AccessToken}, &checkout); err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, checkout.AuthorizationURL, strings.NewReader(`{"outcome":"success"}`))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultTransport.RoundTrip(req) // RoundTrip does not follow the redirect back to the shop
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // the body is not read
	if res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("payments are not simulated here: order %s waits to be paid at %s", s.order.ID, checkout.AuthorizationURL)
	}
	// The simulator's webhook may come later, so the step asks the service to look for the money at
	// once.
	return s.post(ctx, "/payments/verify", fields{"orderId": s.order.ID, "token": s.order.AccessToken}, &s.order)
}

// cancelOrder cancels the order as its buyer, while it is unpaid.
func (s *stage) cancelOrder(ctx context.Context) error {
	return s.post(ctx, "/orders/"+s.order.ID+"/cancel", fields{"token": s.order.AccessToken}, nil)
}

// refundOrder sends the money of the whole order back, as the organizer.
func (s *stage) refundOrder(ctx context.Context) error {
	return s.post(ctx, "/organizer/orders/"+s.order.ID+"/refund", fields{"reason": "Triggered."}, nil)
}

// needTicket returns an error if the order has no ticket yet. That happens if the payment was not
// seen in time.
func (s *stage) needTicket() error {
	if len(s.order.Tickets) == 0 {
		return errors.New("the order's payment has not settled: try again")
	}
	return nil
}

// scanTicket scans the order's first ticket at a gate. The first scan is admitted, and a second
// scan is denied.
func (s *stage) scanTicket(ctx context.Context) error {
	if err := s.needTicket(); err != nil {
		return err
	}
	return s.post(ctx, "/checkin/scan", fields{
		"eventId": s.event.ID, "qrData": s.order.Tickets[0].QR, "gateName": "Triggered", "deviceId": uuid.NewString(),
	}, nil)
}

// tagAttendee gives the holder of the order's first ticket a tag, as the organizer.
func (s *stage) tagAttendee(ctx context.Context) error {
	if err := s.needTicket(); err != nil {
		return err
	}
	return s.post(ctx, "/organizer/growth/tags", fields{
		"orgId": s.event.OrganizationID, "ticketIds": []string{s.order.Tickets[0].ID}, "tag": "triggered",
	}, nil)
}

// actAsAgent renames the stage's event through the tool interface, as an agent would, which makes the fact
// agent.action. It returns an error if the tool refuses, although that answer has the status 200.
func (s *stage) actAsAgent(ctx context.Context) error {
	call, err := json.Marshal(fields{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": fields{
		"name": "update_event", "arguments": fields{"id": s.event.ID, "title": "Triggered by an agent"},
	}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.root+"/mcp", bytes.NewReader(call))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+s.bearer)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // it is read
	var answer struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
		}
	}
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode != http.StatusOK {
		return fmt.Errorf("POST /mcp answered %d", res.StatusCode)
	}
	// A tool that refuses answers 200 too, and says in its result what is wrong.
	if answer.Result.IsError {
		return errors.New("update_event: " + answer.Result.Content[0].Text)
	}
	return nil
}

package edge

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/persistence/readmodel"
)

// placeOrder sends the order to its event, which runs it. The order's id is
// derived from the Idempotency-Key, so that a repeat finds the same order
// without a table of keys (decisions.md section 8).
func (d *Desk) placeOrder(c *route.Call, in *api.PlaceOrder) (*api.Order, error) {
	number, lines, err := orderLines(in.Items)
	if err != nil {
		return nil, err
	}
	email := normalEmail(in.GuestEmail)
	if email == "" {
		return nil, route.Invalid(route.Issue{Path: "guestEmail", Code: route.IssueRequired, Message: "is required"})
	}
	if in.PromoCode != "" {
		return nil, route.Invalid(route.Issue{Path: "promoCode", Code: route.IssueEnum, Message: "is not a code of this event"})
	}
	if _, err := d.know(c.Context, number); err != nil {
		return nil, eventHidden(err, engine.TicketTypeNotFound)
	}
	body := c.BodyHash()
	cmd := event.Place{
		Order: orderID(c, d.Env, number), Fingerprint: binary.BigEndian.Uint64(body[:8]),
		Email: in.GuestEmail, Name: in.GuestName, Customer: customer(email),
		Lines: lines, PresaleCode: in.PresaleCode,
	}
	r, err := ask[event.OrderReply](c, d, engine.EventRef(number), cmd)
	if err != nil {
		return nil, err
	}
	o, err := d.orderOf(c.Context, cmd.Order, r)
	if err != nil {
		return nil, err
	}
	v := d.orderView(o, nil, c.Now)
	v.AccessToken = d.Secrets.OrderToken(o.ID)
	return v, nil
}

// orderLines reads the lines' ticket types, which name their event.
func orderLines(items []api.OrderItem) (int64, []event.OrderLine, error) {
	lines := make([]event.OrderLine, len(items))
	var number int64
	for i := range items {
		it := &items[i]
		issue := func(message string) error {
			return route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].ticketTypeId", i), Code: route.IssueFormat, Message: message,
			})
		}
		id, err := engine.ParseID(it.TicketTypeID)
		if err != nil || id.Event() < 1 || id != engine.NumberedID(id.Event(), id.Number()) {
			return 0, nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		if i > 0 && id.Event() != number {
			return 0, nil, issue("is of another event than the first line's")
		}
		number = id.Event()
		for j := range lines[:i] {
			if lines[j].Type == id.Number() {
				return 0, nil, issue("stands in an earlier line already")
			}
		}
		lines[i] = event.OrderLine{
			Type: id.Number(), Quantity: it.Quantity,
			AttendeeName: it.AttendeeName, AttendeeEmail: it.AttendeeEmail,
		}
	}
	return number, lines, nil
}

// orderID is derived from the scope and the key, or random without a key.
func orderID(c *route.Call, env string, number int64) engine.OrderID {
	var tail [sha256.Size]byte
	if c.IdempotencyKey == "" {
		_, _ = rand.Read(tail[:]) // never fails
		return engine.NewID(number, tail[:])
	}
	who := c.Principal.UserID
	if who == "" {
		who = c.Client.String()
	}
	h := make([]byte, 0, 128)
	h = append(append(h, env...), 0)
	h = append(append(h, who...), 0)
	h = append(append(h, "POST /api/v1/orders"...), 0)
	tail = sha256.Sum256(append(h, c.IdempotencyKey...))
	return engine.NewID(number, tail[:])
}

// customer is who caps count for.
func customer(email string) uint64 {
	sum := sha256.Sum256([]byte(email))
	return binary.BigEndian.Uint64(sum[:8])
}

func (d *Desk) getOrder(c *route.Call, in *api.OrderByToken) (*api.Order, error) {
	o, err := d.openOrder(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	return d.fullView(c, o)
}

func (d *Desk) cancelOrder(c *route.Call, in *api.CancelOrder) (*api.Order, error) {
	o, err := d.openOrder(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	r, err := ask[event.OrderReply](c, d, engine.EventRef(o.ID.Event()), event.CancelOrder{Order: o.ID})
	if err != nil {
		return nil, err
	}
	if o, err = d.orderOf(c.Context, o.ID, r); err != nil {
		return nil, err
	}
	return d.fullView(c, o)
}

// openOrder finds an order for a caller who may see it: one with its token, or
// of the organization that sells it. For others it does not exist.
func (d *Desk) openOrder(c *route.Call, text string, tokens ...string) (*event.Order, error) {
	token := c.Principal.OrderToken
	for _, t := range tokens {
		if t != "" && token != "" && t != token {
			return nil, route.Invalid(route.Issue{Path: "token", Code: route.IssueDuplicate, Message: "is not the same in query and body"})
		}
		if t != "" {
			token = t
		}
	}
	if token == "" && c.Principal.Kind != route.Organizer {
		return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The order's access token is required."}
	}
	id, err := engine.ParseID(text)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	k, err := d.know(c.Context, id.Event())
	if err != nil || !d.Secrets.OpensOrder(id, token) && !belongs(c.Principal, k.org) {
		return nil, eventHidden(err, engine.OrderNotFound)
	}
	r, err := ask[event.OrderReply](c, d, engine.EventRef(id.Event()), event.GetOrder{Order: id})
	if err != nil {
		if r, ok := err.(*engine.Refusal); !ok || r.Code != engine.OrderNotFound { //nolint:errorlint // ask returns refusals bare
			return nil, err
		}
		return d.pastOrder(c.Context, id) // older than what the ledger remembers
	}
	return d.orderOf(c.Context, id, r)
}

// eventHidden is the error of know, or none, as another thing's not being found:
// that it is the event which does not exist is hidden, and nothing else.
func eventHidden(err error, code engine.Code) error {
	if r, ok := err.(*engine.Refusal); err != nil && (!ok || r.Code != engine.EventNotFound) { //nolint:errorlint // know returns refusals bare
		return err
	}
	return &engine.Refusal{Code: code}
}

// orderOf is the order of a reply, from the read model when the ledger has only
// its outcome.
func (d *Desk) orderOf(ctx context.Context, id engine.OrderID, r *event.OrderReply) (*event.Order, error) {
	if !r.Past {
		return r.Order, nil
	}
	return d.pastOrder(ctx, id)
}

// pastOrder reads an order from the read model, which may lag behind the ledger
// that knows it has ended.
func (d *Desk) pastOrder(ctx context.Context, id engine.OrderID) (*event.Order, error) {
	for range 2 {
		o, err := d.Read.Order(ctx, id)
		if !errors.Is(err, readmodel.ErrNotFound) {
			return &o.Order, err
		}
		if err := d.Settled(ctx); err != nil {
			return nil, err
		}
	}
	return nil, &engine.Refusal{Code: engine.OrderNotFound}
}

// fullView is an order with its tickets as the gates have left them.
func (d *Desk) fullView(c *route.Call, o *event.Order) (*api.Order, error) {
	if o.Status != event.Completed {
		return d.orderView(o, nil, c.Now), nil
	}
	gates, err := d.Read.Tickets(c.Context, o.ID.Event(), o.FirstTicket, int(o.Tickets()))
	if err != nil {
		return nil, err
	}
	used := make(map[uint32]admission, len(gates))
	for _, t := range gates {
		used[t.Serial] = admission{status: t.Status, at: t.CheckedInAt, gate: t.Gate}
	}
	return d.orderView(o, used, c.Now), nil
}

// admission is what happened to a ticket at the gates.
type admission struct {
	status string
	at     int64
	gate   string
}

// orderView is an order as answers show it.
func (d *Desk) orderView(o *event.Order, used map[uint32]admission, now time.Time) *api.Order {
	v := &api.Order{
		ID: o.ID.String(), OrderNumber: secrets.OrderNumber(o.ID), EventID: d.publicID(o.ID.Event()),
		Status: o.Status, Currency: o.Currency,
		Subtotal: decimal(o.Subtotal), Discount: decimal(0), Fees: decimal(o.Fees), Total: decimal(o.Total),
		Buyer: api.Buyer{Email: o.Email, Name: optional(o.Name)},
		Items: make([]api.OrderLine, len(o.Lines)), Tickets: []api.Ticket{}, Refunds: []api.Refund{},
		Payments:  paymentsView(o),
		CreatedAt: api.At(o.CreatedAt), UpdatedAt: api.At(o.UpdatedAt),
	}
	for i := range o.Lines {
		l := &o.Lines[i]
		v.Items[i] = api.OrderLine{
			TicketTypeID: engine.NumberedID(o.ID.Event(), l.Type).String(), Name: l.Name, Quantity: l.Quantity,
			UnitPrice: decimal(l.UnitPrice), AttendeeName: optional(l.AttendeeName), AttendeeEmail: optional(l.AttendeeEmail),
		}
	}
	switch o.Status {
	case event.Completed:
		v.CompletedAt = api.At(o.EndedAt)
		v.Tickets = d.ticketsView(o, used, now)
	case event.Cancelled:
		v.CancelledAt = api.At(o.EndedAt)
	case event.Pending, event.Processing:
		v.ExpiresAt = api.At(o.ExpiresAt)
	}
	for _, r := range o.Refunds {
		v.Refunds = append(v.Refunds, api.Refund{
			Reference: r.Reference, Amount: decimal(r.Amount), Reason: r.Reason, Status: r.Status,
			RequestedAt: api.At(r.At), ProcessedAt: api.At(r.ProcessedAt),
		})
	}
	return v
}

func (d *Desk) publicID(number int64) string {
	if k, ok := d.known.Load(number); ok {
		return k.public.String()
	}
	return fmt.Sprint(number)
}

func (d *Desk) ticketsView(o *event.Order, used map[uint32]admission, now time.Time) []api.Ticket {
	codes := d.Secrets.Event(o.ID.Event())
	out := make([]api.Ticket, 0, o.Tickets())
	serial := o.FirstTicket
	for i := range o.Lines {
		l := &o.Lines[i]
		name, email := o.Holder(i)
		for range l.Quantity {
			qr, expires := codes.QR(serial, secrets.Version, now)
			t := api.Ticket{
				ID: codes.TicketID(serial).String(), Code: codes.Code(serial, secrets.Version), ShortCode: codes.Short(serial),
				Status: "issued", OrderID: o.ID.String(), EventID: d.publicID(o.ID.Event()),
				TicketTypeID: engine.NumberedID(o.ID.Event(), l.Type).String(), TierName: l.Name,
				Holder: api.Buyer{Email: email, Name: optional(name)}, QR: qr, QRExpiresAt: api.At(expires.UnixMilli()),
				FaceValue: decimal(l.UnitPrice), Currency: o.Currency, IssuedAt: api.At(o.EndedAt),
			}
			if a, ok := used[serial]; ok {
				t.Status, t.CheckedInAt, t.GateName = a.status, api.At(a.at), optional(a.gate)
			}
			out = append(out, t)
			serial++
		}
	}
	return out
}

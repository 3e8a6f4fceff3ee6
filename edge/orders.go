package edge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"boxoffice/edge/api"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/readmodel"
)

// placeOrder sends the order to its event, which runs it. The order's id is
// derived from the Idempotency-Key, so that a repeat finds the same order
// without a table of keys (decisions.md section 8). The answer shows the order
// as it was when it was made: a repeat has the same, byte for byte.
func (d *Desk) placeOrder(c *route.Call, in *api.PlaceOrder) (*api.Order, error) {
	number, lines, err := orderLines(in.Items)
	if err != nil {
		return nil, err
	}
	address := cmp.Or(in.GuestEmail, c.Principal.Email) // who is signed in need not say it
	email := normalEmail(address)
	if email == "" {
		return nil, route.Invalid(route.Issue{Path: "guestEmail", Code: route.IssueRequired, Message: "is required"})
	}
	if in.PromoCode != "" {
		return nil, route.Invalid(route.Issue{Path: "promoCode", Code: route.IssueEnum, Message: "is not a code of this event"})
	}
	k, err := d.know(c.Context, number)
	if err != nil {
		return nil, eventHidden(err, engine.TicketTypeNotFound)
	}
	if err := d.boxOffice(c, k.org, engine.TicketTypeNotFound); err != nil {
		return nil, err
	}
	body := c.BodyHash()
	cmd := event.Place{
		Fingerprint: binary.BigEndian.Uint64(body[:8]),
		Email:       address, Name: in.GuestName, Customer: customer(email),
		Lines: lines, PresaleCode: in.PresaleCode, Scale: d.LimitsScale,
	}
	if slices.ContainsFunc(lines, func(l event.OrderLine) bool { return len(l.Seats) > 0 }) {
		cmd.Holder, cmd.Principal = in.Holder, d.principalOf(c)
	}
	cmd.Order, cmd.Alias = orderID(c, number)
	if _, own := c.Principal.Grant(k.org); !own { // who sells for the organization is no buyer
		cmd.Client = d.Secrets.Client(route.Network(c.Client))
	}
	r, err := ask[event.OrderReply](c, d, engine.EventRef(number), cmd)
	if err != nil {
		return nil, seatIssues(err, in.Items)
	}
	o := r.Order
	if r.Past {
		if o, err = d.pastOrder(c.Context, r.ID); err != nil {
			return nil, err
		}
		o = o.Placed()
	}
	if r.Known {
		c.SetHeader("Idempotency-Replayed", "true")
	}
	v, err := d.orderView(c.Context, o, nil, time.UnixMilli(o.EndedAt)) // QR payloads of that moment
	if err != nil {
		return nil, err
	}
	v.AccessToken = d.Secrets.OrderToken(o.ID)
	return v, nil
}

// boxOffice refuses an API key to sell what is not its organization's, as code
// says, or without the scope to sell. Everybody else buys for themselves.
func (d *Desk) boxOffice(c *route.Call, org int64, code engine.Code) error {
	if !c.Principal.Kinds.Has(route.Key) {
		return nil
	}
	g, ok := c.Principal.Grant(org)
	if !ok {
		return &engine.Refusal{Code: code}
	}
	return granted(c.Op, g)
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
			AttendeeName: it.AttendeeName, AttendeeEmail: it.AttendeeEmail, Seats: it.VenueSeatIDs,
		}
		if n := len(it.VenueSeatIDs); n > 0 && int64(n) != it.Quantity {
			return 0, nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].venueSeatIds", i), Code: route.IssueMaximum, Message: "must be as many as the quantity",
			})
		}
	}
	return number, lines, nil
}

// seatIssues makes issues of an actor's refusal of the seats of an order, or of their not
// being named.
func seatIssues(err error, items []api.OrderItem) error {
	r, ok := err.(*engine.Refusal) //nolint:errorlint // ask returns refusals bare
	if !ok || r.Code != engine.Validation {
		return err
	}
	var issues []route.Issue
	add := func(i int, code, what string) {
		issues = append(issues, route.Issue{Path: fmt.Sprintf("items[%d].venueSeatIds", i), Code: code, Message: what + r.Message})
	}
	switch of := r.Details.(type) {
	case seatmap.Seats:
		for i := range items {
			for _, seat := range items[i].VenueSeatIDs {
				if slices.Contains(of.SeatIDs, seat) {
					add(i, route.IssueEnum, seat+": ")
				}
			}
		}
	case inventory.Which:
		i := slices.IndexFunc(items, func(it api.OrderItem) bool { return it.TicketTypeID == of.TicketTypeID })
		add(max(i, 0), route.IssueRequired, "")
	case nil:
		add(0, route.IssueFormat, "")
	}
	if len(issues) == 0 {
		return err
	}
	return route.Invalid(issues[:min(len(issues), route.MaxIssues)]...)
}

// clockSkew is how far apart two nodes' clocks may be.
const clockSkew = 5 * time.Second

// orderID is derived from the scope of the request's key and the day, or random
// without a key. The ledger knows an order by its id for 24 hours after its end,
// and a key that comes again later must not give another order the same id. So
// a repeat may have had the other day's id, its alias.
func orderID(c *route.Call, number int64) (id, alias engine.OrderID) {
	scope := c.Scope()
	id = dated(number, scope, c.Now)
	if c.IdempotencyKey == "" {
		return id, alias
	}
	if alias = dated(number, scope, c.Now.Add(clockSkew)); alias == id {
		alias = dated(number, scope, c.Now.Add(-24*time.Hour))
	}
	return id, alias
}

// dated is the id of a scope on a day. The day changes the bits that make the
// order's number: multiplied by an odd constant, no two days do the same to them.
func dated(number int64, scope [sha256.Size]byte, at time.Time) engine.OrderID {
	day := uint64(at.Unix() / (24 * 3600))
	tail := scope[:10]
	binary.BigEndian.PutUint64(tail[2:], binary.BigEndian.Uint64(tail[2:])^day*0x9e3779b97f4a7c15)
	return engine.NewID(number, tail)
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
	if token == "" && !c.Principal.Proven() {
		return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The order's access token is required."}
	}
	id, err := engine.ParseID(text)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	k, err := d.know(c.Context, id.Event())
	if err != nil {
		return nil, eventHidden(err, engine.OrderNotFound)
	}
	if !d.Secrets.OpensOrder(id, token) {
		g, ok := c.Principal.Grant(k.org)
		if !ok {
			return nil, &engine.Refusal{Code: engine.OrderNotFound}
		}
		if err := granted(c.Op, g); err != nil {
			return nil, err
		}
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

// OpensOrder says whether a token is that of the order with an id.
func (d *Desk) OpensOrder(id, token string) bool {
	order, err := engine.ParseID(id)
	return err == nil && d.Secrets.OpensOrder(order, token)
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
		return d.orderView(c.Context, o, nil, c.Now)
	}
	gates, err := d.Read.Tickets(c.Context, o.ID.Event(), o.FirstTicket, int(o.Tickets()))
	if err != nil {
		return nil, err
	}
	used := make(map[uint32]admission, len(gates))
	for _, t := range gates {
		used[t.Serial] = admission{status: t.Status, at: t.CheckedInAt, gate: t.Gate}
	}
	return d.orderView(c.Context, o, used, c.Now)
}

// admission is what happened to a ticket at the gates.
type admission struct {
	status string
	at     int64
	gate   string
}

// orderView is an order as answers show it.
func (d *Desk) orderView(ctx context.Context, o *event.Order, used map[uint32]admission, now time.Time) (*api.Order, error) {
	v := &api.Order{OrderRecord: view.Order(o, d.publicID(o.ID.Event())), Tickets: []api.Ticket{}}
	if o.Status != event.Completed {
		return v, nil
	}
	var err error
	v.Tickets, err = d.ticketsView(ctx, o, used, now)
	return v, err
}

func (d *Desk) publicID(number int64) string {
	if k, ok := d.known.Load(number); ok {
		return k.public.String()
	}
	return fmt.Sprint(number)
}

func (d *Desk) ticketsView(ctx context.Context, o *event.Order, used map[uint32]admission, now time.Time) ([]api.Ticket, error) {
	where, err := d.whereOf(ctx, o)
	if err != nil {
		return nil, err
	}
	codes := d.Secrets.Event(o.ID.Event())
	records := view.Tickets(o, d.publicID(o.ID.Event()), codes, where)
	out := make([]api.Ticket, len(records))
	for i := range records {
		t, serial := &out[i], o.FirstTicket+uint32(i)
		qr, expires := codes.QR(serial, secrets.Version, now)
		*t = api.Ticket{
			TicketRecord: records[i], Code: codes.Code(serial, secrets.Version), ShortCode: codes.Short(serial),
			QR: qr, QRExpiresAt: api.At(expires.UnixMilli()),
		}
		if a, ok := used[serial]; ok {
			t.Status, t.CheckedInAt, t.GateName = a.status, api.At(a.at), optional(a.gate)
		}
	}
	return out, nil
}

// whereOf says where the seats of an order's tickets are; nil when it has none.
// The map of an event stands still while a seat of it is sold.
func (d *Desk) whereOf(ctx context.Context, o *event.Order) (view.Where, error) {
	if !o.Seated() {
		return nil, nil
	}
	m, err := d.seatsOf(ctx, o.ID.Event())
	if err != nil {
		return nil, err
	}
	return m.Where, nil
}

package sales

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"boxoffice/cluster"
	"boxoffice/edge/api"
	"boxoffice/edge/letters"
	"boxoffice/edge/route"
	"boxoffice/edge/secrets"
	"boxoffice/edge/view"
	"boxoffice/engine"
	"boxoffice/engine/event"
	"boxoffice/engine/inventory"
	"boxoffice/engine/keeper"
	"boxoffice/engine/order"
	"boxoffice/engine/seatmap"
	"boxoffice/persistence/promos"
	"boxoffice/persistence/readmodel"
)

// placeOrder sends the order to its event, which runs it. The order's id is
// derived from the Idempotency-Key, so that a repeat finds the same order
// without a table of keys. The answer shows the order as it was when it was made:
// a repeat has the same, byte for byte.
func (h *Handlers) placeOrder(c *route.Call, in *api.PlaceOrder) (*api.Order, error) {
	number, lines, err := orderLines(in.Items)
	if err != nil {
		return nil, err
	}
	address := cmp.Or(in.GuestEmail, c.Principal.Email) // who is signed in need not say it
	email := order.NormalEmail(address)
	if email == "" {
		return nil, route.Invalid(route.Issue{Path: "guestEmail", Code: route.IssueRequired, Message: "is required"})
	}
	k, err := h.Known.Find(c.Context, number)
	if err != nil {
		return nil, eventHidden(err, engine.TicketTypeNotFound)
	}
	if err := h.boxOffice(c, k.Org, engine.TicketTypeNotFound); err != nil {
		return nil, err
	}
	body := c.BodyHash()
	cmd := event.Place{
		Fingerprint: binary.BigEndian.Uint64(body[:8]),
		Email:       address, Name: in.GuestName, Customer: order.CustomerOf(email),
		Lines: lines, PresaleCode: in.PresaleCode, Scale: h.LimitsScale, Waive: in.Waive,
	}
	if cmd.Promo, err = h.findCode(c.Context, k.Org, number, in.PromoCode); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(lines, func(l order.Line) bool { return len(l.Seats) > 0 }) {
		cmd.Holder, cmd.Principal = in.Holder, h.principalOf(c)
	}
	h.nameOrder(c, number, &cmd)
	cmd.Client = h.networkOf(c, k.Org)
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, engine.EventRef(number), cmd)
	if err != nil {
		return nil, seatIssues(err, in.Items)
	}
	o := r.Order
	if lines[0].Visit != nil {
		h.Pages.ForgetCalendar(number) // the buyer sees what is left after this order
	}
	if r.Past {
		if o, err = h.pastOrder(c.Context, r.ID); err != nil {
			return nil, err
		}
		o = o.Placed()
	}
	route.TellReplayed(c, r.Known)
	v, err := h.orderView(c.Context, o, nil, time.UnixMilli(o.EndedAt)) // QR payloads of that moment
	if err != nil {
		return nil, err
	}
	v.AccessToken = h.Secrets.OrderToken(o.ID)
	return v, nil
}

// findCode is the promo code that a buyer types, or nil without one. A name that no code
// has is sent on as the code of number 0, which refuses: a repeated order is answered
// before that, whatever has become of its code.
func (h *Handlers) findCode(ctx context.Context, org, number int64, text string) (*order.Promo, error) {
	if text = strings.ToUpper(strings.TrimSpace(text)); text == "" {
		return nil, nil //nolint:nilnil // no code is an answer
	}
	code, err := h.Pages.FindCode(ctx, promos.Name{Org: org, Event: number, Code: text})
	if err != nil {
		return nil, err
	}
	return &order.Promo{Ref: engine.PromoRef(org, code), Code: text}, nil
}

// boxOffice refuses an API key to sell what is not its organization's, as code
// says, or without the scope to sell. Everybody else buys for themselves.
func (h *Handlers) boxOffice(c *route.Call, org int64, code engine.Code) error {
	if !c.Principal.Kinds.Has(route.Key) {
		return nil
	}
	g, ok := c.Principal.Grant(org)
	if !ok {
		return &engine.Refusal{Code: code}
	}
	return route.CheckGrant(c.Op, g)
}

// orderLines reads the lines of a buyer's order, which has one of each type, date and slot.
func orderLines(items []api.OrderItem) (int64, []order.Line, error) {
	for i := range items {
		for j := range items[:i] {
			a, b := &items[i], &items[j]
			if strings.EqualFold(a.TicketTypeID, b.TicketTypeID) && a.ReservationDate == b.ReservationDate && a.ReservationSlotID == b.ReservationSlotID {
				return 0, nil, route.Invalid(route.Issue{
					Path: fmt.Sprintf("items[%d].ticketTypeId", i), Code: route.IssueFormat, Message: "stands in an earlier line already",
				})
			}
		}
	}
	return readLines(items)
}

// readLines reads the lines' ticket types, which name their event.
func readLines(items []api.OrderItem) (int64, []order.Line, error) {
	lines := make([]order.Line, len(items))
	var number int64
	for i := range items {
		it := &items[i]
		id, err := engine.ParseID(it.TicketTypeID)
		if err != nil || id.Event() < 1 || id != engine.NumberedID(id.Event(), id.Number()) {
			return 0, nil, &engine.Refusal{Code: engine.TicketTypeNotFound}
		}
		if i > 0 && id.Event() != number {
			return 0, nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].ticketTypeId", i), Code: route.IssueFormat, Message: "is of another event than the first line's",
			})
		}
		number = id.Event()
		lines[i] = order.Line{
			Type: id.Number(), Quantity: it.Quantity,
			AttendeeName: it.AttendeeName, AttendeeEmail: it.AttendeeEmail, Seats: it.VenueSeatIDs,
		}
		if it.ReservationDate != "" {
			day, err := keeper.ParseDay(it.ReservationDate)
			if err != nil {
				return 0, nil, route.Invalid(route.Issue{
					Path: fmt.Sprintf("items[%d].reservationDate", i), Code: route.IssueFormat, Message: "must be a date from 1970 on",
				})
			}
			lines[i].Visit = &keeper.Visit{Date: day, Slot: it.ReservationSlotID}
		} else if it.ReservationSlotID != "" {
			return 0, nil, route.Invalid(route.Issue{
				Path: fmt.Sprintf("items[%d].reservationDate", i), Code: route.IssueRequired, Message: "is required with a slot",
			})
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
	case keeper.OfType:
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

// nameOrder sets the ids under which the event looks for the order of a request:
// the one that the order gets if it is new, and those that the same request may
// have had before.
//
// An id is derived from the request's name, which is an HMAC under the master key,
// and the day; or it is random without an Idempotency-Key. It has 74 bits besides
// the event's number, and nobody can search for two keys that share them: of 100
// million orders of one event, two have one id with a probability of 3e-7. The
// ledger knows an order by its id for 24 hours after its end, and a key that comes
// again later must not give another order the same id. So a repeat may have had
// the other day's id, its alias. The release before derived ids from the plain
// scope: its orders are found by their former ids, and none is made under them.
func (h *Handlers) nameOrder(c *route.Call, number int64, cmd *event.Place) {
	cmd.Order, cmd.Alias = orderIDs(c, number, h.Secrets.Request(c.Scope()))
	if c.IdempotencyKey != "" {
		id, alias := orderIDs(c, number, c.FormerScope())
		cmd.Former = []engine.OrderID{id, alias}
	}
}

func orderIDs(c *route.Call, number int64, name [sha256.Size]byte) (id, alias engine.OrderID) {
	id = datedID(number, name, c.Now)
	if c.IdempotencyKey == "" {
		return id, alias
	}
	if alias = datedID(number, name, c.Now.Add(clockSkew)); alias == id {
		alias = datedID(number, name, c.Now.Add(-24*time.Hour))
	}
	return id, alias
}

// datedID is the id of a name on a day. Multiplied by an odd constant, no two days
// change the name in the same way.
func datedID(number int64, name [sha256.Size]byte, at time.Time) engine.OrderID {
	day := uint64(at.Unix() / (24 * 3600))
	tail := name[:10]
	binary.BigEndian.PutUint64(tail[2:], binary.BigEndian.Uint64(tail[2:])^day*0x9e3779b97f4a7c15)
	return engine.NewID(number, tail)
}

func (h *Handlers) getOrder(c *route.Call, in *api.OrderByToken) (*api.Order, error) {
	o, err := h.openOrder(c, in.ID, in.Token)
	if err != nil {
		return nil, err
	}
	return h.fullView(c, o)
}

func (h *Handlers) cancelOrder(c *route.Call, in *api.CancelOrder) (*api.Order, error) {
	o, err := h.openOrder(c, in.ID, in.QueryToken, in.Token)
	if err != nil {
		return nil, err
	}
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, engine.EventRef(o.ID.Event()), event.CancelOrder{Order: o.ID})
	if err != nil {
		return nil, err
	}
	if o, err = h.orderOf(c.Context, o.ID, r); err != nil {
		return nil, err
	}
	return h.fullView(c, o)
}

// openOrder finds an order for a caller who may see it: one with a token of it that
// has not ended, the buyer in a session whose address is proven, or the organization
// that sells it. For others it does not exist.
func (h *Handlers) openOrder(c *route.Call, text string, tokens ...string) (*order.Order, error) {
	token, err := soleToken(c, tokens)
	if err != nil {
		return nil, err
	}
	id, err := engine.ParseID(text)
	if err != nil {
		return nil, &engine.Refusal{Code: engine.OrderNotFound}
	}
	k, err := h.Known.Find(c.Context, id.Event())
	if err != nil {
		return nil, eventHidden(err, engine.OrderNotFound)
	}
	until, byToken := h.Secrets.OpensOrder(id, token)
	grant, member := c.Principal.Grant(k.Org)
	if !byToken && !c.Principal.EmailProven {
		if !member {
			return nil, &engine.Refusal{Code: engine.OrderNotFound}
		}
		if err := route.CheckGrant(c.Op, grant); err != nil {
			return nil, err
		}
	}
	o, err := h.findOrder(c, id)
	if err != nil {
		return nil, err
	}
	if c.Principal.EmailProven && order.NormalEmail(c.Principal.Email) == order.NormalEmail(o.Email) {
		return o, nil
	}
	over := false
	if byToken && !c.Now.Before(until) {
		if over, err = h.tokenOver(c, o); err != nil {
			return nil, err
		}
	}
	switch {
	case byToken && !over:
		return o, nil
	case member:
		return o, route.CheckGrant(c.Op, grant)
	case over:
		return nil, &engine.Refusal{Code: engine.Unauthorized, Message: "The order's access token has ended; sign in with the buyer's address.", Details: route.Reason{Reason: "TOKEN_EXPIRED"}}
	}
	return nil, &engine.Refusal{Code: engine.OrderNotFound}
}

// soleToken is the one order token that a caller brings in several places, or "" of
// a caller who is known otherwise.
func soleToken(c *route.Call, tokens []string) (string, error) {
	token := c.Principal.Token
	for _, t := range tokens {
		if t != "" && token != "" && t != token {
			return "", route.Invalid(route.Issue{Path: "token", Code: route.IssueDuplicate, Message: "is not the same in query and body"})
		}
		if t != "" {
			token = t
		}
	}
	if token == "" && !c.Principal.Proven() {
		return "", &engine.Refusal{Code: engine.Unauthorized, Message: "The order's access token is required."}
	}
	return token, nil
}

// How long tokens open an order: after the event's end, or after the completion of
// an order for a product that has no end.
const (
	tokenAfterPayment = 400 * 24 * time.Hour
)

// tokenOver says whether an order's token has ended. No order is younger than its
// event's end, so those of the last days, which are nearly all that are asked for,
// need no look at the event.
func (h *Handlers) tokenOver(c *route.Call, o *order.Order) (bool, error) {
	if c.Now.Before(time.UnixMilli(o.CreatedAt).Add(letters.TokenAfterEnd)) {
		return false, nil
	}
	p, err := h.Pages.Event(c.Context, o.ID.Event())
	if err != nil {
		return false, err
	}
	end := time.UnixMilli(p.Event.Details.EndAt).Add(letters.TokenAfterEnd)
	if p.Event.Details.EndAt == 0 {
		end = time.UnixMilli(max(o.CreatedAt, o.EndedAt)).Add(tokenAfterPayment)
	}
	return !c.Now.Before(end), nil
}

// findOrder is an order as its event has it, or as the read model has what is older
// than the ledger remembers.
func (h *Handlers) findOrder(c *route.Call, id engine.OrderID) (*order.Order, error) {
	r, err := cluster.AskFor[event.OrderReply](c.Context, h.Node, engine.EventRef(id.Event()), event.GetOrder{Order: id})
	if err != nil {
		if r, ok := err.(*engine.Refusal); !ok || r.Code != engine.OrderNotFound { //nolint:errorlint // ask returns refusals bare
			return nil, err
		}
		return h.pastOrder(c.Context, id)
	}
	return h.orderOf(c.Context, id, r)
}

// OpenOrder is the order that an id names, in its one spelling, and whether a token
// is one of that order's, over or not.
func (h *Handlers) OpenOrder(id, token string) (order string, opens bool) {
	o, err := engine.ParseID(id)
	if err != nil {
		return "", false
	}
	_, opens = h.Secrets.OpensOrder(o, token)
	return o.String(), opens
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
func (h *Handlers) orderOf(ctx context.Context, id engine.OrderID, r *event.OrderReply) (*order.Order, error) {
	if !r.Past {
		return r.Order, nil
	}
	return h.pastOrder(ctx, id)
}

// pastOrder reads an order from the read model, which may lag behind the ledger
// that knows it has ended.
func (h *Handlers) pastOrder(ctx context.Context, id engine.OrderID) (*order.Order, error) {
	for range 2 {
		o, err := h.Read.Order(ctx, id)
		if !errors.Is(err, readmodel.ErrNotFound) {
			return &o.Order, err
		}
		if err := h.Settled(ctx); err != nil {
			return nil, err
		}
	}
	return nil, &engine.Refusal{Code: engine.OrderNotFound}
}

// fullView is an order with its tickets as the gates have left them.
func (h *Handlers) fullView(c *route.Call, o *order.Order) (*api.Order, error) {
	if !o.Sold() {
		return h.orderView(c.Context, o, nil, c.Now)
	}
	gates, err := h.Read.Tickets(c.Context, o.ID.Event(), o.FirstTicket, int(o.Tickets()))
	if err != nil {
		return nil, err
	}
	used := make(map[uint32]admission, len(gates))
	for _, t := range gates {
		used[t.Serial] = admission{status: t.Status, at: t.CheckedInAt, gate: t.Gate}
	}
	v, err := h.orderView(c.Context, o, used, c.Now)
	if err != nil {
		return nil, err
	}
	return v, h.addCurrent(c.Context, o, v.Tickets, c.Now)
}

// addCurrent says of an order's tickets what may change at any time: whether their money
// may be asked back, where they are delivered, and whether their time is over. The money of
// a cancelled event may always be asked back.
func (h *Handlers) addCurrent(ctx context.Context, o *order.Order, tickets []api.Ticket, now time.Time) error {
	p, err := h.Pages.Event(ctx, o.ID.Event())
	if err != nil {
		return err
	}
	types := make(map[string]*inventory.Details, len(p.Types))
	for i := range p.Types {
		types[engine.NumberedID(o.ID.Event(), p.Types[i].Ref.ID).String()] = &p.Types[i].Details
	}
	for i := range tickets {
		t := &tickets[i]
		eligible := t.Refundable && (t.RefundDeadline == nil || !now.After(*t.RefundDeadline))
		if p.Event.Status == event.StatusCancelled {
			t.Refundable, t.RefundDeadline, eligible = true, nil, true
		}
		eligible = eligible && t.Status == "issued"
		t.RefundEligible = &eligible
		if of := types[t.TicketTypeID]; of != nil && (t.Status == "issued" || t.Status == "checked_in") {
			link, note, ours := h.Letters.Access(p.Event.Details, of)
			t.Downloadable, t.AccessURL, t.AccessNote = &ours, api.Shown(link), api.Shown(note)
		}
		t.Status = statusAt(t.Status, o, o.FirstTicket+uint32(i), p.Event.Status, now) //nolint:gosec // an order's ticket
	}
	return nil
}

// statusAt is a ticket's status at a time: one that was not used expires with the
// completion of its event, or with its booked date. What is digital never expires.
func statusAt(status string, o *order.Order, ticket uint32, ofEvent string, now time.Time) string {
	const issued, expired = "issued", "expired"
	if status != issued || o.Digital || ofEvent == event.StatusCancelled {
		return status
	}
	if ofEvent == event.StatusCompleted {
		return expired
	}
	if v := o.VisitOf(ticket); v != nil {
		if _, closes := v.Admits(); now.UnixMilli() >= closes {
			return expired
		}
	}
	return status
}

// admission is what happened to a ticket at the gates.
type admission struct {
	status string
	at     int64
	gate   string
}

// orderView is an order as answers show it.
func (h *Handlers) orderView(ctx context.Context, o *order.Order, used map[uint32]admission, now time.Time) (*api.Order, error) {
	v := &api.Order{OrderRecord: view.Order(o, h.Known.PublicID(o.ID.Event()), h.Secrets.Event(o.ID.Event())), Tickets: []api.Ticket{}}
	if !o.Sold() {
		return v, nil
	}
	var err error
	v.Tickets, err = h.ticketsView(ctx, o, used, now)
	return v, err
}

func (h *Handlers) ticketsView(ctx context.Context, o *order.Order, used map[uint32]admission, now time.Time) ([]api.Ticket, error) {
	where, err := h.Feed.Where(ctx, o)
	if err != nil {
		return nil, err
	}
	codes := h.Secrets.Event(o.ID.Event())
	records := view.Tickets(o, h.Known.PublicID(o.ID.Event()), codes, where)
	out := make([]api.Ticket, len(records))
	for i := range records {
		t, r := &out[i], &records[i]
		t.TicketRecord = r.TicketRecord
		if r.Version == secrets.Version || order.NormalEmail(r.Holder.Email) == order.NormalEmail(o.Email) {
			h.showCodes(t, codes, r.Serial, r.Version, now)
		}
		if a, ok := used[r.Serial]; ok {
			t.Status, t.CheckedInAt, t.GateName = a.status, api.At(a.at), view.Optional(a.gate)
		}
	}
	return out, nil
}

// showCodes adds to a ticket's answer what admits its holder.
func (h *Handlers) showCodes(t *api.Ticket, codes *secrets.Codes, serial uint32, version byte, now time.Time) {
	qr, expires := codes.QR(serial, version, now)
	t.Code, t.ShortCode, t.QR = codes.Code(serial, version), codes.Short(serial, version), qr
	t.QRExpiresAt = api.At(expires.UnixMilli())
}
